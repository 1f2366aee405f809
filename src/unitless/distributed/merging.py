"""Merge two VAW models of different rows into the model of all rows.

VAW is least squares, so its state is a sum over rows, kept as a factor: S = R'R and b = R'q. The
rows of R are rows of data like any other, with targets q. Merging therefore rotates the second
model's (R, q) into the first one's, row by row. What remains of a row is a new direction, or
rounding noise. In a stream a row is light compared with the factor, which dilutes the noise of the
factor. Here a row is as heavy as all the rows before it, so the rank rule of the learner (128 u
times the norm of the column) would sooner or later accept directions that do not exist. The rule
used here, where c are the norms of the columns over both models::

    column n opens a direction where |w_n| > gamma (c_n + sum_p |theta_p| c_p)
    gamma = 128 u sqrt(1 + rows / 64);   theta = R_P^-1 R_n: column n as a combination of the pivots

A factor computed by rotations is the exact one of slightly perturbed data: column n of the data is
off by at most gamma c_n. If column n depends on the pivots, x_n = sum_p theta_p x_p, these errors
leave (delta x)_n - sum_p theta_p (delta x)_p after a rotation, and a rotation, whose entries are at
most 1, does not enlarge it: the bound above. Errors of different rows do not add up in the norm;
those of one entry, which is rounded once per row, grow like the square root of their number, which
is gamma. docs/distributed.md has the proof and measurements.

The merged model continues to learn by the learner's own rule. Its `squares`, which only that rule
uses, are therefore set so that 128 u sqrt(squares) is the bound above.
"""

from copy import deepcopy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import kernel
from unitless.learners.triangular_factor import (
    ACTIVE,
    MIN_D,
    RANK,
    A,
    E,
    FactorState,
    T,
)
from unitless.learners.vaw import COUNT, FIRST, HIGH, LOW, UNIT, Vaw

Float = NDArray[np.float64]
STEADY_ROWS = 64
"""Up to about this many rows, the noise of a factor stays within 128 u."""
MAX_SIZE = 2.0**500
"""The square of a larger number would overflow; not a tolerance."""
NOISE = 128 * 2.0**-53


def continued(learner: Vaw, first: float) -> Vaw:
    """Return a copy of a new VAW, for rows that follow others whose first target is `first`.

    Targets are measured from the first one, which all shards must share.
    """
    made = deepcopy(learner)
    made._targets[:] = [1.0, first, 0.0, first, first]
    return made


def renumbered(learner: Vaw, columns: NDArray[np.int64], width: int) -> Vaw:
    """Return a copy in which column j has become column columns[j] of `width` columns."""
    made = deepcopy(learner)
    made._reserve(width)
    state = made.state
    used = state.coordinates[: int(state.totals[ACTIVE])]
    used[:] = np.append(0, columns + 1)[used]  # coordinate 0 is the constant
    state.places[:] = -1
    state.places[used] = np.arange(len(used))
    return made


def merged(one: Vaw, two: Vaw) -> Vaw:
    """Return the model of the rows of both; `two` was `continued` from the first target of `one`.

    >>> from unitless.rows import as_rows
    >>> X, y = np.array([[1.0, 0], [2, 1], [3, 0], [4, 1]]), np.array([1.0, 5, 3, 9])
    >>> both, one = Vaw(), Vaw()
    >>> scores = both.learn(as_rows(X, y)), one.learn(as_rows(X[:2], y[:2]))
    >>> two = continued(Vaw(), first=1.0)
    >>> scores = two.learn(as_rows(X[2:], y[2:]))
    >>> new = as_rows([[2.0, 2.0]])
    >>> print(both.predict(new).round(12), merged(one, two).predict(new).round(12))
    [2.77777778] [2.77777778]
    """
    one = deepcopy(one)
    factor, other = aligned(one, two)
    gamma = float(np.sqrt(1 + one.state.totals[T] / STEADY_ROWS))
    order = np.arange(len(factor.norms))
    constant = int(one.state.places[0])
    rank = _rotate_in(
        (factor.R, factor.q),
        (other.R, other.q),
        factor.norms,
        order,
        factor.rank,
        constant,
        NOISE * gamma,
    )
    _store(one.state, factor._replace(rank=rank), order, gamma)
    return one


class ShardFactor(NamedTuple):
    """R and q of a model, in the positions and units of the merged model."""

    R: Float
    q: Float
    norms: Float
    """Norms of the columns over both models."""
    rank: int


def aligned(one: Vaw, two: Vaw) -> tuple[ShardFactor, ShardFactor]:
    """Return the factors of both with the same targets, features and units.

    `one` gets the rows, targets, features and units of both; only its factor is left as it was.
    """
    units = _merge_targets(one, two)
    one._reserve(two._columns)
    own_units = _units(one, one._columns)
    other_units = _units(two, one._columns)
    shared_units = np.where(
        (own_units > 0) & (other_units > 0),
        np.minimum(own_units, other_units),
        np.maximum(own_units, other_units),
    )
    if len(one._units) or len(two._units):
        one._units = shared_units
    other = two.state
    coordinates = other.coordinates[: int(other.totals[ACTIVE])]
    new = coordinates[one.state.places[coordinates] < 0]
    first_new = int(one.state.totals[ACTIVE])
    active = first_new + len(new)
    one.state = one.state.with_room(active)
    state = one.state
    state.coordinates[first_new:active] = new
    state.places[new] = np.arange(first_new, active)
    state.totals[ACTIVE] = active
    here = state.places[coordinates]
    known = state.coordinates[:first_new]
    changes = shared_units[known] / own_units[known]
    mine = _factor(state, np.arange(first_new), changes, active, units[0])
    changes = shared_units[coordinates] / other_units[coordinates]
    theirs = _factor(other, here, changes, active, units[1])
    squares = (mine.R**2).sum(axis=0) + (theirs.R**2).sum(axis=0)
    norms = np.sqrt(np.minimum(squares, MAX_SIZE * MAX_SIZE))
    scales = [units[1], units[1] ** 2]
    state.totals[[A, E]] *= [units[0], units[0] ** 2]
    state.totals[[A, E]] += other.totals[[A, E]] * scales
    state.totals[T] += other.totals[T]
    return mine._replace(norms=norms), theirs._replace(norms=norms)


def _merge_targets(one: Vaw, two: Vaw) -> tuple[float, float]:
    """Merge count and range of the targets; return the change of each model's unit of targets."""
    mine, others = one._targets, two._targets
    if mine[COUNT] == 0:
        mine[[FIRST, LOW, HIGH]] = others[[FIRST, LOW, HIGH]]
    if mine[FIRST] != others[FIRST]:
        raise ValueError(
            f"targets are measured from {mine[FIRST]:g} in one model and from {others[FIRST]:g} in "
            "the other: continue the second one from the first target of the first"
        )
    unit = min((unit for unit in (mine[UNIT], others[UNIT]) if unit > 0), default=0.0)
    factors = unit / (mine[UNIT] or unit or 1.0), unit / (others[UNIT] or unit or 1.0)
    mine[COUNT] += others[COUNT] - 1
    mine[UNIT] = unit
    mine[LOW] = min(mine[LOW], others[LOW])
    mine[HIGH] = max(mine[HIGH], others[HIGH])
    return factors


def _units(learner: Vaw, columns: int) -> Float:
    """Return the units by coordinate, 0 where the learner has seen nothing."""
    units = np.zeros(1 + columns)
    known = learner._units if len(learner._units) else learner._seen()
    units[: len(known)] = known
    units[0] = 1.0
    return units


def _factor(
    state: FactorState,
    positions: NDArray[np.int64],
    changes: Float,
    active: int,
    target_unit: float,
) -> ShardFactor:
    """Return a factor with its columns at `positions` of the merged model, times `changes`."""
    rank = int(state.totals[RANK])
    count = len(positions)
    R = np.zeros((active, active))
    rows = state.U[:rank, :count] * np.sqrt(state.D[:rank])[:, None] * changes
    pivots = np.arange(rank)
    rows[pivots, pivots] = np.maximum(rows[pivots, pivots], np.sqrt(MIN_D))
    R[:rank, positions] = rows
    q = np.zeros(active)
    q[:rank] = np.sqrt(state.D[:rank]) * state.z[:rank] * target_unit
    return ShardFactor(R, q, np.zeros(0), rank)


@kernel
def _rotate_in(factor, other, norms, order, rank, constant, tolerance):
    """Rotate the rows of the other factor into the first one, and return the new rank.

    Columns, their norms and their `order` are exchanged when a column becomes a pivot.
    """
    R, q = factor
    rows, targets = other
    theta = np.zeros(len(q))
    for row in range(len(targets)):
        w = rows[row]
        target = targets[row]
        for k in range(rank):
            target = _rotate(R, q, k, w, target)
        pivot = _pivot(R, rank, w, norms, theta, order, constant, tolerance)
        if pivot >= 0:
            for array in (norms, w):
                array[rank], array[pivot] = array[pivot], array[rank]
            order[rank], order[pivot] = order[pivot], order[rank]
            for k in range(rank):
                R[k, rank], R[k, pivot] = R[k, pivot], R[k, rank]
            for k in range(row + 1, len(targets)):
                rows[k, rank], rows[k, pivot] = rows[k, pivot], rows[k, rank]
            sign = 1.0 if w[rank] > 0 else -1.0
            R[rank, rank:] = sign * w[rank:]
            q[rank] = sign * target
            rank += 1
    return rank


@kernel
def _rotate(R, q, k, w, target):
    """Rotate row k of R and w so that w[k] vanishes; return what remains of the target."""
    if w[k] == 0:
        return target
    length = np.sqrt(R[k, k] * R[k, k] + w[k] * w[k])
    c = R[k, k] / length
    s = w[k] / length
    R[k, k] = length
    w[k] = 0.0
    for n in range(k + 1, len(w)):
        r = R[k, n]
        R[k, n] = c * r + s * w[n]
        w[n] = c * w[n] - s * r
    old = q[k]
    q[k] = c * old + s * target
    return c * target - s * old


@kernel
def _pivot(R, rank, w, norms, theta, order, constant, tolerance):
    """Return the position in which w opens a direction, or -1; noise is set to 0."""
    best = 0.0
    pivot = -1
    for n in range(rank, len(w)):
        remains = abs(w[n])
        is_noise = remains <= tolerance * norms[n]
        if not is_noise:  # only then compute the full bound, which costs rank^2
            is_noise = remains <= tolerance * _size(R, rank, n, norms, theta)
        if is_noise:
            w[n] = 0.0
            continue
        ratio = remains / norms[n]
        # The constant never grows: as a pivot it would lose digits when other columns become huge.
        replaces = pivot >= 0 and ratio == best and order[pivot] == constant
        if ratio > best or replaces:
            best = ratio
            pivot = n
    return pivot


@kernel
def _size(R, rank, n, norms, theta):
    """Return c_n + sum_p |theta_p| c_p, to which errors relative to each column add up."""
    size = norms[n]
    for k in range(rank - 1, -1, -1):  # solve R_P theta = R_n
        rest = R[k, n]
        for j in range(k + 1, rank):
            rest -= R[k, j] * theta[j]
        theta[k] = rest / R[k, k]
        size += abs(theta[k]) * norms[k]
    return size if size < MAX_SIZE else MAX_SIZE


def _store(state: FactorState, factor: ShardFactor, order: NDArray[np.int64], gamma: float) -> None:
    """Write the merged factor into the state of the first model."""
    rank = factor.rank
    active = len(order)
    diagonal = factor.R.diagonal()[:rank]
    state.U[:rank, :active] = factor.R[:rank] / diagonal[:, None] + 0.0  # no -0
    state.D[:rank] = np.maximum(diagonal**2, MIN_D)
    state.z[:rank] = factor.q[:rank] / diagonal
    state.coordinates[:active] = state.coordinates[order]
    state.places[state.coordinates[:active]] = np.arange(active)
    state.squares[:active] = factor.norms**2
    sizes = noise_sizes(factor.R, rank, factor.norms)
    state.squares[rank:active] = np.minimum(gamma * sizes, MAX_SIZE) ** 2
    state.totals[RANK] = rank


@kernel
def noise_sizes(R, rank, norms):
    """Return the size that the rank rule compares noise with, for all columns without a pivot."""
    theta = np.zeros(len(norms))
    sizes = np.zeros(len(norms) - rank)
    for n in range(rank, len(norms)):
        sizes[n - rank] = _size(R, rank, n, norms, theta)
    return sizes
