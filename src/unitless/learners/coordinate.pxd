from unitless.core.array cimport Array
from unitless.core.coordinatewise cimport Coordinatewise
from unitless.core.row cimport Row


cdef class Coordinate(Coordinatewise):
    cdef public double alpha
    cdef public double wealth
    cdef public object d
    cdef public double seen         # d, as counted so far
    cdef public double A            # sum v g p
    cdef readonly Array damped_sums
    cdef double fixed_d             # 0: as counted
    cdef double new                 # coordinates of the row at hand that are seen first
    cdef double scaled_p            # p times the sample weight

    cdef double dimension(self, const double* new) noexcept nogil
    cdef void add_up(self, const Row* row, double y, double g) noexcept nogil
