"""AROW: a Gaussian distribution over the weights, changed as little as a margin of 1 needs.

Crammer, Kulesza, Dredze, "Adaptive Regularization of Weight Vectors" (2009). With m = y w.x and
the covariance P = A^-1::

    p = w.x;   if m < 1:   c = 1 / (x'P x + r);   w += c (1 - m) y P x;   P -= c P x x'P

The state has A, because P's update is A += x x'/r (Sherman and Morrison). Checked: the step
minimises the paper's objective, the divergence of the new distribution from the old plus
(max(0, 1 - y w.x)^2 + x'P x) / (2 r), because A_old (w - w_old) = y x max(0, 1 - y w.x) / r
(tests). It learns where the margin is below 1, so of the loss only its signs matter. A sample
weight divides r.

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

from unitless.baselines.declared_parameters import positive
from unitless.baselines.dense import FullMatrixLearner, add_multiple, dot, loop
from unitless.baselines.ldl import add, solve
from unitless.kernels.decorators import inlined, kernel


@inlined
def predict(parameters, state, x, v, work):
    _, _, vectors, _ = state
    return dot(vectors[0], x)


@inlined
def update(parameters, state, x, trial, work):
    _, _, vectors, U = state
    w, D = vectors[0], vectors[1]
    v, y, p, _ = trial
    (r,) = parameters
    margin = y * p
    if margin < 1:
        step = work[0]  # P x
        form = solve(U, D, x, step)
        add_multiple((1 - margin) * y / (form + r / v), step, w)
        add(U, D, x, 1 / math.sqrt(r / v), work[1])


@kernel
def run(parameters, loss, block, targets, weights, scores, state, work):
    return loop(predict, update, parameters, loss, block, targets, weights, scores, state, work)


class Arow(FullMatrixLearner):
    """Adaptive regularisation of weights.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Arow())
    '0.3839'
    """

    needs_signs = True
    r: float = positive(1.0, "the larger, the shorter the steps")

    name = "arow"
    run = staticmethod(run)
    a: float = 1.0
