"""The memory of NumPy arrays, for compiled code; the caller keeps the array alive."""

from cpython.buffer cimport PyBUF_ANY_CONTIGUOUS, PyBuffer_Release, PyObject_GetBuffer


cdef inline void* memory_of(object array, Py_ssize_t itemsize) except? NULL:
    """Where the items of a contiguous array begin; NULL if it is None."""
    cdef Py_buffer view
    cdef void* at
    if array is None:
        return NULL
    PyObject_GetBuffer(array, &view, PyBUF_ANY_CONTIGUOUS)
    at = view.buf
    cdef Py_ssize_t found = view.itemsize
    PyBuffer_Release(&view)
    if found != itemsize:
        raise TypeError(f"an array of items of {found} bytes instead of {itemsize}")
    return at


cdef inline double* numbers_in(object array) except? NULL:
    """Where the float64 of an array begin."""
    return <double*>memory_of(array, sizeof(double))


cdef inline int* integers_in(object array) except? NULL:
    """Where the int32 of an array begin."""
    return <int*>memory_of(array, sizeof(int))


cdef inline long long* positions_in(object array) except? NULL:
    """Where the int64 of an array begin."""
    return <long long*>memory_of(array, sizeof(long long))
