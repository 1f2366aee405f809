cimport cython

from unitless.core.array cimport Array
from unitless.core.stateful cimport Stateful


@cython.final
cdef class Posterior(Stateful):
    cdef readonly Array U           # P = U D U': column after column
    cdef readonly Array D
    cdef readonly Array w           # weights, one class after another
    cdef readonly Array s2          # sum x^2
    cdef readonly Array woke        # the first trial with x != 0
    cdef readonly Array prior       # s2/n as it is in P
    cdef readonly Py_ssize_t m      # coordinates, a multiple of 8
    cdef readonly Py_ssize_t classes
    cdef public double strength     # lambda
    cdef Array f                    # of the direction at hand: U'x
    cdef Array S                    # S_j = sum_{i < j} D_i f_i^2
    cdef Array Px                   # P x
    cdef Array e                    # room for one number per class

    cdef int resize(self, Py_ssize_t m) except -1 nogil
    cdef int add_class(self) except -1 nogil
    cdef double look(self, const double* x) noexcept nogil
    cdef void step(self, const double* e, double c, Py_ssize_t first) noexcept nogil
    cdef void initialise(self, Py_ssize_t i, double x, double t) noexcept nogil
    cdef bint is_due(self, double t, double last) noexcept nogil
    cdef void refresh_prior(self, double t) noexcept nogil

    cdef double _leverage(self) noexcept nogil
    cdef double _look_along(self, Py_ssize_t i) noexcept nogil
    cdef void _downdate(self, double c, Py_ssize_t first) noexcept nogil
    cdef int _make_room(self) except -1 nogil


cdef inline bint is_out_of_range(double x, double s2) noexcept nogil:
    """Whether a value is far beyond all before it, as the first nonzero value always is.

    Weights learned from values 2^13 times smaller do not apply. At the end of float64, squares
    below 2^-1000 count as 0.
    """
    return x * x > max(2.0**26 * s2, 2.0**-1000)
