"""ONS: the online Newton step, for exp-concave losses.

Hazan, Agarwal, Kale, "Logarithmic Regret Algorithms for Online Convex Optimization" (2007),
without the projection on a bounded domain. With q = g x::

    A += q q',  A = eps I at the start;   w -= A^-1 q / gamma;   p = w.x

Checked: the inequality from which the paper's theorem follows, sum q.(w - u) <= gamma/2 (sum
(q.(w - u))^2 + eps |u|^2) + sum q'A^-1 q / (2 gamma), holds for every u (tests). A is kept as a
triangular factor (`ldl`). A sample weight multiplies g.

===== ========== ================================ ===========
paper field      meaning                          unit
===== ========== ================================ ===========
w     vectors[0] weights                          [x_i]^-1
A     vectors[1] D of A = U'DU                    [x_i]^2
A     matrix     U, right of its diagonal of 1s   [x_j/x_i]
===== ========== ================================ ===========

eps is added to numbers of unit [x_i]^2, so units matter; rotations do not.
"""

from typing import Any, ClassVar

from unitless.baselines.dense import FullMatrixLearner, dot, inlined, loop
from unitless.baselines.ldl import add, solve
from unitless.baselines.scale_dependent import checked_positive
from unitless.losses import Loss
from unitless.numerics import kernel


@inlined
def predict(parameters, state, x, v, work):
    _, _, vectors, _ = state
    return dot(vectors[0], x)


@inlined
def update(parameters, state, x, trial, work):
    (gamma,) = parameters
    _, _, vectors, U = state
    w, D = vectors[0], vectors[1]
    v, _, _, g = trial
    q, step = work[0], work[1]
    if g == 0:
        return
    for j in range(x.size):
        q[j] = v * g * x[j]
    add(U, D, q, 1.0, work[2])
    solve(U, D, q, step)
    for j in range(x.size):
        w[j] -= step[j] / gamma


@kernel
def run(parameters, loss, block, targets, weights, scores, state, work):
    return loop(predict, update, parameters, loss, block, targets, weights, scores, state, work)


class Ons(FullMatrixLearner):
    """The online Newton step.

    Parameters
    ----------
    gamma : float
        The smaller, the longer the steps.
    a : float
        eps, of A at the start.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = Ons()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.3245
    """

    name: ClassVar[str] = "ons"
    run: ClassVar[Any] = staticmethod(run)
    needs_lipschitz: ClassVar[bool] = False
    inverse_rate: ClassVar[str] = "gamma"

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        gamma: float = 1.0,
        a: float = 1.0,
        intercept: bool = True,
    ) -> None:
        super().__init__(loss, intercept=intercept)
        self.gamma = checked_positive("gamma", gamma)
        self.a = checked_positive("a", a)
        self._prepare()

    def _parameters(self) -> tuple[float]:
        return (self.gamma,)
