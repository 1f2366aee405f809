"""Check the arrays of a learner that was loaded from a file.

Kernels do not check bounds: a wrong position would make them write outside of an array. So sizes,
positions and counts are checked here, for each kind of learner, before anything runs on them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.simd import LANES


class Damaged(ValueError):
    """The arrays of a model are damaged."""


def check(thing: Any) -> None:
    """Refuse a learner, an ensemble, a mixture or a view whose arrays are inconsistent.

    >>> from unitless.learners import Full
    >>> learner = Full()
    >>> learner.state.totals[3] = 7
    >>> check(learner)
    Traceback (most recent call last):
    ...
    unitless.persistence.checks.Damaged: totals: 7.0 is not a count up to 0
    """
    for kind in type(thing).__mro__:
        if kind.__name__ in CHECKS:
            CHECKS[kind.__name__](thing)


def need(holds: bool | np.bool_, what: str) -> None:
    """Raise `Damaged` with this message unless the condition holds."""
    if not holds:
        raise Damaged(what)


def _shapes(arrays: dict[str, tuple[NDArray[Any], tuple[int, ...]]]) -> None:
    for name, (array, shape) in arrays.items():
        need(array.shape == shape, f"{name} has the shape {array.shape} instead of {shape}")


def _count(number: float, most: float, name: str = "totals") -> int:
    """Refuse a number that is not a count between 0 and `most`; return it."""
    whole = 0 <= number <= most and number == int(number)
    need(whole, f"{name}: {number} is not a count up to {most}")
    return int(number)


def _within(array: NDArray[Any], low: int, high: int, name: str) -> None:
    need(((array >= low) & (array < high)).all(), f"{name} point beyond the end")


def _powers(units: NDArray[Any], zero: bool = True) -> None:
    """Units are powers of two, or 0 where none was chosen yet."""
    good = np.frexp(units)[0] == 0.5
    need((good | (units == 0)).all() if zero else good.all(), "a unit is not a power of two")


def _full(learner: Any) -> None:
    from unitless.learners.triangular_factor import ACTIVE, RANK

    state = learner.state
    n = len(state.D)
    need(n > 0 and len(state.places) > 0, "there is no room for the constant")
    need(len(state.U) == n, f"U has {len(state.U)} rows instead of {n}")
    vectors = ("z", "squares", "coordinates")
    shapes = {name: (getattr(state, name), (n,)) for name in vectors}
    _shapes({"U": (state.U, (n, n)), "totals": (state.totals, (5,)), **shapes})
    need(len(learner._units) in (0, len(state.places)), "units do not fit the columns")
    _powers(learner._units)
    need((state.D >= 0).all() and (state.squares >= 0).all(), "a square is negative")
    active = _count(state.totals[ACTIVE], n)
    _count(state.totals[RANK], active)
    _within(state.places, -1, active, "places")
    taken = state.coordinates[:active]
    _within(taken, 0, len(state.places), "coordinates")
    need((state.places[taken] == np.arange(active)).all(), "places and coordinates disagree")
    need((state.places >= 0).sum() == active, "places and coordinates disagree")


def _coordinatewise(learner: Any) -> None:
    width = learner.classes * len(learner.fields)
    coordinates = len(learner._records) // width
    need(coordinates > 0 and len(learner._records) % width == 0, "records are not whole")
    totals = getattr(learner, "extra", None)
    totals = len(learner.totals) if totals is None else totals
    _shapes({"totals": (learner._totals, (learner.classes * (1 + totals),))})
    need(len(learner._units) in (0, coordinates), "units do not fit the records")
    _powers(learner._units)
    for a, field in enumerate(learner.fields):
        if not isinstance(field, str) and field.unit in ("|x|", "x^2"):
            need(
                (learner._records[a :: len(learner.fields)] >= 0).all(), f"{field.name} is negative"
            )


def _newton(learner: Any) -> None:
    m = len(learner._s2)
    need(m > 0 and m % LANES == 0, f"{m} coordinates are not whole lanes")
    _shapes(
        {
            "U": (learner._U, (m * m,)),
            "D": (learner._D, (m,)),
            "woke": (learner._woke, (m,)),
            "W": (learner._W, (learner.classes * m,)),
            "prior": (learner._prior, (m,)),
            "totals": (learner._totals, (2,)),
        }
    )
    need(1 + learner._columns <= m, f"there is no room for {learner._columns} columns")
    need(len(learner._units) in (0, 1 + learner._columns), "units do not fit the coordinates")
    _powers(learner._units)


def _dense(learner: Any) -> None:
    from unitless.baselines.dense import MARGIN

    state = learner.state
    room = len(state.seen) - MARGIN
    need(room > 0 and room % LANES == 0, f"{room} coordinates are not whole lanes")
    need(1 + learner._columns <= room, f"there is no room for {learner._columns} columns")
    rows, width = learner._matrix(room)
    _shapes(
        {
            "totals": (state.totals, (learner._totals(),)),
            "vectors": (state.vectors, (len(learner.vectors), room + MARGIN)),
            "matrix": (state.matrix, (rows, width + MARGIN)),
        }
    )


def _fd_son(learner: Any) -> None:
    _count(learner.state.totals[1], learner.m - 1)


def _oja_son(learner: Any) -> None:
    _count(learner.state.totals[1], learner.m)


def _one_vs_rest(learner: Any) -> None:
    room = min(map(columns_of, learner.learners))
    need(learner._columns <= room, f"there is no room for {learner._columns} columns")


def columns_of(learner: Any) -> int:
    """The columns that a learner has room for."""
    for name, found in (
        ("_columns", lambda: learner._columns),
        ("ensemble", lambda: len(learner.ensemble.features.ids)),
        ("_units", lambda: len(learner._units) - 1),
    ):
        if name == "_units" and not len(learner._units):
            continue
        if getattr(learner, name, None) is not None:
            return int(found())
    return len(learner.state.places) - 1


def _vaw(learner: Any) -> None:
    _shapes({"targets": (learner._targets, (5,))})


def _compaction(features: Any) -> None:
    from unitless.blend.compaction import DENSE, SMALL, D

    statistics, totals = features.statistics, features.totals
    _shapes({"totals": (totals, (5,)), "statistics": (statistics, (len(statistics), 2))})
    known = _count(totals[D], len(statistics))
    _within(features.ids, -1, known, "feature ids")
    ids = features.ids[features.ids >= 0]
    need(len(ids) == known == len(np.unique(ids)), "feature ids are used twice, or not at all")
    need({*totals[[DENSE, SMALL]].tolist()} <= {0.0, 1.0}, "a switch is neither 0 nor 1")


def _ensemble(ensemble: Any) -> None:
    need(ensemble.alive.any(), "no member is left")


def _moments(view: Any) -> None:
    n = len(view.state.mean)
    _shapes(
        {
            "m2": (view.state.m2, (n,)),
            "missing": (view.state.missing, (n,)),
            "totals": (view.state.totals, (1,)),
        }
    )


def _as_fresh(thing: Any, fresh: Any) -> None:
    """Arrays whose sizes follow from the parameters."""
    for name, array in fresh._asdict().items():
        _shapes({name: (getattr(thing, name), array.shape)})


def _mixer(mixer: Any) -> None:
    _as_fresh(mixer.state, type(mixer)(mixer.members, mixer.loss).state)
    need(not mixer.state.W0[len(mixer.members) + 1 :].any(), "weights of members that do not exist")
    _count(mixer.state.totals[0], 2**53)


def _hedge(mixer: Any) -> None:
    fresh = type(mixer)(mixer.members, mixer.loss)
    for mine, other in ((mixer.base, fresh.base), (mixer.final, fresh.final)):
        _as_fresh(mine, other)
        _count(mine.totals[0], 2**53)


def _counted(counted: Any) -> None:
    _shapes({"state": (counted.state, (3,))})


CHECKS: dict[str, Callable[[Any], None]] = {
    "Full": _full,
    "Coordinatewise": _coordinatewise,
    "Newton": _newton,
    "DenseLearner": _dense,
    "FdSon": _fd_son,
    "OjaSon": _oja_son,
    "OneVsRest": _one_vs_rest,
    "Vaw": _vaw,
    "Compaction": _compaction,
    "Ensemble": _ensemble,
    "Moments": _moments,
    "Mixture": _mixer,
    "HedgeMixture": _hedge,
    "TargetScaler": _counted,
}
"""By the name of the class, so that learners are imported only if they are used."""
