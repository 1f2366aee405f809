"""A warning for classifiers that get their rows sorted by class."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS = 10
"""Rows of every class that it takes before an order counts as sorted."""


class OrderWarning(UserWarning):
    """The rows arrived sorted by class, so that each row was predicted from other classes only.

    An online learner forgets classes that it no longer sees: shuffle rows without a natural order.
    """


class LabelOrder:
    """Counts rows by class and runs of equal labels, over all calls.

    >>> order = LabelOrder()
    >>> order.add(np.repeat([0.0, 1.0], 10))
    >>> order.is_sorted()
    True
    """

    def __init__(self) -> None:
        self.counts: dict[float, int] = {}
        self.runs = 0
        self.last: Any = None
        self.warned = False

    def add(self, codes: NDArray[np.float64]) -> None:
        """Count more rows."""
        if not len(codes):
            return
        changes = int(np.count_nonzero(np.diff(codes)))
        self.runs += changes + (self.last is None or codes[0] != self.last)
        self.last = codes[-1]
        for code, count in zip(*np.unique(codes, return_counts=True), strict=True):
            self.counts[float(code)] = self.counts.get(float(code), 0) + int(count)

    def is_sorted(self) -> bool:
        """Whether there are as many runs as classes, two or more, each with enough rows."""
        several = len(self.counts) > 1
        return several and self.runs == len(self.counts) and min(self.counts.values()) >= ROWS

    def warn(self) -> None:
        """Warn once, if the rows so far are sorted by class."""
        if not self.warned and self.is_sorted():
            self.warned = True
            warnings.warn(
                "the rows are sorted by class: an online learner forgets the classes it no longer "
                "sees. Use fit(shuffle=True), or shuffle the rows before partial_fit",
                OrderWarning,
                stacklevel=4,
            )
