"""A uniform sample of the rows that a model has learned, for effects and explanations.

Row t (from 0) of a stream is kept in place t while there is room, and later replaces the row in a
random place below t + 1, if that is one of the reservoir's (Vitter 1985, algorithm R). The random
number is a hash of t. So the sample depends neither on blocks nor on values, and a resumed run
keeps the same rows.
"""

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.counter_hash import mixed
from unitless.rows import Rows
from unitless.state import LARGEST, need

Float = NDArray[np.float64]
Ints = NDArray[np.int64]
SIZE = 256
"""Rows that a model keeps unless it is told otherwise."""
RESERVOIR_STREAM = 1
"""The stream of the hash; held-out rows are chosen by another one."""
PLACES_AHEAD = 1024
"""Rows whose places are computed at once when they come one by one."""


class KeptRow(NamedTuple):
    """One row: its number of columns, and which of them are stored with which values."""

    columns: int
    indices: NDArray[np.int32]
    values: Float


def places(first: int, count: int, size: int) -> Ints:
    """Return the place that each of these rows takes in a reservoir; `size` or more is none.

    >>> places(0, 5, 3)[:3].tolist()
    [0, 1, 2]
    """
    numbers = np.arange(first, first + count)
    shares = (mixed(numbers, RESERVOIR_STREAM) >> np.uint64(11)) * 2.0**-53
    return np.where(numbers < size, numbers, np.floor(shares * (numbers + 1))).astype(np.int64)


class Reservoir:
    """At most `size` rows, each row learned so far with the same probability.

    Rows of weight 0 do not count.

    >>> from unitless.rows import as_rows
    >>> kept = Reservoir(2)
    >>> kept.add(as_rows([[1.0], [2.0], [3.0], [4.0]]))
    >>> len(kept), kept.seen
    (2, 4)
    """

    def __init__(self, size: int = SIZE) -> None:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
            raise ValueError(f"reservoir = {size!r}: use a number of rows, 0 to keep none")
        self.size = int(size)
        self.seen = 0
        self.kept: list[KeptRow] = []
        self._window: tuple[int, int, dict[int, int]] = (0, 0, {})  # rows, and places of kept ones

    def __len__(self) -> int:
        return len(self.kept)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reservoir):
            return NotImplemented
        own, theirs = self.state(), other.state()
        same = [np.array_equal(a, theirs[1][k], equal_nan=True) for k, a in own[1].items()]
        return own[0] == theirs[0] and all(same)

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> "Reservoir":
        """Return a reservoir with the same rows, which are never written to."""
        made = copy(self)
        made.kept = [*self.kept]
        return made

    def add(self, rows: Rows) -> None:
        """Count rows, and keep some of them."""
        if not self.size:
            return
        numbers = np.arange(len(rows))
        if rows.weights is not None:
            numbers = np.flatnonzero(rows.weights > 0)
        own = places(self.seen, len(numbers), self.size)
        for k in np.flatnonzero(own < self.size).tolist():
            self.keep(int(own[k]), row_of(rows, int(numbers[k])))
        self.seen += len(numbers)

    def next_place(self) -> int | None:
        """Count one row of positive weight; return the place to `keep` it in, None for most."""
        if not self.size:
            return None
        number = self.seen
        self.seen += 1
        if not self._window[0] <= number < self._window[1]:
            own = places(number, PLACES_AHEAD, self.size)
            taken = np.flatnonzero(own < self.size)
            pairs = zip((number + taken).tolist(), own[taken].tolist(), strict=True)
            self._window = number, number + PLACES_AHEAD, dict(pairs)
        return self._window[2].get(number)

    def keep(self, place: int, row: KeptRow) -> None:
        """Put a row into a place, instead of the one that is there."""
        if place == len(self.kept):
            self.kept.append(row)
        else:
            self.kept[place] = row

    def rescale(self, factors: Float) -> None:
        """Multiply the values of each column by its factor."""
        rescaled = []
        for row in self.kept:
            known = row.indices < len(factors)
            by_value = np.where(known, factors[np.minimum(row.indices, len(factors) - 1)], 1.0)
            with np.errstate(over="ignore"):
                values = np.clip(row.values * by_value, -LARGEST, LARGEST)
            rescaled.append(row._replace(values=values))
        self.kept = rescaled

    def rows(self, chosen: Sequence[int] | None = None) -> Rows:
        """Return the kept rows, or some of them: dense if all of them are."""
        return rows_of_kept(self.kept if chosen is None else [self.kept[k] for k in chosen])

    # In a model file

    def state(self) -> tuple[dict[str, int], dict[str, NDArray[Any]]]:
        """Return what a model file keeps: numbers and arrays."""
        lengths = [len(row.values) for row in self.kept]
        arrays = {
            "widths": np.array([row.columns for row in self.kept], dtype=np.int64),
            "starts": np.append(0, np.cumsum(lengths)).astype(np.int64),
            "indices": _joined([row.indices for row in self.kept], np.int32),
            "values": _joined([row.values for row in self.kept], np.float64),
        }
        return {"size": self.size, "seen": self.seen}, arrays

    @classmethod
    def from_state(cls, facts: dict[str, int], arrays: dict[str, NDArray[Any]]) -> "Reservoir":
        """Return the reservoir with that state; an inconsistent one is an error."""
        made = cls(facts["size"])
        seen = facts["seen"]
        widths, starts = arrays["widths"], arrays["starts"]
        indices, values = arrays["indices"], arrays["values"]
        types = [array.dtype.name for array in (widths, starts, indices, values)]
        need(types == ["int64", "int64", "int32", "float64"], "the reservoir has other types")
        need(isinstance(seen, int) and len(widths) == min(max(seen, 0), made.size), "seen rows")
        need(len(starts) == 1 + len(widths) and starts[0] == 0, "the reservoir's rows")
        need(bool((np.diff(starts) >= 0).all()), "the reservoir's rows go backwards")
        need(len(indices) == len(values) == starts[-1], "the reservoir's values")
        Rows(values[None], None, None, len(values), None, None).refuse_infinity()
        for width, start, stop in zip(widths, starts[:-1], starts[1:], strict=True):
            own = indices[start:stop]
            rises = bool((np.diff(own) > 0).all())
            inside = not len(own) or (own[0] >= 0 and own[-1] < width)
            need(rises and inside, "the reservoir's columns")
            made.kept.append(KeptRow(int(width), own, values[start:stop]))
        made.seen = seen
        return made


def row_of(rows: Rows, k: int) -> KeptRow:
    """Return a copy of one row of a block."""
    if rows.indices is None or rows.starts is None:
        everything = np.arange(rows.columns, dtype=np.int32)
        return KeptRow(rows.columns, everything, rows.values[k].copy())
    own = slice(rows.starts[k], rows.starts[k + 1])
    indices = rows.indices[own].copy()
    # not the width of the block, which depends on what other rows it has
    width = int(indices[-1]) + 1 if len(indices) else 0
    return KeptRow(width, indices, rows.values[own].copy())


def row_of_dict(row: Mapping[Hashable, object], columns: Mapping[Hashable, int]) -> KeptRow:
    """Return a dict of known names as a row; None is missing.

    >>> row_of_dict({"b": 2.0, "a": None}, {"a": 0, "b": 1})
    KeptRow(columns=2, indices=array([0, 1], dtype=int32), values=array([nan,  2.]))
    """
    found = sorted((columns[name], value) for name, value in row.items())
    values = np.array([value for _, value in found], dtype=np.float64)
    indices = np.array([column for column, _ in found], dtype=np.int32)
    return KeptRow(found[-1][0] + 1 if found else 0, indices, values)


def rows_of_kept(kept: Sequence[KeptRow]) -> Rows:
    """Return these rows as a block: dense if each of them stores all of its columns."""
    width = max((row.columns for row in kept), default=0)
    if all(len(row.values) == width for row in kept):
        values = np.array([row.values for row in kept]).reshape(len(kept), width)
        return Rows(values, None, None, width, None, None)
    starts = np.append(0, np.cumsum([len(row.values) for row in kept])).astype(np.int64)
    indices = _joined([row.indices for row in kept], np.int32)
    values = _joined([row.values for row in kept], np.float64)
    return Rows(values, indices, starts, width, None, None)


def _joined(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate([np.empty(0, kind), *parts]).astype(kind)
