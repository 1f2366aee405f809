"""Pairs of bins: which of 8 x 8 cells two squashed features fall into, for up to 128 pairs.

    b_i = floor(4 (u_i + 1) + SHIFT) of squashed values u_i, so that bins are 0 to 7
    cell 8 b_i + b_j of pair p is the feature 64 p + 8 b_i + b_j, which is 1 in this row

A linear learner on cells can represent any function of two features, in steps. The pairs are drawn
once, after 64 rows: those with the smallest hashes among all pairs of the features that varied by
then, which are numbered by their order.

The square of a squashed value of a column with few distinct whole numbers is a rational number, and
a value on the boundary of two bins would change its bin with the rounding of another unit. SHIFT
makes the squares of all boundaries irrational, so that no such value lies on one.
"""

import numpy as np

cimport cython
from libc.stdint cimport uint64_t

from unitless.core.arithmetic cimport hashed
from unitless.core.array cimport numbers, records
from unitless.core.row cimport slots_of
from unitless.state import Field, count, need

cdef enum:
    FIRST_ROWS = 64     # after which the pairs are drawn


cdef double SHIFT = 0.05177669529663687     # (sqrt(2) - 1) / 8


cdef struct Pair:
    int a
    int b
    uint64_t hash


PAIR = np.dtype([("a", "i"), ("b", "i"), ("hash", "u8")])


cdef inline int bin_of(double u) noexcept nogil:
    """The bin of a squashed value, 0 to 7; NaN, of a state that no stream leads to, is in 0."""
    cdef double place = 4 * (u + 1) + SHIFT
    return <int>min(place, BINS - 1.0) if place > 0 else 0


@cython.final
cdef class PairsOfBins(Stateful):
    """The view of pairs of bins."""

    saved = (
        Field("pairs", "1", "the two features of each pair", (PAIRS_AT_MOST,)),
        Field("sign", "sign", "-1: the feature is turned around", ("features",), -1, 1),
        Field("varies", "1", "1: it was not constant in the first rows", ("features",), 0, 1),
        count("features", "features so far", 2.0**31 - 1),
        count("rows", "rows taken in"),
        count("drawn", "pairs that were drawn", PAIRS_AT_MOST),
    )

    def __cinit__(self):
        self.pairs = records(PAIR, PAIRS_AT_MOST)
        self.sign = numbers(0)
        self.varies = numbers(0)

    def _sizes(self):
        return {"features": int(self.features)}

    def read(self, str name):
        found = super().read(name)
        return found[: int(self.features)] if name in ("sign", "varies") else found

    def _loaded(self):
        pairs = np.array(self.pairs)[: int(self.drawn)]
        both = np.append(pairs["a"], pairs["b"])
        inside = (both >= 0) & (both < self.features)
        need(inside.all(), "a pair has a feature that does not exist")

    cdef int reserve(self, Py_ssize_t features) except -1 nogil:
        """Make room for that many features."""
        cdef Py_ssize_t known = self.sign.size
        cdef Py_ssize_t k
        if features > known:
            self.sign.resize(features)
            self.varies.resize(features)
            for k in range(known, features):
                self.sign.at[k] = 1.0
        return 0

    cdef void show(
        self, const Row* squashed, Row* shown, double* room, int* cells, bint learns
    ) noexcept nogil:
        """Fill in the row of cells; `room` and `cells` are for its slots and ids."""
        cdef const Pair* pairs = <const Pair*>self.pairs.at
        cdef const double* sign = self.sign.at
        cdef const double* u = squashed.values
        cdef Py_ssize_t drawn = <Py_ssize_t>self.drawn
        cdef Py_ssize_t p
        cdef int a, b
        for p in range(drawn):
            a = pairs[p].a
            b = pairs[p].b
            cells[p] = <int>p * CELLS + BINS * bin_of(u[a] * sign[a]) + bin_of(u[b] * sign[b])
        room[0] = squashed.x[0]
        for p in range(1, slots_of(drawn)):
            room[p] = 1.0 if p <= drawn else 0.0
        shown[0] = squashed[0]
        shown.values = room + 1
        shown.ids = cells
        shown.n = drawn
        shown.x = room
        shown.slots = slots_of(drawn)
        if learns:
            self.see(u, squashed.n)

    cdef void see(self, const double* squashed, Py_ssize_t n) noexcept nogil:
        """Note which features vary in the first rows, after which the pairs are drawn."""
        cdef Py_ssize_t k
        self.features = max(self.features, n)
        self.rows += 1
        if self.rows <= FIRST_ROWS:
            for k in range(n):
                if squashed[k] != 0:
                    self.varies.at[k] = 1.0
        if self.rows == FIRST_ROWS:
            self.draw(n)

    cdef void draw(self, Py_ssize_t n) noexcept nogil:
        """The pairs with the smallest hashes of features that varied, numbered by their order."""
        cdef Pair* pairs = <Pair*>self.pairs.at
        cdef Py_ssize_t drawn = 0
        cdef Py_ssize_t i, j, k
        cdef int a
        cdef int b = 0
        cdef uint64_t h
        for j in range(n):
            if self.varies.at[j] == 0:
                continue
            a = 0
            for i in range(j):
                if self.varies.at[i] == 0:
                    continue
                h = hashed(a, b, 0)
                a += 1
                if drawn == PAIRS_AT_MOST and h >= pairs[drawn - 1].hash:
                    continue
                k = min(drawn, PAIRS_AT_MOST - 1)
                drawn = min(drawn + 1, PAIRS_AT_MOST)
                while k > 0 and pairs[k - 1].hash > h:
                    pairs[k] = pairs[k - 1]
                    k -= 1
                pairs[k].a = <int>i
                pairs[k].b = <int>j
                pairs[k].hash = h
            b += 1
        self.drawn = drawn

    def turn(self, features, factors):
        """From now on these features arrive multiplied by these factors."""
        self.reserve(int(max(features, default=-1)) + 1)
        self.features = max(self.features, max(features, default=-1) + 1.0)
        sign = np.asarray(self.sign)
        sign[features] *= np.sign(factors)

    def by_feature(self, parts, features):
        """What cells add to a score, half of it for each of the two features."""
        pairs = np.array(self.pairs)
        out = np.zeros((features, *parts.shape[1:]))
        for cell in np.flatnonzero(parts.reshape(len(parts), -1).any(axis=1)):
            pair = pairs[cell // CELLS]
            out[pair["a"]] += parts[cell] / 2
            out[pair["b"]] += parts[cell] / 2
        return out
