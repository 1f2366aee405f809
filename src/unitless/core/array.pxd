cdef class Array:
    cdef double* at
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t item
    cdef readonly object dtype
    cdef Py_ssize_t room
    cdef Py_ssize_t exports
    cdef bytes format
    cdef Py_ssize_t[1] shape
    cdef Py_ssize_t[1] strides

    cdef int resize(self, Py_ssize_t size) except -1 nogil
    cdef void cut(self, Py_ssize_t size) noexcept nogil


cdef Array numbers(Py_ssize_t size)
cdef Array records(object dtype, Py_ssize_t size)
