"""Blocks of rows for compiled code."""

from unitless.core.arithmetic cimport extent_of
from unitless.core.pointers cimport integers_in, numbers_in, positions_in


cdef class RowReader:
    """Finds the rows of a block: `Rows` or its `Block`, with targets and weights if there are."""

    def __init__(self, block, Py_ssize_t rows, targets=None, weights=None):
        values, indices, starts, columns = block
        self.kept = values, indices, starts, targets, weights
        self.rows = rows
        self.columns = columns
        self.values = numbers_in(values)
        if len(starts):
            self.ids = integers_in(indices)
            self.starts = positions_in(starts)
        if targets is not None and len(targets):
            self.targets = numbers_in(targets)
        if weights is not None and len(weights):
            self.weights = numbers_in(weights)

    cdef void find(self, Py_ssize_t r, Row* row) noexcept nogil:
        """Where the values of row r are; a weight of 0 counts as 1, since it is scored so."""
        if self.starts == NULL:
            row.values = self.values + r * self.columns
            row.ids = NULL
            row.n = self.columns
        else:
            row.values = self.values + self.starts[r]
            row.ids = self.ids + self.starts[r]
            row.n = self.starts[r + 1] - self.starts[r]
        row.weight = 1.0
        if self.weights != NULL and self.weights[r] > 0:
            row.weight = self.weights[r]

    cdef bint learns(self, Py_ssize_t r) noexcept nogil:
        """Whether row r is learned."""
        return self.targets != NULL and (self.weights == NULL or self.weights[r] > 0)


def extent(values):
    """The smallest and the largest size of a value that is neither 0 nor NaN; (1, 0) if none is.

    >>> import numpy as np
    >>> extent(np.array([0.0, -3.0, np.nan, 0.5]))
    (0.5, 3.0)
    """
    cdef double smallest, largest
    extent_of(numbers_in(values), len(values), &smallest, &largest)
    return smallest, largest
