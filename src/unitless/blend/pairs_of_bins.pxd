cimport cython

from unitless.core.array cimport Array
from unitless.core.row cimport Row
from unitless.core.stateful cimport Stateful

cdef enum:
    PAIRS_AT_MOST = 128
    BINS = 8
    CELLS = 64


@cython.final
cdef class PairsOfBins(Stateful):
    cdef readonly Array pairs       # the two features of each pair
    cdef readonly Array sign        # -1: the feature is turned around
    cdef readonly Array varies      # 1: the feature was not constant in the first rows
    cdef public double features     # features taken in
    cdef public double rows         # rows taken in
    cdef public double drawn        # pairs that were drawn

    cdef int reserve(self, Py_ssize_t features) except -1 nogil
    cdef void show(
        self, const Row* squashed, Row* shown, double* room, int* cells, bint learns
    ) noexcept nogil
    cdef void see(self, const double* squashed, Py_ssize_t n) noexcept nogil
    cdef void draw(self, Py_ssize_t n) noexcept nogil
