from unitless.core.array cimport Array
from unitless.core.learner cimport Learner
from unitless.core.row cimport Row
from unitless.learners.gaussian cimport Posterior


cdef class Newton(Learner):
    cdef public double strength
    cdef readonly Posterior posterior
    cdef public double last         # the trial in which the prior was last set
    cdef Array inside               # the row at hand by coordinate, without the values out of range
    cdef Array far                  # those values
    cdef Array far_coordinates
    cdef Py_ssize_t far_count       # how many of them have coordinates
    cdef Py_ssize_t outside         # how many there are
    cdef Array z                    # w.x of each class
    cdef Array slopes               # of each class

    cdef int divide(self, const Row* row) except -1 nogil
    cdef double slopes_at_z(self, double y) noexcept nogil
