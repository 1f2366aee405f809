cdef class Stateful:
    pass
