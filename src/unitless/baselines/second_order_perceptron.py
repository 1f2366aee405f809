"""The second-order perceptron: a perceptron that whitens the rows on which it made mistakes.

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

import numpy as np

from unitless.baselines.declared_parameters import positive
from unitless.baselines.dense import FullMatrixLearner, add_multiple, dot, loop
from unitless.baselines.ldl import add, solve
from unitless.kernels.decorators import inlined, kernel


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

    >>> from unitless.baselines import example_loss
    >>> example_loss(SecondOrderPerceptron())
    '0.5882'
    """

    needs_signs = True
    a: float = positive(1.0, "A = a I at the start")

    name = "second_order_perceptron"
    run = staticmethod(run)
    linear = False
    vectors = ("b", "D")

    def _coefficients(self):
        b, D = self.state.vectors
        w = np.empty_like(b)
        solved(self.state.matrix, D, b, w)
        return w[: 1 + self._columns]
