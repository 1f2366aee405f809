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
from typing import ClassVar, NamedTuple

from unitless.baselines.dense import checked_positive, dot, require_signs, rule_for
from unitless.baselines.ldl import add, solve
from unitless.baselines.ons import WithMatrix
from unitless.losses import Loss
from unitless.numerics import kernel


class Whitened(NamedTuple):
    """The second-order perceptron has no parameter of its own."""

    a: float


def _predict(rule, state, v, d, x, work):
    form = solve(state.matrix, state.vectors[1], x, work[1])
    return dot(state.vectors[0], work[1], work[0]) / (1.0 + v * form)


def _update(rule, state, v, y, p, g, d, x, work):
    b = state.vectors[0]
    if y * p <= 0:
        add(state.matrix, state.vectors[1], x, math.sqrt(v), work[2], work[3:7])
        for j in range(x.size):
            b[j] += v * y * x[j]


rule_for(Whitened, _predict, _update)


@kernel
def solved(matrix, D, b, out):
    """out = A^-1 b."""
    solve(matrix, D, b, out)


class SecondOrderPerceptron(WithMatrix):
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
    linear: ClassVar[bool] = False
    vectors: ClassVar[tuple[str, ...]] = ("b", "D")

    def __init__(
        self, loss: str | Loss = "logistic", *, a: float = 1.0, intercept: bool = True
    ) -> None:
        super().__init__(loss, intercept=intercept)
        require_signs(self.loss, "the second-order perceptron")
        self.a = checked_positive("a", a)
        self._prepare()

    def _rule(self) -> Whitened:
        return Whitened(self.a)

    def _weights(self):
        w = self.state.vectors[0].copy()
        solved(self.state.matrix, self.state.vectors[1], self.state.vectors[0], w)
        return w
