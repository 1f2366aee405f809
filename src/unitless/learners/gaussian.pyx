"""A Gaussian posterior over the weights of a linear model, updated in O(d^2) per row.

The covariance is P = U D U' with U unit upper triangular and D diagonal (Bierman 1977). It stays
positive in spite of rounding, while P itself would lose all digits after a sample weight of 1e9. A
row x whose loss has the slope -e and the curvature c at its score moves the posterior by::

    f = U'x;   S_j = sum_{i < j} D_i f_i^2;   s = x'P x = S_d
    w += P x e / (1 + c s);   P -= c / (1 + c s) P x x'P

Each feature has the prior precision lambda s2/n: its mean square over the n rows since it was first
nonzero. It is part of P, and updated from time to time, as the estimate s2/n improves.

Several classes share P, and each has its weights w. The number of coordinates is a multiple of 8.
"""

import numpy as np

cimport cython
from libc.string cimport memset

from unitless.core.arithmetic cimport Room, Values, clipped, dot, fused
from unitless.core.array cimport Array, numbers
from unitless.core.stateful cimport Stateful

from unitless.state import MOST_ROWS, Field, need

cdef double CERTAIN = 2.0**100      # a precision this much larger leaves no digit of the variance
cdef double MAX_COEFFICIENT = 2.0**600   # a column that grows 2^9 times per row could raise w without end
cdef double EARLY = 256             # the prior is updated when t has grown by this factor: up to
cdef double EARLY_GROWTH = 1.25     # EARLY rows by EARLY_GROWTH,
cdef double GROWTH = 2.0            # later by GROWTH


cdef inline void two_columns(
    Room left, Room right, Room Px, Py_ssize_t n,
    double shift_left, double shift_right, double gain_left, double gain_right,
) noexcept nogil:
    """U_j += shift Px;   Px += gain U_j, as it was: for two columns, so that Px is read once."""
    cdef Py_ssize_t i
    cdef double old_left, old_right, middle
    for i in range(n):
        old_left = left[i]
        old_right = right[i]
        left[i] = fused(shift_left, Px[i], old_left)
        middle = fused(gain_left, old_left, Px[i])
        right[i] = fused(shift_right, middle, old_right)
        Px[i] = fused(gain_right, old_right, middle)


cdef inline void move_weights(Room w, Values Px, double rate, Py_ssize_t m) noexcept nogil:
    """w += rate P x"""
    cdef Py_ssize_t i
    for i in range(m):
        w[i] = clipped(fused(rate, Px[i], w[i]), MAX_COEFFICIENT)


@cython.final
cdef class Posterior(Stateful):
    """P = U D U', the weights of each class, and the sizes of the features.

    >>> posterior = Posterior(8, strength=3.0, classes=2)
    >>> posterior.m, len(posterior.U), len(posterior.w)
    (8, 64, 16)
    """

    saved = (
        Field("U", "x_j/x_i", "triangular factor, P = U D U', column after column", ("m m",)),
        Field("D", "1/x^2", "variances, the diagonal of D", ("m",), low=0.0),
        Field("w", "1/x", "weights, one class after another", ("classes m",)),
        Field("s2", "x^2", "sum of squares, sum x_i^2", ("m",)),
        Field("woke", "1", "the first trial with x_i != 0", ("m",), low=0.0, high=MOST_ROWS),
        Field("prior", "x^2", "prior precision, s2/n as it is in P", ("m",)),
    )

    def __cinit__(self, *args, **given):
        self.U = numbers(0)
        self.D = numbers(0)
        self.w = numbers(0)
        self.s2 = numbers(0)
        self.woke = numbers(0)
        self.prior = numbers(0)
        self.f = numbers(0)
        self.S = numbers(0)
        self.Px = numbers(0)

    def __init__(self, Py_ssize_t m, double strength=1.0, Py_ssize_t classes=1):
        self.strength = strength
        self.classes = classes
        self.e = numbers(classes)
        self.resize(m)

    def _arguments(self):
        return {"m": self.m, "strength": self.strength, "classes": self.classes}

    def _sizes(self):
        return {"m": len(self.s2), "classes": self.classes}

    def _loaded(self):
        cdef Py_ssize_t m = len(self.s2)
        need(m % 8 == 0, f"{m} coordinates are not whole lanes")
        U = np.array(self.U).reshape(m, m)
        need((U == np.tril(U)).all() and (U.diagonal() == 1).all(), "U is not unit triangular")
        self.m = m
        self._make_room()

    cdef int _make_room(self) except -1 nogil:
        """Room for m coordinates in f, S and Px."""
        self.f.resize(self.m)
        self.S.resize(self.m + 1)
        self.Px.resize(self.m)
        return 0

    cdef int resize(self, Py_ssize_t m) except -1 nogil:
        """Have m coordinates at least; new ones are uncorrelated with the others."""
        cdef Py_ssize_t old = self.m
        cdef Py_ssize_t i, j, k
        cdef double* U
        cdef double* w
        if m <= old:
            return 0
        self.U.resize(m * m)
        U = self.U.at
        for j in range(old - 1, 0, -1):  # columns move apart, the last one first
            for i in range(old - 1, -1, -1):
                U[j * m + i] = U[j * old + i]
        for j in range(m):
            for i in range(old if j < old else 0, m):
                U[j * m + i] = 1.0 if i == j else 0.0
        self.w.resize(self.classes * m)
        w = self.w.at
        for k in range(self.classes - 1, -1, -1):
            for i in range(old - 1, -1, -1):
                w[k * m + i] = w[k * old + i]
            memset(w + k * m + old, 0, (m - old) * sizeof(double))
        self.D.resize(m)
        self.s2.resize(m)
        self.woke.resize(m)
        self.prior.resize(m)
        self.m = m
        return self._make_room()

    cdef int add_class(self) except -1 nogil:
        """Add one class, whose weights are 0."""
        self.w.resize((self.classes + 1) * self.m)
        self.e.resize(self.classes + 1)
        self.classes += 1
        return 0

    cdef double look(self, const double* x) noexcept nogil:
        """Fill in f = U'x and S for a row; returns s = x'P x."""
        cdef double* f = self.f.at
        cdef Py_ssize_t m = self.m
        cdef Py_ssize_t j
        for j in range(m):
            f[j] = dot(self.U.at + j * m, x, (j // 8 + 1) * 8)
        return self._leverage()

    cdef double _look_along(self, Py_ssize_t i) noexcept nogil:
        """Fill in f and S for the direction of coordinate i; returns its variance."""
        cdef Py_ssize_t m = self.m
        cdef Py_ssize_t j
        for j in range(m):
            self.f.at[j] = self.U.at[j * m + i]
        return self._leverage()

    cdef double _leverage(self) noexcept nogil:
        """Fill in S_j = sum_{i < j} D_i f_i^2; returns the last, x'P x.

        Where D is 0, nothing is left to learn: f becomes 0, so that U stops growing there.
        """
        cdef double* f = self.f.at
        cdef double* S = self.S.at
        cdef const double* D = self.D.at
        cdef Py_ssize_t j
        S[0] = 0.0
        for j in range(self.m):
            f[j] = f[j] if D[j] > 0 else 0.0
            S[j + 1] = fused(D[j] * f[j], f[j], S[j])
        return S[self.m]

    cdef void step(self, const double* e, double c, Py_ssize_t first) noexcept nogil:
        """One Newton step from slopes -e, one per class, and the curvature c; f is 0 before `first`."""
        cdef Py_ssize_t m = self.m
        cdef Py_ssize_t k
        self._downdate(c, first)
        for k in range(self.classes):
            move_weights(self.w.at + k * m, self.Px.at, e[k] / (1.0 + c * self.S.at[m]), m)

    cdef void _downdate(self, double c, Py_ssize_t first) noexcept nogil:
        """P -= c / (1 + c s) P x x'P, and Px = P x as it was; f is 0 before `first`.

        Column by column, each from the values before::

            U_j -= c f_j / (1 + c S_j) Px;   Px += D_j f_j U_j;   D_j *= (1 + c S_j) / (1 + c S_j+1)
        """
        cdef const double* f = self.f.at
        cdef const double* S = self.S.at
        cdef double* D = self.D.at
        cdef double* Px = self.Px.at
        cdef double* U_j
        cdef Py_ssize_t m = self.m
        cdef Py_ssize_t j
        memset(Px, 0, m * sizeof(double))
        for j in range(first // 2 * 2, m, 2):
            U_j = self.U.at + j * m  # zeros below the diagonal, and Px_i is 0 until column i
            two_columns(
                U_j, U_j + m, Px, (j // 8 + 1) * 8,
                -c * f[j] / (1.0 + c * S[j]), -c * f[j + 1] / (1.0 + c * S[j + 1]),
                D[j] * f[j], D[j + 1] * f[j + 1],
            )
        for j in range(first, m):
            D[j] *= (1.0 + c * S[j]) / (1.0 + c * S[j + 1])

    cdef void initialise(self, Py_ssize_t i, double x, double t) noexcept nogil:
        """Start coordinate i with the prior of the value x; its former weight is forgotten.

        The other weights stay, as if the former weight of coordinate i had been known exactly.
        """
        cdef double* U = self.U.at
        cdef Py_ssize_t m = self.m
        cdef Py_ssize_t j, k
        cdef double variance = self._look_along(i)
        if variance > 0:
            self._downdate(CERTAIN / variance, i)
        for j in range(m):
            U[i * m + j] = 0.0
            U[j * m + i] = 0.0
        U[i * m + i] = 1.0
        for k in range(self.classes):
            self.w.at[k * m + i] = 0.0
        self.s2.at[i] = x * x
        self.prior.at[i] = x * x
        self.woke.at[i] = t
        self.D.at[i] = 1.0 / (self.strength * self.prior.at[i])

    cdef bint is_due(self, double t, double last) noexcept nogil:
        """Whether the prior should be updated: often at first, then when t has doubled.

        But not within d / 16 rows, since it costs as much as d of them; d features are in use.
        """
        cdef Py_ssize_t i
        cdef double d = 0.0
        if t < (EARLY_GROWTH if t <= EARLY else GROWTH) * last:
            return False
        for i in range(self.m):
            d += 1.0 if self.s2.at[i] > 0 else 0.0
        return t - last >= d / 16

    cdef void refresh_prior(self, double t) noexcept nogil:
        """Update the prior to the current s2/n: one step in the direction of each feature.

        P^-1 grows by lambda times the change of s2/n. P^-1 w stays, so the slope is that of the
        change, c w_i^2 / 2.
        """
        cdef const double* s2 = self.s2.at
        cdef const double* w = self.w.at
        cdef double* prior = self.prior.at
        cdef double* e = self.e.at
        cdef double new, c, variance
        cdef Py_ssize_t i, k
        for i in range(self.m):
            new = s2[i] / (t - self.woke.at[i] + 1) if s2[i] > 0 else 0.0
            c = self.strength * (new - prior[i])
            if c == 0:
                continue
            variance = self._look_along(i)
            if c < 0 and (1.0 + c * variance) * prior[i] < new / 2:
                continue  # variance < 1 / (lambda prior) was lost in rounding
            for k in range(self.classes):
                e[k] = clipped(-c * w[k * self.m + i], MAX_COEFFICIENT)
            self.step(e, c, i)
            prior[i] = new
