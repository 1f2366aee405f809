"""Compaction: map columns to feature ids, in the order in which they are first nonzero.

An unused column costs nothing, and storage does not matter: dense and sparse rows of the same
values become the same rows. Two running rules (blend.md) make the *regime*, 2 dense + small,
which decides which experts of a Blend stay, and whether a row is stored in full (dense) or as a
list of its nonzero values. Kernels take a block as the tuple (values, indices, starts, columns).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import grown
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import NO_INDICES, NO_STARTS
from unitless.rows import Block, row_span
from unitless.state import Field, Stateful, checked_count, need

MAX_SMALL, MAX_DENSE, MIN_DENSITY = 256, 1024, 1 / 8
TILE = 2**16
"""Values that are learned or predicted together."""
SUM, SQUARES = 0, 1  # statistics of a feature
T, D, NONZEROS, DENSE, SMALL = range(5)  # totals


@inlined
def count(block, r, ids):
    """(new features, nonzeros) of a row; a missing value makes a feature known too."""
    values, indices, starts, _ = block
    sparse = starts.size > 0
    start, stop = row_span(block, r)
    new = nonzeros = 0
    for k in range(start, stop):
        if values[k] != 0:
            column = indices[k] if sparse else k - start
            known = column < ids.size and ids[column] >= 0
            new += not known
            nonzeros += values[k] == values[k]
    return new, nonzeros


@inlined
def next_regime(totals, new, nonzeros):
    """The regime with a row of that many new features and nonzeros counted."""
    t = totals[T] + 1
    d = totals[D] + new
    enough = d <= MAX_DENSE or totals[NONZEROS] + nonzeros >= MIN_DENSITY * t * d
    dense = totals[DENSE] > 0 and enough
    small = totals[SMALL] > 0 and d <= MAX_SMALL
    return 2 * dense + small


@inlined
def changes_regime(totals, new, nonzeros):
    """Whether experts have to leave before such a row."""
    return next_regime(totals, new, nonzeros) != 2 * totals[DENSE] + totals[SMALL]


@inlined
def add_row(block, r, nonzeros, ids, statistics, totals):
    """Take in a row: ids for its new features, statistics and totals."""
    values, indices, starts, _ = block
    start, stop = row_span(block, r)
    for k in range(start, stop):
        x = values[k]
        if x == 0:
            continue
        column = indices[k] if starts.size else k - start
        if ids[column] < 0:
            ids[column] = np.int32(totals[D])
            totals[D] += 1
        if x == x:
            statistics[ids[column], SUM] += x
            statistics[ids[column], SQUARES] += x * x
    totals[T] += 1
    totals[NONZEROS] += nonzeros


@kernel
def ingest(block, weights, rows, first, ids, statistics, totals):
    """Take in rows from `first` on, a tile at most; returns the row after the last.

    Before a row of weight 0 or of another regime the tile ends.
    """
    size = 0
    for r in range(first, rows):
        new, nonzeros = count(block, r, ids)
        if totals[DENSE]:
            size = (r + 1 - first) * (np.int64(totals[D]) + new + 1)
        else:
            size += nonzeros + 1
        is_full = r > first and size > TILE
        left_out = weights.size > 0 and weights[r] == 0
        if is_full or left_out or changes_regime(totals, new, nonzeros):
            return r
        add_row(block, r, nonzeros, ids, statistics, totals)
    return rows


@kernel
def dry_run(block, ids, totals, new, regimes):
    """Of each row, if it were the next: its new features, and the regime it is predicted in."""
    for r in range(new.size):
        new[r], nonzeros = count(block, r, ids)
        regimes[r] = next_regime(totals, new[r], nonzeros)


@kernel
def compact(block, ids, known, width, out, out_ids, ends):
    """The rows by feature, those that are new to a row after the known ones.

    Full lines of `width` features or, if there are `ends`, lists of the values that are neither 0
    nor missing.
    """
    values, indices, starts, _ = block
    lists = ends.size > 0
    rows = ends.size - 1 if lists else out.size // max(width, 1)
    n = 0
    for r in range(rows):
        start, stop = row_span(block, r)
        new = known
        if not lists:
            n = r * width
            for k in range(n, n + width):
                out[k] = 0.0
        for k in range(start, stop):
            if values[k] == 0 or (lists and values[k] != values[k]):
                continue
            column = indices[k] if starts.size else k - start
            i = ids[column] if column < ids.size else -1
            if i < 0:
                i = new
                new += 1
            if lists:
                out[n] = values[k]
                out_ids[n] = i
                n += 1
            else:
                out[n + i] = values[k]
        if lists:
            ends[r + 1] = n


class Compaction(Stateful):
    """The features of a stream."""

    saved = (
        Field("ids", "1", "feature id of each column, -1 for one that was always 0"),
        Field("statistics", "x, x^2", "by feature: sum of values, sum of squares", ("n", 2)),
        Field("totals", "1", "rows, features, nonzeros, dense (1 or 0), small (1 or 0)", (5,)),
        Field("turned", "1", "columns that changed their sign before they had an id"),
    )

    def __init__(self) -> None:
        self.ids = np.full(0, -1, dtype=np.int32)
        self.statistics = np.zeros((0, 2))
        self.totals = np.array([0.0, 0.0, 0.0, 1.0, 1.0])
        self.turned = np.zeros(0, dtype=np.int32)

    def _sizes(self) -> dict[str, int]:
        return {"n": len(self.statistics)}

    def _loaded(self) -> None:
        known = checked_count(self.totals[D], len(self.statistics))
        ids = np.sort(self.ids[self.ids != -1])
        need(np.array_equal(ids, np.arange(known)), "feature ids are used twice, or not at all")
        switches = self.totals[[DENSE, SMALL]]
        need(((switches == 0) | (switches == 1)).all(), "a switch is neither 0 nor 1")
        need(len(self.turned) >= len(self.ids), "signs of columns are missing")

    @property
    def state(self) -> tuple[NDArray[Any], ...]:
        """The arrays, in the order of the table."""
        return self.ids, self.statistics, self.totals

    @property
    def count(self) -> int:
        """The number of features."""
        return int(self.totals[D])

    @property
    def dense(self) -> bool:
        """Whether rows are still full lines of features."""
        return bool(self.totals[DENSE])

    @property
    def regime(self) -> int:
        """2 dense + small."""
        return int(2 * self.totals[DENSE] + self.totals[SMALL])

    def reserve(self, columns: int) -> None:
        """Make room for that many columns."""
        self.ids = grown(self.ids, columns, fill=-1)
        self.statistics = grown(self.statistics, columns)
        self.turned = grown(self.turned, columns)

    def dry_run(self, block: Block, rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(new features, regime) of each row, if it were the next; nothing changes."""
        new = np.empty(rows, dtype=np.int64)
        regimes = np.empty(rows, dtype=np.int64)
        dry_run(tuple(block), self.ids, self.totals, new, regimes)
        return new, regimes

    def compact(self, block: Block, rows: int, width: int) -> Block:
        """The rows by feature: full lines of that width while dense, then lists."""
        known = self.count
        if not self.dense:
            values = np.empty(len(block.values))
            ids = np.empty(len(block.values), dtype=np.int32)
            ends = np.zeros(rows + 1, dtype=np.int64)
            compact(tuple(block), self.ids, known, width, values, ids, ends)
            return Block(values[: ends[-1]], ids[: ends[-1]], ends, width)
        full = not len(block.starts) and width == known == block.columns
        if full and (self.ids[:width] == np.arange(width)).all():
            return block
        lines = np.empty(rows * width)
        compact(tuple(block), self.ids, known, width, lines, NO_INDICES, NO_STARTS)
        return Block(lines, NO_INDICES, NO_STARTS, width)

    def rows_per_tile(self, block: Block, rows: int, width: int) -> int:
        """How many of the rows of a block are predicted together."""
        size = rows * (width + 1) if self.dense else rows + len(block.values)
        return max(1, TILE * rows // size)
