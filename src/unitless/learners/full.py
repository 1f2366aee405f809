"""Algorithm 2: predictions that no linear map of the features can change, O(d^2) a row.

Kotlowski, "Scale-Invariant Unconstrained Online Learning" (2017), Algorithm 2 and Theorem 2.
At trial t, with alpha >= alpha_0 (below) and initial wealth eps::

    S += x x'
    p  = eps / alpha * exp((h' S^+ h - Gamma) / (2 alpha)) * x' S^+ h
    g  = loss'(y, p) / L;   h -= g x;   Gamma += g^2 x' S^+ x

No inverse is ever formed, because updating one explodes as soon as cond(x)^2 nears 1e16. Since x
and h lie in range(S), all that is needed are R and q with S = R'R and h = R'q, and the exponent
E = h' S^+ h - Gamma. Givens rotations take [R; x'] to [R; 0], [q; 0] to [q'; ql] and the last unit
vector to [a; al]; then, exactly,

    E -= ql^2;   x' S^+ h = -al ql;   p from these;   q = q' - g a;   E -= 2 g x' S^+ h

Square roots are left out, which `rotations` explains: R = D^(1/2) U with D diagonal and 1s on the
diagonal of U, and q = D^(1/2) z.

Rotations do not depend on labels, so four rows meet four rows of U in one sweep over the columns:
the same numbers to the bit, and faster. A sample weight v scales the instance.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.learners.base import EMPTY, Sums, Weights, checked_wealth
from unitless.learners.givens import FOUR, follow, root_unit, rotate_noted, turn_four, turn_one
from unitless.learners.transitional import OldLearner, rescaled_units
from unitless.losses import Loss, derivative
from unitless.numerics import WIDE, flat, fma, grown, inner, kernel, shared
from unitless.units import factors_by_column as unit_factors
from unitless.units import unit_of

ALPHA_0 = 1.1148186546427592
"""The smallest a with x + exp(-x) <= exp(a x^2 / 2) for all x: all that the lemma needs."""

T, A, E, RANK, ACTIVE = range(5)  # the fields of totals
NOISE = 128 * 2.0**-53  # what rounding leaves of a dependent direction, relative to its column
READY, NEW, TOO_WIDE, REFUSED = range(4)  # what can be done with a row
LOWEST = 2.0**-800  # no D falls much below, see `_widen`: where float64 would end, no tolerance


class FullState(NamedTuple):
    """All that Algorithm 2 remembers.

    A coordinate (0 is the constant 1, column j is j + 1) gets a position when it is first nonzero;
    pivots come first, so that U is upper trapezoidal. Row k has the unit of its pivot, x_k.

    ============ ================ ====================================================== =========
    paper        field            meaning                                                unit
    ============ ================ ====================================================== =========
    S = U'DU     U[k, n]          row k, position n >= k, times units[n] / units[k];     [x_n/x_k]
                                  1 on the diagonal; rows end in at least four zeros
    --           D[k]             the squares of R's diagonal, times units[k]^2          [x_k]^2
    h = U'Dz     z[k]             -sum g x in the frame of U's rows, over units[k]       1/[x_k]
    h'S^+h-Gamma totals[E]        the exponent, without 1/(2 alpha)                      1
    --           squares[n]       sum x_n^2, times units[n]^2, for the rank rule         [x_n]^2
    --           units[n]         a power of two near 1/|first x_n|                      1/[x_n]
    --           places[i]        position of coordinate i, or -1                        1
    --           coordinates[n]   coordinate at position n                               1
    t, r         totals[T, RANK]  trials and rank of S so far                            1
    --           totals[A]        sum v g p, for the certificate                         1
    --           totals[ACTIVE]   positions taken                                        1
    ============ ================ ====================================================== =========
    """

    U: NDArray[np.float64]
    D: NDArray[np.float64]
    z: NDArray[np.float64]
    squares: NDArray[np.float64]
    units: NDArray[np.float64]
    places: NDArray[np.int64]
    coordinates: NDArray[np.int64]
    totals: NDArray[np.float64]

    @property
    def R(self) -> NDArray[np.float64]:
        """The factor itself, S = R'R, column n times units[n]."""
        return self.U * np.sqrt(self.D)[:, None]

    @property
    def q(self) -> NDArray[np.float64]:
        """h = R'q, |q| the norm of h."""
        return np.sqrt(self.D) * self.z


@inner
def _pivot(w, delta, x, rank, active, first_new, constant, squares):
    """The position in which w, the rest of row x, opens a new direction, or -1 if it is noise.

    Noise is set to 0. A feature's first nonzero value always opens a direction: its column of U
    is exactly zero, so nothing was cancelled. The constant never grows, so it gives way to its
    equals: as a pivot it would drown when one of them turns huge.
    """
    best, pivot, root = 0.0, -1, math.sqrt(delta)
    for n in range(rank, active):
        if w[n] != 0:
            ratio = abs(w[n]) * root / math.sqrt(fma(x[n], x[n], squares[n]))
            if ratio <= NOISE and n < first_new:
                w[n] = 0.0
            elif ratio > best or (ratio == best and pivot == constant):
                best, pivot = ratio, n
    return pivot


@inner
def _exchange(array, i, j):
    array[i], array[j] = array[j], array[i]


@flat
def _open_row(state, pivot, w, delta):
    """Make w, of weight delta, the next row of U, its pivot moved to the diagonal."""
    U, D, _, squares, units, places, coordinates, totals = state
    rank, active = int(totals[RANK]), int(totals[ACTIVE])
    for k in range(rank):
        _exchange(U[k], rank, pivot)
    _exchange(w, rank, pivot)
    _exchange(squares, rank, pivot)
    _exchange(units, rank, pivot)
    _exchange(coordinates, rank, pivot)
    places[coordinates[rank]] = rank
    places[coordinates[pivot]] = pivot
    D[rank] = max(delta * w[rank] * w[rank], LOWEST)
    for n in range(rank, active):
        U[rank, n] = w[n] / w[rank] + 0.0  # no -0
    totals[RANK] += 1


@inner
def _scaled_exp(exponent, s):
    """exp(exponent) s, finite whatever a caller's gradients did to the exponent."""
    if exponent <= 500 or s == 0:
        return math.exp(min(exponent, 500.0)) * s
    return math.copysign(math.exp(min(exponent + math.log(abs(s)), 600.0)), s)


@inner
def _score_and_learn(rank, opened, last, delta, y, v, z, turns, a, totals, settings):
    """Finish a trial whose turns are known: the score; with a target (not NaN), z, E, A and t.

    A row that `opened` a direction has become row `rank` of U, after division by `last`.
    """
    alpha, eps = settings[0], settings[1]
    learns = y == y
    wz, we = follow(z, 0.0, rank, turns, a, learns)
    if opened:
        if learns:
            z[rank], a[rank] = wz / last, we / last
        delta = 0.0
    exponent, s = totals[E] - delta * wz * wz, -delta * we * wz
    vp = eps / alpha * _scaled_exp(exponent / (2 * alpha), s)
    p = vp * (1 / v) + 0.0  # no -0
    if learns:
        g = derivative(int(settings[3]), settings[4], y, p) * (1 / settings[5])
        for k in range(rank + opened):
            z[k] -= g * a[k]
        totals[E] = exponent - 2 * g * s
        totals[A] += g * vp
        totals[T] += 1
    return p


@flat
def _load(values, start, columns, origin, n, v, units, places, coordinates, w, active):
    """Put a row into w by position: (nonzero features without a position, whether one is wide)."""
    unseen, wide = 0, False
    seen_all = n == places.size - 1 and active == places.size - (places[0] < 0)
    if columns.size == 0 and seen_all and n > 0:  # a dense row: position by position
        start -= 1
        for k in range(active):
            i = coordinates[k]
            x = values[np.uint64(start + max(i, 1))] * units[k] * v
            x = x if x == x else 0.0
            x = x if i > 0 else v
            wide |= abs(x) > WIDE
            w[k] = x + 0.0  # no -0
        return unseen, wide
    for k in range(active):
        w[k] = 0.0
    for k in range(n):
        value = values[start + k]
        if value != value or value == 0:
            continue
        i = (columns[origin + k] if columns.size else k) + 1
        place = places[i] if i < places.size else -1
        if place < 0:
            unseen += 1
        else:
            w[place] = value * units[place] * v
            wide |= abs(w[place]) > WIDE
    if places[0] >= 0:
        w[places[0]] = v
    return unseen, wide


@flat
def _settle(values, start, columns, origin, n, v, state):
    """Give positions to features seen first, and a wider unit to those that outgrew theirs."""
    units, places, coordinates, totals = (
        state.units, state.places, state.coordinates, state.totals,
    )  # fmt: skip
    for k in range(n):
        value, i = values[start + k], (columns[origin + k] if columns.size else k) + 1
        if value != value or value == 0 or i >= places.size:
            continue
        place = places[i]
        if place < 0:
            _activate(i, unit_of(value), units, places, coordinates, totals)
        elif abs(value * units[place] * v) > WIDE:
            _widen(place, unit_of(value), state)


@inner
def _widen(place, unit, state):
    """Measure a column in a new unit, far wider than its own.

    The square of a pivot so much smaller than the value to come may be beyond float64; it is kept
    at LOWEST. That is as if the past of the column had been larger, yet still far below the last
    digit of the row which makes it wider. The entries of R beside the pivot stay what they are.
    """
    U, D, z, squares = state.U, state.D, state.z, state.squares
    factor, rank = unit / state.units[place], int(state.totals[RANK])
    state.units[place] = unit
    squares[place] = squares[place] * factor * factor
    for k in range(min(place, rank)):
        U[k, place] *= factor
    if place < rank:
        factor = min(max(factor, root_unit(LOWEST) / root_unit(D[place])), 1.0)
        D[place] = D[place] * factor * factor
        z[place] /= factor
        for n in range(place + 1, U.shape[1]):
            U[place, n] /= factor


@inner
def _activate(i, unit, units, places, coordinates, totals):
    place = int(totals[ACTIVE])
    places[i], coordinates[place], units[place] = place, i, unit
    totals[ACTIVE] += 1


@inner
def _trial(r, starts, width, targets, weights):
    """Where row r begins in values and in columns, its length, weight and target (NaN: none)."""
    v = weights[r] if weights.size and weights[r] > 0 else 1.0
    y = targets[r] if targets.size and (weights.size == 0 or weights[r] > 0) else math.nan
    if starts.size:
        return starts[r], starts[r], starts[r + 1] - starts[r], v, y
    return r * width, 0, width, v, y


@inner
def _is_infinite(values, start, n):
    found = False
    for k in range(start, start + n):
        found |= abs(values[k]) == np.inf
    return found


@inner
def _prepare(values, indices, starts, width, targets, weights, r, state, settings, w):
    """Load row r, if need be after making place for it; what is to be done with it."""
    units, totals, places = state.units, state.totals, state.places
    coordinates = state.coordinates
    start, origin, n, v, y = _trial(r, starts, width, targets, weights)
    active = int(totals[ACTIVE])
    unseen, wide = _load(
        values, start, indices, origin, n, v, units, places, coordinates, w, active
    )
    unseen += settings[2] > 0 and places[0] < 0
    if unseen or wide:
        if _is_infinite(values, start, n):
            return REFUSED
        if y != y:
            return NEW if unseen else TOO_WIDE
        if settings[2] and places[0] < 0:
            _activate(np.int64(0), 1.0, units, places, coordinates, totals)
        _settle(values, start, indices, origin, n, v, state)
        active = int(totals[ACTIVE])
        _load(values, start, indices, origin, n, v, units, places, coordinates, w, active)
    return READY


@inner
def _load_others(values, indices, starts, width, targets, weights, r, rows, state, W):
    """Load the rows after row r into W: 4 if there are three that can be learned as they come."""
    if len(W) < FOUR or r + FOUR > rows:
        return 1
    for m in range(1, FOUR):
        start, origin, n, v, y = _trial(r + m, starts, width, targets, weights)
        if y != y:
            return 1
        unseen, wide = _load(
            values, start, indices, origin, n, v, state.units, state.places, state.coordinates,
            W[m], int(state.totals[ACTIVE]),
        )  # fmt: skip
        if unseen or wide:
            return 1
    return FOUR


@inner
def _finish(state, settings, scratch, m, fresh, v, y):
    """The score of the m-th row in scratch, whose turns are known, and its pivot or -1.

    With a target (not NaN) it is learned, and if it has a pivot it becomes a row of U.
    """
    W, X, turns, deltas, a = scratch
    squares, totals = state.squares, state.totals
    rank, active = int(totals[RANK]), int(totals[ACTIVE])
    w, x, delta = W[m], X[m], deltas[m]
    pivot = _pivot(w, delta, x, rank, active, fresh, state.places[0], squares)
    last = w[max(pivot, 0)]
    if y == y:
        for k in range(active):
            squares[k] = fma(x[k], x[k], squares[k])
        if pivot >= 0:
            _open_row(state, pivot, w, delta)
    score = _score_and_learn(
        rank, pivot >= 0, last, delta, y, v, state.z, turns[m], a, totals, settings
    )
    return score, pivot


@flat
def _run(values, indices, starts, width, targets, weights, scores, r, state, settings, scratch):
    """Score rows from r on and, where there are targets, learn them, four at a time if possible.

    Returns the number of rows, or the row which is too wide to be scored in the current units.
    """
    totals, U, D, length = state.totals, state.U.reshape(-1), state.D, state.U.shape[1]
    W, X, turns, deltas, _ = scratch
    block = values, indices, starts, width, targets, weights
    while r < scores.size:
        rank, old = int(totals[RANK]), int(totals[ACTIVE])
        todo = _prepare(*block, r, state, settings, W[0])
        if todo == TOO_WIDE:
            return r
        if todo != READY:
            scores[r] = math.nan if todo == REFUSED else 0.0  # a new direction is scored 0
            r += 1
            continue
        active = int(totals[ACTIVE])
        _, _, _, v, y = _trial(r, starts, width, targets, weights)
        count = _load_others(*block, r, scores.size, state, W) if y == y else 1
        for m in range(count):
            for k in range(active):
                X[m, k] = W[m, k]
        if count == FOUR:
            turn_four(U, D, length, rank, W, active, turns, deltas)
        else:
            deltas[0] = turn_one(U, D, length, rank, W[0], active, turns[0], y == y)
        for m in range(count):
            _, _, _, v, y = _trial(r + m, starts, width, targets, weights)
            scores[r + m], pivot = _finish(state, settings, scratch, m, active if m else old, v, y)
            if pivot >= 0 and m + 1 < count:  # the others have not met the new row of U
                for other in range(m + 1, count):
                    _exchange(W[other], rank, pivot)
                    _exchange(X[other], rank, pivot)
                    rotate_noted(U, D, length, rank, W, active, deltas, turns, other)
                rank += 1
        r += count
    return r


@kernel
def _settle_row(values, indices, starts, width, weights, r, state):
    """`_settle` for row r of a block."""
    start, origin, n, v, _ = _trial(r, starts, width, np.empty(0), weights)
    _settle(values, start, indices, origin, n, v, state)


@kernel
def _refactor(W, h, state):
    """Factor W'W anew, with W'h for the gradients: h and W are q and R of another frame."""
    U, D, z, squares, _, places, _, totals = state
    active, width = W.shape[1], U.shape[1]
    scratch = np.zeros((7, width))
    w, x, a, turns = scratch[0], scratch[1], scratch[2], scratch[3:]
    totals[RANK] = 0
    for row in range(W.shape[0]):
        rank = int(totals[RANK])
        for n in range(active):
            w[n] = x[n] = W[row, n]
        delta = turn_one(U.reshape(-1), D, width, rank, w, active, turns, bool(1))
        wz, _ = follow(z, h[row], rank, turns, a, bool(1))
        pivot = _pivot(w, delta, x, rank, active, active, places[0], squares)
        for n in range(active):
            squares[n] = fma(x[n], x[n], squares[n])
        if pivot >= 0:
            _open_row(state, pivot, w, delta)
            for later in range(row + 1, W.shape[0]):
                _exchange(W[later], rank, pivot)
            z[rank] = wz / w[rank]


@shared
def _solve(U, z, rank, w):
    """w with U w = z, zero beyond the pivots: of all such w the one no unit enters."""
    for k in range(rank - 1, -1, -1):
        rest = z[k]
        for j in range(k + 1, rank):
            rest -= U[k, j] * w[j]
        w[k] = rest


@kernel
def _count_new(values, indices, starts, width, places):
    """How many features of the block have no position yet, for making room beforehand."""
    seen = places >= 0
    seen[0] = True
    if seen.all():
        return 0
    count = 0
    for k in range(values.size):
        i = (indices[k] if starts.size else k % width) + 1
        if values[k] == values[k] and values[k] != 0 and not seen[i]:
            seen[i] = True
            count += 1
    return count


def _rows_of_zeros(count: int) -> NDArray[np.float64]:
    """Room for U: each row an odd number of whole vectors, the last of them only zeros.

    They begin where a vector does in memory, which only speed depends on; and so it is with the
    odd number, as rows a power of two apart would share too few lines of the cache.
    """
    vectors = (count + FOUR - 1) // FOUR + 1
    width = FOUR * (vectors + 1 - vectors % 2)
    flat = np.zeros(count * width + FOUR)
    skip = -flat.ctypes.data // flat.itemsize % FOUR
    return flat[skip : skip + count * width].reshape(count, width)


def _room_for(rows: int, length: int) -> tuple[NDArray[np.float64], ...]:
    """Where that many rows are worked on: W, X, turns, deltas and a."""
    W, X = np.zeros((2, rows, length))
    return W, X, np.zeros((rows, 4, length)), np.zeros(rows), np.zeros(length)


def _rank(matrix: NDArray[np.float64]) -> int:
    """The rank of a matrix, whatever the units of its rows and columns."""
    for axis in (1, 0):
        largest = np.abs(matrix).max(axis=axis, keepdims=True, initial=0)
        matrix = matrix / np.where(largest > 0, largest, 1)
    return int(np.linalg.matrix_rank(matrix))


class Full(OldLearner):
    """Algorithm 2 of the paper, invariant to every invertible linear map of the features.

    Parameters
    ----------
    loss : name or Loss
        Any loss with a Lipschitz constant.
    alpha : float, at least 1.1148186546427592
        The larger, the more careful.
    wealth : float
        The paper's 1: what may be lost, in units of the loss, before anything is known.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Full()
    >>> scores = learner.learn(rows)
    >>> print(f"{learner.loss.value(rows.targets, scores).mean():.4f}")
    0.3465
    """

    name: ClassVar[str] = "full"
    invariance: ClassVar[Any] = "linear"
    theorem: ClassVar[str | None] = "Theorem 2"
    state: FullState

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        alpha: float = 9 / 8,
        wealth: float = 1.0,
        intercept: bool = True,
    ) -> None:
        super().__init__(loss, intercept=intercept)
        if not ALPHA_0 <= alpha < math.inf:
            raise ValueError(
                f"alpha = {alpha}: Algorithm 2 needs alpha >= {ALPHA_0}, the smallest for which "
                "x + exp(-x) <= exp(alpha x^2 / 2); 9/8 is the paper's choice"
            )
        self.alpha, self.wealth = float(alpha), checked_wealth(wealth)
        self.state = FullState(
            U=_rows_of_zeros(1),
            D=np.zeros(1),
            z=np.zeros(1),
            squares=np.zeros(1),
            units=np.ones(1),
            places=np.full(1, -1),
            coordinates=np.full(1, -1),
            totals=np.zeros(5),
        )
        self._spare = self.state.places
        self._settings = np.array(
            [
                *(alpha, wealth, self.intercept),
                *(self.loss.code, self.loss.parameter, self.loss.lipschitz),
            ]
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._spare = self.state.places  # a copy shares no memory between the two

    def _reserve(self, columns: int) -> None:
        if columns >= len(self.state.places):
            self._spare = grown(self._spare, columns + 1, fill=-1)
            self.state = self.state._replace(places=self._spare[: columns + 1])

    def _reserve_positions(self, count: int) -> None:
        """Room in U for `count` active coordinates."""
        state = self.state
        size = len(state.U)
        if count <= size:
            return
        room = max(count, size + size // 5)
        U = _rows_of_zeros(room)
        U[:size, :size] = state.U[:, :size]
        self.state = state._replace(
            U=U,
            D=grown(state.D, room),
            z=grown(state.z, room),
            squares=grown(state.squares, room),
            units=grown(state.units, room, fill=1),
            coordinates=grown(state.coordinates, room, fill=-1),
        )

    def _predict(self, values, indices, starts, columns, weights, scores):
        return self._run(values, indices, starts, columns, EMPTY, weights, scores)

    def _learn(self, values, indices, starts, columns, targets, weights, scores):
        new = _count_new(values, indices, starts, columns, self.state.places)
        self._reserve_positions(int(self.state.totals[ACTIVE]) + new + 1)
        return self._run(values, indices, starts, columns, targets, weights, scores)

    def _run(self, values, indices, starts, columns, targets, weights, scores):
        block = (values, indices, starts, columns, targets, weights)
        scratch = _room_for(FOUR if len(scores) >= FOUR else 1, self.state.U.shape[1])
        row = _run(*block, scores, 0, self.state, self._settings, scratch)
        while row < len(scores):  # to be scored only, and beyond its units: use a copy's
            copy = FullState._make(array.copy() for array in self.state)
            _settle_row(values, indices, starts, columns, weights, row, copy)
            _run(*block, scores[: row + 1], row, copy, self._settings, scratch)
            row = _run(*block, scores, row + 1, self.state, self._settings, scratch)
        return scores

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on x arrives as factors * x, or as M x for an invertible matrix M.

        Predictions continue as if it always had: to the bit for powers of two.
        """
        columns = len(self.state.places) - 1
        if not isinstance(factors, Mapping) and np.ndim(factors) == 2:
            return self._map(np.asarray(factors, dtype=np.float64), columns)
        mantissas, exponents = np.frexp(unit_factors(factors, self.names.columns, columns))
        low = np.abs(mantissas) < math.sqrt(0.5)  # the unit takes the nearest power of two
        mantissas, exponents = np.where(low, 2 * mantissas, mantissas), exponents - low
        state, (here, column) = self.state, self._features()
        units = rescaled_units(state.units[here], exponents[column], column)
        rest = np.ones(len(state.U))
        rest[here] = mantissas[column]
        state.U[:, : len(rest)] *= rest
        state.U[:] /= rest[:, None]
        state.D[:] = np.where(state.D > 0, np.maximum(state.D * rest**2, LOWEST), 0)
        state.z[:] /= rest
        state.squares[:] *= rest**2
        state.units[here] = units
        return self

    def _features(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of the features that have one, and their columns."""
        active = self.state.coordinates[: int(self.state.totals[ACTIVE])]
        here = np.flatnonzero(active > 0)
        return here, active[here] - 1

    def _map(self, matrix: NDArray[np.float64], columns: int) -> Self:
        if matrix.shape != (columns, columns):
            raise ValueError(
                f"{columns} features need a {columns} x {columns} matrix, got {matrix.shape}"
            )
        if not np.isfinite(matrix).all() or _rank(matrix) < columns:
            raise ValueError("the matrix is not invertible, so the features cannot be recovered")
        old = self.state
        rank, active, R = int(old.totals[RANK]), int(old.totals[ACTIVE]), old.R
        here, column = self._features()
        # W = R (M/units)', each new column in the power of two that keeps its largest entry near 1
        mantissas, exponents = np.frexp(matrix[:, column])
        exponents = exponents - (np.frexp(old.units[here])[1] - 1)
        used = np.flatnonzero((mantissas != 0).any(axis=1))
        mantissas, exponents = mantissas[used], exponents[used]
        largest = np.where(mantissas != 0, exponents, -(2**20)).max(axis=1, initial=-(2**20))
        in_units = np.ldexp(mantissas, exponents - largest[:, None])
        W = np.einsum("kn,in->ki", R[:rank, here], in_units)
        coordinates = used + 1
        units = np.ldexp(1.0, -largest)
        if self.intercept and active:
            W = np.column_stack([R[:rank, old.places[0]], W])
            coordinates, units = np.append(0, coordinates), np.append(1.0, units)
        self.state = old._replace(
            U=_rows_of_zeros(len(coordinates)),
            D=np.zeros(len(coordinates)),
            z=np.zeros(len(coordinates)),
            squares=np.zeros(len(coordinates)),
            units=units,
            coordinates=coordinates,
            places=np.full(columns + 1, -1),
        )
        self._spare = self.state.places
        self.state.places[coordinates] = np.arange(len(coordinates))
        self.state.totals[ACTIVE] = len(coordinates)
        _refactor(np.ascontiguousarray(W), old.q[:rank].copy(), self.state)
        return self

    def weights(self) -> Weights:
        """eps/alpha exp(E/(2 alpha)) S^+ h, zero where a feature adds no direction, by column."""
        rank = int(self.state.totals[RANK])
        w = np.zeros(rank)
        _solve(self.state.U, self.state.z, rank, w)
        full = np.zeros(len(self.state.places))
        full[self.state.coordinates[:rank]] = (
            self.potential() / self.alpha * w * self.state.units[:rank]
        )
        return Weights(float(full[0]), full[1:])

    def sums(self) -> Sums:
        """A, h / s and s, of the loss itself rather than of loss / L."""
        state, lipschitz = self.state, self.loss.lipschitz
        rank, active = int(state.totals[RANK]), int(state.totals[ACTIVE])
        s = np.sqrt(state.squares[:active])
        h = (state.R[:rank, :active] * state.q[:rank, None]).sum(axis=0)
        z_all, s_all = np.zeros((2, len(state.places)))
        z_all[state.coordinates[:active]] = np.divide(h, s, out=np.zeros_like(h), where=s > 0)
        with np.errstate(over="ignore"):  # sqrt(T) times a value may exceed the largest float
            s_all[state.coordinates[:active]] = s / state.units[:active]
        a = float(state.totals[A]) * lipschitz
        return Sums(int(state.totals[T]), active, a, z_all * lipschitz, s_all)

    def potential(self) -> float:
        """psi = eps exp((h'S^+h - Gamma) / (2 alpha)): the wealth still to be lost."""
        return self.wealth * math.exp(min(self.state.totals[E] / (2 * self.alpha), 600.0))

    def norm_h(self) -> float:
        """|h| in the norm of S^+, of the loss itself: regret(u) <= A + |u|_S norm_h()."""
        return self.loss.lipschitz * float(np.sqrt((self.state.q**2).sum()))

    def gamma(self) -> float:
        """Gamma = sum g^2 x'S^+x with g = loss' / L, the logarithmic term of Theorem 2."""
        return float((self.state.q**2).sum() - self.state.totals[E])
