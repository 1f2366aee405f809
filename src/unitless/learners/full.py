"""Algorithm 2: predictions that no linear map of the features can change, O(d^2) a row.

Kotlowski, "Scale-Invariant Unconstrained Online Learning" (2017), Algorithm 2 and Theorem 2.
At trial t, with alpha >= alpha_0 (below) and initial wealth eps::

    S += x x'
    p  = eps / alpha * exp((h' S^+ h - Gamma) / (2 alpha)) * x' S^+ h
    g  = loss'(y, p) / L;   h -= g x;   Gamma += g^2 x' S^+ x

No inverse is ever formed, because updating one explodes as soon as cond(x)^2 nears 1e16. Since x
and h lie in range(S), all that is needed are R and q with S = R'R and h = R'q, and the scalar
D = h' S^+ h - Gamma. Givens rotations take [R; x'] to [R; 0], [q; 0] to [q'; ql] and the last unit
vector to [a; al]; then, exactly,

    D -= ql^2;   x' S^+ h = -al ql;   p from these;   q = q' - g a;   D -= 2 g x' S^+ h

Rotations do not depend on labels, so two rows meet two rows of R in one sweep over the columns:
the same numbers to the bit, and faster. A sample weight v scales the instance.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.learners.protocol import (
    EMPTY,
    Learner,
    Sums,
    Weights,
    rescaled_units,
    unit_factors,
)
from unitless.losses import Loss, derivative
from unitless.numerics import WIDE, fma, grown, inner, kernel, unit_of

ALPHA_0 = 1.1148186546427592
"""The smallest a with x + exp(-x) <= exp(a x^2 / 2) for all x: all that the lemma needs."""

T, A, D, RANK, ACTIVE = range(5)  # the fields of totals
NOISE = 128 * 2.0**-53  # what rounding leaves of a dependent direction, relative to its column
PAD = 4  # numbers in a vector of the machine
READY, NEW, TOO_WIDE, REFUSED = range(4)  # what can be done with a row
SMALL = 2.0**-900  # squares below this have lost digits


class FullState(NamedTuple):
    """All that Algorithm 2 remembers.

    A coordinate (0 is the constant 1, column j is j + 1) gets a position when it is first nonzero;
    pivots come first, so that R is upper trapezoidal.

    ============ ================ ====================================================== ========
    paper        field            meaning                                                unit
    ============ ================ ====================================================== ========
    S = R'R      R[k, n]          row k, position n >= k, times units[n]; ends in PAD 0s  [x_n]
    h = R'q      q[k]             -sum g x in the frame of R's rows                      1
    h'S^+h-Gamma totals[D]        the exponent, without 1/(2 alpha)                      1
    --           squares[n]       sum x_n^2, times units[n]^2, for the rank rule         [x_n]^2
    --           units[n]         a power of two near 1/|first x_n|                      1
    --           places[i]        position of coordinate i, or -1                        1
    --           coordinates[n]   coordinate at position n                               1
    t, r         totals[T, RANK]  trials and rank of S so far                            1
    --           totals[A]        sum v g p, for the certificate                         1
    --           totals[ACTIVE]   positions taken                                        1
    ============ ================ ====================================================== ========
    """

    R: NDArray[np.float64]
    q: NDArray[np.float64]
    squares: NDArray[np.float64]
    units: NDArray[np.float64]
    places: NDArray[np.int64]
    coordinates: NDArray[np.int64]
    totals: NDArray[np.float64]


@inner
def mix(c, x, s, y):
    """c x + s y, one half of a rotation."""
    return fma(c, x, s * y)


@inner
def givens(a, b):
    """(c, s, rho) with c a + s b = rho and c b - s a = 0; only the ratio of a and b matters."""
    if b == 0:  # exactly nothing, so that a row of zeros is left alone in a tile as elsewhere
        return 1.0, 0.0, a
    square = fma(a, a, b * b)
    if square < SMALL:
        unit = unit_of(max(abs(a), abs(b)))
        root = math.sqrt(fma(a * unit, a * unit, b * unit * (b * unit))) / unit
    else:
        root = math.sqrt(square)
    return a / root, b / root, root


# R comes flat with the length of its rows. Loops count from 0 and index with an unsigned sum:
# without the test for negative indices they vectorise.


@inner
def _padded(n):
    """n rounded up to whole vectors: R and the buffers end in PAD zeros, so none is left over."""
    return (n + PAD - 1) // PAD * PAD


@inner
def _rotate(R, width, k, w, n, keep):
    """Rotate w against row k of R so that w[k] vanishes; with `keep`, R's row turns as well."""
    if w[k] == 0:
        return 1.0, 0.0
    at, right = k * width + k, k + 1
    c, s, rho = givens(R[at], w[k])
    if keep:
        R[at] = rho
    at += 1
    for j in range(_padded(n - right)):
        r, wj = R[np.uint64(at + j)], w[np.uint64(right + j)]
        if keep:
            R[np.uint64(at + j)] = mix(c, r, s, wj)
        w[np.uint64(right + j)] = mix(c, wj, -s, r)
    return c, s


# A tile: two rows a and b of data, one after the other, against rows k and k + 1 of R, that is
# `_rotate` four times. The angles come from the corner, columns k and k + 1; then one sweep over
# the other columns reads each number once. (Four rows at a time were no faster.)


@inner
def _corner(R, width, k, a, b):
    """The angles of the tile at k, with its corner turned."""
    top, low = k * width + k, k * width + k + width
    r, u, aj, bj = R[top + 1], R[low + 1], a[k + 1], b[k + 1]
    ca, sa, rho = givens(R[top], a[k])
    r, aj = mix(ca, r, sa, aj), mix(ca, aj, -sa, r)
    da, ta, u = givens(u, aj)
    cb, sb, rho = givens(rho, b[k])
    r, bj = mix(cb, r, sb, bj), mix(cb, bj, -sb, r)
    db, tb, u = givens(u, bj)
    R[top], R[top + 1], R[low + 1] = rho, r, u
    return ca, sa, da, ta, cb, sb, db, tb


@inner
def _turned(r, u, aj, bj, ca, sa, da, ta, cb, sb, db, tb):
    """One column of a tile after the rotations of a and b with row k (c, s) and k + 1 (d, t)."""
    r, aj = mix(ca, r, sa, aj), mix(ca, aj, -sa, r)
    u, aj = mix(da, u, ta, aj), mix(da, aj, -ta, u)
    r, bj = mix(cb, r, sb, bj), mix(cb, bj, -sb, r)
    u, bj = mix(db, u, tb, bj), mix(db, bj, -tb, u)
    return r, u, aj, bj


@inner
def _turn_pair(R, width, rank, a, b, n, cos_a, sin_a, cos_b, sin_b):
    """Rotate row a, then row b, against all of R, tile by tile.

    The corner of the next tile comes before the sweep of this one: its square roots and divisions
    wait for each other, and the sweep is what the machine can do meanwhile.
    """
    ca = da = cb = db = 1.0
    sa = ta = sb = tb = 0.0
    if rank > 1:
        ca, sa, da, ta, cb, sb, db, tb = _corner(R, width, 0, a, b)
    for k in range(0, rank - 1, 2):
        cos_a[k], sin_a[k], cos_a[k + 1], sin_a[k + 1] = ca, sa, da, ta
        cos_b[k], sin_b[k], cos_b[k + 1], sin_b[k + 1] = cb, sb, db, tb
        top, low, right = k * width, k * width + width, k + 4
        for j in range(k + 2, right):
            R[top + j], R[low + j], a[j], b[j] = _turned(
                R[top + j], R[low + j], a[j], b[j], ca, sa, da, ta, cb, sb, db, tb
            )
        ca_, sa_, da_, ta_, cb_, sb_, db_, tb_ = ca, sa, da, ta, cb, sb, db, tb
        if k + 3 < rank:
            ca, sa, da, ta, cb, sb, db, tb = _corner(R, width, k + 2, a, b)
        if sa_ == 0 and ta_ == 0 and sb_ == 0 and tb_ == 0:
            continue
        top, low = top + right, low + right
        for j in range(_padded(n - right)):
            r, u, aj, bj = _turned(
                R[np.uint64(top + j)], R[np.uint64(low + j)],
                a[np.uint64(right + j)], b[np.uint64(right + j)],
                ca_, sa_, da_, ta_, cb_, sb_, db_, tb_,
            )  # fmt: skip
            R[np.uint64(top + j)] = r
            R[np.uint64(low + j)] = u
            a[np.uint64(right + j)] = aj
            b[np.uint64(right + j)] = bj
    if rank % 2:
        cos_a[rank - 1], sin_a[rank - 1] = _rotate(R, width, rank - 1, a, n, True)
        cos_b[rank - 1], sin_b[rank - 1] = _rotate(R, width, rank - 1, b, n, True)


@inner
def _turn(R, width, rank, w, n, cos, sin, keep):
    """Rotate one row against all of R."""
    for k in range(rank):
        cos[k], sin[k] = _rotate(R, width, k, w, n, keep)


@inner
def _pivot(w, x, rank, active, first_new, constant, squares):
    """The position in which w, the rest of row x, opens a new direction, or -1 if it is noise.

    Noise is set to 0. A feature's first nonzero value always opens a direction: its column of R
    is exactly zero, so nothing was cancelled. The constant never grows, so it gives way to its
    equals: as a pivot it would drown when one of them turns huge.
    """
    best, pivot = 0.0, -1
    for n in range(rank, active):
        if w[n] != 0:
            ratio = abs(w[n]) / math.sqrt(fma(x[n], x[n], squares[n]))
            if ratio <= NOISE and n < first_new:
                w[n] = 0.0
            elif ratio > best or (ratio == best and pivot == constant):
                best, pivot = ratio, n
    return pivot


@inner
def _exchange(array, i, j):
    array[i], array[j] = array[j], array[i]


@inner
def _open_row(R, width, rank, pivot, w, active, squares, units, places, coordinates):
    """Make w row `rank` of R, its pivot moved to position `rank`."""
    for k in range(rank):
        _exchange(R, k * width + rank, k * width + pivot)
    _exchange(w, rank, pivot)
    _exchange(squares, rank, pivot)
    _exchange(units, rank, pivot)
    _exchange(coordinates, rank, pivot)
    places[coordinates[rank]] = rank
    places[coordinates[pivot]] = pivot
    for n in range(rank, active):
        R[rank * width + n] = w[n]


@inner
def _follow(q, rank, cos, sin, a, keep):
    """[q; 0] and the last unit vector after a row's turns: (ql, al) and a; q too, with `keep`."""
    ql, al = 0.0, 1.0
    for k in range(rank):
        c, s, old = cos[k], sin[k], q[k]
        a[k] = s * al
        al *= c
        if keep:
            q[k] = mix(c, old, s, ql)
        ql = mix(c, ql, -s, old)
    return ql, al


@inner
def _scaled_exp(exponent, s):
    """exp(exponent) s, finite whatever a caller's gradients did to the exponent."""
    if exponent <= 500 or s == 0:
        return math.exp(min(exponent, 500.0)) * s
    return math.copysign(math.exp(min(exponent + math.log(abs(s)), 600.0)), s)


@inner
def _score_and_learn(rank, opened, y, v, q, cos, sin, a, totals, settings):
    """Finish a trial whose turns are known: the score; with a target (not NaN), q, D, A and t."""
    alpha, eps = settings[0], settings[1]
    learns = y == y
    ql, al = _follow(q, rank, cos, sin, a, learns)
    if opened:
        if learns:
            q[rank], a[rank] = ql, al
        ql = al = 0.0
    exponent, s = totals[D] - ql * ql, -al * ql
    vp = eps / alpha * _scaled_exp(exponent / (2 * alpha), s)
    p = vp * (1 / v) + 0.0  # no -0
    if learns:
        g = derivative(int(settings[3]), settings[4], y, p) * (1 / settings[5])
        for k in range(rank + opened):
            q[k] -= g * a[k]
        totals[D] = exponent - 2 * g * s
        totals[A] += g * vp
        totals[T] += 1
    return p


@inner
def _load(values, start, columns, origin, n, v, units, places, coordinates, w, active):
    """Put a row into w by position: (nonzero features without a position, whether one is wide)."""
    unseen, wide = 0, False
    seen_all = n == places.size - 1 and active == places.size - (places[0] < 0)
    if columns.size == 0 and seen_all:  # a dense row: position by position
        for k in range(active):
            i = coordinates[k]
            z = values[np.uint64(start + i - 1)] * units[k] * v if i else v
            wide |= abs(z) > WIDE
            w[k] = z if z == z else 0.0
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


@inner
def _settle(values, start, columns, origin, n, v, state):
    """Give positions to features seen first, and a wider unit to those that outgrew theirs."""
    R, _, squares, units, places, coordinates, totals = state
    for k in range(n):
        value, i = values[start + k], (columns[origin + k] if columns.size else k) + 1
        if value != value or value == 0 or i >= places.size:
            continue
        place = places[i]
        if place < 0:
            _activate(i, unit_of(value), units, places, coordinates, totals)
        elif abs(value * units[place] * v) > WIDE:
            factor = unit_of(value) / units[place]
            units[place] = unit_of(value)
            squares[place] = squares[place] * factor * factor
            for row in range(int(totals[RANK])):
                R[row, place] *= factor


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
            _activate(0, 1.0, units, places, coordinates, totals)
        _settle(values, start, indices, origin, n, v, state)
        active = int(totals[ACTIVE])
        _load(values, start, indices, origin, n, v, units, places, coordinates, w, active)
    return READY


@inner
def _load_next(values, indices, starts, width, targets, weights, r, rows, state, w):
    """Load row r into w: True if it is there and can be learned as it comes."""
    if r >= rows:
        return False
    start, origin, n, v, y = _trial(r, starts, width, targets, weights)
    if y != y:
        return False
    unseen, wide = _load(
        values, start, indices, origin, n, v, state.units, state.places, state.coordinates, w,
        int(state.totals[ACTIVE]),
    )  # fmt: skip
    return unseen == 0 and not wide


@inner
def _rows(values, indices, starts, width, targets, weights, scores, r, state, settings, scratch):
    """Score rows from r on and, where there are targets, learn them, two at a time if possible.

    Returns the number of rows, or the row which is too wide to be scored in the current units.
    """
    squares, units, places, coordinates = (
        state.squares, state.units, state.places, state.coordinates,
    )  # fmt: skip
    totals, R, length = state.totals, state.R.reshape(-1), state.R.shape[1]
    W, X, cos, sin, turned = scratch[:2], scratch[2:4], scratch[4:6], scratch[6:8], scratch[8]
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
        count = 1 + (y == y and _load_next(*block, r + 1, scores.size, state, W[1]))
        for m in range(count):
            for k in range(active):
                X[m, k] = W[m, k]
        if count == 2:
            _turn_pair(R, length, rank, W[0], W[1], active, cos[0], sin[0], cos[1], sin[1])
        else:
            _turn(R, length, rank, W[0], active, cos[0], sin[0], y == y)
        for m in range(count):
            _, _, _, v, y = _trial(r + m, starts, width, targets, weights)
            fresh = active if m else old
            pivot = _pivot(W[m], X[m], rank, active, fresh, places[0], squares)
            opened = pivot >= 0
            if y == y:
                for k in range(active):
                    squares[k] = fma(X[m, k], X[m, k], squares[k])
                if opened:
                    _open_row(
                        R, length, rank, pivot, W[m], active, squares, units, places, coordinates
                    )
                    totals[RANK] += 1
            scores[r + m] = _score_and_learn(
                rank, opened, y, v, state.q, cos[m], sin[m], turned, totals, settings
            )
            if opened and m + 1 < count:  # the other row has not met the new row of R
                _exchange(W[1], rank, pivot)
                _exchange(X[1], rank, pivot)
                cos[1, rank], sin[1, rank] = _rotate(R, length, rank, W[1], active, True)
                rank += 1
        r += count
    return r


@kernel
def _run(values, indices, starts, width, targets, weights, scores, first, state, settings):
    """`_rows` with its scratch memory."""
    scratch = np.zeros((9, state.R.shape[1]))
    return _rows(
        values, indices, starts, width, targets, weights, scores, first, state, settings, scratch
    )


@kernel
def _settle_row(values, indices, starts, width, weights, r, state):
    """`_settle` for row r of a block."""
    start, origin, n, v, _ = _trial(r, starts, width, np.empty(0), weights)
    _settle(values, start, indices, origin, n, v, state)


@kernel
def _refactor(W, h, state):
    """Factor W'W anew, with W'h for the gradients: h and W are q and R of another frame."""
    R, q, squares, units, places, coordinates, totals = state
    rank, active = 0, W.shape[1]
    scratch = np.zeros((4, active + PAD))
    w, x, cos, sin = scratch[0], scratch[1], scratch[2], scratch[3]
    for row in range(W.shape[0]):
        for n in range(active):
            w[n] = x[n] = W[row, n]
        _turn(R.reshape(-1), R.shape[1], rank, w, active, cos, sin, True)
        rest = h[row]
        for k in range(rank):
            old = q[k]
            q[k], rest = mix(cos[k], old, sin[k], rest), mix(cos[k], rest, -sin[k], old)
        pivot = _pivot(w, x, rank, active, active, places[0], squares)
        for n in range(active):
            squares[n] = fma(x[n], x[n], squares[n])
        if pivot >= 0:
            _open_row(
                R.reshape(-1), R.shape[1], rank, pivot, w, active, squares, units, places,
                coordinates,
            )  # fmt: skip
            for later in range(row + 1, W.shape[0]):
                _exchange(W[later], rank, pivot)
            q[rank] = rest
            rank += 1
    totals[RANK] = rank


@inner
def _solve(R, q, rank, w):
    """w with R w = q, zero beyond the pivots: of all such w the one no unit enters."""
    for k in range(rank - 1, -1, -1):
        rest = q[k]
        for j in range(k + 1, rank):
            rest -= R[k, j] * w[j]
        w[k] = rest / R[k, k] if R[k, k] != 0 else 0.0


@kernel
def _count_new(values, indices, starts, width, places):
    """How many features of the block have no position yet, for making room beforehand."""
    seen = places >= 0
    count = 0
    for k in range(values.size):
        i = (indices[k] if starts.size else k % width) + 1
        if values[k] == values[k] and values[k] != 0 and not seen[i]:
            seen[i] = True
            count += 1
    return count


def _rank(matrix: NDArray[np.float64]) -> int:
    """The rank of a matrix, whatever the units of its rows and columns."""
    for axis in (1, 0):
        largest = np.abs(matrix).max(axis=axis, keepdims=True, initial=0)
        matrix = matrix / np.where(largest > 0, largest, 1)
    return int(np.linalg.matrix_rank(matrix))


class Full(Learner):
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
        if not 0 < wealth < math.inf:
            raise ValueError(f"wealth = {wealth}: the initial wealth is a finite number > 0")
        self.alpha, self.wealth = float(alpha), float(wealth)
        self.state = FullState(
            R=np.zeros((1, 1 + PAD)),
            q=np.zeros(1),
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
        """Room in R for `count` active coordinates."""
        state = self.state
        size = len(state.R)
        if count <= size:
            return
        room = max(count, size + size // 5)
        R = np.zeros((room, room + PAD))
        R[:size, :size] = state.R[:, :size]
        self.state = state._replace(
            R=R,
            q=grown(state.q, room),
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
        row = _run(*block, scores, 0, self.state, self._settings)
        while row < len(scores):  # to be scored only, and beyond its units: use a copy's
            copy = FullState._make(array.copy() for array in self.state)
            _settle_row(values, indices, starts, columns, weights, row, copy)
            _run(*block, scores[: row + 1], row, copy, self._settings)
            row = _run(*block, scores, row + 1, self.state, self._settings)
        return scores

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on x arrives as factors * x, or as M x for an invertible matrix M.

        Predictions continue as if it always had: to the bit for powers of two.
        """
        columns = len(self.state.places) - 1
        if not isinstance(factors, Mapping) and np.ndim(factors) == 2:
            return self._map(np.asarray(factors, dtype=np.float64), columns)
        mantissas, exponents = np.frexp(unit_factors(factors, self.names.columns, columns))
        here, column = self._features()
        units = rescaled_units(self.state.units[here], exponents[column], column)
        self.state.R[:, here] *= mantissas[column]
        self.state.squares[here] *= mantissas[column] ** 2
        self.state.units[here] = units
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
        rank, active = int(old.totals[RANK]), int(old.totals[ACTIVE])
        here, column = self._features()
        # W = R (M/units)', each new column in the power of two that keeps its largest entry near 1
        mantissas, exponents = np.frexp(matrix[:, column])
        exponents = exponents - (np.frexp(old.units[here])[1] - 1)
        used = np.flatnonzero((mantissas != 0).any(axis=1))
        mantissas, exponents = mantissas[used], exponents[used]
        largest = np.where(mantissas != 0, exponents, -(2**20)).max(axis=1, initial=-(2**20))
        in_units = np.ldexp(mantissas, exponents - largest[:, None])
        W = np.einsum("kn,in->ki", old.R[:rank, here], in_units)
        coordinates = used + 1
        units = np.ldexp(1.0, -largest)
        if self.intercept and active:
            W = np.column_stack([old.R[:rank, old.places[0]], W])
            coordinates, units = np.append(0, coordinates), np.append(1.0, units)
        self.state = old._replace(
            R=np.zeros((len(coordinates), len(coordinates) + PAD)),
            q=np.zeros(len(coordinates)),
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
        """eps/alpha exp(D/(2 alpha)) S^+ h, zero where a feature adds no direction, by column."""
        rank = int(self.state.totals[RANK])
        w = np.zeros(rank)
        _solve(self.state.R, self.state.q, rank, w)
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
        return self.wealth * math.exp(min(self.state.totals[D] / (2 * self.alpha), 600.0))

    def norm_h(self) -> float:
        """|h| in the norm of S^+, of the loss itself: regret(u) <= A + |u|_S norm_h()."""
        return self.loss.lipschitz * float(np.sqrt((self.state.q**2).sum()))

    def gamma(self) -> float:
        """Gamma = sum g^2 x'S^+x with g = loss' / L, the logarithmic term of Theorem 2."""
        return float((self.state.q**2).sum() - self.state.totals[D])
