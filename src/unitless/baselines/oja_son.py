"""Oja-SON: online Newton whose matrix is a sketch of m directions, by Oja's rule.

Luo, Agarwal, Cesa-Bianchi, Langford, "Efficient Second Order Online Learning by Sketching"
(2016), algorithms 1 and 3; Vowpal Wabbit's `--OjaNewton`. SON with A = a I + t V' diag(Lambda) V.
With r = sqrt(eta_t) q, eta_t = rate / (C sqrt(t)) and steps 1/t::

    Lambda <- (1 - 1/t) Lambda + (V r)^2 / t;    V <- orthonormal rows from V + (V r) r' / t

The state has e = t Lambda, for which the first line is e += (V r)^2. The paper starts with any
orthonormal V. Here rows of V open one by one, with what the first r's have outside of those before:
that is the method for the V it ends up with, because a direction orthogonal to all r so far has not
moved, and it makes the method rotation-invariant. Checked against Vowpal Wabbit's source, which
starts at random, halves g, has twice the step, and divides features by the root of their sum of
squares. A sample weight multiplies g.

====== ========== =================================== ========
paper  field      meaning                             unit
====== ========== =================================== ========
u      vectors[0] weights before projection           [x_i]^-1
V      matrix     orthonormal directions              1
--     totals[1]  how many are open                   1
Lambda totals[2:] e = t Lambda                        [x]^2
====== ========== =================================== ========

a is added to numbers of unit [x]^2, so units matter; rotations do not.
"""

import math

from unitless.baselines.dense import T, dot, loop
from unitless.baselines.son import SketchedSon, newton_step, predict
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma

OPEN, E = 1, 2  # totals[1], and where e starts
NOISE = 2.0**-46  # a direction shorter than this times |r| is rounding error


@inlined
def _subtract(a, row, z):
    """z -= a row."""
    for j in range(z.size):
        z[j] = fma(-a, row[j], z[j])


@inlined
def _orthogonalise(V, count, z):
    """Take from z its components along the first rows of V; twice, as once leaves noise."""
    for _ in range(2):
        for i in range(count):
            _subtract(dot(V[i], z), V[i], z)


@inlined
def _divide(z, a):
    for j in range(z.size):
        z[j] /= a


@inlined
def _solve(parameters, state, x, z):
    """z = A^-1 x; returns x'z."""
    a = parameters[2]
    totals, _, _, V = state
    z[:] = x
    for i in range(int(totals[OPEN])):
        e = totals[E + i]
        _subtract(e / (a + e) * dot(V[i], x), V[i], z)
    _divide(z, a)
    return dot(x, z)


@inlined
def _open(parameters, state, r, rest):
    """Start a row of V with what r has outside of the others, unless that is noise."""
    totals, _, _, V = state
    count = int(totals[OPEN])
    if count == int(parameters[3]):
        return
    rest[:] = r
    _orthogonalise(V, count, rest)
    size = math.sqrt(dot(rest, rest))
    if size > NOISE * math.sqrt(dot(r, r)):
        _divide(rest, size)
        V[count] = rest
        totals[OPEN] += 1


@inlined
def _add(parameters, state, q, root, work):
    """Oja's step towards r = root q."""
    totals, _, _, V = state
    r = work[0]
    for j in range(q.size):
        r[j] = root * q[j]
    _open(parameters, state, r, work[1])
    count = int(totals[OPEN])
    for i in range(count):
        b = dot(V[i], r)
        totals[E + i] += b * b
        _subtract(-b / totals[T], r, V[i])
    for i in range(count):
        _orthogonalise(V, i, V[i])
        _divide(V[i], math.sqrt(dot(V[i], V[i])))


@inlined
def update(parameters, state, x, trial, work):
    newton_step(_solve, _add, parameters, state, x, trial, work)


@kernel
def run(parameters, loss, block, targets, weights, scores, state, work):
    return loop(predict, update, parameters, loss, block, targets, weights, scores, state, work)


class OjaSon(SketchedSon):
    """Online Newton with a sketch by Oja's rule.

    >>> from unitless.baselines import example_loss
    >>> example_loss(OjaSon(C=5.0))
    '0.2297'
    """

    name = "oja_son"
    run = staticmethod(run)

    def _totals(self) -> int:
        return E + self.m

    def _matrix(self, coordinates: int) -> tuple[int, int]:
        return self.m, coordinates
