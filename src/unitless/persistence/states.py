"""Convert the state of a learner to named arrays and a few JSON facts, and back to the bit.

A learner is rebuilt by its constructor from its name and its parameters. What it has learned is in
the arrays it declares (`unitless.state`), named by their path: `ensemble.learners.3._totals`. To
load, each array replaces the array of that name in a fresh learner. So nothing in a file says what
to create or run. Kernels do not check bounds, so sizes and positions are checked here.
"""

import math
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from unitless.learners.base import Learner
from unitless.persistence.old_files import leave_units, leave_units_of_blend, upgrade
from unitless.state import Component, Damaged, Fact, Field, Stateful, need

Arrays = dict[str, NDArray[Any]]
Facts = dict[str, Any]


def remembered(thing: Stateful, path: str = "") -> tuple[Arrays, Facts]:
    """All arrays of a learner, by path; and counts, members that left and their guarantees."""
    arrays: Arrays = {}
    facts: Facts = {}
    for entry in thing.saved:
        at = path + entry.name
        if isinstance(entry, Field):
            arrays[at] = entry.of(thing)
        elif isinstance(entry, Fact):
            facts[at] = entry.to_json(getattr(thing, entry.name))
    for place, part, _, _ in _parts(thing, path):
        if part is None:
            facts[place] = None
        else:
            more_arrays, more_facts = remembered(part, f"{place}.")
            arrays |= more_arrays
            facts |= more_facts
    return arrays, facts


def _parts(thing: Stateful, path: str) -> Iterator[tuple[str, Any, list[Any], int]]:
    """(path, object or None, list it is in, its place there) of each component."""
    for entry in thing.saved:
        if isinstance(entry, Component):
            value = getattr(thing, entry.name)
            if isinstance(value, list):
                for k, part in enumerate(value):
                    yield f"{path}{entry.name}.{k}", part, value, k
            elif value is not None:
                yield path + entry.name, value, [], 0


def restore(learner: Learner, arrays: Arrays, facts: Facts) -> None:
    """Fill a fresh learner; `Damaged` if these are not the arrays of one like it."""
    arrays = dict(arrays)
    facts = dict(facts)
    try:
        old_blend = upgrade(arrays, facts)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise Damaged("arrays do not fit together") from error
    _restore(learner, "", arrays, facts)
    if old_blend:
        leave_units_of_blend(learner)
    left = [*arrays, *facts]
    need(not left, f"{left[:1]} is not part of this learner")


def _restore(thing: Any, path: str, arrays: Arrays, facts: Facts) -> None:
    """Fill an object and its parts, and check it."""
    for place, part, siblings, k in _parts(thing, path):
        if facts.get(place, part) is None:  # a member that left
            del facts[place]
            siblings[k] = None
        else:
            _restore(part, f"{place}.", arrays, facts)
    try:
        for entry in thing.saved:
            at = path + entry.name
            if isinstance(entry, Field):
                entry.put(thing, _array(entry, entry.of(thing), arrays.pop(at, None)))
            elif isinstance(entry, Fact):
                setattr(thing, entry.name, entry.from_json(facts.pop(at, None)))
        _check_shapes(thing)
        thing._loaded()
    except Damaged as error:
        raise Damaged(f"{path or 'the learner'}: {error}") from None
    if isinstance(thing, Learner) and path and ".stackers." not in path:
        leave_units(thing)  # a part of a learner had units of its own in 0.1.0


def _array(field: Field, fresh: NDArray[Any], found: NDArray[Any] | None) -> NDArray[Any]:
    """The saved array, if it has the type and the dimensions of the fresh one."""
    if found is None and field.name.startswith(("_units", "_slopes")):  # not in files of 0.1.0
        return fresh
    if found is None:
        raise Damaged(f"array {field.name!r} is missing")
    fits = found.dtype == fresh.dtype and found.ndim == fresh.ndim
    need(fits, f"array {field.name!r} is of {found.dtype} and {found.ndim} dimensions")
    field.check(found)
    return found


def _check_shapes(thing: Stateful) -> None:
    """Compare the shapes of all arrays with those declared."""
    sizes = thing._sizes()
    for field in thing.saved:
        if isinstance(field, Field) and field.shape:
            shape = field.of(thing).shape
            wanted = tuple(_size(axis, sizes) for axis in field.shape)
            need(shape == wanted, f"{field.name} has the shape {shape} instead of {wanted}")


def _size(axis: str | int, sizes: dict[str, int]) -> int:
    return axis if isinstance(axis, int) else math.prod(sizes[name] for name in axis.split())
