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
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.baselines.scale_dependent import ScaleDependent
from unitless.kernels.decorators import inlined
from unitless.kernels.simd import LANES, every, load, total
from unitless.learners.base import EMPTY, LARGEST, Block, Diverged, Float, Learner
from unitless.losses import derivative

T = 0
MARGIN = 8  # zeros after the last coordinate, part of the layout of saved files
WORK = 6  # rows of scratch memory


@inlined
def dot(a, b):
    """a.b in eight partial sums: zeros after the last coordinate change no bit."""
    sums = every(0.0)
    for k in range(0, a.size, LANES):
        sums += load(a, k) * load(b, k)
    return total(sums)


@inlined
def add_multiple(a, x, z):
    """z += a x."""
    for j in range(z.size):
        z[j] += a * x[j]


@inlined
def _load(values, indices, intercept, x):
    """x = the constant and the values of a row, 0 where a value is missing."""
    x[:] = 0.0
    x[0] = intercept
    for k in range(values.size):
        column = indices[k] if indices.size else k
        if values[k] == values[k]:
            x[column + 1] = values[k]


@inlined
def _count_not_finite(values):
    count = 0
    for k in range(values.size):
        count += 0 if abs(values[k]) < np.inf else 1
    return count


@inlined
def _all_finite(state):
    totals, _, vectors, matrix = state
    count = _count_not_finite(totals)
    count += _count_not_finite(vectors.reshape(-1))
    count += _count_not_finite(matrix.reshape(-1))
    return count == 0


@inlined
def _saturated(p):
    """The nearest number that float64 has; 0 where terms of both signs overflow."""
    return min(max(p, -LARGEST), LARGEST) if p == p else 0.0


@inlined
def loop(predict, update, parameters, loss, block, targets, weights, scores, state, work):
    """One trial per row; without targets nothing is learned.

    Returns the first row that cannot be learned because a score or the state would not be finite,
    or the number of rows.
    """
    code, parameter, slope, intercept = loss
    values, indices, starts, columns = block
    totals, seen, _, _ = state
    x = work[WORK - 1]
    for r in range(scores.size):
        start = starts[r] if starts.size else r * columns
        stop = starts[r + 1] if starts.size else start + columns
        _load(values[start:stop], indices[start:stop], intercept, x)
        weight = weights[r] if weights.size else 1.0
        v = weight if weight > 0 else 1.0
        p = predict(parameters, state, x, v, work)
        scores[r] = _saturated(p) + 0.0  # no -0
        if targets.size == 0 or weight == 0:
            continue
        if not abs(p) < np.inf:
            return r
        totals[T] += 1
        for j in range(x.size):
            if x[j] != 0:
                seen[j] = 1.0
        y = targets[r]
        g = derivative(code, parameter, y, p) * slope
        update(parameters, state, x, (v, y, p, g), work)
        if not _all_finite(state):
            return r
    return scores.size


class DenseState(NamedTuple):
    """The state of a dense baseline; the table of its module says what the rows are.

    Vectors have an entry per coordinate, rounded up to a multiple of eight and followed by zeros.
    """

    totals: NDArray[np.float64]
    """totals[0] counts trials."""
    seen: NDArray[np.float64]
    """1 where a coordinate was not 0."""
    vectors: NDArray[np.float64]
    matrix: NDArray[np.float64]


class DenseLearner(ScaleDependent, Learner):
    """Base of the baselines with a dense vector or matrix."""

    invariance: ClassVar[Any] = "rotation"
    has_classes = False
    needs_signs: ClassVar[bool] = False
    """Whether it needs a loss for two classes."""
    vectors: ClassVar[tuple[str, ...]]
    """Names of the vectors."""
    max_columns: ClassVar[float] = math.inf
    run: ClassVar[Callable[..., int]]
    """The cached kernel."""
    state: DenseState
    _columns: int = 0

    def _totals(self) -> int:
        """The number of totals, the count of trials included."""
        return 1

    def _matrix(self, coordinates: int) -> tuple[int, int]:
        """The shape of the matrix, without the margin, for that many coordinates."""
        return 0, coordinates

    def _initialise(self, state: DenseState, first: int) -> None:
        """Set what coordinates from `first` on start with, where that is not 0."""

    def _prepare(self) -> None:
        if self.needs_signs and self.loss.targets != "signs":
            raise ValueError(
                f"{self.name} is for two classes, and the {self.loss.name} loss is not: "
                "use 'logistic' or 'hinge'"
            )
        slope = 1.0 if math.isinf(self.loss.lipschitz) else 1 / self.loss.lipschitz
        self._loss = (self.loss.code, self.loss.parameter, slope, float(self.intercept))
        self._columns = 0
        self.state = self._zeros(LANES)
        self._initialise(self.state, 0)

    def _zeros(self, coordinates: int) -> DenseState:
        rows, width = self._matrix(coordinates)
        return DenseState(
            totals=np.zeros(self._totals()),
            seen=np.zeros(coordinates + MARGIN),
            vectors=np.zeros((len(self.vectors), coordinates + MARGIN)),
            matrix=np.zeros((rows, width + MARGIN)),
        )

    def _with_room(self, columns: int) -> DenseState:
        """A copy of the state with room for exactly that many columns, rounded up to lanes."""
        state = self.state
        copy = self._zeros(-(-(1 + columns) // LANES) * LANES)
        kept = min(len(state.seen), len(copy.seen)) - MARGIN
        rows, width = self._matrix(kept)
        copy.totals[:] = state.totals
        copy.seen[:kept] = state.seen[:kept]
        copy.vectors[:, :kept] = state.vectors[:, :kept]
        copy.matrix[:rows, :width] = state.matrix[:rows, :width]
        self._initialise(copy, kept)
        return copy

    def _has_room(self, columns: int) -> bool:
        return 1 + columns <= len(self.state.seen) - MARGIN

    def _reserve(self, columns: int) -> None:
        if columns > self.max_columns:
            raise ValueError(
                f"{columns} columns: {self.name} keeps a matrix with one row per column and takes "
                f"at most {self.max_columns:.0f}; use 'oja_son' or 'fd_son', which keep a few rows"
            )
        if not self._has_room(columns):
            self.state = self._with_room(columns)
        self._columns = max(self._columns, columns)

    def _forget(self, columns: int) -> None:
        self.state = self._with_room(columns)
        self._columns = columns

    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        columns = max(block.columns, int(block.indices.max(initial=-1)) + 1)
        state = self.state if self._has_room(columns) else self._with_room(columns)
        self._run(block, EMPTY, weights, scores, state)
        return scores

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        before = DenseState(*(array.copy() for array in self.state))
        row = self._run(block, targets, weights, scores, self.state)
        if row < len(scores):
            self.state = before
            raise Diverged(self.name, row)
        return scores

    def _run(self, block, targets, weights, scores, state):
        work = np.zeros((WORK, len(state.seen)))
        arrays = tuple(state)
        return type(self).run(
            self._parameters(), self._loss, tuple(block), targets, weights, scores, arrays, work
        )

    def _coefficients(self) -> Float:
        return self.state.vectors[0, : 1 + self._columns].copy()


class FullMatrixLearner(DenseLearner):
    """A baseline with a d x d matrix A, kept as U'DU, which starts as a times the identity."""

    vectors: ClassVar[tuple[str, ...]] = ("w", "D")
    max_columns: ClassVar[float] = 2000
    a: float

    def _matrix(self, coordinates: int) -> tuple[int, int]:
        return coordinates, coordinates

    def _initialise(self, state: DenseState, first: int) -> None:
        state.vectors[1, first : len(state.seen) - MARGIN] = self.a
