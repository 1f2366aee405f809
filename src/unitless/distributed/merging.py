"""Two VAW models of different rows as one: what it would be, had it learned all of them.

VAW is least squares, so its state is a sum over rows, kept as a factor: S = R'R and b = R'q. The
rows of R are rows of data like any other, q their targets; so the second model's (R, q) is rotated
into the first one's, row by row. What is left of a row is a new direction, or noise. In a stream a
row meets a factor heavier than itself, which dilutes the noise of the factor. Here a row is as
heavy as all the past, so the rule for rows (128 u against the norm of the column) accepts
directions that are not there, sooner or later. The rule here, with c the norms of the columns::

    column n opens a direction where |w_n| > gamma (c_n + sum_p |theta_p| c_p)
    gamma = 128 u sqrt(1 + rows / 64);   theta = U^-1 U_n: column n as a combination of the pivots p

A factor computed by rotations is the exact one of slightly other data: column n of the data is off
by gamma c_n at most. If column n depends on the pivots, x_n = sum_p theta_p x_p, what is left of it
after a rotation is what these errors leave, (delta x)_n - sum_p theta_p (delta x)_p, of which a
rotation (its entries are at most 1) passes on no more than there is: the bound above. Errors of
different rows do not add up in the norm; those of one entry, rounded once a row, grow like the
square root of their number, which is gamma. docs/scale.md has the proof and the measured noise.

The joined model goes on learning by its own rule. Its `squares`, which only that rule looks at,
are therefore set so that 128 u sqrt(squares) is the bound above.
"""

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.learners.full import ACTIVE, RANK, A, E, T, _activate, _open_row, _widen
from unitless.learners.givens import follow, root_unit, rotate_noted
from unitless.learners.vaw import COUNT, FIRST, HIGH, LOW, UNIT, Vaw
from unitless.numerics import flat, kernel

STEADY = 64
"""Rows until the noise of a factor leaves what 128 u allows for."""
LARGEST = 2.0**500
"""Where float64 would end when squared, not a tolerance."""
NOISE = 128 * 2.0**-53


def begun(learner: Vaw, first: float) -> Vaw:
    """A copy of a fresh VAW for rows that come later than some with the first target `first`.

    Targets count from the first one, which all shards must share.
    """
    made = deepcopy(learner)
    made._targets[:] = [1.0, first, 0.0, first, first]
    return made


def renumbered(learner: Vaw, columns: NDArray[np.int64], width: int) -> Vaw:
    """A copy whose column j is column columns[j] of `width` columns."""
    made = deepcopy(learner)
    made._reserve(width)
    state = made._full.state
    taken = state.coordinates[: int(state.totals[ACTIVE])]
    taken[:] = np.append(0, columns + 1)[taken]
    state.places[:] = -1
    state.places[taken] = np.arange(len(taken))
    return made


def merged(one: Vaw, two: Vaw) -> Vaw:
    """The model of the rows of both: `one`, and `two`, which had `begun` with its first target.

    >>> from unitless.rows import as_rows
    >>> X, y = np.array([[1.0, 0], [2, 1], [3, 0], [4, 1]]), np.array([1.0, 5, 3, 9])
    >>> both, one = Vaw(), Vaw()
    >>> scores = both.learn(as_rows(X, y)), one.learn(as_rows(X[:2], y[:2]))
    >>> two = begun(Vaw(), first=1.0)
    >>> scores = two.learn(as_rows(X[2:], y[2:]))
    >>> new = as_rows([[2.0, 2.0]])
    >>> print(both.predict(new).round(12), merged(one, two).predict(new).round(12))
    [2.77777778] [2.77777778]
    """
    one, two = deepcopy(one), deepcopy(two)
    state, other, coordinates = _aligned(one, two)
    gamma = float(np.sqrt(1 + state.totals[T] / STEADY))
    _join(state, other, coordinates, NOISE * gamma)
    _allow_for_noise(state, gamma)
    return one


def _aligned(one: Vaw, two: Vaw) -> tuple[Any, Any, NDArray[np.int64]]:
    """Both states with the same targets, features and units, and the features of the second.

    What is counted is counted already: rows, and the columns' norms over both.
    """
    _join_targets(one, two)
    one._reserve(len(two.state.places) - 1)
    state, other = one._full.state, two._full.state
    coordinates = other.coordinates[: int(other.totals[ACTIVE])]
    new = int((state.places[coordinates] < 0).sum())
    one._full._reserve_positions(int(state.totals[ACTIVE]) + new)
    state = one._full.state
    _settle_units(state, other, coordinates)
    c2 = _norms(state)
    c2[state.places[coordinates]] += _norms(other)[: len(coordinates)]
    state.squares[:] = np.minimum(c2, LARGEST * LARGEST)
    state.totals[[T, A, E]] += other.totals[[T, A, E]]
    return state, other, coordinates


def _join_targets(one: Vaw, two: Vaw) -> None:
    """Count, range and unit of all targets; both factors in that unit."""
    mine, others = one._targets, two._targets
    if mine[COUNT] == 0:
        mine[[FIRST, LOW, HIGH]] = others[[FIRST, LOW, HIGH]]
    if mine[FIRST] != others[FIRST]:
        raise ValueError(
            f"targets count from {mine[FIRST]:g} in one model and from {others[FIRST]:g} in the "
            "other: begin the second one with the first target of the first"
        )
    unit = min((unit for unit in (mine[UNIT], others[UNIT]) if unit > 0), default=0.0)
    for learner in (one, two):
        factor = unit / (learner._targets[UNIT] or unit or 1.0)
        learner._full.state.z[:] *= factor
        learner._full.state.totals[[A, E]] *= [factor, factor * factor]
    mine[COUNT] += others[COUNT] - 1
    mine[UNIT] = unit
    mine[LOW], mine[HIGH] = min(mine[LOW], others[LOW]), max(mine[HIGH], others[HIGH])


def _norms(state: Any) -> NDArray[np.float64]:
    """The squares of the columns' norms."""
    n = len(state.D)
    return (state.D[:, None] * state.U[:, :n] ** 2).sum(axis=0)


@kernel
def _settle_units(state, other, coordinates):
    """Give positions to features that are new, and to every feature the wider unit of the two."""
    for m in range(coordinates.size):
        i = coordinates[m]
        if state.places[i] < 0:
            _activate(i, other.units[m], state.units, state.places, state.coordinates, state.totals)
        place = state.places[i]
        if other.units[m] < state.units[place]:
            _widen(place, other.units[m], state)
        elif state.units[place] < other.units[m]:
            _widen(m, state.units[place], other)


@flat
def _theta(U, rank, n, theta):
    """Column n as a combination of the pivots: U theta = U_n."""
    for k in range(rank - 1, -1, -1):
        rest = U[k, n]
        for j in range(k + 1, rank):
            rest -= U[k, j] * theta[j]
        theta[k] = rest


@flat
def _size(U, rank, n, squares, theta):
    """c_n + sum_p |theta_p| c_p: what errors of the columns, relative to each, make of column n."""
    _theta(U, rank, n, theta)
    size = np.sqrt(squares[n])
    for k in range(rank):
        size += abs(theta[k]) * np.sqrt(squares[k])
    return size if size < LARGEST else LARGEST


@flat
def _pivot(state, w, delta, tolerance, theta):
    """The position in which w opens a direction, or -1; noise is set to 0."""
    rank, active = int(state.totals[RANK]), int(state.totals[ACTIVE])
    best, pivot, root, constant = 0.0, -1, np.sqrt(delta), state.places[0]
    for n in range(rank, active):
        left, c = abs(w[n]) * root, np.sqrt(state.squares[n])
        size = c  # the second test implies the first, and is not cheap
        if left > tolerance * c:
            size = _size(state.U, rank, n, state.squares, theta)
        if left <= tolerance * size:
            w[n] = 0.0
        elif left / c > best or (left / c == best and pivot == constant):
            best, pivot = left / c, n
    return pivot


@kernel
def _join(state, other, coordinates, tolerance):
    """Rotate the rows of the other factor into the state; coordinates[m] stands at its m."""
    U, D, z, totals = state.U, state.D, state.z, state.totals
    width, rows = U.shape[1], int(other.totals[RANK])
    W, turns, deltas = np.zeros((1, width)), np.zeros((1, 4, width)), np.zeros(1)
    w, a, theta = W[0], np.zeros(width), np.zeros(width)
    for row in range(rows):
        rank, active = int(totals[RANK]), int(totals[ACTIVE])
        unit = root_unit(other.D[row])  # exact, so that the row is not rounded before it starts
        deltas[0], wz = other.D[row] / unit / unit, other.z[row] * unit
        w[:] = 0.0
        for m in range(row, coordinates.size):
            w[state.places[coordinates[m]]] = other.U[row, m] * unit
        for k in range(rank):
            rotate_noted(U.reshape(-1), D, width, k, W, active, deltas, turns, 0)
        wz, _ = follow(z, wz, rank, turns[0], a, bool(1))
        pivot = _pivot(state, w, deltas[0], tolerance, theta)
        if pivot >= 0:
            last = w[pivot]
            _open_row(state, pivot, w, deltas[0])
            z[rank] = wz / last


@kernel
def _allow_for_noise(state, gamma):
    """Let the rule for rows, which looks at squares, allow for what joining has left."""
    rank, active = int(state.totals[RANK]), int(state.totals[ACTIVE])
    theta, sizes = np.zeros(state.U.shape[1]), np.zeros(active)
    for n in range(rank, active):
        sizes[n] = min(gamma * _size(state.U, rank, n, state.squares, theta), LARGEST)
    for n in range(rank, active):
        state.squares[n] = sizes[n] * sizes[n]
