"""Arrays that compiled code reads and grows without the GIL, and that NumPy sees without a copy.

    numbers(n)          n float64
    records(dtype, n)   n records: C structs, whose dtype has the same fields in the same order

`at` points to the first item, aligned to two cache lines. New items are zero. `resize` moves the
items, so pointers have to be taken again; it is refused while a NumPy view exists, as it is for
`bytearray`.
"""

import numpy as np

from cpython.buffer cimport PyBUF_FORMAT
from libc.string cimport memcpy, memset


cdef extern from *:
    """
    #include <stdlib.h>
    #ifdef _WIN32
    #include <malloc.h>
    #define aligned_room(n) _aligned_malloc(n, 128)
    #define aligned_free(p) _aligned_free(p)
    #else
    #define aligned_room(n) aligned_alloc(128, n)
    #define aligned_free(p) free(p)
    #endif
    #ifdef __SANITIZE_ADDRESS__
    #include <sanitizer/asan_interface.h>
    #define forbid(p, n) ASAN_POISON_MEMORY_REGION(p, n)
    #define allow(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
    #else
    #define forbid(p, n)
    #define allow(p, n)
    #endif
    """
    void* aligned_room(size_t n) nogil
    void aligned_free(void* p) nogil
    # With AddressSanitizer, the spare room is as forbidden as memory beyond it.
    void forbid(void* p, size_t n) nogil
    void allow(void* p, size_t n) nogil


cdef Py_ssize_t MOST_BYTES = 2**62  # sizes in bytes do not wrap around


cdef class Array:
    """Items side by side; `np.asarray(array)` is a view of them.

    >>> made = Array("d", 3)
    >>> np.asarray(made)
    array([0., 0., 0.])
    """

    def __init__(self, dtype="d", Py_ssize_t size=0):
        self.dtype = np.dtype(dtype)
        self.item = self.dtype.itemsize
        self.format = memoryview(np.empty(0, self.dtype)).format.encode()
        self.resize(size)

    def __dealloc__(self):
        aligned_free(self.at)

    def __reduce__(self):
        return _filled, (np.array(self),)

    def __len__(self):
        return self.size

    def __sizeof__(self):
        """Bytes, with the spare room."""
        return super().__sizeof__() + self.room * self.item

    def __repr__(self):
        return f"<Array of {self.size}: {np.asarray(self)}>"

    def replace(self, values):
        """Hold exactly these values, of the same dtype."""
        if self.exports:
            raise BufferError("an array cannot be replaced while a view of it exists")
        aligned_free(self.at)
        self.at = NULL
        self.size = 0
        self.room = 0
        self.resize(len(values))
        np.asarray(self)[:] = values

    cdef int resize(self, Py_ssize_t size) except -1 nogil:
        """Have at least that many items; a fifth is spare room, so that growth stays linear."""
        cdef Py_ssize_t room
        cdef Py_ssize_t bytes
        cdef char* moved
        if size > self.room:
            if self.exports:
                with gil:
                    raise BufferError("an array cannot grow while a view of it exists")
            room = size if self.room == 0 else max(size, self.room + self.room // 5)
            moved = NULL
            bytes = 0
            if room <= MOST_BYTES // self.item:
                bytes = (room * self.item + 127) // 128 * 128
                moved = <char*>aligned_room(bytes)
            if moved == NULL:
                with gil:
                    raise MemoryError(f"no memory for {room} items of {self.item} bytes")
            if self.at != NULL:
                memcpy(moved, self.at, self.size * self.item)
                aligned_free(self.at)
            memset(moved + self.size * self.item, 0, (room - self.size) * self.item)
            self.at = <double*>moved
            self.room = room
            forbid(moved + size * self.item, bytes - size * self.item)
        self.size = max(size, self.size)
        allow(self.at, self.size * self.item)
        return 0

    cdef void cut(self, Py_ssize_t size) noexcept nogil:
        """Keep the first items only; the others become spare room, which is zero."""
        memset(<char*>self.at + size * self.item, 0, (self.size - size) * self.item)
        forbid(<char*>self.at + size * self.item, (self.size - size) * self.item)
        self.size = size

    def __getbuffer__(self, Py_buffer* view, int flags):
        self.shape[0] = self.size
        self.strides[0] = self.item
        view.buf = self.at
        view.obj = self
        view.len = self.size * self.item
        view.itemsize = self.item
        view.readonly = 0
        view.ndim = 1
        view.format = <char*>self.format if flags & PyBUF_FORMAT else NULL
        view.shape = self.shape
        view.strides = self.strides
        view.suboffsets = NULL
        view.internal = NULL
        self.exports += 1

    def __releasebuffer__(self, Py_buffer* view):
        self.exports -= 1


def _filled(values):
    """An array with these values."""
    made = Array(values.dtype, len(values))
    np.asarray(made)[:] = values
    return made


cdef Array numbers(Py_ssize_t size):
    return Array("d", size)


cdef Array records(object dtype, Py_ssize_t size):
    return Array(dtype, size)
