from unitless.core.array cimport Array


cdef class DictEncoder:
    cdef readonly dict columns          # column by name
    cdef readonly dict unknown          # the same for names of the loaded row that are not kept
    cdef readonly list order            # the keys of the loaded row, in the order of the dict
    cdef readonly list loaded           # the same in the order of their columns
    cdef readonly Py_ssize_t n
    cdef Array numbers
    cdef Array ids
    cdef Array places                   # where the value of each key goes
    cdef bint is_dense                  # value k is of column k

    cdef bint put(self, dict x) except -1
    cdef const int* ids_or_null(self) noexcept
