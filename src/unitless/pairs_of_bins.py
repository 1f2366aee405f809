"""Pairs of bins: which of 8 x 8 cells two squashed features fall into, for up to 128 pairs.

    b_i = floor(4 (u_i + 1)) of squashed values u_i, so that bins are 0 to 7
    cell 8 b_i + b_j of pair p is the feature 64 p + 8 b_i + b_j, which is 1 in this row

A linear learner on cells can represent any function of two features, in steps. The pairs are drawn
once, after 64 rows: those with the smallest hashes among all pairs of the features that varied by
then, which are numbered by their order.
"""

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import hashed
from unitless.kernels.decorators import inlined, kernel
from unitless.rows import Block
from unitless.state import Field, Stateful, checked_count, need

PAIRS = 128
BINS = 8
CELLS = BINS * BINS
FIRST_ROWS = 64
"""Rows after which the pairs are drawn."""

Float = NDArray[np.float64]


@kernel
def draw(features, pairs):
    """The pairs of these features with the smallest hashes; returns how many there are."""
    count = 0
    hashes = np.empty(pairs.shape[0], np.uint64)
    for b in range(features.size):
        for a in range(b):
            h = hashed(a, b, 0)
            if count == hashes.size and h >= hashes[count - 1]:
                continue
            k = min(count, hashes.size - 1)
            count = min(count + 1, hashes.size)
            while k > 0 and hashes[k - 1] > h:
                hashes[k] = hashes[k - 1]
                pairs[k, 0] = pairs[k - 1, 0]
                pairs[k, 1] = pairs[k - 1, 1]
                k -= 1
            hashes[k] = h
            pairs[k, 0] = features[a]
            pairs[k, 1] = features[b]
    return count


@inlined
def _bin(u):
    """The bin of a squashed value, 0 to 7."""
    return np.int64(min(max(4 * (u + 1), 0.0), BINS - 1.0))


@kernel
def show(squashed, learns, pairs, sign, varies, totals, cells, starts):
    """Fill in the cells of each row, and where each row's cells begin; returns their number."""
    n = 0
    rows = starts.size - 1
    width = squashed.size // max(rows, 1)
    for r in range(rows):
        x = squashed[r * width : (r + 1) * width]
        for p in range(np.int64(totals[1])):
            i = pairs[p, 0]
            j = pairs[p, 1]
            cells[n] = p * CELLS + BINS * _bin(x[i] * sign[i]) + _bin(x[j] * sign[j])
            n += 1
        starts[r + 1] = n
        if learns:
            totals[0] += 1
            if totals[0] <= FIRST_ROWS:
                for i in range(width):
                    varies[i] = max(varies[i], 1.0 if x[i] != 0 else 0.0)
            if totals[0] == FIRST_ROWS:
                totals[1] = draw(np.flatnonzero(varies[:width]), pairs)
    return n


class PairsOfBins(Stateful):
    """The view of pairs of bins.

    >>> from unitless.rows import NO_INDICES, NO_STARTS
    >>> squashed = Block(np.tile([-0.9, 0.1, 0.9], 65), NO_INDICES, NO_STARTS, 3)
    >>> PairsOfBins().show(squashed, 65, learn=True).indices
    array([  7, 103, 132], dtype=int32)
    """

    saved = (
        Field("pairs", "1", "the two features of each pair", (PAIRS, 2)),
        Field("sign", "sign", "-1: the feature is turned around", ("n",)),
        Field("varies", "1", "1: the feature was not constant in the first rows", ("n",)),
        Field("totals", "1", "rows, pairs", (2,)),
    )

    def __init__(self) -> None:
        self.pairs = np.zeros((PAIRS, 2), np.int64)
        self.sign = np.empty(0)
        self.varies = np.empty(0)
        self.totals = np.zeros(2)

    def _sizes(self) -> dict[str, int]:
        return {"n": len(self.sign)}

    def _loaded(self) -> None:
        checked_count(self.totals[0], np.inf, "rows")
        checked_count(self.totals[1], PAIRS, "pairs")
        need(((self.pairs >= 0) & (self.pairs <= max(len(self.sign) - 1, 0))).all(), "pairs")

    def reserve(self, features: int) -> None:
        """Make room for that many features."""
        new = features - len(self.sign)
        if new > 0:
            self.sign = np.append(self.sign, np.ones(new))
            self.varies = np.append(self.varies, np.zeros(new))

    def show(self, squashed: Block, rows: int, *, learn: bool) -> Block:
        """The cells of squashed rows, each as if it were the next; see `Views.show`."""
        if learn:
            self.reserve(squashed.columns)
        cells = np.empty(rows * PAIRS, np.int32)
        starts = np.zeros(rows + 1, np.int64)
        state = self.pairs, self.sign, self.varies, self.totals
        n = show(squashed.values, learn, *state, cells, starts)
        return Block(np.ones(n), cells[:n], starts, PAIRS * CELLS)

    def by_feature(self, parts: Float, features: int) -> Float:
        """What cells add to a score, half of it for each of the two features."""
        out = np.zeros((features, *parts.shape[1:]))
        for cell in np.flatnonzero(parts.reshape(len(parts), -1).any(axis=1)):
            out[self.pairs[cell // CELLS]] += parts[cell] / 2
        return out
