"""Compaction: map columns to feature ids, in the order in which they are first nonzero.

An unused column costs nothing, and storage does not matter: dense and sparse rows of the same
values become the same rows. While the stream is *dense* a row is stored in full; later only its
nonzero values are. Two running rules decide which experts of a Blend stay; they
depend neither on blocks nor on storage, and are applied to a row before it is predicted::

    dense   d_t <= 1024, or at least 1/8 of all values so far are not 0
    small   d_t <= 256                                      (experts with a d x d matrix)

Kernels take a block as the tuple (values, indices, starts, columns).
"""

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import grown
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import prefetch
from unitless.learners.base import NO_INDICES, NO_STARTS
from unitless.rows import Block

MAX_SMALL, MAX_DENSE, MIN_DENSITY = 256, 1024, 1 / 8
TILE = 2**16
"""Values that are learned or predicted together."""
AHEAD = 32  # stored values between a prefetch and its use
SUM, SQUARES = 0, 1  # statistics of a feature
T, D, NONZEROS, DENSE, SMALL = range(5)  # totals
DONE, RULE, ZERO_WEIGHT = range(3)  # why a tile ends

Float = NDArray[np.float64]


@inlined
def _span(block, r):
    """Where the values of row r begin and end."""
    _, _, starts, columns = block
    if starts.size:
        return starts[r], starts[r + 1]
    return r * columns, (r + 1) * columns


@inlined
def _count(block, start, stop, ids):
    """(new features, nonzeros) of a row; a missing value makes a feature known too."""
    values, indices, starts, _ = block
    sparse = starts.size > 0
    new = nonzeros = 0
    for k in range(start, stop):
        if sparse:
            prefetch(ids, np.int64(indices[min(k + AHEAD, indices.size - 1)]))
        if values[k] != 0:
            column = indices[k] if sparse else k - start
            known = column < ids.size and ids[column] >= 0
            new += not known
            nonzeros += values[k] == values[k]
    return new, nonzeros


@inlined
def _rules(totals, new, nonzeros):
    """(dense, small) with a row of that many new features and nonzeros counted."""
    t = totals[T] + 1
    d = totals[D] + new
    enough = d <= MAX_DENSE or totals[NONZEROS] + nonzeros >= MIN_DENSITY * t * d
    return totals[DENSE] > 0 and enough, totals[SMALL] > 0 and d <= MAX_SMALL


@inlined
def _add_row(block, start, stop, ids, statistics, totals):
    """Take in a row: ids for its new features, and statistics."""
    values, indices, starts, _ = block
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


@kernel
def ingest(block, weights, rows, first, ids, statistics, totals):
    """Take in rows from `first` on, a tile at most: (the row after the last, why it ends)."""
    size = 0
    for r in range(first, rows):
        if weights.size and weights[r] == 0:
            return r, ZERO_WEIGHT
        start, stop = _span(block, r)
        new, nonzeros = _count(block, start, stop, ids)
        dense, small = _rules(totals, new, nonzeros)
        if dense != (totals[DENSE] > 0) or small != (totals[SMALL] > 0):
            return r, RULE
        if dense:
            size = (r + 1 - first) * (np.int64(totals[D]) + new + 1)
        else:
            size += nonzeros + 1
        if r > first and size > TILE:
            return r, DONE
        _add_row(block, start, stop, ids, statistics, totals)
        totals[T] += 1
        totals[NONZEROS] += nonzeros
    return rows, DONE


@kernel
def dry_run(block, ids, totals, new, regimes):
    """Of each row: its new features, and the regime (2 dense + small) it would be predicted in."""
    for r in range(new.size):
        start, stop = _span(block, r)
        new[r], nonzeros = _count(block, start, stop, ids)
        dense, small = _rules(totals, new[r], nonzeros)
        regimes[r] = 2 * dense + small


@kernel
def to_dense(block, ids, known, width, out):
    """The rows as full lines of `width` features; a row's new features follow the known ones."""
    values, indices, starts, _ = block
    sparse = starts.size > 0
    for k in range(out.size):
        out[k] = 0.0
    for r in range(out.size // max(width, 1)):
        start, stop = _span(block, r)
        new = known
        for k in range(start, stop):
            if values[k] != 0:
                column = indices[k] if sparse else k - start
                i = ids[column] if column < ids.size else -1
                if i < 0:
                    i = new
                    new += 1
                out[r * width + i] = values[k]


@kernel
def to_csr(block, ids, known, out_values, out_ids, ends):
    """The rows as lists of the values that are neither 0 nor missing."""
    values, indices, starts, _ = block
    sparse = starts.size > 0
    n = 0
    for r in range(ends.size - 1):
        start, stop = _span(block, r)
        new = known
        for k in range(start, stop):
            if values[k] != 0 and values[k] == values[k]:
                column = indices[k] if sparse else k - start
                i = ids[column] if column < ids.size else -1
                if i < 0:
                    i = new
                    new += 1
                out_values[n] = values[k]
                out_ids[n] = i
                n += 1
        ends[r + 1] = n


@kernel
def _in_order(ids, columns):
    """Whether the feature id of each column is its number."""
    differs = 0
    for j in range(columns):
        differs += ids[j] != j
    return differs == 0


class Compaction:
    """The features of a stream.

    ========== ======================================================== ==========
    field      meaning                                                  unit
    ========== ======================================================== ==========
    ids        feature id of each column, -1 for one that was always 0
    statistics by feature: sum of values, sum of squares                [x], [x]^2
    totals     rows, features, nonzeros, dense (1 or 0), small (1 or 0)
    ========== ======================================================== ==========
    """

    def __init__(self) -> None:
        self.ids = np.full(0, -1, dtype=np.int32)
        self.statistics = np.zeros((0, 2))
        self.totals = np.array([0.0, 0.0, 0.0, 1.0, 1.0])

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

    def set_regime(self, regime: int) -> None:
        """Set dense and small."""
        self.totals[DENSE] = regime // 2
        self.totals[SMALL] = regime % 2

    def reserve(self, columns: int) -> None:
        """Make room for that many columns."""
        self.ids = grown(self.ids, columns, fill=-1)
        self.statistics = grown(self.statistics, columns)

    def ingest(self, block: Block, weights: Float, rows: int, first: int) -> tuple[int, int]:
        """Take in the rows of a tile; see the kernel `ingest`."""
        state = self.ids, self.statistics, self.totals
        return ingest(tuple(block), weights, rows, first, *state)

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
            values, ids = np.empty(len(block.values)), np.empty(len(block.values), dtype=np.int32)
            ends = np.zeros(rows + 1, dtype=np.int64)
            to_csr(tuple(block), self.ids, known, values, ids, ends)
            return Block(values[: ends[-1]], ids[: ends[-1]], ends, width)
        full = not len(block.starts) and width == known == block.columns
        if full and _in_order(self.ids, width):
            return block
        lines = np.empty(rows * width)
        to_dense(tuple(block), self.ids, known, width, lines)
        return Block(lines, NO_INDICES, NO_STARTS, width)

    def tile(self, block: Block, first: int, rows: int, width: int) -> int:
        """The end of the rows from `first` on that are predicted together."""
        if self.dense or not len(block.starts):
            values = width if self.dense else block.columns
            return min(rows, first + max(1, TILE // (values + 1)))
        starts = block.starts
        stop = int(np.searchsorted(starts, starts[first] + TILE, side="right")) - 1
        return min(rows, first + TILE, max(first + 1, stop))


def take(block: Block, rows: NDArray[np.int64]) -> Block:
    """Some rows of a block."""
    values, indices, starts, columns = block
    if len(starts) == 0:
        return block._replace(values=values.reshape(-1, columns)[rows].reshape(-1))
    lengths = np.diff(starts)[rows]
    ends = np.append(0, np.cumsum(lengths))
    places = np.arange(ends[-1]) + np.repeat(starts[:-1][rows] - ends[:-1], lengths)
    return Block(values[places], indices[places], ends, columns)
