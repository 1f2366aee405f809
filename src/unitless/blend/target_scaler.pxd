cimport cython

from unitless.core.stateful cimport Stateful


@cython.final
cdef class TargetScaler(Stateful):
    cdef public double known        # 1 once a target is known
    cdef public double first        # the first target
    cdef public double unit         # 0 until a second target is known

    cdef double encode(self, double y) noexcept nogil
    cdef double decode(self, double score) noexcept nogil
