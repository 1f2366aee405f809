cimport cython

from unitless.core.array cimport Array
from unitless.core.row cimport Row
from unitless.core.stateful cimport Stateful


@cython.final
cdef class Features(Stateful):
    cdef readonly Array ids         # feature of each column, -1 for one that was always 0
    cdef readonly Array sums        # by feature: sum of values, sum of squares
    cdef readonly Array turned      # 1: the column changed its sign before it had a feature
    cdef public double rows
    cdef public double count        # features so far
    cdef public double nonzeros
    cdef public double dense        # 1 while rows are stored in full, then 0
    cdef public double small        # 1 while there are at most 256 features, then 0
    cdef bint any_turned

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil
    cdef void look(self, const Row* row, Py_ssize_t* new, Py_ssize_t* nonzeros) noexcept nogil
    cdef int regime_with(self, Py_ssize_t new, Py_ssize_t nonzeros) noexcept nogil
    cdef void add(self, const Row* row, Py_ssize_t nonzeros) noexcept nogil
    cdef void as_line(self, const Row* row, double* line, Py_ssize_t width) noexcept nogil
    cdef Py_ssize_t as_list(self, const Row* row, double* values, int* ids) noexcept nogil
