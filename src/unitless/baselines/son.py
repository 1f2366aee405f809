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
from typing import ClassVar, NamedTuple

from unitless.baselines.dense import T, checked_positive, dot, rule_for
from unitless.baselines.ldl import add, solve
from unitless.baselines.ons import WithMatrix
from unitless.learners.nag import checked_rate
from unitless.losses import Loss
from unitless.numerics import inner


class Clipped(NamedTuple):
    """Parameters of SON."""

    C: float
    rate: float


@inner
def clipped(z, C):
    """z within +-C."""
    return min(max(z, -C), C)


@inner
def excess(z, C):
    """tau: how far z is outside of +-C."""
    return z - clipped(z, C)


def _predict(rule, state, v, d, x, work):
    return clipped(dot(state.vectors[0], x, work[0]), rule.C)


def _update(rule, state, v, y, p, g, d, x, work):
    u, D, q, step = state.vectors[0], state.vectors[1], work[0], work[1]
    tau = excess(dot(u, x, work[0]), rule.C)
    if tau != 0:
        form = solve(state.matrix, D, x, step)
        for j in range(x.size):
            u[j] -= tau / form * step[j]
    if g == 0:
        return
    for j in range(x.size):
        q[j] = v * g * x[j]
    root = math.sqrt(rule.rate / (rule.C * math.sqrt(state.totals[T])))
    add(state.matrix, D, q, root, work[2], work[3:7])
    solve(state.matrix, D, q, step)
    for j in range(x.size):
        u[j] -= step[j]


rule_for(Clipped, _predict, _update)


class Son(WithMatrix):
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
        self.C, self.a = checked_positive("C", C), checked_positive("a", a)
        self.rate = checked_rate(rate)
        self._prepare()

    def _rule(self) -> Clipped:
        return Clipped(self.C, self.rate)
