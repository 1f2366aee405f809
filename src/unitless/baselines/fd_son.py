"""FD-SON: online Newton whose matrix is a sketch of 2 m rows, by frequent directions.

Luo, Agarwal, Cesa-Bianchi, Langford, "Efficient Second Order Online Learning by Sketching"
(2016), algorithms 1 and 2. SON with A = a I + S'S, where S has 2 m rows and takes r = sqrt(eta_t)
q into the next empty one; when none is left, with the eigenvalues lambda_1 >= lambda_2 >= ... and
eigenvectors v_i of S'S::

    S <- rows sqrt(lambda_i - lambda_m) v_i for i <= m, m empty rows;   eta_t = rate / (C sqrt(t))

A^-1 x = (x - S'(a I + S S')^-1 S x) / a by a triangular factor of a I + S S', to which a new row
of S adds one row. Checked: with m > d nothing is thrown away, and the predictions are those of
SON (tests). A sample weight multiplies g.

===== ========== ============================================= ========
paper field      meaning                                       unit
===== ========== ============================================= ========
u     vectors[0] weights before projection                     [x_i]^-1
S     matrix     the sketch                                    [x_i]
tau   totals[1]  rows taken since the last m were made         1
H     totals[2:] L, 2 m x 2 m, with L L' = a I + S S'          1
===== ========== ============================================= ========

a is added to numbers of unit [x_i]^2, so units matter; rotations do not.
"""

import math

import numpy as np

from unitless.baselines.dense import DenseState, dot, loop
from unitless.baselines.jacobi import diagonalise
from unitless.baselines.son import SketchedSon, newton_step, predict
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma

TAKEN, FACTOR = 1, 2  # totals[1], and where L starts


@inlined
def _unpack(parameters, state):
    """(a, m, S, L): L is 2 m x 2 m."""
    _, _, a, m = parameters
    totals, _, _, S = state
    size = 2 * int(m)
    return a, int(m), S, totals[FACTOR:].reshape(size, size)


@inlined
def _forward(L, filled, c):
    """c <- L^-1 c, for the first `filled` rows."""
    for i in range(filled):
        for j in range(i):
            c[i] = fma(-L[i, j], c[j], c[i])
        c[i] /= L[i, i]


@inlined
def _backward(L, filled, c):
    """c <- L'^-1 c."""
    for i in range(filled - 1, -1, -1):
        c[i] /= L[i, i]
        for j in range(i):
            c[j] = fma(-L[i, j], c[i], c[j])


@inlined
def _solve(parameters, state, x, z):
    """z = A^-1 x; returns x'z."""
    a, m, S, L = _unpack(parameters, state)
    filled = m + int(state[0][TAKEN])
    c = np.empty(2 * m)
    for i in range(filled):
        c[i] = dot(S[i], x)
    _forward(L, filled, c)
    _backward(L, filled, c)
    z[:] = x
    for i in range(filled):
        for j in range(x.size):
            z[j] = fma(-c[i], S[i, j], z[j])
    for j in range(x.size):
        z[j] /= a
    return dot(x, z)


@inlined
def _compress(parameters, state):
    """Keep the m largest directions, shortened by the m-th eigenvalue."""
    a, m, S, L = _unpack(parameters, state)
    size = 2 * m
    K = np.empty((size, size))
    E = np.empty((size, size))
    for i in range(size):
        for j in range(i, size):
            K[i, j] = dot(S[i], S[j])
            K[j, i] = K[i, j]
    diagonalise(K, E)
    values = np.array([K[i, i] for i in range(size)])
    order = np.argsort(-values, kind="mergesort")
    least = max(values[order[m - 1]], 0.0)
    L[:] = 0.0
    shrink = np.zeros(m)
    for i in range(m):
        value = values[order[i]]
        L[i, i] = math.sqrt(a + max(value - least, 0.0))
        if value > least:
            shrink[i] = math.sqrt((value - least) / value)
    column = np.empty(size)
    for j in range(S.shape[1]):
        column[:] = S[:, j]
        S[:, j] = 0.0
        for i in range(m):
            for k in range(size):
                S[i, j] = fma(E[order[i], k] * shrink[i], column[k], S[i, j])
    state[0][TAKEN] = 0.0


@inlined
def _add(parameters, state, q, root, work):
    """Put r = root q into the next empty row of the sketch, and its row into L."""
    a, m, S, L = _unpack(parameters, state)
    filled = m + int(state[0][TAKEN])
    r = S[filled]
    for j in range(q.size):
        r[j] = root * q[j] + 0.0  # no -0, which could differ in columns without a value
    c = L[filled]
    for i in range(filled):
        c[i] = dot(S[i], r) + 0.0
    _forward(L, filled, c)
    rest = a + dot(r, r)
    for i in range(filled):
        rest = fma(-c[i], c[i], rest)
    c[filled] = math.sqrt(max(rest, a))  # without rounding it would never be less
    state[0][TAKEN] += 1
    if filled + 1 == 2 * m:
        _compress(parameters, state)


@inlined
def update(parameters, state, x, trial, work):
    newton_step(_solve, _add, parameters, state, x, trial, work)


@kernel
def run(parameters, loss, block, targets, weights, scores, state, work):
    return loop(predict, update, parameters, loss, block, targets, weights, scores, state, work)


class FdSon(SketchedSon):
    """Online Newton with a sketch by frequent directions.

    >>> from unitless.baselines import example_loss
    >>> example_loss(FdSon(C=5.0))
    '0.2241'
    """

    name = "fd_son"
    run = staticmethod(run)

    def _totals(self) -> int:
        return FACTOR + (2 * self.m) ** 2

    def _matrix(self, coordinates: int) -> tuple[int, int]:
        return 2 * self.m, coordinates

    def _initialise(self, state: DenseState, first: int) -> None:
        if first == 0:
            size = 2 * self.m
            state.totals[FACTOR : FACTOR + self.m * size : size + 1] = math.sqrt(self.a)
