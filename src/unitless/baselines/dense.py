"""The loop of the baselines that work on the whole vector or on a d x d matrix.

Such a baseline is two functions of the whole row, and a cached kernel of three lines::

    predict(parameters, state, x, v, work) -> p
    update(parameters, state, x, trial, work)

`state` is (totals, seen, vectors, matrix); `trial` is (v, y, p, g): sample weight, target, score
and g = loss'(y, p) / L. x[0] is the constant. `work` are rows as long as x in which both may
write. `predict` must not change the state. totals[T] counts the trials before this one in
`predict`, and this one too in `update`.

A column without a nonzero value changes no bit of a score: its entries are exact zeros.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.baselines.baseline import Baseline
from unitless.kernels.decorators import inlined, pasted
from unitless.kernels.simd import LANES
from unitless.learners.base import EMPTY, LARGEST, Block, Diverged, Field, Float, Learner
from unitless.learners.loop import T
from unitless.losses import derivative
from unitless.rows import row_span
from unitless.state import COLUMNS, need

MARGIN = 8  # zeros after the last coordinate, part of the layout of saved files
WORK = 6  # rows of scratch memory, of which the last is x


@inlined
def _load(block, r, x):
    """x = the values of row r, 0 where a value is missing."""
    values, indices, _, _ = block
    start, stop = row_span(block, r)
    x[1:] = 0.0
    for k in range(start, stop):
        column = indices[k] if indices.size else k - start
        x[column + 1] = values[k] if values[k] == values[k] else 0.0


@inlined
def _finite(values):
    good = True
    for k in range(values.size):
        good &= abs(values[k]) < math.inf
    return good


@pasted
def loop(predict, update, parameters, loss, data, state):
    """One trial per row; without targets nothing is learned.

    Returns the first row that cannot be learned because a score or the state would not be finite,
    or the number of rows.
    """
    code, loss_parameter, slope, intercept = loss
    block, targets, weights, scores = data
    totals, seen, vectors, matrix = state
    work = np.zeros((WORK, seen.size))
    x = work[WORK - 1]
    x[0] = intercept
    for r in range(scores.size):
        _load(block, r, x)
        weight = weights[r] if weights.size else 1.0
        v = weight if weight > 0 else 1.0
        p = predict(parameters, state, x, v, work)
        nearest = min(max(p, -LARGEST), LARGEST) + 0.0  # no -0
        scores[r] = nearest if p == p else 0.0  # 0 where terms of both signs overflow
        if targets.size == 0 or weight == 0:
            continue
        if not abs(p) < math.inf:
            return r
        totals[T] += 1
        for j in range(x.size):
            seen[j] = 1.0 if x[j] != 0 else seen[j]
        y = targets[r]
        g = derivative(code, loss_parameter, y, p) * slope
        update(parameters, state, x, (v, y, p, g), work)
        finite = _finite(totals) and _finite(vectors.reshape(-1)) and _finite(matrix.reshape(-1))
        if not finite:
            return r
    return scores.size


class DenseState(NamedTuple):
    """Arrays; those by coordinate are rounded up to a multiple of eight and followed by zeros."""

    totals: Float
    seen: Float
    vectors: Float
    matrix: Float


class DenseLearner(Baseline, Learner):
    """Base of the baselines with a dense vector or matrix."""

    invariance: ClassVar[Any] = "rotation"
    has_classes = False
    vectors: ClassVar[tuple[Field, ...]]
    max_columns: ClassVar[float] = math.inf
    kernel: ClassVar[Any]
    """The compiled loop of this learner."""
    state: DenseState
    saved: ClassVar[tuple[Any, ...]] = (
        *Learner.saved,
        COLUMNS,
        Field("state.totals", "1", "trials, and more", ("totals",)),
        Field("state.seen", "1", "1 where a coordinate was not 0", ("n",)),
        Field("state.vectors", "", "one row for each of `vectors`", ("vectors", "n")),
        Field("state.matrix", "", "see the class", ("rows", "n")),
    )
    _columns: int = 0

    @property
    def trials(self) -> int:
        """Rows learned."""
        return int(self.state.totals[T])

    def _shape(self, coordinates: int) -> tuple[int, int]:
        """The number of totals, the count of trials included, and of rows of the matrix."""
        return 1, 0

    def _sizes(self) -> dict[str, int]:
        n = len(self.state.seen)
        totals, rows = self._shape(n - MARGIN)
        own = {"n": n, "totals": totals, "rows": rows, "vectors": len(self.vectors)}
        return super()._sizes() | own

    def _loaded(self) -> None:
        room = len(self.state.seen) - MARGIN
        need(room % LANES == 0, "coordinates are not whole lanes")
        need(1 + self._columns <= room, f"there is no room for {self._columns} columns")

    def _prepare(self) -> None:
        slope = 1.0 if math.isinf(self.loss.lipschitz) else 1 / self.loss.lipschitz
        self._loss = (self.loss.code, self.loss.parameter, slope, float(self.intercept))
        self._columns = 0
        self.state = self._fresh(LANES)

    def _fresh(self, coordinates: int) -> DenseState:
        """The state before the first row."""
        totals, rows = self._shape(coordinates)
        n = coordinates + MARGIN
        vectors = np.zeros((len(self.vectors), n))
        return DenseState(np.zeros(totals), np.zeros(n), vectors, np.zeros((rows, n)))

    def _with_room(self, columns: int) -> DenseState:
        """A copy of the state with room for that many columns, rounded up to lanes."""
        old = self.state
        new = self._fresh(-(-(1 + columns) // LANES) * LANES)
        n = min(len(old.seen), len(new.seen)) - MARGIN
        rows = min(len(old.matrix), len(new.matrix))
        new.totals[:] = old.totals
        new.seen[:n] = old.seen[:n]
        new.vectors[:, :n] = old.vectors[:, :n]
        new.matrix[:rows, :n] = old.matrix[:rows, :n]
        return new

    def _reserve(self, columns: int) -> None:
        if columns > self.max_columns:
            raise ValueError(
                f"{columns} columns: {self.name} keeps a matrix with one row per column and takes "
                f"at most {self.max_columns:.0f}; use 'oja_son' or 'fd_son', which keep a few rows"
            )
        if columns > self._columns:
            self.state = self._with_room(columns)
            self._columns = columns

    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        columns = max(block.columns, int(block.indices.max(initial=-1)) + 1)
        state = self._with_room(columns) if columns > self._columns else self.state
        self._run(block, EMPTY, weights, scores, state)
        return scores

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        after = self._with_room(self._columns)
        row = self._run(block, targets, weights, scores, after)
        if row < len(scores):
            raise Diverged(self.name, row)
        self.state = after
        return scores

    def _before(self, block: Block) -> Any:
        return self.state, self._columns

    def _put_back(self, before: Any) -> None:
        self.state, self._columns = before

    def _run(self, block, targets, weights, scores, state):
        data = tuple(block), targets, weights, scores
        return self.kernel(self._parameters(), self._loss, data, tuple(state))

    def _rescale(self, columns: Any, factors: Any) -> None:
        raise NotImplementedError("a scale-dependent learner cannot follow a change of units")

    def _coefficients(self) -> Float:
        return self.state.vectors[0, : 1 + self._columns].copy()
