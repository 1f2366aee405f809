from unitless.core.arithmetic cimport Room, Values
from unitless.core.coordinatewise cimport Coordinatewise


cdef class Baseline(Coordinatewise):
    pass


cdef inline void descend(Room theta, Values x, Py_ssize_t slots, double g) noexcept nogil:
    """theta_i -= q_i, with q_i = g x_i, of learners that keep only theta"""
    cdef Py_ssize_t k
    for k in range(slots):
        theta[k] -= g * x[k]
