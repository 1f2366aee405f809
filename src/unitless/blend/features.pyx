"""Features: the columns of a stream in the order in which they are first nonzero.

An unused column costs nothing, and storage does not matter: dense and sparse rows of the same
values become the same rows. Two running rules (blend.md) make the *regime*, 2 dense + small, which
decides which experts of a Blend stay, and whether a row is a full line of features (dense) or a
list of its nonzero values.
"""

import numpy as np

cimport cython
from libc.string cimport memset

from unitless.core.array cimport records
from unitless.state import Field, count as counter, need

cdef double MAX_SMALL = 256
cdef double MAX_DENSE = 1024
cdef double MIN_DENSITY = 0.125


cdef struct Sums:
    double sum
    double squares


SUMS = np.dtype([("sum", "d"), ("squares", "d")])


@cython.final
cdef class Features(Stateful):
    """The features of a stream."""

    saved = (
        Field("ids", "1", "feature of each column, -1 for one that was always 0", ("columns",), -1),
        Field("sums", "x, x^2", "by feature: sum of values, sum of squares", ("columns",)),
        Field("turned", "1", "1: a sign changed before the first value", ("columns",), 0, 1),
        counter("rows", "rows taken in"),
        counter("count", "features so far", "columns"),
        counter("nonzeros", "values that were neither 0 nor missing"),
        counter("dense", "1 while rows are stored in full", 1),
        counter("small", "1 while there are at most 256 features", 1),
    )

    def __cinit__(self):
        self.ids = records("i", 0)
        self.sums = records(SUMS, 0)
        self.turned = records("i", 0)
        self.dense = 1.0
        self.small = 1.0

    def _sizes(self):
        return {"columns": len(self.ids)}

    def _loaded(self):
        ids = np.array(self.ids)
        known = np.sort(ids[ids >= 0])
        need(np.array_equal(known, np.arange(int(self.count))), "features are used twice or not at all")
        sums = np.array(self.sums)
        finite = np.isfinite(sums["sum"]).all() and np.isfinite(sums["squares"]).all()
        need(finite and (sums["squares"] >= 0).all(), "sums of features are not possible")
        self.any_turned = bool(np.array(self.turned).any())

    @property
    def regime(self):
        """2 dense + small."""
        return int(2 * self.dense + self.small)

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        """Make room for that many columns."""
        cdef Py_ssize_t known = self.ids.size
        cdef Py_ssize_t column
        if columns > known:
            self.ids.resize(columns)
            self.sums.resize(columns)
            self.turned.resize(columns)
            for column in range(known, columns):
                (<int*>self.ids.at)[column] = -1
        return 0

    cdef void look(self, const Row* row, Py_ssize_t* new, Py_ssize_t* nonzeros) noexcept nogil:
        """How many features of a row are new (a missing value counts), and its nonzero values."""
        cdef const int* ids = <const int*>self.ids.at
        cdef Py_ssize_t k, column
        new[0] = 0
        nonzeros[0] = 0
        for k in range(row.n):
            if row.values[k] != 0:
                column = row.ids[k] if row.ids != NULL else k
                new[0] += column >= self.ids.size or ids[column] < 0
                nonzeros[0] += row.values[k] == row.values[k]

    cdef int regime_with(self, Py_ssize_t new, Py_ssize_t nonzeros) noexcept nogil:
        """The regime with a row of that many new features and nonzero values."""
        cdef double t = self.rows + 1
        cdef double d = self.count + new
        cdef bint enough = d <= MAX_DENSE or self.nonzeros + nonzeros >= MIN_DENSITY * t * d
        cdef int dense = self.dense > 0 and enough
        cdef int small = self.small > 0 and d <= MAX_SMALL
        return 2 * dense + small

    cdef void add(self, const Row* row, Py_ssize_t nonzeros) noexcept nogil:
        """Take in a row; there is room for its columns."""
        cdef int* ids = <int*>self.ids.at
        cdef Sums* sums = <Sums*>self.sums.at
        cdef Py_ssize_t k, column
        cdef double x
        for k in range(row.n):
            x = row.values[k]
            if x == 0:
                continue
            column = row.ids[k] if row.ids != NULL else k
            if ids[column] < 0:
                ids[column] = <int>self.count
                self.count += 1
            if x == x:
                sums[ids[column]].sum += x
                sums[ids[column]].squares += x * x
        self.rows += 1
        self.nonzeros += nonzeros

    cdef void as_line(self, const Row* row, double* line, Py_ssize_t width) noexcept nogil:
        """The row as a full line; features that are new to it come after the known ones."""
        cdef const int* ids = <const int*>self.ids.at
        cdef Py_ssize_t new = <Py_ssize_t>self.count
        cdef Py_ssize_t k, column
        memset(line, 0, width * sizeof(double))
        for k in range(row.n):
            if row.values[k] == 0:
                continue
            column = row.ids[k] if row.ids != NULL else k
            if column < self.ids.size and ids[column] >= 0:
                line[ids[column]] = row.values[k]
            else:
                line[new] = row.values[k]
                new += 1

    cdef Py_ssize_t as_list(self, const Row* row, double* values, int* out) noexcept nogil:
        """The values that are neither 0 nor missing, and their features; returns how many."""
        cdef const int* ids = <const int*>self.ids.at
        cdef int new = <int>self.count
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t k, column
        cdef double x
        for k in range(row.n):
            x = row.values[k]
            if x == 0 or x != x:
                continue
            column = row.ids[k] if row.ids != NULL else k
            values[n] = x
            if column < self.ids.size and ids[column] >= 0:
                out[n] = ids[column]
            else:
                out[n] = new
                new += 1
            n += 1
        return n

    def rescale(self, columns, factors):
        """From now on the values of these columns are multiplied by these factors.

        Returns the features of those columns that have one, and their factors.
        """
        ids = np.array(self.ids)[columns]
        known = ids >= 0
        turned = np.asarray(self.turned)
        turned[columns[~known & (factors < 0)]] ^= 1
        self.any_turned = bool(turned.any())
        del turned
        features = ids[known]
        factors = factors[known]
        sums = np.asarray(self.sums)
        sums["sum"][features] *= factors
        sums["squares"][features] *= factors**2
        return features, factors

    def take_turned(self):
        """The features whose columns changed their sign before they were first seen, once."""
        turned = np.asarray(self.turned)
        ids = np.array(self.ids)
        columns = np.flatnonzero(turned[: len(ids)] * (ids >= 0))
        turned[columns] = 0
        self.any_turned = bool(turned.any())
        return ids[columns]

    def seen(self):
        """By coordinate: whether it was ever nonzero."""
        ids = np.array(self.ids)
        squares = np.array(self.sums)["squares"]
        known = ids >= 0
        seen = np.zeros(len(ids), dtype=bool)
        seen[known] = squares[ids[known]] > 0
        return np.append(True, seen)
