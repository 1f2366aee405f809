"""The second-order perceptron: a perceptron in coordinates that whiten the rows it has erred on.

Cesa-Bianchi, Conconi, Gentile, "A Second-Order Perceptron Algorithm" (2005)::

    p = b'(A + x x')^-1 x;   if y p <= 0:  A += x x',  b += y x            A = a I at the start

Checked: (A + x x')^-1 x = A^-1 x / (1 + x'A^-1 x), the form used here; p is the prediction of ridge
regression on the rows it has erred on and x itself with target 0 (tests). It learns from mistakes
alone, so of the loss only its signs matter. A sample weight multiplies x x' and y x.

===== ========== ================================ ===========
paper field      meaning                          unit
===== ========== ================================ ===========
v     vectors[0] b                                [x_i]
A     vectors[1] D of A = U'DU                    [x_i]^2
A     matrix     U, right of its diagonal of 1s   [x_j/x_i]
===== ========== ================================ ===========

a is added to numbers of unit [x_i]^2, so units matter; rotations do not.
"""

import math
from typing import Any, ClassVar

import numpy as np

from unitless.baselines.dense import FullMatrixLearner, add_multiple, dot, inlined, loop
from unitless.baselines.ldl import add, solve
from unitless.baselines.scale_dependent import checked_positive, require_signs
from unitless.losses import Loss
from unitless.numerics import kernel


@inlined
def predict(parameters, state, x, v, work):
    _, _, vectors, U = state
    b, D = vectors[0], vectors[1]
    z = work[0]  # A^-1 x
    form = solve(U, D, x, z)
    return dot(b, z) / (1.0 + v * form)


@inlined
def update(parameters, state, x, trial, work):
    _, _, vectors, U = state
    b, D = vectors[0], vectors[1]
    v, y, p, _ = trial
    if y * p <= 0:
        add(U, D, x, math.sqrt(v), work[0])
        add_multiple(v * y, x, b)


@kernel
def run(parameters, loss, block, targets, weights, scores, state, work):
    return loop(predict, update, parameters, loss, block, targets, weights, scores, state, work)


@kernel
def solved(U, D, b, out):
    """out = A^-1 b."""
    solve(U, D, b, out)


class SecondOrderPerceptron(FullMatrixLearner):
    """The second-order perceptron.

    Parameters
    ----------
    a : float
        A = a I at the start.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = SecondOrderPerceptron()
    >>> print(f"{(rows.targets * learner.learn(rows) <= 0).mean():.4f}")
    0.0615
    """

    name: ClassVar[str] = "second_order_perceptron"
    run: ClassVar[Any] = staticmethod(run)
    linear: ClassVar[bool] = False
    vectors: ClassVar[tuple[str, ...]] = ("b", "D")

    def __init__(
        self, loss: str | Loss = "logistic", *, a: float = 1.0, intercept: bool = True
    ) -> None:
        super().__init__(loss, intercept=intercept)
        require_signs(self.loss, "the second-order perceptron")
        self.a = checked_positive("a", a)
        self._prepare()

    def _parameters(self) -> tuple[float]:
        return (self.a,)

    def _coefficients(self):
        b, D = self.state.vectors
        w = np.empty_like(b)
        solved(self.state.matrix, D, b, w)
        return np.nan_to_num(w)
