"""The vocabulary in compiled code; vocabulary.pyx explains it."""

from libc.stdint cimport uint64_t


cdef struct Fingerprint:
    uint64_t first
    uint64_t second


cdef struct Slots:
    Fingerprint* slot       # the second word of a slot holds the column, too
    Py_ssize_t size         # a power of two


cdef inline Fingerprint extended(Fingerprint print, unsigned char char) noexcept nogil:
    """A fingerprint extended by a character; it begins as the key."""
    print.first = (print.first ^ char) * <uint64_t>0x9E3779B97F4A7C15u
    print.second = (print.second ^ char) * <uint64_t>0xD1B54A32D192ED03u
    return print


cdef inline Py_ssize_t first_place(Slots slots, Fingerprint print) noexcept nogil:
    """The slot at which the search for a fingerprint begins."""
    cdef uint64_t mixed = print.first ^ (print.first >> 32)  # its upper bits depend on all characters
    return <Py_ssize_t>(mixed & <uint64_t>(slots.size - 1))


cdef inline bint has_room(Slots slots, Py_ssize_t names) noexcept nogil:
    """Whether the slots have room for that many names."""
    return 4 * names <= 3 * slots.size


cdef class Vocabulary:
    cdef Fingerprint key
    cdef Slots table
    cdef object kept            # the memory of the table
    cdef readonly Py_ssize_t count

    cdef Py_ssize_t column_of(self, Fingerprint print) noexcept nogil
    cdef int grow(self) except -1


cdef Py_ssize_t merge_equal(
    double* values, int* indices, Py_ssize_t begin, Py_ssize_t end
) noexcept nogil
