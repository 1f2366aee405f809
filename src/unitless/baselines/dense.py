"""The loop of comparators that need a whole vector or a matrix.

Like `rowwise`, but a rule sees all coordinates at once, in order, coordinate 0 the constant::

    predict(rule, state, v, d, x, work) -> p
    update(rule, state, v, y, p, g, d, x, work)           with g = loss'(y, p) / L

x is the row, d the number of coordinates that were ever nonzero (this row included), work scratch
memory: rows as long as x, in which `predict` may leave something to `update`. `predict` must not
write into the state; state.totals[T] counts the trials before this one, and in `update` this one
too.

A coordinate without a value in any row changes no bit: its entries are exact zeros and stay so.
"""

import math
from collections.abc import Callable, Hashable, Mapping
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numba.extending import overload
from numpy.typing import ArrayLike, NDArray

from unitless.baselines.trajectory import Played
from unitless.encoders import Names
from unitless.learners.base import EMPTY, Learner, Weights, unit_factors
from unitless.learners.coordinatewise import Diverged
from unitless.losses import Loss, derivative
from unitless.numerics import LANES, inner, kernel, lane_sum
from unitless.rows import Rows

T = 0
MARGIN = 8  # zeros behind the last coordinate, which `rotations` may read
WORK = 10  # rows of scratch memory


class WholeState(NamedTuple):
    """All that such a learner remembers: totals, seen, vectors, matrix.

    The table of its module says what their rows are, and the unit of each.
    Every row has a place for each coordinate, rounded up to whole lanes and followed by zeros.
    """

    totals: NDArray[np.float64]
    """totals[0] counts trials."""
    seen: NDArray[np.float64]
    """1 where a coordinate was not 0."""
    vectors: NDArray[np.float64]
    matrix: NDArray[np.float64]


class Task(NamedTuple):
    """What the kernel must know beside the rule."""

    loss: int
    parameter: float
    slope: float
    intercept: float


def predict(rule, state, v, d, x, work):
    """Chosen by the type of the rule: see `rule_for`."""


def update(rule, state, v, y, p, g, d, x, work):
    """Chosen by the type of the rule: see `rule_for`."""


def rule_for(kind: type, predict_row: Any, update_row: Any) -> None:
    """Make the two functions those of the rule `kind`, a NamedTuple."""
    options: Any = {"error_model": "numpy", "nogil": True}

    @overload(predict, jit_options=options)
    def _predict(rule, state, v, d, x, work):
        return predict_row if getattr(rule, "instance_class", None) is kind else None

    @overload(update, jit_options=options)
    def _update(rule, state, v, y, p, g, d, x, work):
        return update_row if getattr(rule, "instance_class", None) is kind else None


@inner
def dot(a, b, scratch):
    """a.b, in lanes; a coordinate keeps its lane whatever comes behind it."""
    for k in range(scratch.size):
        scratch[k] = a[k] * b[k]
    return lane_sum(scratch, scratch.size)


@inner
def _load(task, values, indices, start, stop, sparse, x):
    for j in range(x.size):
        x[j] = 0.0
    x[0] = task.intercept
    for k in range(start, stop):
        i = (indices[k] if sparse else k - start) + 1
        x[i] = values[k] if values[k] == values[k] else 0.0


@inner
def _dimension(seen, x):
    d = 0
    for j in range(x.size):
        d += seen[j] > 0 or x[j] != 0
    return d


@kernel
def run(rule, task, values, indices, starts, width, targets, weights, scores, state):
    """One trial a row; without targets nothing is learned.

    Returns the row that gave no finite score, or the number of rows.
    """
    sparse, totals, seen = starts.size > 0, state.totals, state.seen
    work = np.zeros((WORK, seen.size))
    x = work[WORK - 1]
    for r in range(scores.size):
        start = starts[r] if sparse else r * width
        stop = starts[r + 1] if sparse else start + width
        v = weights[r] if weights.size and weights[r] > 0 else 1.0
        _load(task, values, indices, start, stop, sparse, x)
        d = _dimension(seen, x)
        p = predict(rule, state, v, d, x, work)
        scores[r] = p + 0.0  # no -0
        if not abs(p) < np.inf:
            return r
        if targets.size and (weights.size == 0 or weights[r] > 0):
            totals[T] += 1
            for j in range(x.size):
                seen[j] = 1.0 if x[j] != 0 else seen[j]
            g = derivative(task.loss, task.parameter, targets[r], p) * task.slope
            update(rule, state, v, targets[r], p, g, d, x, work)
    return scores.size


class Whole(Learner):
    """Base of the comparators with a whole vector or a matrix; they depend on units."""

    invariance: ClassVar[Any] = "rotation"
    vectors: ClassVar[tuple[str, ...]]
    """Names of the vectors."""
    most: ClassVar[float] = math.inf
    """Columns it can take."""
    needs: ClassVar[tuple[str, ...]] = ()
    bound_is_euclidean: ClassVar[bool] = False
    inverse_rate: ClassVar[str] = ""
    """The parameter that is one over a rate, if there is one."""
    state: WholeState

    def promised(self, played: Played) -> float | None:
        """The most that could be lost to u, in units of L, if there is a bound and it applies."""
        return None

    def _rule(self) -> Any:
        """The parameters, as the NamedTuple by whose type the kernels are chosen."""
        raise NotImplementedError

    def _totals(self) -> int:
        """How many numbers belong to no coordinate, T included."""
        return 1

    def _matrix(self, coordinates: int) -> tuple[int, int]:
        """The shape of the matrix, without the margin, for that many coordinates."""
        return 0, coordinates

    def _fresh(self, state: WholeState, old: int) -> None:
        """Put into a state what coordinates from `old` on start with, where it is not 0."""

    def _prepare(self) -> None:
        lipschitz = self.loss.lipschitz
        slope = 1.0 if math.isinf(lipschitz) else 1 / lipschitz
        self._task = Task(self.loss.code, self.loss.parameter, slope, float(self.intercept))
        self._made_rule = self._rule()
        self._columns = 0
        self.state = self._state(LANES)
        self._fresh(self.state, 0)

    def _state(self, coordinates: int) -> WholeState:
        rows, width = self._matrix(coordinates)
        return WholeState(
            np.zeros(self._totals()), np.zeros(coordinates + MARGIN),
            np.zeros((len(self.vectors), coordinates + MARGIN)), np.zeros((rows, width + MARGIN)),
        )  # fmt: skip

    def _with_room(self, columns: int) -> WholeState:
        """The state, or a longer copy in which that many columns have a place."""
        state, old = self.state, len(self.state.seen) - MARGIN
        if 1 + columns <= old:
            return state
        longer = self._state(-(-(1 + columns) // LANES) * LANES)
        longer.totals[:] = state.totals
        longer.seen[:old] = state.seen[:old]
        longer.vectors[:, :old] = state.vectors[:, :old]
        rows, width = self._matrix(old)
        longer.matrix[:rows, :width] = state.matrix[:rows, :width]
        self._fresh(longer, old)
        return longer

    def _reserve(self, columns: int) -> None:
        if columns > self.most:
            raise ValueError(
                f"{columns} columns: {self.name} keeps a matrix with a row a column and takes at "
                f"most {self.most:.0f}; use 'oja_son' or 'fd_son', which keep a few rows"
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
        self.state = WholeState(*(array.copy() for array in state))
        try:
            return learn(*row)
        except Diverged:
            self.state, self._columns = state, columns
            self.names = Names(dict(islice(self.names.columns.items(), known)))
            raise

    def _predict_one(self, values, indices, weight):
        return math.nan if np.isinf(values).any() else super()._predict_one(values, indices, weight)

    def _learn_one(self, values, indices, y, weight):
        return (
            math.nan if np.isinf(values).any() else super()._learn_one(values, indices, y, weight)
        )

    def _predict(self, values, indices, starts, columns, weights, scores):
        state = self._with_room(max(columns, int(indices.max(initial=-1)) + 1))
        return self._run(values, indices, starts, columns, EMPTY, weights, scores, state)

    def _learn(self, values, indices, starts, columns, targets, weights, scores):
        return self._run(values, indices, starts, columns, targets, weights, scores, self.state)

    def _run(self, values, indices, starts, columns, targets, weights, scores, state):
        block = values, indices, starts, columns, targets, weights
        row = run(self._made_rule, self._task, *block, scores, state)
        if row < len(scores):
            raise Diverged(self.name, row)
        return scores

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """Not possible: in other units the past would have been another."""
        unit_factors(factors, self.names.columns, self._columns)
        raise ValueError(
            f"{self.name} depends on units: it has no state that it would have in others; "
            "start a fresh one, or use a learner that does not depend on units"
        )

    def weights(self) -> Weights:
        """The coefficients at x = 0, by column."""
        w = self._weights()
        return Weights(float(w[0]), w[1 : 1 + self._columns])

    def _weights(self) -> NDArray[np.float64]:
        """The weights of all coordinates."""
        return self.state.vectors[0].copy()


def checked_positive(name: str, value: float) -> float:
    """A parameter that is a finite number > 0, as a float."""
    if not 0 < value < math.inf:
        raise ValueError(f"{name} = {value}: it is a finite number > 0")
    return float(value)


def require_signs(loss: Loss, who: str) -> None:
    """Methods that learn from mistakes need two classes."""
    if loss.targets != "signs":
        raise ValueError(
            f"{who} learns from mistakes of a sign, and the {loss.name} loss has no signs: use "
            "'logistic' or 'hinge'"
        )
