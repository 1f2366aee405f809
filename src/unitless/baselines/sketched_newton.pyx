"""Sketched online Newton: with the full matrix, by frequent directions, and by Oja's rule.

Luo, Agarwal, Cesa-Bianchi, Langford, "Efficient Second Order Online Learning by Sketching" (2016).
The step is projected in each trial to the weights with |w.x_t| <= C. With q = g x and
eta_t = rate / (C sqrt(t))::

    w = u - tau(u.x) A^-1 x / (x'A^-1 x),   tau(z) = sgn(z) max(|z| - C, 0);    p = w.x
    A += eta_t q q',  A = a I at the start;   u = w - A^-1 q

The three differ in how they keep A. a is added to numbers of unit [x_i]^2, so units matter;
rotations do not. The vector w of the state is u.

>>> from unitless.testing import example_loss
>>> for learner in (Son(C=5.0), FdSon(C=5.0), OjaSon(C=5.0)):
...     print(learner.name, example_loss(learner))
son 0.2242
fd_son 0.2241
oja_son 0.2297
"""

import math

import numpy as np

cimport cython
from libc.math cimport NAN, sqrt
from libc.string cimport memcpy, memset

from unitless.baselines.dense cimport (
    DenseLearner,
    add_multiple,
    divide,
    set_multiple,
    widen_rows,
)
from unitless.baselines.full_matrix cimport FullMatrixLearner
from unitless.core.arithmetic cimport all_finite, dot
from unitless.core.array cimport Array, numbers
from unitless.core.pointers cimport numbers_in
from unitless.core.row cimport Row

from unitless.baselines.full_matrix import MATRIX
from unitless.core.parameters import Parameter
from unitless.state import Field, count

cdef double NOISE = 2.0**-46        # a direction shorter than this times |r| is rounding error
cdef Py_ssize_t MAX_DIRECTIONS = 1024
WEIGHTS = Field("w", "1/x", "weights before projection, u", ("n",))
NEWTON = (
    Parameter("C", 1.0, "the largest |prediction|"),
    Parameter("rate", 1.0, "of eta_t; the paper's theorem for the full matrix has sqrt(d)"),
    Parameter("a", 1.0, "A = a I at the start"),
)


cdef inline double clipped_score(
    DenseLearner learner, const double* x, double C
) noexcept nogil:
    """p = w.x = u.x, at most C away from 0"""
    return min(max(dot(learner.w.at, x, learner.n), -C), C)


cdef int newton_step(
    DenseLearner learner, const double* x, double v, double g, double C, double rate
) except -1 nogil:
    """Project u, add eta_t q q' to A, and take the step."""
    cdef double* u = learner.w.at
    cdef double* q = learner.q.at
    cdef double* step = learner.direction.at
    cdef Py_ssize_t n = learner.n
    cdef double tau = dot(u, x, n) - learner.p
    cdef double form
    if tau != 0:
        form = learner.solve(x, step)
        add_multiple(u, -(tau / form), step, n)
    if g == 0:
        return 0
    set_multiple(q, v * g, x, n)
    learner.add(q, sqrt(rate / (C * sqrt(learner.t))))
    learner.solve(q, step)
    add_multiple(u, -1.0, step, n)
    return 0


@cython.final
cdef class Son(FullMatrixLearner):
    """SON: the projected online Newton step with the full matrix.

    Luo et al. (2016), section 2. The paper claims invariance to linear maps for a = 0; it does not
    hold, and with a > 0 it is not claimed. Checked: w minimises (w - u)'A(w - u) on the set
    (Lagrange), hence p is u.x clipped to +-C; and the inequality behind the paper's Theorem 1,
    sum q.(w - v) <= (a |v|^2 + sum eta_t (q.(w - v))^2 + sum q'A^-1 q) / 2 for every v in all sets,
    holds (tests). That theorem has rate = sqrt(d), but the number of features seen so far is not
    rotation-invariant.
    """

    name = "son"
    needs = ("C",)
    parameters = NEWTON
    saved = (*DenseLearner.saved, WEIGHTS, *MATRIX)

    cdef public double C
    cdef public double rate

    cdef double predict_row(self, const Row* row, const double* x) noexcept nogil:
        return clipped_score(self, x, self.C)

    cdef int learn_row(self, const double* x, double v, double y, double g) except -1 nogil:
        return newton_step(self, x, v, g, self.C, self.rate)


cdef class SketchedSon(DenseLearner):
    """Base of the two forms that keep a sketch of A with a few rows."""

    needs = ("C",)
    parameters = (
        *NEWTON,
        Parameter("m", 10, "the number of directions in the sketch", "whole number >= 1"),
    )

    cdef public double C
    cdef public double rate
    cdef public double a
    cdef public Py_ssize_t m

    def _prepare(self):
        if self.m > MAX_DIRECTIONS:
            raise ValueError(f"m = {self.m}: a sketch has at most {MAX_DIRECTIONS} directions")
        self._empty_sketch()
        super()._prepare()

    def _empty_sketch(self):
        """Make what does not depend on the number of coordinates."""

    cdef double predict_row(self, const Row* row, const double* x) noexcept nogil:
        return clipped_score(self, x, self.C)

    cdef int learn_row(self, const double* x, double v, double y, double g) except -1 nogil:
        return newton_step(self, x, v, g, self.C, self.rate)


cdef inline void forward(
    const double* L, Py_ssize_t size, Py_ssize_t filled, double* c
) noexcept nogil:
    """c <- L^-1 c, for the first `filled` rows."""
    cdef Py_ssize_t i, j
    for i in range(filled):
        for j in range(i):
            c[i] -= L[i * size + j] * c[j]
        c[i] /= L[i * size + i]


@cython.final
cdef class FdSon(SketchedSon):
    """FD-SON: online Newton whose matrix is a sketch of 2 m rows, by frequent directions.

    Luo et al. (2016), algorithms 1 and 2. SON with A = a I + S'S, where S has 2 m rows and takes
    r = sqrt(eta_t) q into the next empty one; when none is left, with the eigenvalues
    lambda_1 >= lambda_2 >= ... and eigenvectors v_i of S'S::

        S <- rows sqrt(lambda_i - lambda_m) v_i for i <= m, m empty rows

    A^-1 x takes a triangular factor L L' = a I + S S', to which a new row of S adds one row.
    Checked: with m > d nothing is thrown away, and the predictions are those of SON (tests).
    """

    name = "fd_son"
    saved = (
        *DenseLearner.saved,
        WEIGHTS,
        Field("S", "x", "the sketch, row after row", ("size n",)),
        Field("L", "x", "triangular factor, L L' = a I + S S', row after row", ("size size",)),
        count("rows", "rows of the sketch in use beyond the first m", "last"),
    )

    cdef readonly Array S
    cdef readonly Array L
    cdef public Py_ssize_t rows
    cdef Array c                # room for a vector in the space of the rows
    cdef Array kept             # room for a sketch

    def __cinit__(self, *args, **given):
        self.S = numbers(0)
        self.L = numbers(0)
        self.c = numbers(0)
        self.kept = numbers(0)

    def _empty_sketch(self):
        L = np.zeros((2 * self.m, 2 * self.m))
        np.fill_diagonal(L[: self.m], math.sqrt(self.a))
        self.L.replace(L.ravel())
        self.c.resize(2 * self.m)

    def _sizes(self):
        return super()._sizes() | {"size": 2 * self.m, "last": self.m - 1}

    cdef int widen(self, Py_ssize_t n) except -1 nogil:
        widen_rows(self.S, 2 * self.m, self.n, n)
        return SketchedSon.widen(self, n)

    cdef bint is_finite(self) noexcept nogil:
        return (
            all_finite(self.w.at, self.n)
            and all_finite(self.S.at, 2 * self.m * self.n)
            and all_finite(self.L.at, 4 * self.m * self.m)
        )

    cdef double solve(self, const double* x, double* z) noexcept nogil:
        """A^-1 x = (x - S'(a I + S S')^-1 S x) / a."""
        cdef const double* S = self.S.at
        cdef const double* L = self.L.at
        cdef double* c = self.c.at
        cdef Py_ssize_t n = self.n
        cdef Py_ssize_t size = 2 * self.m
        cdef Py_ssize_t filled = self.m + self.rows
        cdef Py_ssize_t i, j
        for i in range(filled):
            c[i] = dot(S + i * n, x, n)
        forward(L, size, filled, c)
        for i in range(filled - 1, -1, -1):  # c <- L'^-1 c
            c[i] /= L[i * size + i]
            for j in range(i):
                c[j] -= c[i] * L[i * size + j]
        memcpy(z, x, n * sizeof(double))
        for i in range(filled):
            add_multiple(z, -c[i], S + i * n, n)
        divide(z, self.a, n)
        return dot(x, z, n)

    cdef int add(self, const double* q, double root) except -1 nogil:
        """Put r = root q into the next empty row of the sketch, and its row into L."""
        cdef Py_ssize_t n = self.n
        cdef Py_ssize_t size = 2 * self.m
        cdef Py_ssize_t filled = self.m + self.rows
        cdef const double* S = self.S.at
        cdef double* r = self.S.at + filled * n
        cdef double* c = self.L.at + filled * size
        cdef double rest
        cdef Py_ssize_t i, j
        for j in range(n):
            r[j] = root * q[j] + 0.0  # no -0, which could differ in columns without a value
        for i in range(filled):
            c[i] = dot(S + i * n, r, n) + 0.0
        forward(self.L.at, size, filled, c)
        rest = self.a + dot(r, r, n)
        for i in range(filled):
            rest -= c[i] * c[i]
        c[filled] = sqrt(max(rest, self.a))  # without rounding it would never be less
        self.rows += 1
        if self.rows == self.m:
            self.rows = 0
            with gil:
                self._compress()
        return 0

    def _compress(self):
        """Keep the m largest directions, shortened by the m-th eigenvalue."""
        cdef Py_ssize_t n = self.n
        cdef Py_ssize_t size = 2 * self.m
        products = np.empty((size, size))
        cdef double* K = numbers_in(products)
        cdef double* S = self.S.at
        cdef double* L = self.L.at
        cdef double* kept
        cdef const double* values
        cdef const double* E
        cdef double least, value, shrink
        cdef Py_ssize_t i, j, k
        for i in range(size):
            for j in range(size):
                K[i * size + j] = dot(S + i * n, S + j * n, n)
        if not np.isfinite(products).all():
            S[0] = NAN  # refused by `is_finite`
            return
        eigenvalues, eigenvectors = np.linalg.eigh(products)  # smallest first
        eigenvectors = np.ascontiguousarray(eigenvectors)
        values = numbers_in(eigenvalues)
        E = numbers_in(eigenvectors)
        self.kept.resize(size * n)
        kept = self.kept.at
        memset(kept, 0, size * n * sizeof(double))
        memset(L, 0, size * size * sizeof(double))
        least = max(values[size - self.m], 0.0)
        for i in range(self.m):
            j = size - 1 - i
            value = values[j]
            L[i * size + i] = sqrt(self.a + max(value - least, 0.0))
            if value > least:
                shrink = sqrt((value - least) / value)
                for k in range(size):
                    add_multiple(kept + i * n, E[k * size + j] * shrink, S + k * n, n)
        memcpy(S, kept, size * n * sizeof(double))


cdef void orthogonalise(
    const double* V, Py_ssize_t count, double* z, Py_ssize_t n
) noexcept nogil:
    """Take from z its components along the first rows of V; twice, as once leaves noise."""
    cdef Py_ssize_t i
    for _ in range(2):
        for i in range(count):
            add_multiple(z, -dot(V + i * n, z, n), V + i * n, n)


@cython.final
cdef class OjaSon(SketchedSon):
    """Oja-SON: online Newton whose matrix is a sketch of m directions, by Oja's rule.

    Luo et al. (2016), algorithms 1 and 3; Vowpal Wabbit's `--OjaNewton`. SON with
    A = a I + t V' diag(Lambda) V. With r = sqrt(eta_t) q and steps 1/t::

        Lambda <- (1 - 1/t) Lambda + (V r)^2 / t;    V <- orthonormal rows from V + (V r) r' / t

    The state has e = t Lambda, for which the first line is e += (V r)^2. The paper starts with any
    orthonormal V. Here rows of V open one by one, with what the first r's have outside of those
    before: that is the method for the V it ends up with, because a direction orthogonal to all r so
    far has not moved, and it is rotation-invariant. Checked against Vowpal Wabbit's source, which
    starts at random, halves g, has twice the step, and divides features by the root of their sum of
    squares.
    """

    name = "oja_son"
    saved = (
        *DenseLearner.saved,
        WEIGHTS,
        Field("V", "1", "orthonormal rows, one after another", ("m n",)),
        Field("e", "x^2", "estimated eigenvalues, t Lambda", ("m",)),
        count("rows", "rows of V in use", "m"),
    )

    cdef readonly Array V
    cdef readonly Array e
    cdef public Py_ssize_t rows
    cdef Array r
    cdef Array rest

    def __cinit__(self, *args, **given):
        self.V = numbers(0)
        self.e = numbers(0)
        self.r = numbers(0)
        self.rest = numbers(0)

    def _empty_sketch(self):
        self.e.resize(self.m)

    def _sizes(self):
        return super()._sizes() | {"m": self.m}

    cdef int widen(self, Py_ssize_t n) except -1 nogil:
        widen_rows(self.V, self.m, self.n, n)
        return SketchedSon.widen(self, n)

    cdef int make_room(self) except -1 nogil:
        self.r.resize(self.n)
        self.rest.resize(self.n)
        return SketchedSon.make_room(self)

    cdef bint is_finite(self) noexcept nogil:
        return (
            all_finite(self.w.at, self.n)
            and all_finite(self.V.at, self.m * self.n)
            and all_finite(self.e.at, self.m)
        )

    cdef double solve(self, const double* x, double* z) noexcept nogil:
        """A^-1 x = (x - V' diag(e / (a + e)) V x) / a."""
        cdef const double* V = self.V.at
        cdef Py_ssize_t n = self.n
        cdef Py_ssize_t i
        cdef double e
        memcpy(z, x, n * sizeof(double))
        for i in range(self.rows):
            e = self.e.at[i]
            add_multiple(z, -(e / (self.a + e) * dot(V + i * n, x, n)), V + i * n, n)
        divide(z, self.a, n)
        return dot(x, z, n)

    cdef int add(self, const double* q, double root) except -1 nogil:
        """Oja's step towards r = root q."""
        cdef double* V = self.V.at
        cdef double* r = self.r.at
        cdef double* rest = self.rest.at
        cdef Py_ssize_t n = self.n
        cdef Py_ssize_t i
        cdef double size, b
        set_multiple(r, root, q, n)
        memcpy(rest, r, n * sizeof(double))
        orthogonalise(V, self.rows, rest, n)
        size = sqrt(dot(rest, rest, n))
        if self.rows < self.m and size > NOISE * sqrt(dot(r, r, n)):
            memcpy(V + self.rows * n, rest, n * sizeof(double))
            divide(V + self.rows * n, size, n)
            self.rows += 1
        for i in range(self.rows):
            b = dot(V + i * n, r, n)
            self.e.at[i] = self.e.at[i] + b * b
            add_multiple(V + i * n, b / self.t, r, n)
        for i in range(self.rows):
            orthogonalise(V, i, V + i * n, n)
            divide(V + i * n, sqrt(dot(V + i * n, V + i * n, n)), n)
        return 0
