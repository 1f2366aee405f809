"""The vocabulary of a text file: names -> columns, in compiled code, in order of appearance.

An open hash table with linear probing. A slot holds a fingerprint of 96 bits under a random key,
and the column: a look-up reads one place in memory, and two of a million names have the same
fingerprint with a probability below 1e-16.
"""

import secrets

import numpy as np

cimport cython
from libc.math cimport isinf
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc

from unitless.core.pointers cimport memory_of

cdef uint64_t EMPTY = 0xFFFFFFFFFFFFFFFFu
cdef uint64_t COLUMN = 0xFFFFFFFFu      # the bits of a second word that hold the column

cdef enum:
    SLOTS = 4096            # of an empty vocabulary; at most three of four hold a name
    SHORT_ROW = 128         # rows up to this size are sorted by insertion


@cython.final
cdef class Vocabulary:
    """Names and their columns.

    >>> vocabulary = Vocabulary(["red", "blue"])
    >>> vocabulary.count, vocabulary.slots
    (2, 4096)
    """

    def __init__(self, names=()):
        cdef const unsigned char* text
        cdef Py_ssize_t size = SLOTS
        cdef Py_ssize_t k
        cdef Fingerprint print
        while 3 * size < 4 * len(names):
            size *= 2
        self.make(size)
        self.key.first = secrets.randbits(64)
        self.key.second = secrets.randbits(64)
        letters = "".join(f"{name}\n" for name in names).encode()
        text = <const unsigned char*>memory_of(letters, 1)
        print = self.key
        for k in range(len(letters)):
            if text[k] != 10:
                print = extended(print, text[k])
            else:
                self.column_of(print)
                self.count += 1
                print = self.key
        self.count = len(names)

    @property
    def slots(self):
        """The number of slots."""
        return self.table.size

    def make(self, Py_ssize_t size):
        """Have that many slots, all empty."""
        slots = np.full((size, 2), EMPTY, dtype=np.uint64)
        self.kept = slots
        self.table.slot = <Fingerprint*>memory_of(slots, 8)
        self.table.size = size

    cdef int grow(self) except -1:
        """Double the number of slots."""
        cdef Slots old = self.table
        cdef Py_ssize_t k
        before = self.kept
        self.make(2 * old.size)
        for k in range(old.size):
            if old.slot[k].second != EMPTY:
                self.table.slot[found_slot(self.table, old.slot[k])] = old.slot[k]
        return 0

    cdef Py_ssize_t column_of(self, Fingerprint print) noexcept nogil:
        """The column of a name, which is `count` if it is new; the caller counts it then."""
        cdef Fingerprint* slot = self.table.slot + found_slot(self.table, print)
        if slot.second == EMPTY:
            slot.first = print.first
            slot.second = (print.second & ~COLUMN) | <uint64_t>self.count
        return <Py_ssize_t>(slot.second & COLUMN)


cdef inline Py_ssize_t found_slot(Slots slots, Fingerprint print) noexcept nogil:
    """The slot that holds a fingerprint, or the free one in which to put it."""
    cdef Py_ssize_t place = first_place(slots, print)
    cdef Fingerprint* slot = slots.slot + place
    while slot.second != EMPTY:
        if slot.first == print.first and (slot.second ^ print.second) & ~COLUMN == 0:
            return place
        place = (place + 1) & (slots.size - 1)
        slot = slots.slot + place
    return place


cdef Py_ssize_t merge_equal(
    double* values, int* indices, Py_ssize_t begin, Py_ssize_t end
) noexcept nogil:
    """Sort a row by column, add up equal columns, drop zeros: its end, -1 if a sum is infinite.

    -2 if there is no memory to sort it.
    """
    cdef Py_ssize_t k = begin
    cdef Py_ssize_t filled = begin
    cdef double total
    cdef int column
    if sort(values + begin, indices + begin, end - begin) < 0:
        return -2
    while k < end:
        column = indices[k]
        total = 0.0
        while k < end and indices[k] == column:
            total += values[k]
            k += 1
        if isinf(total):
            return -1
        values[filled] = total
        indices[filled] = column
        filled += total != 0.0
    return filled


cdef int sort(double* values, int* indices, Py_ssize_t n) noexcept nogil:
    """Sort by column; equal columns keep their order. -1 if there is no memory."""
    cdef Py_ssize_t k, at
    cdef double value
    cdef int column
    if n > SHORT_ROW:
        return sort_long(values, indices, n)
    for k in range(1, n):
        column = indices[k]
        value = values[k]
        at = k
        while at > 0 and indices[at - 1] > column:
            indices[at] = indices[at - 1]
            values[at] = values[at - 1]
            at -= 1
        indices[at] = column
        values[at] = value
    return 0


cdef int sort_long(double* values, int* indices, Py_ssize_t n) noexcept nogil:
    """Merge sort of keys that hold the column and, below it, the place in the row."""
    cdef uint64_t* keys = <uint64_t*>malloc(3 * n * sizeof(uint64_t))
    cdef uint64_t* other = keys + n
    cdef double* old = <double*>(keys + 2 * n)
    cdef Py_ssize_t width = 1
    cdef Py_ssize_t k, low
    if keys == NULL:
        return -1
    for k in range(n):
        keys[k] = <uint64_t>indices[k] << 32 | <uint64_t>k
        old[k] = values[k]
    cdef uint64_t* sorted = keys
    while width < n:
        low = 0
        while low < n:
            merge(sorted, other, low, min(low + width, n), min(low + 2 * width, n))
            low += 2 * width
        sorted, other = other, sorted
        width *= 2
    for k in range(n):
        indices[k] = <int>(sorted[k] >> 32)
        values[k] = old[sorted[k] & 0xFFFFFFFFu]
    free(keys)
    return 0


cdef inline void merge(
    const uint64_t* keys, uint64_t* out, Py_ssize_t low, Py_ssize_t middle, Py_ssize_t high
) noexcept nogil:
    """Merge two sorted runs, low to middle and middle to high."""
    cdef Py_ssize_t a = low
    cdef Py_ssize_t b = middle
    cdef Py_ssize_t k
    cdef bint left
    for k in range(low, high):
        left = b >= high or (a < middle and keys[a] < keys[b])
        out[k] = keys[a] if left else keys[b]
        a += left
        b += not left
