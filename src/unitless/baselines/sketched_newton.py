"""Sketched online Newton: with the full matrix, by frequent directions, and by Oja's rule.

Luo, Agarwal, Cesa-Bianchi, Langford, "Efficient Second Order Online Learning by Sketching" (2016).
The step is projected in each trial to the weights with |w.x_t| <= C. With q = g x and
eta_t = rate / (C sqrt(t))::

    w = u - tau(u.x) A^-1 x / (x'A^-1 x),   tau(z) = sgn(z) max(|z| - C, 0);    p = w.x
    A += eta_t q q',  A = a I at the start;   u = w - A^-1 q

The three differ in how they keep A. a is added to numbers of unit
[x_i]^2, so units matter; rotations do not.

>>> from unitless.testing import example_loss
>>> for learner in (Son(C=5.0), FdSon(C=5.0), OjaSon(C=5.0)):
...     print(learner.name, example_loss(learner))
son 0.2242
fd_son 0.2241
oja_son 0.2297
"""

import math

import numpy as np

from unitless.baselines import full_matrix
from unitless.baselines.baseline import Baseline, parameter
from unitless.baselines.dense import DenseLearner, DenseState, loop
from unitless.baselines.full_matrix import DIAGONAL, FullMatrixLearner
from unitless.kernels.arithmetic import dot
from unitless.kernels.decorators import inlined, kernel, pasted, subroutine
from unitless.learners.base import Field
from unitless.learners.loop import T
from unitless.state import checked_count

ROWS = 1  # total: rows of the sketch in use, of FD-SON beyond the first m
REST = 2  # where the other totals start: L of FD-SON, e of Oja-SON
NOISE = 2.0**-46  # a direction shorter than this times |r| is rounding error
WEIGHTS = Field("u", "1/x", "weights before projection")


@inlined
def clipped_score(parameters, state, x, v, work):
    C = parameters[0]
    return min(max(dot(state[2][0], x), -C), C)


@pasted
def newton_step(solve, add, parameters, state, x, trial, work):
    """Project u, add eta_t q q' to A, and take the step.

    `solve(parameters, state, x, z)` sets z = A^-1 x and returns x'z;
    `add(parameters, state, q, root, work)` does A += root^2 q q'.
    """
    C = parameters[0]
    rate = parameters[1]
    totals, _, vectors, _ = state
    u = vectors[0]
    v, _, p, g = trial
    q = work[0]
    step = work[1]
    tau = dot(u, x) - p
    if tau != 0:
        form = solve(parameters, state, x, step)
        u -= tau / form * step
    if g == 0:
        return
    q[:] = v * g * x
    add(parameters, state, q, math.sqrt(rate / (C * math.sqrt(totals[T]))), work[2:])
    solve(parameters, state, q, step)
    u -= step


class NewtonParameters(Baseline):
    """The parameters of all three."""

    C: float = parameter(1.0, "the largest |prediction|")
    rate: float = parameter(1.0, "of eta_t; the paper's theorem for the full matrix has sqrt(d)")
    a: float = parameter(1.0, "A = a I at the start")
    needs = ("C",)


@pasted
def son_step(parameters, state, x, trial, work):
    newton_step(full_matrix.solve, full_matrix.add, parameters, state, x, trial, work)


@kernel
def run_son(parameters, loss, data, state):
    return loop(clipped_score, son_step, parameters, loss, data, state)


class Son(NewtonParameters, FullMatrixLearner):
    """SON: the projected online Newton step with the full matrix.

    Luo et al. (2016), section 2. The paper claims invariance to linear maps for a = 0; it does not
    hold, and with a > 0 it is not claimed. Checked: w minimises (w - u)'A(w - u) on the set
    (Lagrange), hence p is u.x clipped to +-C; and the inequality behind the paper's Theorem 1,
    sum q.(w - v) <= (a |v|^2 + sum eta_t (q.(w - v))^2 + sum q'A^-1 q) / 2 for every v in all sets,
    holds (tests). That theorem has rate = sqrt(d), but the number of features seen so far is not
    rotation-invariant.
    """

    name = "son"
    vectors = (WEIGHTS, DIAGONAL)
    kernel = staticmethod(run_son)


class SketchedSon(NewtonParameters, DenseLearner):
    """Base of the two forms that keep a sketch of A with a few rows."""

    m: int = parameter(10, "the number of directions in the sketch", "whole number >= 1")

    vectors = (WEIGHTS,)


@inlined
def forward(L, filled, c):
    """c <- L^-1 c, for the first `filled` rows."""
    for i in range(filled):
        for j in range(i):
            c[i] -= L[i, j] * c[j]
        c[i] /= L[i, i]


@subroutine
def fd_solve(parameters, state, x, z):
    """A^-1 x = (x - S'(a I + S S')^-1 S x) / a."""
    totals, _, _, S = state
    filled = S.shape[0] // 2 + int(totals[ROWS])
    c = np.empty(filled)
    for i in range(filled):
        c[i] = dot(S[i], x)
    L = totals[REST:].reshape(S.shape[0], S.shape[0])
    forward(L, filled, c)
    for i in range(filled - 1, -1, -1):  # c <- L'^-1 c
        c[i] /= L[i, i]
        c[:i] -= c[i] * L[i, :i]
    z[:] = x
    for i in range(filled):
        z -= c[i] * S[i]
    z /= parameters[2]
    return dot(x, z)


@subroutine
def fd_add(parameters, state, q, root, work):
    """Put r = root q into the next empty row of the sketch, and its row into L."""
    a = parameters[2]
    totals, _, _, S = state
    filled = S.shape[0] // 2 + int(totals[ROWS])
    r = S[filled]
    r[:] = root * q + 0.0  # no -0, which could differ in columns without a value
    L = totals[REST:].reshape(S.shape[0], S.shape[0])
    c = L[filled]
    for i in range(filled):
        c[i] = dot(S[i], r) + 0.0
    forward(L, filled, c)
    rest = a + dot(r, r)
    for i in range(filled):
        rest -= c[i] * c[i]
    c[filled] = math.sqrt(max(rest, a))  # without rounding it would never be less
    totals[ROWS] += 1
    if filled + 1 == S.shape[0]:
        compress(S, L, a)
        totals[ROWS] = 0.0


@subroutine
def compress(S, L, a):
    """Keep the m largest directions, shortened by the m-th eigenvalue."""
    size = S.shape[0]
    K = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            K[i, j] = dot(S[i], S[j])
    if not np.isfinite(K).all():
        S[:] = np.nan  # refused by the loop
        return
    values, E = np.linalg.eigh(K)  # smallest first
    L[:] = 0.0
    kept = np.zeros((size, S.shape[1]))
    least = max(values[size - size // 2], 0.0)
    for i in range(size // 2):
        value = values[size - 1 - i]
        L[i, i] = math.sqrt(a + max(value - least, 0.0))
        if value > least:
            shrink = math.sqrt((value - least) / value)
            for k in range(size):
                kept[i] += E[k, size - 1 - i] * shrink * S[k]
    S[:] = kept


@pasted
def fd_step(parameters, state, x, trial, work):
    newton_step(fd_solve, fd_add, parameters, state, x, trial, work)


@kernel
def run_fd(parameters, loss, data, state):
    return loop(clipped_score, fd_step, parameters, loss, data, state)


class FdSon(SketchedSon):
    """FD-SON: online Newton whose matrix is a sketch of 2 m rows, by frequent directions.

    Luo et al. (2016), algorithms 1 and 2. SON with A = a I + S'S, where S has 2 m rows and takes
    r = sqrt(eta_t) q into the next empty one; when none is left, with the eigenvalues
    lambda_1 >= lambda_2 >= ... and eigenvectors v_i of S'S::

        S <- rows sqrt(lambda_i - lambda_m) v_i for i <= m, m empty rows

    A^-1 x takes a triangular factor L L' = a I + S S', to which a new row of S adds one row: it is
    in `totals`, and S is the matrix of the state. Checked: with m > d nothing is thrown away, and
    the predictions are those of SON (tests).
    """

    name = "fd_son"
    kernel = staticmethod(run_fd)

    def _loaded(self) -> None:
        super()._loaded()
        checked_count(self.state.totals[ROWS], self.m - 1)

    def _shape(self, coordinates: int) -> tuple[int, int]:
        return REST + (2 * self.m) ** 2, 2 * self.m

    def _fresh(self, coordinates: int) -> DenseState:
        state = super()._fresh(coordinates)
        size = 2 * self.m
        state.totals[REST : REST + self.m * size : size + 1] = math.sqrt(self.a)
        return state


@inlined
def orthogonalise(V, count, z):
    """Take from z its components along the first rows of V; twice, as once leaves noise."""
    for _ in range(2):
        for i in range(count):
            z -= dot(V[i], z) * V[i]


@subroutine
def oja_solve(parameters, state, x, z):
    a = parameters[2]
    totals, _, _, V = state
    z[:] = x
    for i in range(int(totals[ROWS])):
        e = totals[REST + i]
        z -= e / (a + e) * dot(V[i], x) * V[i]
    z /= a
    return dot(x, z)


@subroutine
def oja_add(parameters, state, q, root, work):
    """Oja's step towards r = root q."""
    totals, _, _, V = state
    count = int(totals[ROWS])
    r = work[0]
    rest = work[1]
    r[:] = root * q
    rest[:] = r
    orthogonalise(V, count, rest)
    size = math.sqrt(dot(rest, rest))
    if count < V.shape[0] and size > NOISE * math.sqrt(dot(r, r)):
        V[count] = rest / size
        count += 1
        totals[ROWS] = count
    for i in range(count):
        b = dot(V[i], r)
        totals[REST + i] += b * b
        V[i] += b / totals[T] * r
    for i in range(count):
        orthogonalise(V, i, V[i])
        V[i] /= math.sqrt(dot(V[i], V[i]))


@pasted
def oja_step(parameters, state, x, trial, work):
    newton_step(oja_solve, oja_add, parameters, state, x, trial, work)


@kernel
def run_oja(parameters, loss, data, state):
    return loop(clipped_score, oja_step, parameters, loss, data, state)


class OjaSon(SketchedSon):
    """Oja-SON: online Newton whose matrix is a sketch of m directions, by Oja's rule.

    Luo et al. (2016), algorithms 1 and 3; Vowpal Wabbit's `--OjaNewton`. SON with
    A = a I + t V' diag(Lambda) V. With r = sqrt(eta_t) q and steps 1/t::

        Lambda <- (1 - 1/t) Lambda + (V r)^2 / t;    V <- orthonormal rows from V + (V r) r' / t

    The totals have e = t Lambda, for which the first line is e += (V r)^2; V is the matrix of the
    state. The paper starts with any orthonormal V. Here rows of V open one by one, with what the
    first r's have outside of those before: that is the method for the V it ends up with, because a
    direction orthogonal to all r so far has not moved, and it is rotation-invariant. Checked
    against Vowpal Wabbit's source, which starts at random, halves g, has twice the step, and
    divides features by the root of their sum of squares.
    """

    name = "oja_son"
    kernel = staticmethod(run_oja)

    def _loaded(self) -> None:
        super()._loaded()
        checked_count(self.state.totals[ROWS], self.m)

    def _shape(self, coordinates: int) -> tuple[int, int]:
        return REST + self.m, self.m
