"""Merge two VAW models of different rows into the model of all rows.

VAW is least squares, so its state is a sum over rows, kept as a factor: S = R'R and b = R'q. The
rows of R are rows of data like any other, with targets q, so merging rotates the second model's
(R, q) into the first one's, row by row. What remains of a row is a new direction, or rounding
noise, by the rank rule of the learner (docs/explanation/merging.md has its proof). Entries
of a factor have the errors of all rows behind it, so they are judged as entries of a row that is as
heavy as the whole second model.
"""

from copy import deepcopy

import numpy as np
from numpy.typing import NDArray

from unitless.learners.linear_map import rescale
from unitless.learners.triangular_factor import ACTIVE, RANK, T, add_rows
from unitless.learners.vaw import COUNT, FIRST, HIGH, LOW, UNIT, Vaw
from unitless.state import Float


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
    moved = np.append(0, columns + 1)  # coordinate 0 is the constant
    state = made.state
    used = state.coordinates[: int(state.totals[ACTIVE])]
    used[:] = moved[used]
    state.places[:] = -1
    state.places[used] = np.arange(len(used))
    if len(made._units):
        made._units = np.zeros(1 + width)
        made._units[moved[: len(learner._units)]] = learner._units
    return made


def merged(one: Vaw, two: Vaw) -> Vaw:
    """Return the model of the rows of both; `two` was `continued` from the first target of `one`.

    >>> from unitless.rows import as_rows
    >>> rows = as_rows([[1.0, 0], [2, 1], [3, 0], [4, 1]], [1.0, 5, 3, 9])
    >>> both, one, two = Vaw(), Vaw(), continued(Vaw(), first=1.0)
    >>> scores = both.learn(rows), one.learn(rows[:2]), two.learn(rows[2:])
    >>> print(both.predict(rows[:2]).round(12), merged(one, two).predict(rows[:2]).round(12))
    [1.         3.57142857] [1.         3.57142857]
    """
    one, two = aligned(one, two)
    W, squares = factor_rows(two, one)
    one.state.squares[: len(squares)] += squares
    rank = int(two.state.totals[RANK])
    add_rows(W, two.state.q[:rank], np.sqrt(squares), tuple(one.state))
    return one


def factor_rows(learner: Vaw, target: Vaw) -> tuple[Float, Float]:
    """Return the rows of R and the squared norms of the columns, in the order of `target`."""
    state = learner.state
    rank = int(state.totals[RANK])
    active = int(state.totals[ACTIVE])
    positions = target.state.places[state.coordinates[:active]]
    W = np.zeros((rank, int(target.state.totals[ACTIVE])))
    W[:, positions] = state.R[:rank, :active]
    squares = np.zeros(W.shape[1])
    squares[positions] = state.squares[:active]
    return W, squares


def aligned(one: Vaw, two: Vaw) -> tuple[Vaw, Vaw]:
    """Return copies with the same features, units and targets; the first counts all rows."""
    one = deepcopy(one)
    two = deepcopy(two)
    _share_targets(one, two)
    columns = max(one._columns, two._columns)
    one._reserve(columns)
    two._reserve(columns)
    _share_units(one, two)
    coordinates = two.state.coordinates[: int(two.state.totals[ACTIVE])]
    new = coordinates[one.state.places[coordinates] < 0]
    one.state = one.state.with_coordinates(new)
    one.state.totals[T] += two.state.totals[T]
    return one, two


def _share_targets(one: Vaw, two: Vaw) -> None:
    """Measure targets in the smaller unit, and merge their count and range into `one`."""
    mine = one._targets
    others = two._targets
    if mine[COUNT] == 0:
        mine[[FIRST, LOW, HIGH]] = others[[FIRST, LOW, HIGH]]
    if mine[FIRST] != others[FIRST]:
        raise ValueError(
            f"targets are measured from {mine[FIRST]:g} in one model and from {others[FIRST]:g} in "
            "the other: continue the second one from the first target of the first"
        )
    units = [each[UNIT] for each in (mine, others) if each[UNIT] > 0]
    unit = min(units, default=0.0)
    for learner in (one, two):
        learner.state.z[:] *= unit / (learner._targets[UNIT] or unit or 1.0)
        learner._targets[UNIT] = unit
    mine[COUNT] += others[COUNT] - 1
    mine[LOW] = min(mine[LOW], others[LOW])
    mine[HIGH] = max(mine[HIGH], others[HIGH])


def _share_units(one: Vaw, two: Vaw) -> None:
    """Measure each column in the smaller of its units, which are powers of two."""
    if not len(one._units) and not len(two._units):
        return
    units = [np.zeros(1 + one._columns) for _ in range(2)]
    for own, learner in zip(units, (one, two), strict=True):
        known = learner._units if len(learner._units) else learner._seen()
        own[: len(known)] = known  # 0 where the learner has seen nothing
        own[0] = 1.0
    is_shared = (units[0] > 0) & (units[1] > 0)
    shared = np.where(is_shared, np.minimum(*units), np.maximum(*units))
    for own, learner in zip(units, (one, two), strict=True):
        seen = np.flatnonzero(own[1:])
        factors = shared[1:][seen] / own[1:][seen]
        rescale(learner.state, seen, factors)
        learner._units = shared.copy()
