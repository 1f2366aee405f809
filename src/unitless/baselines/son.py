"""SON: the online Newton step, projected in each trial to the weights with |w.x_t| <= C.

Luo, Agarwal, Cesa-Bianchi, Langford, "Efficient Second Order Online Learning by Sketching"
(2016), section 2, with the full matrix. With q = g x and eta_t = rate / (C sqrt(t))::

    w = u - tau(u.x) A^-1 x / (x'A^-1 x),   tau(z) = sgn(z) max(|z| - C, 0);    p = w.x
    A += eta_t q q',  A = a I at the start;   u = w - A^-1 q

The paper claims invariance to linear maps for a = 0; it does not hold, and with a > 0 it is not
claimed. Checked: w minimises (w - u)'A(w - u) on the set (Lagrange), hence p is u.x clipped to
+-C; and the inequality behind the paper's Theorem 1, sum q.(w - v) <= (a |v|^2 + sum eta_t
(q.(w - v))^2 + sum q'A^-1 q) / 2 for every v in all sets, holds (tests). For eta_t the paper's
theorem has rate = sqrt(d), but d may not be known, and the number of features seen so far is
not rotation-invariant. A sample weight multiplies g.

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

from unitless.baselines import ldl
from unitless.baselines.declared_parameters import count, positive
from unitless.baselines.dense import (
    DenseLearner,
    FullMatrixLearner,
    T,
    add_multiple,
    dot,
    loop,
)
from unitless.kernels.decorators import inlined, kernel


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

    >>> from unitless.baselines import example_loss
    >>> example_loss(Son(C=5.0))
    '0.2242'
    """

    C: float = positive(1.0, "the largest |prediction|")
    rate: float = positive(1.0, "of eta_t; the paper's theorem for the full matrix has sqrt(d)")
    a: float = positive(1.0, "A = a I at the start")

    name = "son"
    needs = ("C",)
    run = staticmethod(run)


class SketchedSon(DenseLearner):
    """Base of the two forms that keep a sketch of A with a few rows."""

    C: float = positive(1.0, "the largest |prediction|")
    rate: float = positive(1.0, "of eta_t; the paper's theorem for the full matrix has sqrt(d)")
    a: float = positive(1.0, "A = a I at the start")
    m: int = count(10, "the number of directions in the sketch")

    vectors = ("u",)
    needs = ("C",)
