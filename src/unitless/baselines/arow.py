"""AROW: a normal distribution over weights, moved as little as a margin of 1 asks for.

Crammer, Kulesza, Dredze, "Adaptive Regularization of Weight Vectors" (2009). With m = y w.x and
the covariance P = A^-1::

    p = w.x;   if m < 1:   c = 1 / (x'P x + r);   w += c (1 - m) y P x;   P -= c P x x'P

Kept is A, because P's update is A += x x'/r (Sherman and Morrison). Checked: the step minimises the
paper's objective, the divergence of the new distribution from the old plus (max(0, 1 - y w.x)^2 +
x'P x) / (2 r), because A_old (w - w_old) = y x max(0, 1 - y w.x) / r (tests). It learns where the
margin is below 1, so of the loss only its signs matter. A sample weight divides r.

===== ========== ================================ ===========
paper field      meaning                          unit
===== ========== ================================ ===========
mu    vectors[0] w                                [x_i]^-1
Sigma vectors[1] D of A = U'DU                    [x_i]^2
Sigma matrix     U, right of its diagonal of 1s   [x_j/x_i]
===== ========== ================================ ===========

A is the identity at the start, so units matter; rotations do not.
"""

import math
from typing import Any, ClassVar

from unitless.baselines.dense import FullMatrixLearner, add_multiple, dot, inlined, loop
from unitless.baselines.ldl import add, solve
from unitless.baselines.scale_dependent import checked_positive, require_signs
from unitless.losses import Loss
from unitless.numerics import kernel


@inlined
def predict(parameters, state, x, v, work):
    _, _, vectors, _ = state
    return dot(vectors[0], x)


@inlined
def update(parameters, state, x, trial, work):
    _, _, vectors, U = state
    w, D = vectors[0], vectors[1]
    v, y, p, _ = trial
    r = parameters[0] / v
    margin = y * p
    if margin < 1:
        step = work[0]  # P x
        form = solve(U, D, x, step)
        add_multiple((1 - margin) * y / (form + r), step, w)
        add(U, D, x, 1 / math.sqrt(r), work[1])


@kernel
def run(parameters, loss, block, targets, weights, scores, state, work):
    return loop(predict, update, parameters, loss, block, targets, weights, scores, state, work)


class Arow(FullMatrixLearner):
    """Adaptive regularisation of weights.

    Parameters
    ----------
    r : float
        The larger, the shorter the steps.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = Arow()
    >>> print(f"{(rows.targets * learner.learn(rows) <= 0).mean():.4f}")
    0.0457
    """

    name: ClassVar[str] = "arow"
    run: ClassVar[Any] = staticmethod(run)
    a: float = 1.0

    def __init__(
        self, loss: str | Loss = "logistic", *, r: float = 1.0, intercept: bool = True
    ) -> None:
        super().__init__(loss, intercept=intercept)
        require_signs(self.loss, "AROW")
        self.r = checked_positive("r", r)
        self._prepare()

    def _parameters(self) -> tuple[float]:
        return (self.r,)
