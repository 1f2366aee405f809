"""Running moments; moments.pyx explains them."""

from libc.math cimport sqrt

from unitless.core.arithmetic cimport Room, Values, fused
from unitless.core.array cimport Array
from unitless.core.stateful cimport Stateful


cdef inline void with_row(
    Values x, Values mean, Values m2, Values missing, double t, Py_ssize_t n,
    Room next_mean, Room next_m2, Room centred, Room squashed,
) noexcept nogil:
    """Centre and squash n columns of row t, and their moments with this row.

    Welford's update, which does not cancel. A column that comes late has been 0 before.
    """
    cdef double known, delta, now, away, m, root
    cdef bint present
    cdef Py_ssize_t k
    for k in range(n):
        present = x[k] == x[k]
        known = t - missing[k]
        delta = x[k] - mean[k] if present else 0.0
        now = mean[k] + delta / known if present else mean[k]
        away = x[k] - now if present else 0.0
        m = fused(delta, away, m2[k]) if present else m2[k]
        root = sqrt(m / max(known, 1.0) + away * away)
        centred[k] = away
        squashed[k] = away / (root if root > 0 else 1.0)
        next_mean[k] = now
        next_m2[k] = m


cdef class Moments(Stateful):
    cdef readonly Array mean            # by column
    cdef readonly Array m2
    cdef readonly Array missing
    cdef public double rows
    cdef Array next_mean                # the same once the row that was shown is learned
    cdef Array next_m2

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil
    cdef int show(
        self, const double* x, Py_ssize_t n, double* centred, double* squashed
    ) except -1 nogil
    cdef void learn(self, const double* x, Py_ssize_t n) noexcept nogil
