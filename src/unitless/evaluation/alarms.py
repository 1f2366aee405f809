"""Alarms for features whose unit seems to have changed.

A learner continues after a change of unit, but what it learned before does not apply to the new
values. A `Watch` reports a feature when ten consecutive non-zero values all exceed `factor` times
its previous maximum, with the `rescale` that a model from before these rows needs. There must be at
least ten earlier values: two or three values of a rare feature say little about its size. Each
feature is reported once. Missing values and zeros have no unit: they are ignored.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import grown
from unitless.kernels.decorators import kernel
from unitless.rows import Rows

TEN = 10
"""Consecutive values that it takes, and earlier values to compare them with."""
LARGEST, LOGS, COUNT, RUN, RUN_LARGEST, RUN_LOGS, START = range(7)
"""What is known of a feature: the largest of the values so far, the sum of their binary exponents
and their number; then length, largest value, exponents and first row of the present run."""
NO_INDICES, NO_STARTS = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)


class Alarm(NamedTuple):
    """A feature whose unit seems to have changed.

    >>> print(Alarm("height", 5001, 2.05, 1950.0, 1000.0))
    feature 'height': from row 5001 on, 10 values in a row are far larger (up to 1950) than all
    before (up to 2.05). Did its unit change? If so, go on from a model saved before that row, with
    rescale({'height': 1000}), or the exact ratio of the units
    """

    feature: Any
    """Its name, or the number of its column."""
    row: int
    """Where the ten values begin, counted from 1."""
    before: float
    """The largest value before them."""
    now: float
    """The largest of them."""
    factor: float
    """By what values seem to be multiplied since, as a power of ten."""

    def __str__(self) -> str:
        return (
            f"feature {self.feature!r}: from row {self.row} on, {TEN} values in a row are far "
            f"larger (up to {self.now:g}) than all before (up to {self.before:g}). Did its unit "
            "change? If so, go on from a model saved before that row, with "
            f"rescale({{{self.feature!r}: {self.factor:g}}}), or the exact ratio of the units"
        )


class Watch:
    """Watches for features whose values jump; it keeps seven numbers per feature.

    Parameters
    ----------
    factor : float
        How many times larger than everything before the ten values are; at least 1.

    >>> from unitless.rows import as_rows
    >>> metres = np.array([[1.8], [1.6], [1.7], [2.0]] * 5)
    >>> watch = Watch()
    >>> watch.add(as_rows(metres), ["height"])
    []
    >>> [alarm] = watch.add(as_rows(metres * 1000), ["height"])
    >>> alarm.row, alarm.factor
    (21, 1000.0)
    >>> watch.add(as_rows(metres * 1e6), ["height"])
    []
    """

    def __init__(self, factor: float = 100.0) -> None:
        if not 1 <= factor < math.inf:
            raise ValueError(f"factor = {factor}: a finite number of at least 1 is needed")
        self.factor = float(factor)
        self.rows = 0
        self.state = np.zeros((0, START + 1))

    def add(self, rows: Rows, names: Sequence[Any] | None = None) -> list[Alarm]:
        """Take in more rows; returns alarms of features not reported before, by column.

        How rows are split into blocks changes only when an alarm is returned.
        """
        if len(self.state) < rows.columns:
            self.state = grown(self.state, rows.columns)
        stored = rows.indices is not None and rows.starts is not None
        sparse: Any = (rows.indices, rows.starts) if stored else (NO_INDICES, NO_STARTS)
        found = _look(
            self.state, rows.values.reshape(-1), *sparse, len(rows), self.rows + 1, self.factor
        )
        self.rows += len(rows)
        return self._alarms(names) if found else []

    def _alarms(self, names: Sequence[Any] | None) -> list[Alarm]:
        new = np.flatnonzero(self.state[:, RUN] == TEN)
        self.state[new, RUN] += 1  # reported
        return [
            _alarm(self.state[j], j if names is None or j >= len(names) else names[j])
            for j in new.tolist()
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a model file keeps: features up to the last that had a value."""
        seen = np.flatnonzero(self.state[:, COUNT])
        return {"state": self.state[: seen[-1] + 1 if len(seen) else 0]}


def _alarm(record: NDArray[np.float64], feature: Any) -> Alarm:
    grown_by = record[RUN_LOGS] / TEN - record[LOGS] / record[COUNT]
    power = min(round(grown_by * math.log10(2)), 300)
    return Alarm(
        feature, int(record[START]), float(record[LARGEST]), float(record[RUN_LARGEST]), 10.0**power
    )


@kernel
def _look(state, values, indices, starts, n, first, factor):
    """Take in rows; whether a run reached its ten values. Dense rows have no indices."""
    found = False
    bits = values.view(np.int64)
    columns = values.size // n if n > 0 and starts.size == 0 else 0
    for row in range(n):
        begin, end = row * columns, (row + 1) * columns
        if starts.size > 0:
            begin, end = starts[row], starts[row + 1]
        for k in range(begin, end):
            size = abs(values[k])
            if size > 0:  # neither zero nor missing
                j = indices[k] if starts.size > 0 else k - begin
                exponent = (bits[k] >> 52) & 0x7FF
                if state[j, RUN] == 0 and size <= state[j, LARGEST]:  # nearly always
                    state[j, LOGS] += exponent
                    state[j, COUNT] += 1
                else:
                    found |= _see(state[j], size, exponent, first + row, factor)
    return found


@kernel
def _see(record, size, exponent, row, factor):
    """Take in one value of one feature; whether it is the tenth of a run."""
    if record[RUN] >= TEN:
        return False
    if record[COUNT] >= TEN and size > factor * record[LARGEST]:
        if record[RUN] == 0:
            record[START] = row
        record[RUN] += 1
        record[RUN_LARGEST] = max(record[RUN_LARGEST], size)
        record[RUN_LOGS] += exponent
        return record[RUN] == TEN
    record[LARGEST] = max(record[LARGEST], record[RUN_LARGEST], size)
    record[LOGS] += record[RUN_LOGS] + exponent
    record[COUNT] += record[RUN] + 1
    record[RUN] = record[RUN_LARGEST] = record[RUN_LOGS] = 0
    return False
