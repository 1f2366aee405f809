"""The loop of the baselines that need all coordinates at once: a vector or a matrix.

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
from collections.abc import Callable, Hashable, Mapping
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from unitless.baselines.scale_dependent import ScaleDependent
from unitless.encoders import DictEncoder
from unitless.learners.base import EMPTY, Diverged, Weights
from unitless.learners.transitional import OldLearner
from unitless.losses import derivative
from unitless.numerics import LANES
from unitless.rows import Rows
from unitless.units import factors_by_column as unit_factors

T = 0
MARGIN = 8  # zeros behind the last coordinate, part of the layout of saved files
WORK = 6  # rows of scratch memory
LARGEST = float(np.finfo(np.float64).max)

inlined: Any = njit(nogil=True, error_model="numpy", forceinline=True)
"""The decorator of what a kernel calls: compiled into the kernel, and cached with it.

Functions given as arguments must be inlined; a kernel that kept a pointer could not be cached.
"""


@inlined
def dot(a, b):
    """a.b in eight partial sums: zeros behind the last coordinate change no bit."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for k in range(0, a.size, LANES):
        s0 += a[k] * b[k]
        s1 += a[k + 1] * b[k + 1]
        s2 += a[k + 2] * b[k + 2]
        s3 += a[k + 3] * b[k + 3]
        s4 += a[k + 4] * b[k + 4]
        s5 += a[k + 5] * b[k + 5]
        s6 += a[k + 6] * b[k + 6]
        s7 += a[k + 7] * b[k + 7]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


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


class DenseLearner(ScaleDependent, OldLearner):
    """Base of the baselines with a dense vector or matrix."""

    invariance: ClassVar[Any] = "rotation"
    vectors: ClassVar[tuple[str, ...]]
    """Names of the vectors."""
    max_columns: ClassVar[float] = math.inf
    run: ClassVar[Callable[..., int]]
    """The cached kernel."""
    state: DenseState

    def _parameters(self) -> tuple[float, ...]:
        """The parameters, as the kernel takes them."""
        raise NotImplementedError

    def _totals(self) -> int:
        """The number of totals, the count of trials included."""
        return 1

    def _matrix(self, coordinates: int) -> tuple[int, int]:
        """The shape of the matrix, without the margin, for that many coordinates."""
        return 0, coordinates

    def _initialise(self, state: DenseState, first: int) -> None:
        """Set what coordinates from `first` on start with, where that is not 0."""

    def _prepare(self) -> None:
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
        """The state, or a copy with room for that many columns."""
        state = self.state
        old = len(state.seen) - MARGIN
        if 1 + columns <= old:
            return state
        longer = self._zeros(-(-(1 + columns) // LANES) * LANES)
        longer.totals[:] = state.totals
        longer.seen[:old] = state.seen[:old]
        longer.vectors[:, :old] = state.vectors[:, :old]
        rows, width = self._matrix(old)
        longer.matrix[:rows, :width] = state.matrix[:rows, :width]
        self._initialise(longer, old)
        return longer

    def _reserve(self, columns: int) -> None:
        if columns > self.max_columns:
            raise ValueError(
                f"{columns} columns: {self.name} keeps a matrix with one row per column and takes "
                f"at most {self.max_columns:.0f}; use 'oja_son' or 'fd_son', which keep a few rows"
            )
        self.state = self._with_room(columns)
        self._columns = max(self._columns, columns)

    def learn(self, rows: Rows) -> NDArray[np.float64]:
        """Scores made before each row's target was used; then the row is learned."""
        with self._turn:
            return self._or_nothing(super().learn, rows)

    def learn_one(self, x: Mapping[Hashable, Any], y: float, weight: float = 1.0) -> float:
        """Score one dict row, then learn from its target; returns the score."""
        with self._turn:
            return self._or_nothing(super().learn_one, x, y, weight)

    def _or_nothing(self, learn: Callable[..., Any], *row: Any) -> Any:
        """Learn, on a copy of the state; if that diverges, nothing of it is kept."""
        state, columns, known = self.state, self._columns, len(self.names.columns)
        self.state = DenseState(*(array.copy() for array in state))
        try:
            return learn(*row)
        except Diverged:
            self.state, self._columns = state, columns
            self.names = DictEncoder(dict(islice(self.names.columns.items(), known)))
            raise

    def _predict(self, values, indices, starts, columns, weights, scores):
        state = self._with_room(max(columns, int(indices.max(initial=-1)) + 1))
        self._run((values, indices, starts, columns), EMPTY, weights, scores, state)
        return scores

    def _learn(self, values, indices, starts, columns, targets, weights, scores):
        block = (values, indices, starts, columns)
        row = self._run(block, targets, weights, scores, self.state)
        if row < len(scores):
            raise Diverged(self.name, row)
        return scores

    def _run(self, block, targets, weights, scores, state):
        work = np.zeros((WORK, len(state.seen)))
        arrays = tuple(state)
        return type(self).run(
            self._parameters(), self._loss, block, targets, weights, scores, arrays, work
        )

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """Not possible: in other units the past would have been another."""
        unit_factors(factors, self.names.columns, self._columns)
        raise ValueError(
            f"{self.name} depends on units: it has no state that it would have in others; "
            "start a fresh one, or use a learner that does not depend on units"
        )

    def weights(self) -> Weights:
        """The coefficients at x = 0, by column."""
        w = self._coefficients()
        return Weights(float(w[0]), w[1 : 1 + self._columns])

    def _coefficients(self) -> NDArray[np.float64]:
        """The weights of all coordinates."""
        return self.state.vectors[0].copy()


class FullMatrixLearner(DenseLearner):
    """A baseline with a d x d matrix A, kept as U'DU, which starts as a times the identity."""

    vectors: ClassVar[tuple[str, ...]] = ("w", "D")
    max_columns: ClassVar[float] = 2000
    a: float

    def _matrix(self, coordinates: int) -> tuple[int, int]:
        return coordinates, coordinates

    def _initialise(self, state: DenseState, first: int) -> None:
        state.vectors[1, first : len(state.seen) - MARGIN] = self.a
