"""SON: the online Newton step on the set of weights with |w.x_t| <= C, another in every row.

Luo, Agarwal, Cesa-Bianchi, Langford, "Efficient Second Order Online Learning by Sketching"
(2016), section 2, with the full matrix. With q = g x and eta_t = rate / (C sqrt(t))::

    w = u - tau(u.x) A^-1 x / (x'A^-1 x),   tau(z) = sgn(z) max(|z| - C, 0);    p = w.x
    A += eta_t q q',  A = a I at the start;   u = w - A^-1 q

The paper claims invariance to linear maps for a = 0; it does not hold, and with a > 0 it is not
claimed. Checked: w minimises (w - u)'A(w - u) on the set (Lagrange), hence p is u.x clipped to
+-C; and the inequality behind the paper's Theorem 1, sum q.(w - v) <= (a |v|^2 + sum eta_t
(q.(w - v))^2 + sum q'A^-1 q) / 2 for every v in all sets, holds (tests). For eta_t the paper's
theorem has rate = sqrt(d), but d may not be known, and features seen so far are not blind to
rotations. A sample weight multiplies g.

===== ========== ================================ ===========
paper field      meaning                          unit
===== ========== ================================ ===========
u     vectors[0] weights before projection        [x_i]^-1
A     vectors[1] D of A = U'DU                    [x_i]^2
A     matrix     U, right of its diagonal of 1s   [x_j/x_i]
===== ========== ================================ ===========

a is added to numbers of unit [x_i]^2, so units matter; rotations do not.
"""

import math
from typing import Any, ClassVar

from unitless.baselines import ldl
from unitless.baselines.dense import (
    DenseLearner,
    FullMatrixLearner,
    T,
    add_multiple,
    dot,
    inlined,
    loop,
)
from unitless.baselines.scale_dependent import checked_count, checked_positive
from unitless.losses import Loss
from unitless.numerics import kernel


@inlined
def clipped(z, C):
    """z within +-C."""
    return min(max(z, -C), C)


@inlined
def predict(parameters, state, x, v, work):
    _, _, vectors, _ = state
    return clipped(dot(vectors[0], x), parameters[0])


@inlined
def newton_step(solve, add, parameters, state, x, trial, work):
    """Project u, add eta_t q q' to A, and take the step; all three forms of SON share it.

    `solve(parameters, state, x, z)` sets z = A^-1 x and returns x'z;
    `add(parameters, state, q, root, work)` does A += root^2 q q'.
    """
    C, rate = parameters[0], parameters[1]
    totals, _, vectors, _ = state
    u = vectors[0]
    v, _, _, g = trial
    q, step = work[0], work[1]
    score = dot(u, x)
    tau = score - clipped(score, C)
    if tau != 0:
        form = solve(parameters, state, x, step)
        add_multiple(-tau / form, step, u)
    if g == 0:
        return
    for j in range(x.size):
        q[j] = v * g * x[j]
    add(parameters, state, q, math.sqrt(rate / (C * math.sqrt(totals[T]))), work[2:])
    solve(parameters, state, q, step)
    add_multiple(-1.0, step, u)


@inlined
def _solve(parameters, state, x, z):
    _, _, vectors, U = state
    return ldl.solve(U, vectors[1], x, z)


@inlined
def _add(parameters, state, q, root, work):
    _, _, vectors, U = state
    ldl.add(U, vectors[1], q, root, work[0])


@inlined
def update(parameters, state, x, trial, work):
    newton_step(_solve, _add, parameters, state, x, trial, work)


@kernel
def run(parameters, loss, block, targets, weights, scores, state, work):
    return loop(predict, update, parameters, loss, block, targets, weights, scores, state, work)


class Son(FullMatrixLearner):
    """Online Newton of Luo et al., with the full matrix.

    Parameters
    ----------
    C : float
        The largest |prediction|.
    rate : float
        Of eta_t; the paper's theorem for the full matrix has sqrt(d).
    a : float
        A = a I at the start.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = Son(C=5.0)
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.2242
    """

    name: ClassVar[str] = "son"
    needs: ClassVar[tuple[str, ...]] = ("C",)
    run: ClassVar[Any] = staticmethod(run)

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        C: float = 1.0,
        rate: float = 1.0,
        a: float = 1.0,
        intercept: bool = True,
    ) -> None:
        super().__init__(loss, intercept=intercept)
        self.C = checked_positive("C", C)
        self.rate = checked_positive("rate", rate)
        self.a = checked_positive("a", a)
        self._prepare()

    def _parameters(self) -> tuple[float, ...]:
        return self.C, self.rate


class SketchedSon(DenseLearner):
    """Base of the two forms that keep a sketch of A with a few rows.

    Parameters
    ----------
    C : float
        The largest |prediction|.
    rate : float
        Of eta_t; the paper's theorem for the full matrix has sqrt(d).
    a : float
        A = a I at the start.
    m : int
        Directions kept.
    """

    vectors: ClassVar[tuple[str, ...]] = ("u",)
    needs: ClassVar[tuple[str, ...]] = ("C",)

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        C: float = 1.0,
        rate: float = 1.0,
        a: float = 1.0,
        m: int = 10,
        intercept: bool = True,
    ) -> None:
        super().__init__(loss, intercept=intercept)
        self.C = checked_positive("C", C)
        self.rate = checked_positive("rate", rate)
        self.a = checked_positive("a", a)
        self.m = checked_count("m", m, "the number of directions in a sketch")
        self._prepare()

    def _parameters(self) -> tuple[float, ...]:
        return self.C, self.rate, self.a, float(self.m)
