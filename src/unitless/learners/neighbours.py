"""Nearest neighbours among the hard rows seen so far, in any unit, one pass, bounded memory.

Rows are compared by their squashed values u = c / sqrt(var + c^2), c = x - mean so far (see
`unitless.views`), which no unit and no shift changes. With the squared distances q_1 <= q_2 <= ...
of the stored rows, the nearest K = 7 vote::

    w_k = v_k (1.1 - q_k / q_8)                       v_k is the sample weight of that row
    classes   p_c = (a / C + sum of w_k with label c) / (a + sum of w_k),   a = 0.35
    squared   score = sum of w_k y_k / sum of w_k

Classes are scored by ln p_c (two of them by the difference), and a row is stored only if its own
class got p < 0.8, because easy rows would add time and no knowledge. The newest rows replace the
oldest. There is room for 1024 rows and 2^15 numbers, for several classes 4096 rows and 2^16.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import clipped
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, every, fma, load, store
from unitless.learners.base import Block, Field, Float
from unitless.learners.loop import MAX_TARGET
from unitless.learners.nonlinear import Nonlinear
from unitless.losses import LOGISTIC, SOFTMAX, SQUARED
from unitless.rows import row_span
from unitless.state import checked_count, need
from unitless.views import show_moments

NEIGHBOURS = 7
PRIOR = 0.35
FARTHEST = 0.1  # the least that a neighbour counts
HARD = 0.8
ROOM, ROOM_FOR_CLASSES = (1024, 2**15), (4096, 2**16)
"""The most rows, and numbers in them, that are stored."""
FEWEST_ROWS = 128
MAX_COLUMNS = 4096
MAX_WEIGHT = 2.0**200  # of a row, so that sums stay within float64
TRIALS, USED, NEXT = range(3)


@inlined
def _load(block, r, x):
    """Row r in x."""
    values, indices, _, _ = block
    for j in range(x.size):
        x[j] = 0.0
    start, stop = row_span(block, r)
    for k in range(start, stop):
        j = np.int64(indices[k]) if indices.size else k - start
        if j < x.size:
            x[j] = values[k]


@inlined
def _rows_allowed(moments, most_rows, most_numbers):
    """How many rows may be stored, given the columns seen."""
    mean, m2, _, _ = moments
    columns = 0
    for j in range(mean.size):
        columns += 1 if m2[j] > 0 or mean[j] != 0 else 0
    rows = min(most_rows, max(most_numbers // max(columns, 1), FEWEST_ROWS))
    return rows // LANES * LANES


@inlined
def _nearest(u, stored, used, q, distance, slot):
    """The nearest rows in order, one more than vote; returns how many there are."""
    columns = stored.shape[1]
    flat = stored.reshape(-1)
    found = 0
    limit = math.inf
    for tile in range((used + LANES - 1) // LANES):
        sums = every(0.0)
        first = tile * columns * LANES
        for j in range(columns):
            away = load(flat, first + j * LANES) - u[j]
            sums = fma(away, away, sums)
        for j in range(columns, u.size):  # columns without room yet were 0 in all rows
            sums = fma(u[j], every(u[j]), sums)
        store(q, 0, sums)
        for lane in range(min(LANES, used - tile * LANES)):
            if q[lane] >= limit:
                continue
            k = min(found, NEIGHBOURS)
            found = min(found + 1, NEIGHBOURS + 1)
            while k > 0 and distance[k - 1] > q[lane]:
                distance[k] = distance[k - 1]
                slot[k] = slot[k - 1]
                k -= 1
            distance[k] = q[lane]
            slot[k] = tile * LANES + lane
            if found > NEIGHBOURS:
                limit = distance[NEIGHBOURS]
    return found


@inlined
def _vote(loss, found, distance, slot, labels, votes):
    """votes = the probabilities of the classes, or the mean of the targets."""
    classes = votes.size
    total = 0.0
    for c in range(classes):
        votes[c] = 0.0 if loss == SQUARED else PRIOR / classes
        total += votes[c]
    farthest = distance[NEIGHBOURS] if found > NEIGHBOURS else math.inf
    for k in range(min(found, NEIGHBOURS)):
        near = 1.0 - distance[k] / farthest if farthest > 0 else 1.0
        w = labels[slot[k], 1] * (near + FARTHEST)
        y = labels[slot[k], 0]
        if loss == SQUARED:
            votes[0] += w * y
        else:
            votes[np.int64(y)] += w
        total += w
    for c in range(classes):
        votes[c] = votes[c] / total if total > 0 else 0.0


@kernel
def run(block, targets, weights, scores, moments, memory, settings):
    """Score each row and then, if there are targets, learn it.

    Returns the number of rows done: fewer than there are when the arrays have to grow first.
    """
    loss, classes, most_rows, most_numbers = settings
    stored, labels, numbers = memory
    width = moments[0].size
    x = np.empty(width)
    c = np.empty(width)
    u = np.empty(width)
    q = np.empty(LANES)
    distance = np.empty(NEIGHBOURS + 1)
    slot = np.empty(NEIGHBOURS + 1, np.int64)
    votes = np.empty(1 if loss == SQUARED else max(classes, 2))
    rows = scores.size // classes
    for r in range(rows):
        v = min(weights[r], MAX_WEIGHT) if weights.size else 1.0
        learns = targets.size > 0 and v > 0
        used = np.int64(numbers[USED])
        if learns and used == labels.shape[0] and used < most_rows:
            return r
        _load(block, r, x)
        show_moments(x, width, learns, moments, c, u)
        found = _nearest(u, stored, used, q, distance, slot)
        _vote(loss, found, distance, slot, labels, votes)
        if loss == SQUARED:
            scores[r] = votes[0] + 0.0  # no -0
        elif loss == LOGISTIC:
            scores[r] = math.log(votes[1] / votes[0])
        else:
            for k in range(classes):
                scores[r * classes + k] = math.log(votes[k])
        if not learns:
            continue
        numbers[TRIALS] += 1
        y = clipped(targets[r], MAX_TARGET)
        if loss == LOGISTIC:
            y = 1.0 if y > 0 else 0.0
        if loss == SQUARED or votes[np.int64(y)] < HARD:
            most = _rows_allowed(moments, most_rows, most_numbers)
            at = np.int64(numbers[NEXT]) if numbers[NEXT] < most else 0
            for j in range(width):
                stored[at // LANES, j, at % LANES] = u[j]
            labels[at, 0] = y
            labels[at, 1] = v
            numbers[NEXT] = at + 1
            numbers[USED] = min(max(used, at + 1), most)
    return rows


class Neighbours(Nonlinear):
    """Nearest neighbours among the rows that were hard to predict.

    >>> from unitless.rows import as_rows
    >>> X = np.random.default_rng(0).uniform(-1, 1, (2000, 2))
    >>> rows = as_rows(X, np.sign(X[:, 0] * X[:, 1]))  # no linear learner can do this
    >>> scores = Neighbours().learn(rows)
    >>> print(f"{(scores * rows.targets > 0)[1000:].mean():.2f}")
    0.98
    """

    name = "neighbours"
    invariance = "affine"
    saved = (
        *Nonlinear.saved,
        Field("_mean", "x", "running mean", ("columns",)),
        Field("_m2", "x^2", "sum of squared deviations", ("columns",)),
        Field("_missing", "1", "rows in which x_i was missing", ("columns",)),
        Field("_rows", "1", "rows", (1,)),
        Field("_stored", "1", "squashed rows, eight side by side", ("tiles", "columns", LANES)),
        Field("_labels", "", "their targets and sample weights", ("room", 2)),
        Field("_numbers", "1", "trials, rows stored, where the next one goes", (3,)),
    )

    def _prepare(self) -> None:
        self._mean = np.zeros(0)
        self._m2 = np.zeros(0)
        self._missing = np.zeros(0)
        self._rows = np.zeros(1)
        self._stored = np.zeros((2, 0, LANES))
        self._labels = np.zeros((2 * LANES, 2))
        self._numbers = np.zeros(3)

    @property
    def state(self) -> tuple[Float, ...]:
        """The state; the arrays are not copies."""
        moments = self._mean, self._m2, self._missing, self._rows
        return *moments, self._stored, self._labels, self._numbers

    def _sizes(self) -> dict[str, int]:
        room = len(self._labels)
        own = {"columns": self._columns, "tiles": len(self._stored), "room": room}
        return super()._sizes() | own

    def _loaded(self) -> None:
        room = len(self._labels)
        used = checked_count(self._numbers[USED], room, "rows stored")
        checked_count(self._numbers[NEXT], used, "place of the next row")
        checked_count(self._numbers[TRIALS], math.inf, "trials")
        need(room == LANES * len(self._stored), "rows and labels differ in number")
        need((self._m2 >= 0).all(), "a sum of squares is negative")
        y, v = self._labels.T
        need(
            ((v >= 0) & (v <= MAX_WEIGHT) & (np.abs(y) <= MAX_TARGET)).all(), "a label is too large"
        )
        if self.loss.code != SQUARED:
            good = (y >= 0) & (y < max(self.classes, 2)) & (y == np.floor(y))
            need(good.all(), "a label is not a class")

    @property
    def trials(self) -> int:
        """Rows learned."""
        return int(self._numbers[TRIALS])

    def _reserve(self, columns: int) -> None:
        if columns > MAX_COLUMNS:
            raise ValueError(
                f"{columns} columns: {self.name} stores whole rows and takes at most "
                f"{MAX_COLUMNS}; use 'diagonal', or 'blend'"
            )
        new = max(columns - self._columns, 0)
        if new:
            self._mean, self._m2, self._missing = (
                np.pad(each, (0, new)) for each in (self._mean, self._m2, self._missing)
            )
            self._stored = np.pad(self._stored, ((0, 0), (0, new), (0, 0)))
            self._columns = columns

    def make_room(self) -> None:
        """Twice as many rows."""
        tiles = len(self._stored)
        self._stored = np.pad(self._stored, ((0, tiles), (0, 0), (0, 0)))
        self._labels = np.pad(self._labels, ((0, tiles * LANES), (0, 0)))

    def _run(self, block: Block, targets: Float, weights: Float, scores: Float) -> int:
        moments = self._mean, self._m2, self._missing, self._rows
        memory = self._stored, self._labels, self._numbers
        out = scores.reshape(-1)
        return run(tuple(block), targets, weights, out, moments, memory, self.settings)

    @property
    def settings(self) -> tuple[int, ...]:
        """What the kernel needs beside the state."""
        room = ROOM_FOR_CLASSES if self.loss.code == SOFTMAX else ROOM
        return self.loss.code, self.classes, *room

    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        self._mean[columns] *= factors
        self._m2[columns] *= factors**2
        self._stored[:, columns] *= np.sign(factors)[:, None]

    def _seen(self) -> NDArray[np.bool_]:
        return np.append(True, (self._m2 > 0) | (self._mean != 0))
