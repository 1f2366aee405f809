"""One row as learners see it, and blocks of rows."""

cdef struct Row:
    const double* values    # as given; NaN is a missing value
    const int* ids          # the column of each value; NULL: value k is of column k
    Py_ssize_t n            # the number of values
    const double* x         # the constant, the values (0 if missing), zeros up to whole lanes
    Py_ssize_t slots        # n + 1, rounded up to whole lanes
    double weight           # the sample weight, positive


cdef inline Py_ssize_t slots_of(Py_ssize_t n) noexcept nogil:
    """The slots of n values and the constant, rounded up to whole lanes."""
    return (n + 8) // 8 * 8


cdef inline void fill_slots(
    double* x, double constant, const double* values, Py_ssize_t n
) noexcept nogil:
    """x of a row: the constant, the values, and zeros."""
    cdef Py_ssize_t k
    x[0] = constant
    for k in range(n):
        x[k + 1] = values[k] if values[k] == values[k] else 0.0
    for k in range(n + 1, slots_of(n)):
        x[k] = 0.0


cdef class RowReader:
    cdef readonly Py_ssize_t rows
    cdef readonly Py_ssize_t columns
    cdef object kept                # the arrays that the pointers point into
    cdef const double* values
    cdef const int* ids
    cdef const long long* starts
    cdef const double* weights      # NULL: all 1
    cdef const double* targets      # NULL: the rows are scored only

    cdef void find(self, Py_ssize_t r, Row* row) noexcept nogil
    cdef bint learns(self, Py_ssize_t r) noexcept nogil
