cimport cython

from unitless.core.array cimport Array
from unitless.core.row cimport Row
from unitless.core.stateful cimport Stateful


@cython.final
cdef class GroupedSlopes(Stateful):
    cdef readonly Py_ssize_t expert         # whose slopes are kept beside those of the Blend
    cdef readonly Array sums                # by group, the wide one first, and by forecaster
    cdef readonly Array narrow              # h by group, forecaster and coordinate
    cdef readonly Array wide                # h of the wide group, by forecaster and coordinate
    cdef public double t                    # trials
    cdef public double groups               # without the wide one
    cdef public double narrow_coordinates
    cdef public double wide_coordinates

    cdef bint has_room(self, double trials, Py_ssize_t columns) noexcept nogil
    cdef void add(
        self, const Row* row, Py_ssize_t columns, double v, double y, double score, double other
    ) noexcept nogil
