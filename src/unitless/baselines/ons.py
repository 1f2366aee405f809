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

from unitless.baselines.declared_parameters import positive
from unitless.baselines.dense import FullMatrixLearner, dot, loop
from unitless.baselines.ldl import add, solve
from unitless.kernels.decorators import inlined, kernel


@inlined
def predict(parameters, state, x, v, work):
    _, _, vectors, _ = state
    return dot(vectors[0], x)


@inlined
def update(parameters, state, x, trial, work):
    gamma, _ = parameters
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

    >>> from unitless.baselines import example_loss
    >>> example_loss(Ons())
    '0.3245'
    """

    gamma: float = positive(1.0, "the inverse of a learning rate")
    a: float = positive(1.0, "eps: A = eps I at the start")

    name = "ons"
    run = staticmethod(run)
    needs_lipschitz = False
    inverse_rate = "gamma"
