from libc.string cimport memmove, memset

from unitless.core.arithmetic cimport Room, Values
from unitless.core.array cimport Array
from unitless.core.learner cimport GradientLearner
from unitless.core.row cimport Row


cdef class DenseLearner(GradientLearner):
    cdef readonly Array w           # a vector by coordinate, from which scores follow
    cdef readonly Py_ssize_t n      # coordinates that there is room for, a multiple of 8
    cdef Array dense                # the row at hand, by coordinate
    cdef Array q                    # its gradient
    cdef Array direction            # A^-1 times one of them

    cdef int widen(self, Py_ssize_t n) except -1 nogil
    cdef int make_room(self) except -1 nogil
    cdef double predict_row(self, const Row* row, const double* x) noexcept nogil
    cdef int learn_row(self, const double* x, double v, double y, double g) except -1 nogil
    cdef bint is_finite(self) noexcept nogil
    cdef double solve(self, const double* x, double* z) noexcept nogil
    cdef int add(self, const double* r, double root) except -1 nogil


cdef inline int widen_rows(
    Array matrix, Py_ssize_t rows, Py_ssize_t old, Py_ssize_t new
) except -1 nogil:
    """Give rows of `old` numbers `new` ones; the further ones are 0."""
    cdef double* at
    cdef Py_ssize_t k
    matrix.resize(rows * new)
    at = matrix.at
    for k in range(rows - 1, -1, -1):  # rows move apart, the last one first
        memmove(at + k * new, at + k * old, old * sizeof(double))
        memset(at + k * new + old, 0, (new - old) * sizeof(double))
    return 0


cdef inline void add_multiple(Room y, double a, Values x, Py_ssize_t n) noexcept nogil:
    """y += a x"""
    cdef Py_ssize_t j
    for j in range(n):
        y[j] += a * x[j]


cdef inline void set_multiple(Room y, double a, Values x, Py_ssize_t n) noexcept nogil:
    """y = a x"""
    cdef Py_ssize_t j
    for j in range(n):
        y[j] = a * x[j]


cdef inline void divide(Room y, double a, Py_ssize_t n) noexcept nogil:
    """y /= a"""
    cdef Py_ssize_t j
    for j in range(n):
        y[j] /= a
