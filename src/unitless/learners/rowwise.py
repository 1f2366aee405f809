"""The loop that every coordinate-wise learner shares: load a row, predict, see the target, update.

A learner of this kind is a *rule*: a NamedTuple of its parameters and two compiled functions,
chosen by the type of that tuple::

    predict(rule, total, v, x, f, term) -> (p, score)     bring scales up to date, then score
    update(rule, total, v, y, p, g, x, f, term)           learn, with g = loss'(y, p) / L

x holds the row (x[0] is the constant), f the fields of its features one after another (field a of
slot k is f[a * x.size + k]), total the numbers that belong to no feature (total[T] counts trials),
term a buffer that `predict` may leave to `update`. Both may write into f and total: when nothing is
to be learned, what they wrote is thrown away. p is where the gradient is taken, and score what is
shown; they differ in learners that moderate what they say.

With the softmax loss each class is a learner of its own, and g couples them: softmax(p)_c - [y =
c].
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from unitless.learners.base import EMPTY, Learner
from unitless.learners.base import Diverged as Diverged
from unitless.losses import SOFTMAX, derivative
from unitless.numerics import LANES, exp, flat, grown, inner, prefetch

T = 0  # total[T]: trials so far, the current one included
AHEAD = 32  # stored values between a prefetch and its use
ONE, TWO = np.uint64(1), np.uint64(2)  # unsigned indices need no test for wrapping around
TINY = 2.0**-1022
TALLEST = 2.0**480  # targets beyond count as this: sums of their squares stay within float64


class Task(NamedTuple):
    """What a kernel must know beside the rule."""

    loss: int
    parameter: float
    slope: float
    """1 / L."""
    intercept: float
    """1, or 0 for none."""
    classes: int
    """1 without softmax."""
    fields: int
    scales_instance: bool
    """Whether a sample weight multiplies the row (else `update` is told of it)."""


def predict(rule, total, v, x, f, term):
    """Chosen by the type of the rule: see `rule_for`."""


def update(rule, total, v, y, p, g, x, f, term):
    """Chosen by the type of the rule: see `rule_for`."""


def rule_for(kind: type, predict_row: Any, update_row: Any) -> None:
    """Make the two functions those of the rule `kind`, a NamedTuple."""
    options: Any = {"error_model": "numpy", "nogil": True, "forceinline": True}

    def chosen(rule: Any, row: Any) -> Any:
        return row if getattr(rule, "instance_class", None) is kind else None

    @overload(predict, jit_options=options)
    def _predict(rule, total, v, x, f, term):
        return chosen(rule, predict_row)

    @overload(update, jit_options=options)
    def _update(rule, total, v, y, p, g, x, f, term):
        return chosen(rule, update_row)


@inner
def _slots(n):
    """The slots of a row of n values and the constant, rounded up to whole lanes."""
    return (n + LANES) // LANES * LANES


@inner
def _load(task, values, start, n, v, x):
    """x = the constant and the values, 0 for NaN and in the slots that round the row up."""
    scale = v if task.scales_instance else 1.0
    x[0] = task.intercept * scale
    for k in range(n):
        value = values[np.uint64(start + k)]
        x[np.uint64(k + 1)] = value * scale if value == value else 0.0
    for k in range(n + 1, x.size):
        x[k] = 0.0


@inner
def _place(columns, origin, k):
    """The coordinate of slot k."""
    return np.int64(columns[np.uint64(origin + k - 1)]) + 1 if k else 0


@inner
def _gather(task, columns, origin, n, records, slots, f):
    """f = the records of the row's features; zeros for those without one."""
    width = task.fields * task.classes
    coordinates = records.size // width
    for k in range(n + 1):
        if columns.size:  # also those of the rows to come
            ahead = min(origin + k + AHEAD, columns.size) - 1
            soon = np.int64(columns[np.uint64(ahead)] + 1) * width
            prefetch(records, soon)
            prefetch(records, soon + width - 1)  # a record may lie across two lines
        i = _place(columns, origin, k)
        at, known = np.uint64(i * width), i < coordinates
        f[np.uint64(k)] = records[at] if known else 0.0
        if width > 1:  # a loop over few fields would cost more than the fields
            f[np.uint64(slots + k)] = records[at + ONE] if known else 0.0
        if width > 2:
            f[np.uint64(2 * slots + k)] = records[at + TWO] if known else 0.0
        for a in range(3, width):
            f[np.uint64(a * slots + k)] = records[at + np.uint64(a)] if known else 0.0
    for a in range(width):
        for k in range(n + 1, slots):
            f[np.uint64(a * slots + k)] = 0.0


@inner
def _scatter(task, columns, origin, n, records, slots, f):
    """The records = f."""
    width = task.fields * task.classes
    for k in range(n + 1):
        at = np.uint64(_place(columns, origin, k) * width)
        records[at] = f[np.uint64(k)]
        if width > 1:
            records[at + ONE] = f[np.uint64(slots + k)]
        if width > 2:
            records[at + TWO] = f[np.uint64(2 * slots + k)]
        for a in range(3, width):
            records[at + np.uint64(a)] = f[np.uint64(a * slots + k)]


@inner
def softmax_slopes(p, y, g):
    """g = softmax(p) - e_y, the gradient of the cross-entropy."""
    top = p[0]
    for c in range(1, p.size):
        top = max(top, p[c])
    total = 0.0
    for c in range(p.size):
        g[c] = exp(p[c] - top)
        total += g[c]
    for c in range(p.size):
        g[c] = g[c] / total - (1.0 if c == y else 0.0)


@inner
def _copy(a, b):
    """b = a."""
    for k in range(a.size):
        b[k] = a[k]


@flat
def run(
    rule, task, values, columns, starts, width, targets, weights, scores, totals, records, room
):
    """One trial a row; without targets nothing is learned. The row that gave no finite score,
    before which the run stopped, or the number of rows.
    """
    sparse, classes = starts.size > 0, task.classes
    row, home, other, terms, total, p, g = room
    rows = scores.size // classes
    for r in range(rows):
        start, origin, n = r * width, 0, width
        if sparse:
            start = origin = starts[r]
            n = starts[r + 1] - start
        slots = _slots(n)
        v = weights[r] if weights.size and weights[r] > 0 else 1.0
        learns = targets.size > 0 and (weights.size == 0 or weights[r] > 0)
        if sparse or r == 0:  # dense rows leave their fields where they are till the block ends
            _gather(task, columns, origin, n, records, slots, home)
        fields = home
        if not learns:
            _copy(home, other)
            fields = other
        _copy(totals, total)
        x = row[:slots]
        _load(task, values, start, n, v, x)
        y = min(max(targets[r], -TALLEST), TALLEST) if learns else math.nan
        if not _trial(rule, task, v, y, x, fields, total, terms, p, g, scores, r * classes):
            return r
        if learns:
            _copy(total, totals)
        if targets.size and ((sparse and learns) or (not sparse and r == rows - 1)):
            _scatter(task, columns, origin, n, records, slots, home)
    return rows


@inner
def _trial(rule, task, v, y, x, fields, total, terms, p, g, scores, place):
    """One trial, learned unless y is NaN; whether all scores are finite."""
    classes, slots, size = task.classes, x.size, task.fields * x.size
    own = total.size // classes
    scale = v if task.scales_instance else 1.0
    good = True
    for learning in range(2 if y == y else 1):
        if learning and task.loss == SOFTMAX:
            softmax_slopes(p, y, g)
        elif learning:
            g[0] = derivative(task.loss, task.parameter, y, p[0]) * task.slope
        for c in range(classes):
            mine = total[c * own : (c + 1) * own]
            f, term = fields[c * size : (c + 1) * size], terms[c * slots : (c + 1) * slots]
            if learning:
                label = y if task.loss != SOFTMAX else (1.0 if c == y else -1.0)
                update(rule, mine, v / scale, label, p[c], g[c], x, f, term)
            else:
                mine[T] += 1
                p[c], score = predict(rule, mine, v / scale, x, f, term)
                p[c], score = p[c] / scale, score / scale
                scores[place + c] = score + 0.0  # no -0
                good &= abs(score) < np.inf and abs(p[c]) < np.inf
        if not good:
            return False
    return True


class RowwiseState(NamedTuple):
    """All that a coordinate-wise learner remembers; its class says what the fields are.

    Coordinate 0 is the constant 1, column j is j + 1.
    """

    records: NDArray[np.float64]
    """(coordinates, classes, fields); in units of `units`."""
    totals: NDArray[np.float64]
    """(classes, totals)."""
    units: NDArray[np.float64]
    """Powers of two by which values are multiplied on arrival; 0 where none came yet."""


class Rowwise(Learner):
    """Base of the coordinate-wise learners."""

    fields: ClassVar[tuple[str, ...]]
    """Names of the fields of a record."""
    units: ClassVar[tuple[str, ...]]
    """How each field follows its feature's unit: "1" (not at all), "sign", "x", "|x|" or "x^2"."""
    extra: ClassVar[int] = 0
    """Numbers in a total beside T."""
    scales_instance: ClassVar[bool] = False

    def _rule(self) -> Any:
        """The parameters, as the NamedTuple by whose type the kernels are chosen."""
        raise NotImplementedError

    def _prepare(self) -> None:
        self._task = Task(
            self.loss.code, self.loss.parameter,
            1.0 if math.isinf(self.loss.lipschitz) else 1 / self.loss.lipschitz,
            float(self.intercept), self.classes, len(self.fields), self.scales_instance,
        )  # fmt: skip
        self._totals = np.zeros(self.classes * (1 + self.extra))
        self._records = np.zeros(self.classes * len(self.fields))
        self._spare = self._records
        self._made_rule = self._rule()

    @property
    def state(self) -> RowwiseState:
        """What is remembered; the arrays are the learner's own."""
        shape = (-1, self.classes, len(self.fields))
        return RowwiseState(
            self._records.reshape(shape), self._totals.reshape(self.classes, -1), self._units
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_spare"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._spare = self._records  # a copy shares no memory between the two

    @property
    def _columns(self) -> int:
        return len(self._records) // (self.classes * len(self.fields)) - 1

    def _reserve(self, columns: int) -> None:
        if columns > self._columns:
            size = (1 + columns) * self.classes * len(self.fields)
            self._spare = grown(self._spare, size)
            self._records = self._spare[:size]

    def _forget(self, columns: int) -> None:
        size = (1 + columns) * self.classes * len(self.fields)
        self._spare = self._records = self._records[:size].copy()

    def _seen(self) -> NDArray[np.bool_]:
        return (self.state.records != 0).any(axis=(1, 2))

    def _predict(self, block, weights, scores):
        row = self._run(*block, EMPTY, weights, scores)
        if row < len(scores):
            raise Diverged(self.name, row)
        return scores

    def _run(self, values, indices, starts, columns, targets, weights, scores):
        """`run`, with the columns of the stored values and room for the longest row."""
        longest = int(np.diff(starts).max(initial=0)) if len(starts) else columns
        slots, classes = (longest + LANES) // LANES * LANES, self.classes
        sizes = (
            slots, slots * self._task.fields * classes, slots * self._task.fields * classes,
            slots * classes, len(self._totals), classes, classes,
        )  # fmt: skip
        places = indices if len(starts) else np.arange(columns, dtype=np.int32)
        return run(
            self._made_rule, self._task, values, places, starts, columns, targets, weights,
            scores.reshape(-1), self._totals, self._records, tuple(map(np.empty, sizes)),
        )  # fmt: skip

    def _learn(self, block, targets, weights, scores):
        values, indices, starts, columns = block
        records, touched = self.state.records, slice(0)
        if not self.scale_invariant:
            touched = np.append(0, indices + 1) if len(starts) else slice(1 + columns)
        totals, before = self._totals.copy(), records[touched].copy()
        row = self._run(values, indices, starts, columns, targets, weights, scores)
        if row < len(scores):
            self._totals[:], records[touched] = totals, before
            raise Diverged(self.name, row)
        return scores

    def add_class(self) -> None:
        """One class more, whose records are empty."""
        if self.loss.code != SOFTMAX:
            super().add_class()
        records, totals, _ = self.state
        self.classes += 1
        self._records = np.concatenate([records, 0 * records[:, :1]], axis=1).reshape(-1)
        self._totals = np.concatenate([totals, 0 * totals[:1]]).reshape(-1)
        self._spare = self._records
        self._task = self._task._replace(classes=self.classes)

    def _rescale(self, columns: NDArray[Any], factors: NDArray[Any]) -> None:
        powers = {
            "sign": np.sign(factors),
            "x": factors,
            "|x|": np.abs(factors),
            "x^2": factors**2,
        }
        for a, unit in enumerate(self.units):
            if unit != "1":
                before = self.state.records[columns + 1, :, a]
                after = before * powers[unit][:, None]
                if unit == "x^2":  # a feature that was seen stays seen
                    after = np.where((before > 0) & (after < TINY), TINY, after)
                self.state.records[columns + 1, :, a] = after

    def _coefficients(self) -> NDArray[np.float64]:
        records, totals, _ = self.state
        weights = [self._weights_at(records[:, c].T, totals[c]) for c in range(self.classes)]
        return np.array(weights).T if self.loss.code == SOFTMAX else weights[0]

    def _weights_at(self, records: NDArray[Any], total: NDArray[Any]) -> NDArray[Any]:
        """The weights of one class, from its fields and its total."""
        raise NotImplementedError
