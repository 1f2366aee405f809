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
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.learners.protocol import EMPTY, Learner, Sums, Weights, unit_factors
from unitless.losses import Loss, derivative
from unitless.numerics import (
    LANES,
    WIDE,
    bounded_exp,
    fma,
    grown,
    kernel,
    lane_sum,
    prefetch,
    unit_of,
)

H, S2 = 0, 1  # a record; kernels see the records as one flat array h, s2, h, s2, ...
T, D, A = 0, 1, 2  # the fields of totals
AHEAD = 24  # stored values between a prefetch and its use
NARROW = 1 / WIDE
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


@kernel
def parts(h, s2, x, half):
    """(c, e) with w_i = eps/(alpha t d) * c * exp(e); s2 has x^2 in it, half = 1/(2 alpha).

    Two parts, because a row's exponentials are taken in a loop of their own: one short chain of
    dependent instructions after another fills the machine, one long chain stalls it.
    """
    inverse = 1.0 / max(s2, SMALLEST)
    return h * inverse, min(fma(h, h, x * x) * inverse * half, EXPONENT_LIMIT)


@kernel
def weight(h, s2, x, half):
    """w_i without its factor eps/(alpha t d)."""
    c, e = parts(h, s2, x, half)
    return c * bounded_exp(e)


# The functions below run once a row. They take arrays one by one, with offsets: a slice or a tuple
# made inside the loop over rows would cost atomic reference counts, 200 ns a row in all. Buffers
# and records end in zeros, so that `padded`, n rounded up to whole lanes, leaves no scalar rest.


@kernel
def _parts(padded, records, x, exponent, term, half):
    """Both parts of every term; (number of new features, whether one is too small for unit 1)."""
    new = 0
    tiny = False
    for k in range(padded):
        h, s2, z = records[2 * k], records[2 * k + 1], x[k]
        fresh = (s2 == 0) & (z != 0)
        new += fresh
        tiny |= fresh & (abs(z) < NARROW)
        c, e = parts(h, fma(z, z, s2), z, half)
        exponent[k] = e
        term[k] = c * z
    return new, tiny


@kernel
def _dense_total(values, start, n, v, records, x, exponent, term, half):
    """(sum of weight * x, number of new features, whether a value needs units); all units are 1."""
    wide = False
    for k in range(n):
        z = values[np.uint64(start + k)] * v
        z = z if z == z else 0.0
        wide |= abs(z) > WIDE
        x[k] = z
    padded = -(-n // LANES) * LANES
    new, tiny = _parts(padded, records, x, exponent, term, half)
    for k in range(padded):
        term[k] *= bounded_exp(exponent[k])
    return lane_sum(term, padded), new, wide | tiny


@kernel
def _sparse_total(
    values, start, columns, origin, n, v, records, units, row, x, exponent, term, lanes, half,
    commit,
):  # fmt: skip
    """The same for values with explicit columns and for units other than 1.

    With units, a row in which a feature is new or too wide chooses its units anew: in the
    buffers, and with `commit` in `units`. An infinite value is reported as -1 new features.
    """
    last = records.size // 2 - 1  # one of the records that stay zero, for features unknown
    wide = False
    for k in range(n):
        i = min(np.int64(np.uint32(columns[np.uint64(origin + k)])) + 1, last)
        row[2 * k] = records[2 * i]
        row[2 * k + 1] = records[2 * i + 1]
        z = values[np.uint64(start + k)] * v
        if units.size:
            z *= units[i]
        z = z if z == z else 0.0
        wide |= abs(z) > WIDE
        x[k] = z
    padded = -(-n // LANES) * LANES
    for k in range(n, padded):
        row[2 * k] = row[2 * k + 1] = x[k] = 0.0
    new, tiny = _parts(padded, row, x, exponent, term, half)
    if units.size and (wide or new):
        new = _fit_units(values, start, columns, origin, n, v, units, row, x, commit)
        _parts(padded, row, x, exponent, term, half)
        wide = tiny = False
    for k in range(padded):
        term[k] *= bounded_exp(exponent[k])
    for lane in range(LANES):
        lanes[lane] = 0.0
    for k in range(n):
        lanes[columns[np.uint64(origin + k)] & (LANES - 1)] += term[k]
    return lane_sum(lanes, LANES), new, wide | tiny


@kernel
def _fit_units(values, start, columns, origin, n, v, units, row, x, commit):
    """Units in which the row's values are near 1 where they are new, and below 2^255 elsewhere."""
    new = 0
    for k in range(start, start + n):
        if abs(values[k]) == np.inf:
            return -1
    for k in range(n):
        value, i = values[start + k], columns[origin + k] + 1
        if value != value or value == 0:
            continue
        unit = units[min(i, units.size - 1)]
        if row[2 * k + 1] == 0:
            new += 1
            unit = unit_of(value)
            x[k] = value * unit * v
        elif abs(value * unit * v) > WIDE:
            x[k], e = _widened(value, v, unit)
            row[2 * k] = math.ldexp(row[2 * k], -e)
            row[2 * k + 1] = math.ldexp(row[2 * k + 1], -2 * e)
            unit = math.ldexp(unit, -e)
        if commit:
            units[i] = unit
    return new


@kernel
def _widened(x, v, unit):
    """(x v, e) in the unit 2^-e * unit, in which x v is no longer wide."""
    mx, ex = math.frexp(x)
    mv, ev = math.frexp(v)
    _, eu = math.frexp(unit)
    exponent = ex + ev + eu - 1
    e = min(exponent, eu - 1 + 1000)  # a unit stays above 2^-1000
    return math.ldexp(mx * mv, exponent - e), e


@kernel
def _update(n, g, x, records):
    """h -= g x, s2 += x^2."""
    for k in range(n):
        records[2 * k] -= g * x[k]
        records[2 * k + 1] = fma(x[k], x[k], records[2 * k + 1])


@kernel
def _scatter(columns, origin, n, row, records):
    for k in range(n):
        i = np.int64(np.uint32(columns[np.uint64(origin + k)])) + 1
        records[2 * i] = row[2 * k]
        records[2 * i + 1] = row[2 * k + 1]


@kernel
def _run(values, indices, starts, width, targets, weights, scores, first, state, settings):
    """Score rows from `first` on and, where there are targets, learn them.

    Returns the row before which units are needed, or the number of rows.
    """
    alpha, eps, fixed_d, intercept = settings[0], settings[1], settings[2], settings[3] > 0
    code, parameter, lipschitz = int(settings[4]), settings[5], settings[6]
    half = 0.5 / alpha
    units, totals = state.units, state.totals
    records = state.records.reshape(-1)
    features = records[2:]
    dense = starts.size == 0 and units.size == 0 and 2 * (width + LANES) <= features.size
    columns = indices if starts.size else np.arange(0 if dense else width).astype(np.int32)
    room = width
    for r in range(starts.size - 1):
        room = max(room, starts[r + 1] - starts[r])
    room += LANES
    row, x, lanes = np.empty(2 * room), np.zeros(room), np.empty(LANES)
    exponent, term = np.empty(room), np.empty(room)
    for r in range(first, scores.size):
        start, origin, n = r * width, 0, width
        if starts.size:
            start = origin = starts[r]
            n = starts[r + 1] - start
            for k in range(min(start + AHEAD, columns.size), min(start + n + AHEAD, columns.size)):
                prefetch(features, 2 * np.int64(columns[k]))
        learns = targets.size > 0 and (weights.size == 0 or weights[r] > 0)
        v = weights[r] if weights.size and weights[r] > 0 else 1.0
        constant = weight(records[0], fma(v, v, records[1]), v, half) * v if intercept else 0.0
        if dense:
            total, new, extreme = _dense_total(
                values, start, n, v, features, x, exponent, term, half
            )
        else:
            total, new, extreme = _sparse_total(
                values, start, columns, origin, n, v, records, units, row, x, exponent, term,
                lanes, half, learns,
            )  # fmt: skip
        if extreme:
            return r
        if new < 0:
            scores[r] = math.nan
            continue
        d = totals[D] + new + (intercept and records[1] == 0)
        vp = eps / (alpha * (totals[T] + 1) * max(fixed_d or d, 1.0)) * (total + constant)
        p = vp * (1 / v)
        scores[r] = p
        if learns:
            g = derivative(code, parameter, targets[r], p) * (1 / lipschitz)
            if dense:
                _update(-(-n // LANES) * LANES, g, x, features)
            else:
                _update(n, g, x, row)
                _scatter(columns, origin, n, row, records)
            if intercept:
                records[0] -= g * v
                records[1] = fma(v, v, records[1])
            totals[T] += 1
            totals[D] = d
            totals[A] += g * vp
    return scores.size


@kernel
def _weights(state, settings, out):
    records, units, totals = state
    factor = settings[1] / (settings[0] * (totals[T] + 1) * max(settings[2] or totals[D], 1.0))
    for i in range(out.size):
        unit = units[i] if units.size else 1.0
        out[i] = factor * weight(records[i, H], records[i, S2], 0.0, 0.5 / settings[0]) * unit


class Coordinate(Learner):
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
    0.0000
    """

    name: ClassVar[str] = "coordinate"
    invariance: ClassVar[Any] = "unit"
    theorem: ClassVar[str | None] = "Theorem 1"
    state: CoordinateState

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
        if not 0 < wealth < math.inf:
            raise ValueError(f"wealth = {wealth}: the initial wealth is a finite number > 0")
        if d is not None and d < 1:
            raise ValueError(f"d = {d}: there is at least one coordinate; None counts them")
        self.alpha, self.wealth, self.d = float(alpha), float(wealth), d
        self.state = CoordinateState(np.zeros((1 + LANES, 2)), np.empty(0), np.zeros(3))
        self._spare = self.state.records
        self._settings = np.array(
            [
                *(alpha, wealth, d or 0, self.intercept),
                *(self.loss.code, self.loss.parameter, self.loss.lipschitz),
            ]
        )

    def _reserve(self, columns: int) -> None:
        if self.d is not None and columns + self.intercept > self.d:
            raise ValueError(
                f"d = {self.d} coordinates were promised, but there are {columns} features"
                f"{' and an intercept' if self.intercept else ''}: use d=None to count them"
            )
        if columns > self._columns:
            size = 1 + columns + LANES
            self._spare = grown(self._spare, size)
            self.state = self.state._replace(records=self._spare[:size])
            if self.state.units.size:
                self._use_units()

    @property
    def _columns(self) -> int:
        return len(self.state.records) - LANES - 1

    def _use_units(self) -> None:
        units = np.ones(len(self.state.records))
        units[: self.state.units.size] = self.state.units
        self.state = self.state._replace(units=units)

    def _predict(self, values, indices, starts, columns, weights, scores):  # type: ignore[no-untyped-def]
        block = (values, indices, starts, columns, EMPTY, weights, scores)
        row = _run(*block, 0, self.state, self._settings)
        if row < len(scores):  # a value beyond 2^+-255: the same state, with units
            state = self.state._replace(units=np.ones(len(self.state.records)))
            _run(*block, row, state, self._settings)
        return scores

    def _learn(self, values, indices, starts, columns, targets, weights, scores):  # type: ignore[no-untyped-def]
        block = (values, indices, starts, columns, targets, weights, scores)
        row = _run(*block, 0, self.state, self._settings)
        if row < len(scores):
            self._use_units()
            _run(*block, row, self.state, self._settings)
        return scores

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on column i arrives multiplied by factors[i]; to the bit for powers of two."""
        factors = unit_factors(factors, self.names.columns, self._columns)
        self._use_units()
        mantissas, exponents = np.frexp(factors)
        self.state.records[1:-LANES, H] *= mantissas
        self.state.records[1:-LANES, S2] *= mantissas**2
        self.state.units[1:-LANES] = np.ldexp(self.state.units[1:-LANES], -exponents)
        return self

    def weights(self) -> Weights:
        """w_i of the next trial as x_i goes to 0, by column."""
        w = np.empty(1 + self._columns)
        _weights(self.state, self._settings, w)
        return Weights(float(w[0]), w[1:])

    def sums(self) -> Sums:
        """A, h / s and s, of the loss itself rather than of loss / L."""
        h, s2 = self.state.records[:-LANES].T
        s = np.sqrt(s2)
        z = np.divide(h, s, out=np.zeros_like(h), where=s > 0)
        if self.state.units.size:
            s /= self.state.units[:-LANES]
        t, d, a = self.state.totals
        lipschitz = self.loss.lipschitz
        return Sums(int(t), int(d), float(a) * lipschitz, z * lipschitz, s)
