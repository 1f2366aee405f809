cimport cython

from unitless.core.array cimport Array
from unitless.core.row cimport Row
from unitless.core.stateful cimport Stateful

cpdef enum View:
    RAW
    NORMALISED
    PRESENCE
    CENTRED
    SQUASHED
    PAIRS
    NOTHING


cdef enum:
    VIEWS = 7


@cython.final
cdef class Views(Stateful):
    cdef readonly Array mean        # running mean of each feature
    cdef readonly Array m2          # sum of squared deviations
    cdef readonly Array missing     # rows in which it was missing
    cdef readonly Array largest     # M = max |x|
    cdef public double rows         # rows taken in while the stream was dense
    cdef public double features     # features taken in
    cdef Array next_mean            # room for the moments with the row at hand
    cdef Array next_m2

    cdef int reserve(self, Py_ssize_t features) except -1 nogil
    cdef void show(self, Row* shown, double* room, bint dense, bint learns) noexcept nogil
    cdef void show_normalised(self, const Row* raw, double* out, bint learns) noexcept nogil
    cdef void show_moments(
        self, const Row* raw, double* centred, double* squashed, bint learns
    ) noexcept nogil


cdef Py_ssize_t room_for_views(Py_ssize_t n) noexcept nogil
