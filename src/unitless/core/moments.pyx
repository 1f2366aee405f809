"""Running means and variances of columns (Welford), and rows centred and squashed by them.

    centred    c = x - mean
    squashed   c / sqrt(var + c^2), within (-1, 1)

Means and variances are over all rows so far, this one included. Missing values do not count, and a
column that comes late has been 0 before.
"""

cimport cython
from libc.string cimport memcpy

from unitless.core.array cimport numbers

from unitless.state import Field, count, need


@cython.final
cdef class Moments(Stateful):
    """`show` a row as if it were the next one, then `learn` it."""

    saved = (
        Field("mean", "x", "running mean", ("columns",)),
        Field("m2", "x^2", "sum of squared deviations", ("columns",)),
        Field("missing", "1", "rows in which x_i was missing", ("columns",), 0, whole=True),
        count("rows", "rows"),
    )

    def __cinit__(self):
        self.mean = numbers(0)
        self.m2 = numbers(0)
        self.missing = numbers(0)
        self.next_mean = numbers(0)
        self.next_m2 = numbers(0)

    def _sizes(self):
        return {"columns": len(self.mean)}

    def _loaded(self):
        need((self.read("missing") <= self.rows).all(), "more values are missing than there were")

    def rescale(self, columns, factors):
        """From now on the values of these columns are multiplied by these factors."""
        for field in self.saved[:2]:
            values = self.read(field.name)
            values[columns] = field.rescaled(values[columns], factors)
            self.write(field.name, values)

    def seen(self):
        """By column: whether it was ever nonzero."""
        return (self.read("m2") > 0) | (self.read("mean") != 0)

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        """Make room for that many columns."""
        if columns > self.mean.size:
            self.mean.resize(columns)
            self.m2.resize(columns)
            self.missing.resize(columns)
        return 0

    cdef int show(
        self, const double* x, Py_ssize_t n, double* centred, double* squashed
    ) except -1 nogil:
        """Fill in a row of n columns centred and squashed; columns without room have been 0."""
        cdef Py_ssize_t known = min(n, self.mean.size)
        cdef double nothing = 0.0
        cdef double t = self.rows + 1
        cdef Py_ssize_t k
        if n > self.next_mean.size:
            self.next_mean.resize(n)
            self.next_m2.resize(n)
        with_row(
            x, self.mean.at, self.m2.at, self.missing.at, t, known,
            self.next_mean.at, self.next_m2.at, centred, squashed,
        )
        for k in range(known, n):
            with_row(
                x + k, &nothing, &nothing, &nothing, t, 1,
                self.next_mean.at + k, self.next_m2.at + k, centred + k, squashed + k,
            )
        return 0

    cdef void learn(self, const double* x, Py_ssize_t n) noexcept nogil:
        """Take in the row that was shown last; there is room for its n columns."""
        cdef double* missing = self.missing.at
        cdef Py_ssize_t k
        memcpy(self.mean.at, self.next_mean.at, n * sizeof(double))
        memcpy(self.m2.at, self.next_m2.at, n * sizeof(double))
        for k in range(n):
            missing[k] += 1.0 if x[k] != x[k] else 0.0
        self.rows += 1
