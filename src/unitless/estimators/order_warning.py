"""A warning for classifiers that get their rows sorted by class."""

import warnings
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

MIN_ROWS_OF_A_CLASS = 10
"""Rows of every class that it takes before an order counts as sorted."""


class OrderWarning(UserWarning):
    """The rows arrived sorted by class, so that each row was predicted from other classes only.

    An online learner forgets classes that it no longer sees: shuffle rows without a natural order.
    """


class LabelOrder:
    """Counts rows by class and runs of equal labels, over all calls."""

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.counts: Counter[Any] = Counter()
        self.runs = 0
        self.last: Any = None
        self.warned = False

    def add(self, labels: NDArray[Any]) -> None:
        """Count more rows, and warn once if all so far are sorted by class."""
        if not len(labels) or self.warned or self.runs > self.classes:  # then no order by class
            return
        changes = np.count_nonzero(labels[1:] != labels[:-1])
        self.runs += int(changes) + int(labels[0] != self.last)
        self.last = labels[-1]
        self.counts.update(labels.tolist())
        is_sorted = self.runs == len(self.counts) > 1
        if is_sorted and min(self.counts.values()) >= MIN_ROWS_OF_A_CLASS:
            self.warned = True
            text = (
                "the rows are sorted by class: an online learner forgets the classes it no longer "
                "sees. Use fit(shuffle=True), or shuffle the rows before partial_fit"
            )
            warnings.warn(text, OrderWarning, stacklevel=5)
