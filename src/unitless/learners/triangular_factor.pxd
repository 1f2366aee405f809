cimport cython

from unitless.core.array cimport Array
from unitless.core.learner cimport GradientLearner
from unitless.core.row cimport Row
from unitless.core.stateful cimport Stateful
from unitless.learners.givens cimport Rest


@cython.final
cdef class Factor(Stateful):
    cdef readonly Array U               # S = U'DU: row k, position j; 1 on the diagonal
    cdef readonly Array D               # squares of R's diagonal, R = D^(1/2) U
    cdef readonly Array z               # h = U'Dz: -sum g x in the basis of U's rows
    cdef readonly Array squares         # sum x^2, for the rank rule
    cdef readonly Array noise           # what rounding is known to leave, for the rank rule
    cdef readonly Array lost            # at most this part of h was dropped as noise
    cdef readonly Array places          # the position of each coordinate, or -1
    cdef readonly Array coordinates     # the coordinate at each position
    cdef public Py_ssize_t rank
    cdef readonly Py_ssize_t n          # positions
    cdef Py_ssize_t stride              # numbers per row of U; some are spare
    # Of the row at hand, by position:
    cdef Array w                        # what is left of it
    cdef Array row                      # sizes to which the errors of its entries are proportional
    cdef Array c2                       # `squares` with this row in it
    cdef Array a                        # the last column of the identity matrix, D^(1/2) taken out
    # Room for the rank rule:
    cdef Array theta
    cdef Array sizes
    cdef Array rotated_U
    cdef Array rotated_D
    cdef Array rotated_z
    cdef Array rotated_w
    cdef Array rotated_a

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil
    cdef bint load(self, const Row* row, double v, bint keep) except -1 nogil
    cdef Rest add(self, bint keep, double t) noexcept nogil
    cdef void move(self, double g) noexcept nogil

    cdef int _activate(self, const Row* row) except -1 nogil
    cdef int _widen(self, Py_ssize_t n) except -1 nogil
    cdef int _make_room(self) except -1 nogil
    cdef int _make_room_for_copy(self) except -1 nogil
    cdef Rest _rotate_in(self, double wz, bint keep, double t) noexcept nogil
    cdef const double* _rotated(self, double wz) noexcept nogil
    cdef Py_ssize_t _largest_rest(self, double root, double size) noexcept nogil
    cdef Py_ssize_t _find_pivot(
        self, const double* U, double root, double size, double t
    ) noexcept nogil
    cdef double _noise_size(self, const double* U, Py_ssize_t j, double growth) noexcept nogil
    cdef void _drop(self, Py_ssize_t j, double part) noexcept nogil
    cdef void _open_row(self, Py_ssize_t pivot, Rest rest) noexcept nogil


cdef class FactorLearner(GradientLearner):
    cdef readonly Factor factor
