"""Convert the state of a learner to named arrays and a few JSON facts, and back to the bit.

A learner is rebuilt by its constructor from its name and its parameters. What it has learned is in
arrays, found by walking through its attributes: `_records`, `ensemble.learners.3._totals`.
To load, each array replaces the array of that name in a fresh learner. So nothing in a file says
what to create or run; it only fills existing arrays, which `checks` then validates.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.blend.mixture_bound import Guarantee
from unitless.blend.old_files import arrays_of_0_1_0, facts_of_0_1_0
from unitless.blend.old_files import leave_units as leave_units_of_blend
from unitless.encoders import DictEncoder
from unitless.learners.coordinatewise import Coordinatewise
from unitless.learners.old_files import leave_units
from unitless.persistence.checks import Damaged, check

Arrays = dict[str, NDArray[Any]]
Facts = dict[str, Any]
DERIVED = ("_spare", "_room_for_units", "_settings", "parameters", "members", "_row_table")
"""Attributes that follow from others or from the parameters."""


def remembered(thing: Any) -> tuple[Arrays, Facts]:
    """All arrays of a learner, by path; and counts, members that left and their guarantees.

    >>> from unitless.learners import Coordinate
    >>> arrays, facts = remembered(Coordinate())
    >>> sorted(arrays), facts
    (['_records', '_totals', '_units'], {})
    """
    arrays: Arrays = {}
    facts: Facts = {}
    for path, value in _leaves(thing, ""):
        if isinstance(value, np.ndarray):
            arrays[path] = value
        else:
            facts[path] = value
    return arrays, facts


def _leaves(thing: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, value in vars(thing).items():
        yield from _leaves_of(value, f"{path}{name}", name)


def _leaves_of(value: Any, path: str, name: str) -> Iterator[tuple[str, Any]]:
    if name in DERIVED or isinstance(value, DictEncoder):
        return
    if name == "ended":
        yield path, {member: list(claim[1:]) for member, claim in value.items()}
    elif isinstance(value, np.ndarray) or name == "_columns":
        yield path, value
    elif _is_state(value):
        for field, array in value._asdict().items():
            yield f"{path}.{field}", array
    elif isinstance(value, list):
        for k, each in enumerate(value):
            yield from [(f"{path}.{k}", None)] if each is None else _leaves(each, f"{path}.{k}.")
    elif _is_ours(value):
        yield from _leaves(value, f"{path}.")


def _is_state(value: Any) -> bool:
    """Whether it is a NamedTuple of arrays; rules and losses have numbers in it."""
    return hasattr(value, "_asdict") and all(isinstance(each, np.ndarray) for each in value)


def _is_ours(value: Any) -> bool:
    """Whether it is a part of a learner: another learner, an ensemble, a mixture, a view."""
    kind = type(value)
    return kind.__module__.startswith("unitless.") and not issubclass(kind, tuple | type)


def restore(thing: Any, arrays: Arrays, facts: Facts) -> None:
    """Fill a fresh learner; `Damaged` if these are not the arrays of one like it."""
    old = "panel.slots" in arrays
    if old:
        arrays, facts = arrays_of_0_1_0(arrays), facts_of_0_1_0(facts)
    arrays, facts = dict(arrays), dict(facts)
    _restore(thing, "", arrays, facts)
    if old:
        leave_units_of_blend(thing)
    left = [*arrays, *facts]
    if left:
        raise Damaged(f"{left[0]!r} is not part of this learner")


def _restore(thing: Any, path: str, arrays: Arrays, facts: Facts) -> None:
    """Fill one part of the learner from the arrays and facts below its path."""
    if hasattr(thing, "_upgrade"):
        try:
            thing._upgrade(path, arrays, facts)  # convert arrays of 0.1.0
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise Damaged(f"{path or 'the learner'}: arrays do not fit together") from error
    for name, value in list(vars(thing).items()):
        vars(thing)[name] = _restored(value, f"{path}{name}", name, arrays, facts)
    if hasattr(type(thing), "__setstate__"):
        thing.__setstate__({})  # spare room follows from the rest
    if isinstance(thing, Coordinatewise) and path and ".stackers." not in path:
        leave_units(thing)
    try:
        check(thing)
    except Damaged as error:
        raise Damaged(f"{path or 'the learner'}: {error}") from None


def _restored(value: Any, path: str, name: str, arrays: Arrays, facts: Facts) -> Any:
    if name in DERIVED or isinstance(value, DictEncoder):
        return value
    if name == "ended":
        return _claims(facts.pop(path, None))
    if name == "_columns":
        return _count(facts.pop(path, None))
    if isinstance(value, np.ndarray):
        return _like(value, path, name, arrays)
    if _is_state(value):
        each = value._asdict().items()
        return type(value)(*(_like(a, f"{path}.{field}", field, arrays) for field, a in each))
    if isinstance(value, list):
        return [_member(each, f"{path}.{k}", arrays, facts) for k, each in enumerate(value)]
    if _is_ours(value):
        _restore(value, f"{path}.", arrays, facts)
    return value


def _member(learner: Any, path: str, arrays: Arrays, facts: Facts) -> Any:
    if path in facts and facts[path] is None:
        del facts[path]
        return None
    _restore(learner, f"{path}.", arrays, facts)
    return learner


def _like(fresh: NDArray[Any], path: str, name: str, arrays: Arrays) -> NDArray[Any]:
    """The saved array, if it has the type and the dimensions of the fresh one."""
    found = arrays.pop(path, None)
    if found is None and name == "_units":  # new since 0.1.0 in some learners
        return fresh
    if found is None:
        raise Damaged(f"array {path!r} is missing")
    if found.dtype != fresh.dtype or found.ndim != fresh.ndim:
        raise Damaged(f"array {path!r} is of {found.dtype} and {found.ndim} dimensions")
    if name != "history" and not np.isfinite(found).all():
        raise Damaged(f"array {path!r} holds a number that is not finite")
    return found


def _count(found: Any) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found < 2**31:
        raise Damaged(f"{found!r} is not a number of columns")
    return found


def _claims(found: Any) -> dict[str, Guarantee]:
    if not isinstance(found, dict):
        raise Damaged("the guarantees of members that left are missing")
    for name, claim in found.items():
        numbers = isinstance(claim, list) and all(isinstance(x, int | float) for x in claim)
        if not numbers or len(claim) != 4:
            raise Damaged(f"the guarantee of member {name!r} is not four numbers")
    return {name: Guarantee(name, c[0], c[1], c[2], int(c[3])) for name, c in found.items()}
