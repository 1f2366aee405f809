"""Algorithm 1: predictions that no change of units can change, O(nonzeros) a row.

Kotlowski, "Scale-Invariant Unconstrained Online Learning" (2017), Algorithm 1 and Theorem 1.
At trial t, with alpha > 9/8, initial wealth eps, and d_t coordinates seen so far::

    s2_i += x_i^2
    w_i   = eps / (alpha t d_t) * h_i / s2_i * exp((h_i^2 + x_i^2) / (2 alpha s2_i))
    p     = sum w_i x_i;   g = loss'(y, p) / L;   h_i -= g x_i

A sample weight v scales the instance, not the gradient: s2 and h take v x, p stays w.x.
d_t is not in the paper: 1/(t d_t) never grows, so its proof goes through with d_T for d.
"""

import math
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numba import njit
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike, NDArray

from unitless.lanes import (
    LANES,
    any_lane,
    before,
    every,
    fetch_first,
    fetch_last,
    fetch_middle,
    fetch_stream,
    gather_pairs,
    load,
    place_last,
    scatter_pairs,
    store,
    total,
    where,
)
from unitless.learners.base import EMPTY, Sums, Weights, checked_wealth
from unitless.learners.transitional import OldLearner, powers_of_two, rescaled_units
from unitless.losses import Loss, derivative, fits
from unitless.numerics import WIDE, bounded_exp, flat, fma, grown, inner, kernel
from unitless.units import factors_by_column as unit_factors
from unitless.units import unit_of

H, S2 = 0, 1  # a record
T, D, A = 0, 1, 2  # the fields of totals
# One array holds all numbers, because each array handed to a kernel costs a one-row call 0.15 us:
# the settings (HALF = 1/(2 alpha), SLOPE = 1/L), the totals from TOTALS on, and from RECORDS on
# h, s2, h, s2, ...
ALPHA, HALF, WEALTH, FIXED_D, INTERCEPT, LOSS, PARAMETER, SLOPE, TOTALS, RECORDS = *range(9), 16
AHEAD = 64  # stored values between the request for a record and its use
FAR = 512  # the same for values and columns, which come in order
NARROW = 1 / WIDE
INFINITY = math.inf
SMALLEST = 2.0**-1022  # stands for s2 = 0, where h and x are 0 as well; no unit is this small
EXPONENT_LIMIT = 500.0  # potentials stop growing at e^500, so that sums of them stay finite


class CoordinateState(NamedTuple):
    """All that Algorithm 1 remembers.

    Coordinate 0 is the constant 1, column j is j + 1; the last eight records are always zero.

    ===== ================== =================================================== =======
    paper field              meaning                                             unit
    ===== ================== =================================================== =======
    h_i   records[i, H]      -sum g x_i, times unit_i                            [x_i]
    s2_i  records[i, S2]     sum x_i^2, times unit_i^2                           [x_i]^2
    --    units[i]           1, or a power of two that keeps squares in range;   1
                             empty until a value beyond 2^+-255 needs it
    t     totals[T]          trials so far                                       1
    d     totals[D]          coordinates seen so far                             1
    --    totals[A]          sum v g p, for the certificate                      1
    ===== ================== =================================================== =======
    """

    records: NDArray[np.float64]
    units: NDArray[np.float64]
    totals: NDArray[np.float64]


@inner
def parts(h, s2, x, half):
    """(c, e) with w_i = eps/(alpha t d) * c * exp(e); s2 has x^2 in it, half = 1/(2 alpha).

    Two parts, because a row's exponentials are taken in a loop of their own: one short chain of
    dependent instructions after another fills the machine, one long chain stalls it.
    """
    inverse = 1.0 / max(s2, SMALLEST)
    return h * inverse, min(fma(h, h, x * x) * inverse * half, EXPONENT_LIMIT)


@inner
def weight(h, s2, x, half):
    """w_i without its factor eps/(alpha t d)."""
    c, e = parts(h, s2, x, half)
    return c * bounded_exp(e)


# A row's values are in the first slots of its buffers, the constant is in the last one and zeros
# are between them: loops run over whole lanes and leave no scalar rest, and the constant is the
# last of its lane, so that a sum has the same bits with a few columns of zeros more.


@inner
def _slots(n):
    """The slots of a row of n values, rounded up to whole lanes."""
    return (n + LANES) // LANES * LANES


@inner
def _load(values, start, n, v, constant, x):
    """x = the values and the constant times v, 0 for NaN; whether one is beyond 2^+-255."""
    rest = _slots(n) - LANES
    if start + rest + LANES <= values.size:
        last = where(before(n - rest), load(values, start + rest), 0.0)
        store(x, rest, where(before(LANES - 1), last, constant))
    else:
        for k in range(rest, rest + LANES):
            x[k] = values[start + k] if k < n else (0.0 if k < rest + LANES - 1 else constant)
    most, least = every(1.0), every(1.0)
    for k in range(0, rest + LANES, LANES):
        value = load(values, start + k) if k < rest else load(x, k)
        z = where(value == value, value * v, 0.0)
        size = where(abs(value) > 0.0, abs(z), 1.0)
        most, least = max(most, size), min(least, size)
        store(x, k, z)
    return any_lane((most > WIDE) | (least < NARROW))


@inner
def _place(columns, origin, first, n, unknown, places):
    """places[first:] = the columns of those slots: -1 is the constant, `unknown` stays zero."""
    if first and origin + first + LANES <= columns.size:
        place_last(columns, origin + first, n - first, unknown, places, first)
    else:
        for k in range(first, _slots(n)):
            places[k] = min(columns[origin + k], unknown) if k < n else unknown
    places[_slots(n) - 1] = -1


@inner
def _gather(values, columns, origin, slots, first, ends, records, places, h, s2):
    """h and s2 = the records of a sparse row, side by side."""
    for k in range(0, slots, LANES):
        fetch_stream(values, origin + k + FAR)
        fetch_stream(columns, origin + k + FAR)
        if origin + k < ends:
            fetch_first(records, columns, origin + k + AHEAD)
        if k < first:
            pair = gather_pairs(records, columns, origin + k)
        else:
            pair = gather_pairs(records, places, k)
        store(h, k, pair[0])
        store(s2, k, pair[1])


@flat
def _apply_units(values, start, columns, origin, n, v, constant, units, x):
    """`_load` for features with units."""
    outside = False
    for k in range(n, _slots(n)):
        x[k] = 0.0
    x[_slots(n) - 1] = constant * v
    for k in range(n):
        value = values[start + k]
        z = value * units[min(columns[origin + k] + 1, units.size - 1)] * v
        outside |= (abs(z) > WIDE) | ((abs(z) < NARROW) & (value != 0))
        x[k] = z if z == z else 0.0
    return outside


@inner
def _parts(slots, h, s2, x, exponent, term, half):
    """Both parts of every term, and the number of new features."""
    new = every(0.0)
    for k in range(0, slots, LANES):
        z, before = load(x, k), load(s2, k)
        new += where((before == 0.0) & (z != 0.0), 1.0, 0.0)
        c, e = parts(load(h, k), fma(z, z, before), z, half)
        store(exponent, k, e)
        store(term, k, c * z)
    return total(new)


@inner
def _total(columns, origin, slots, ends, records, exponent, term):
    """The sum of weight * x, in lanes."""
    sums = every(0.0)
    for k in range(0, slots, LANES):
        if origin + k < ends:
            fetch_middle(records, columns, origin + k + AHEAD)
        sums += load(term, k) * bounded_exp(load(exponent, k))
    return total(sums)


@flat
def _fit_units(values, start, columns, origin, n, v, units, h, s2, x, commit):
    """Units in which the row's values are near 1 where they are new, and below 2^255 elsewhere.

    In the buffers, and with `commit` in `units`. Returns the number of new features, or -1, with
    nothing done, for an infinite value.
    """
    new = 0
    for k in range(start, start + n):
        if abs(values[k]) == np.inf:
            return -1
    for k in range(n):
        value, i, slot = values[start + k], columns[origin + k] + 1, k
        if value != value or value == 0:
            continue
        unit = units[min(i, units.size - 1)]
        if s2[slot] == 0:
            new += 1
            unit = unit_of(value)
            x[slot] = value * unit * v
        elif abs(value * unit * v) > WIDE:
            x[slot], e = _widened(value, v, unit)
            h[slot] = math.ldexp(h[slot], -e)
            s2[slot] = math.ldexp(s2[slot], -2 * e)
            unit = math.ldexp(unit, -e)
        if commit:
            units[i] = unit
    return new


@inner
def _widened(x, v, unit):
    """(x v, e) in the unit 2^-e * unit, in which x v is no longer wide."""
    mx, ex = math.frexp(x)
    mv, ev = math.frexp(v)
    _, eu = math.frexp(unit)
    exponent = ex + ev + eu - 1
    e = min(exponent, eu - 1 + 1000)  # a unit stays above 2^-1000
    return math.ldexp(mx * mv, exponent - e), e


@inner
def _update(columns, origin, slots, first, ends, g, h, s2, x, records, places, dense):
    """h -= g x, s2 += x^2: where they are, or from the buffers to the records they came from."""
    for k in range(0, slots, LANES):
        if origin + k < ends:
            fetch_last(records, columns, origin + k + AHEAD)
        z = load(x, k)
        now, square = load(h, k) - g * z, fma(z, z, load(s2, k))
        if dense:
            store(h, k, now)
            store(s2, k, square)
        elif k < first:
            scatter_pairs(records, columns, origin + k, now, square)
        else:
            scatter_pairs(records, places, k, now, square)


@inner
def _trial(
    values, start, columns, origin, n, known, ends, v, y, memory, records, units, room, places,
    dense,
):  # fmt: skip
    """One trial: the score; with a target (y is not NaN) it is learned.

    A dense row finds its records in h and s2 and leaves them there; for a sparse one they are
    buffers. inf says that units are needed first, NaN that a value is infinite: nothing was done.
    """
    h, s2, x, exponent, term = room[0], room[1], room[2], room[3], room[4]
    half, learns, slots = memory[HALF], y == y, _slots(n)
    first = slots - LANES if known else 0
    if units.size:
        outside = _apply_units(values, start, columns, origin, n, v, memory[INTERCEPT], units, x)
    else:
        outside = _load(values, start, n, v, memory[INTERCEPT], x)
    if not dense:
        _place(columns, origin, first, n, records.size // 2 - LANES, places)
        _gather(values, columns, origin, slots, first, ends, records, places, h, s2)
    new = _parts(slots, h, s2, x, exponent, term, half)
    if outside or (new and units.size):
        if units.size == 0:
            return math.inf
        fitted = _fit_units(values, start, columns, origin, n, v, units, h, s2, x, learns)
        if fitted < 0:
            return math.nan
        new = float(fitted + (x[slots - 1] != 0 and s2[slots - 1] == 0))
        _parts(slots, h, s2, x, exponent, term, half)
    t, d = memory[TOTALS + T] + 1, memory[TOTALS + D] + new
    factor = memory[WEALTH] / (memory[ALPHA] * t * max(memory[FIXED_D] or d, 1.0))
    vp = factor * _total(columns, origin, slots, ends, records, exponent, term)
    p = (vp if v == 1 else vp / v) + 0.0  # no -0
    if learns:
        g = derivative(int(memory[LOSS]), memory[PARAMETER], y, p) * memory[SLOPE]
        _update(columns, origin, slots, first, ends, g, h, s2, x, records, places, dense)
        memory[TOTALS + T], memory[TOTALS + D] = t, d
        memory[TOTALS + A] += g * vp
    return p


@flat
def _run(
    values, columns, starts, width, targets, weights, scores, first, memory, units, room, places
):  # fmt: skip
    """Trials from row `first` on; the row before which units are needed, or the number of rows.

    If units are needed in the midst of dense rows, nothing has changed: a value may be infinite.
    """
    records, done, ends = memory[RECORDS + 2 :], scores.size, -1
    t, d, a = memory[TOTALS + T], memory[TOTALS + D], memory[TOTALS + A]
    known = 2 * (width + LANES) <= records.size
    h, s2 = room[0], room[1]
    dense = known and starts.size == 0 and units.size == 0
    if dense:  # h and s2 apart for the whole block: loops over them then need no shuffling
        for k in range(h.size):
            h[k], s2[k] = (records[2 * k], records[2 * k + 1]) if k < width else (0.0, 0.0)
        h[h.size - 1], s2[h.size - 1] = memory[RECORDS], memory[RECORDS + 1]
    if starts.size:
        ends = columns.size - AHEAD - LANES
    for r in range(first, scores.size):
        start, origin, n = r * width, 0, width
        if starts.size:
            start = origin = starts[r]
            n = starts[r + 1] - start
        v = weights[r] if weights.size and weights[r] > 0 else 1.0
        y = targets[r] if targets.size and (weights.size == 0 or weights[r] > 0) else math.nan
        p = _trial(
            values, start, columns, origin, n, known, ends, v, y, memory, records, units, room,
            places, dense,
        )  # fmt: skip
        if p == math.inf:
            done = r
            break
        scores[r] = p
    if dense and done < scores.size:
        memory[TOTALS + T], memory[TOTALS + D], memory[TOTALS + A] = t, d, a
    elif dense and targets.size:
        for k in range(width):
            records[2 * k], records[2 * k + 1] = h[k], s2[k]
        memory[RECORDS], memory[RECORDS + 1] = h[h.size - 1], s2[h.size - 1]
    return done


@njit(cache=True, error_model="numpy")
def _run_one(values, indices, y, v, memory, units):
    """One trial on one row. A kernel of its own: fewer arguments, and the GIL is not given up.

    Without a target (None) the row is predicted only. One that does not fit the loss is refused:
    NaN, and nothing was done.
    """
    if y is None:
        target = math.nan
    elif fits(int(memory[LOSS]), y):
        target = float(y)
    else:
        return math.nan
    n = values.size
    room, places = np.empty((5, _slots(n))), np.empty(_slots(n), np.int32)
    return _trial(
        values, 0, indices, 0, n, False, -1, v, target, memory, memory[RECORDS + 2 :], units, room,
        places, False,
    )  # fmt: skip


@kernel
def _weights(memory, units, out):
    d = max(memory[FIXED_D] or memory[TOTALS + D], 1.0)
    factor = memory[WEALTH] / (memory[ALPHA] * (memory[TOTALS + T] + 1) * d)
    for i in range(out.size):
        h, s2 = memory[RECORDS + 2 * i], memory[RECORDS + 2 * i + 1]
        unit = units[i] if units.size else 1.0
        out[i] = factor * weight(h, s2, 0.0, memory[HALF]) * unit


@flat
def _longest(starts):
    """The number of values of the longest row."""
    longest = np.int64(0)
    for row in range(starts.size - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    return longest


def _places_and_room(indices, starts, width):
    """The columns of the stored values, and room for a row: lines of whole lanes, and places."""
    if len(starts) == 0:
        indices, longest = np.arange(width, dtype=np.int32), width
    else:
        longest = _longest(starts)
    slots = (longest + LANES) // LANES * LANES
    return indices, (np.empty((5, slots)), np.empty(slots, np.int32))


class Coordinate(OldLearner):
    """Algorithm 1 of the paper, invariant to the unit of each feature.

    Parameters
    ----------
    loss : name or Loss
        Any loss with a Lipschitz constant.
    alpha : float, above 9/8
        The larger, the more careful. Theorem 1 needs more than 9/8.
    wealth : float
        The paper's 1: what may be lost, in units of the loss, before anything is known.
    d : int or None
        The paper's fixed number of coordinates (the intercept counts); None counts them as
        they appear.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Coordinate()
    >>> scores = learner.learn(rows)
    >>> print(f"{learner.loss.value(rows.targets, scores).mean():.4f}")
    0.6905
    """

    name: ClassVar[str] = "coordinate"
    invariance: ClassVar[Any] = "unit"
    theorem: ClassVar[str | None] = "Theorem 1"

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        alpha: float = 1.2,
        wealth: float = 1.0,
        d: int | None = None,
        intercept: bool = True,
    ) -> None:
        super().__init__(loss, intercept=intercept)
        if not 9 / 8 < alpha < math.inf:
            raise ValueError(
                f"alpha = {alpha}: Algorithm 1 needs alpha > 9/8, because its proof rests on "
                "x + exp(-x) <= exp(9 x^2 / 16); 1.2 is a good choice"
            )
        if d is not None and d < 1:
            raise ValueError(f"d = {d}: there is at least one coordinate; None counts them")
        self.alpha, self.wealth, self.d = float(alpha), checked_wealth(wealth), d
        self._memory = np.zeros(RECORDS + 2 * (1 + LANES))
        self._memory[:TOTALS] = [
            *(alpha, 0.5 / alpha, wealth, d or 0, self.intercept),
            *(self.loss.code, self.loss.parameter, 1 / self.loss.lipschitz),
        ]
        self._units = np.empty(0)
        self._spare = self._memory

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._spare = self._memory  # a copy shares no memory between the two

    @property
    def state(self) -> CoordinateState:
        """What is remembered; the arrays are the learner's own."""
        memory = self._memory
        return CoordinateState(
            memory[RECORDS:].reshape(-1, 2), self._units, memory[TOTALS : TOTALS + 3]
        )

    @property
    def _columns(self) -> int:
        return (len(self._memory) - RECORDS) // 2 - LANES - 1

    def _reserve(self, columns: int) -> None:
        if self.d is not None and columns + self.intercept > self.d:
            raise ValueError(
                f"d = {self.d} coordinates were promised, but there are {columns} features"
                f"{' and an intercept' if self.intercept else ''}: use d=None to count them"
            )
        if columns > self._columns:
            size = RECORDS + 2 * (1 + columns + LANES)
            self._spare = grown(self._spare, size)
            self._memory = self._spare[:size]
            if self._units.size:
                self._use_units()

    def _use_units(self) -> None:
        units = np.ones(1 + self._columns + LANES)
        units[: self._units.size] = self._units
        self._units = units

    def _predict(self, values, indices, starts, columns, weights, scores):
        indices, room = _places_and_room(indices, starts, columns)
        block = (values, indices, starts, columns, EMPTY, weights, scores)
        row = _run(*block, 0, self._memory, self._units, *room)
        if row < len(scores):  # a value beyond 2^+-255: the same state, with units
            _run(*block, row, self._memory, np.ones(1 + self._columns + LANES), *room)
        return scores

    def _learn(self, values, indices, starts, columns, targets, weights, scores):
        indices, room = _places_and_room(indices, starts, columns)
        block = (values, indices, starts, columns, targets, weights, scores)
        row = _run(*block, 0, self._memory, self._units, *room)
        if row < len(scores):
            if not len(starts):  # what comes before that row has still to be learned
                few = values[: row * columns], indices, starts, columns
                few += targets[:row], weights[:row], scores[:row]
                _run(*few, 0, self._memory, self._units, *room)
            self._use_units()
            _run(*block, row, self._memory, self._units, *room)
        return scores

    def predict_one(self, x: Mapping[Hashable, Any], weight: float = 1.0) -> float:
        """The score of one dict row. Absent is 0, None and NaN are missing, new names are fine."""
        self._turn.acquire()
        try:
            if weight == 1.0:
                names = self.names
                names.load(x)
                p = _run_one(names.values, names.indices, None, 1.0, self._memory, self._units)
                if p < INFINITY:
                    return p
            return super().predict_one(x, weight)
        finally:
            self._turn.release()

    def learn_one(self, x: Mapping[Hashable, Any], y: float, weight: float = 1.0) -> float:
        """Score one dict row, then learn from its target; returns the score.

        A usual row goes straight to the kernel, which looks at target and values as it computes.
        If it says that it did nothing (the score is not finite), the row is learned, or refused
        with all the words, in the way of any learner. docs/reliability.md has the cost.
        """
        self._turn.acquire()
        try:
            names = self.names
            if weight == 1.0 and not names.load(x):
                p = _run_one(names.values, names.indices, 1.0 * y, 1.0, self._memory, self._units)
                if p < INFINITY:
                    return p
            return super().learn_one(x, y, weight)
        except (TypeError, OverflowError, NumbaError):  # y is not a number, nor the kernel's
            return super().learn_one(x, y, weight)
        finally:
            self._turn.release()

    def _predict_one(self, values, indices, weight):
        p = _run_one(values, indices, None, weight or 1.0, self._memory, self._units)
        if p == math.inf:
            units = np.ones(1 + self._columns + LANES)
            return _run_one(values, indices, None, weight or 1.0, self._memory, units)
        return p

    def _learn_one(self, values, indices, y, weight):
        if weight == 0:
            return self._predict_one(values, indices, weight)
        p = _run_one(values, indices, y, weight, self._memory, self._units)
        if p == math.inf:
            if np.isinf(values).any():
                return math.nan
            self._use_units()
            return _run_one(values, indices, y, weight, self._memory, self._units)
        return p

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on column i arrives multiplied by factors[i]; to the bit for powers of two."""
        factors = unit_factors(factors, self.names.columns, self._columns)
        mantissas, exponents = powers_of_two(factors)
        units = self._units[1:-LANES] if self._units.size else np.ones(self._columns)
        seen = np.flatnonzero(self.state.records[1:-LANES, S2])
        units[seen] = rescaled_units(units[seen], exponents[seen], seen)
        self._use_units()
        self._units[1:-LANES] = units
        records = self.state.records[1:-LANES]
        records[:, H] *= mantissas
        records[:, S2] *= mantissas**2
        return self

    def weights(self) -> Weights:
        """w_i of the next trial as x_i goes to 0, by column."""
        w = np.empty(1 + self._columns)
        _weights(self._memory, self._units, w)
        return Weights(float(w[0]), w[1:])

    def sums(self) -> Sums:
        """A, h / s and s, of the loss itself rather than of loss / L."""
        records, units, (t, d, a) = self.state
        h, s2 = records[:-LANES].T
        s = np.sqrt(s2)
        z = np.divide(h, s, out=np.zeros_like(h), where=s > 0)
        if units.size:
            with np.errstate(over="ignore"):  # sqrt(T) times a value may exceed the largest float
                s /= units[:-LANES]
        lipschitz = self.loss.lipschitz
        return Sums(int(t), int(d), float(a) * lipschitz, z * lipschitz, s)
