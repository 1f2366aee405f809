"""Declarations of state: each learner, and each part of the Blend, lists what it keeps.

Saving, loading, checking, copying, pickling, `rescale` and the table in a class's documentation
follow from the declarations. A class that keeps a state is a `unitless.core.stateful.Stateful`; its
`saved` lists `Field`s (arrays and numbers), `Fact`s (anything else, as JSON) and `Component`s
(parts with a state of their own).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
Facts = dict[str, object]
LARGEST = float(np.finfo(np.float64).max)
SMALLEST = float(np.finfo(np.float64).smallest_normal)
MOST_ROWS = 2.0**53
"""Counts are float64, exact up to here."""


class Damaged(ValueError):
    """The state in a file is inconsistent."""


def need(holds: bool | np.bool_, what: str) -> None:
    """Raise `Damaged` with this message unless the condition holds."""
    if not holds:
        raise Damaged(what)


class Field(NamedTuple):
    """An array or a number of the state, or one number of a feature's record."""

    name: str
    """The attribute that holds it."""
    unit: str
    """How it follows its feature's unit: "1" (not at all), "sign", "x", "|x|", "x^2" or "1/x".
    "2^k" is a power of two or 0. Other units are for readers."""
    meaning: str
    shape: tuple[str | int, ...] = ()
    """The size of each axis: a number, or names of `_sizes` whose product it is. Empty: a number,
    or an array whose size the class checks itself."""
    low: float | None = None
    """The least value that a file may hold."""
    high: float | str | None = None
    """The largest value that a file may hold: a number or a name of `_sizes`."""
    whole: bool = False
    """Whether all values are whole numbers."""
    may_be_nan: bool = False

    def rescaled(self, values: Float, factors: Float) -> Float:
        """The values when the feature is multiplied by these factors, last axis by last axis."""
        if self.unit == "1":
            return values
        if self.unit == "sign":
            return values * np.sign(factors)
        if self.unit == "x":
            return values * factors
        if self.unit == "1/x":
            with np.errstate(over="ignore"):
                return np.clip(values / factors, -LARGEST, LARGEST)
        size = np.abs(factors) if self.unit == "|x|" else factors**2
        scaled = values * size  # a feature that was seen stays seen
        return np.where((values > 0) & (scaled < SMALLEST), SMALLEST, scaled)

    def check(self, values: NDArray[Any], sizes: dict[str, int]) -> None:
        """Refuse values that this field cannot have."""
        if values.dtype.names is not None:
            return  # a class checks its own records
        need(self.may_be_nan or np.isfinite(values).all(), f"{self.name} is not finite")
        if self.unit in ("|x|", "x^2"):
            need((values >= 0).all(), f"{self.name} is negative")
        if self.unit == "2^k":
            power = (np.frexp(values)[0] == 0.5) | (values == 0)
            need(power.all(), f"{self.name}: a unit is not a power of two")
        if self.low is not None:
            need((values >= self.low).all(), f"{self.name} has a value below {self.low}")
        if self.high is not None:
            high = sizes[self.high] if isinstance(self.high, str) else self.high
            need((values <= high).all(), f"{self.name} has a value above {high}")
        if self.whole:
            need((values == np.floor(values)).all(), f"{self.name} is not a whole number")


def count(name: str, meaning: str, high: float | str = MOST_ROWS) -> Field:
    """A field that counts."""
    return Field(name, "1", meaning, low=0.0, high=high, whole=True)


class Fact(NamedTuple):
    """A part of the state that is not an array; JSON in a file."""

    name: str
    meaning: str
    to_json: Callable[[object], object]
    from_json: Callable[[object], object]


class Component(NamedTuple):
    """An object with a state of its own or None, or a list of such objects."""

    name: str


def switch_from_json(found: object) -> bool:
    """True or False, as a file has it."""
    need(isinstance(found, bool), f"{found!r} is neither true nor false")
    return bool(found)


def remembered(thing: Any, path: str = "") -> tuple[Arrays, Facts]:
    """All arrays and facts of an object and its parts, by path: `experts.3.h`."""
    arrays: Arrays = {}
    facts: Facts = {}
    for entry in thing.saved:
        at = path + entry.name
        if isinstance(entry, Field):
            arrays |= _by_field(at, thing.read(entry.name))
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


def _by_field(at: str, array: NDArray[Any]) -> Arrays:
    """The array, or the arrays of the fields of its records."""
    if array.dtype.names is None:
        return {at: array}
    return {f"{at}.{name}": np.ascontiguousarray(array[name]) for name in array.dtype.names}


def _parts(thing: Any, path: str) -> Iterator[tuple[str, object, list[object], int]]:
    """(path, object or None, list it is in, its place there) of each component."""
    for entry in thing.saved:
        if isinstance(entry, Component):
            value = getattr(thing, entry.name)
            if isinstance(value, list):
                for k, part in enumerate(value):
                    yield f"{path}{entry.name}.{k}", part, value, k
            elif value is not None:
                yield path + entry.name, value, [], 0


def restore(thing: object, arrays: Arrays, facts: Facts) -> None:
    """Fill a fresh object; `Damaged` if these are not the arrays of one like it."""
    arrays = dict(arrays)
    facts = dict(facts)
    _restore(thing, "", arrays, facts)
    left = [*arrays, *facts]
    need(not left, f"{left[:1]} is not part of this learner")


def _restore(thing: Any, path: str, arrays: Arrays, facts: Facts) -> None:
    """Fill an object and its parts, and check it."""
    try:
        for entry in thing.saved:
            if isinstance(entry, Fact):
                at = path + entry.name
                need(at in facts, f"{entry.name!r} is missing")
                thing.write(entry.name, entry.from_json(facts.pop(at)))
        thing._expand()
    except Damaged as error:
        raise Damaged(f"{path or 'the learner'}: {error}") from None
    for place, part, siblings, k in _parts(thing, path):
        if place in facts and facts[place] is None:  # a member that left
            del facts[place]
            siblings[k] = None
        else:
            need(part is not None, f"{place} is missing")  # it joins later, and the file has it
            _restore(part, f"{place}.", arrays, facts)
    try:
        fields = [entry for entry in thing.saved if isinstance(entry, Field)]
        found = {field: _found(field, thing, path, arrays) for field in fields}
        for field, array in found.items():
            thing.write(field.name, array)
        sizes = thing._sizes()
        for field, array in found.items():
            _check_shape(field, array, sizes)
            field.check(array, sizes)
        thing._loaded()
    except Damaged as error:
        raise Damaged(f"{path or 'the learner'}: {error}") from None


def _found(field: Field, thing: Any, path: str, arrays: Arrays) -> NDArray[Any]:
    """The saved array, if it has the type and the dimensions of the fresh one."""
    fresh = thing.read(field.name)
    if fresh.dtype.names is None:
        return _like(fresh, field.name, arrays.pop(path + field.name, None))
    columns = {}
    for name in fresh.dtype.names:
        full = f"{field.name}.{name}"
        columns[name] = _like(fresh[name], full, arrays.pop(path + full, None))
    lengths = {len(column) for column in columns.values()}
    need(len(lengths) == 1, f"{field.name} has fields of different lengths")
    array = np.empty(lengths.pop(), fresh.dtype)
    for name, column in columns.items():
        array[name] = column
    return array


def _like(fresh: NDArray[Any], name: str, found: NDArray[Any] | None) -> NDArray[Any]:
    if found is None:
        raise Damaged(f"array {name!r} is missing")
    fits = found.dtype == fresh.dtype and found.ndim == fresh.ndim
    fits = fits and found.shape[1:] == fresh.shape[1:]
    need(fits, f"array {name!r} is of {found.dtype} and of shape {found.shape}")
    return found


def _check_shape(field: Field, array: NDArray[Any], sizes: dict[str, int]) -> None:
    if field.shape:
        wanted = tuple(_size(axis, sizes) for axis in field.shape)
        need(array.shape == wanted, f"{field.name} has the shape {array.shape} instead of {wanted}")


def _size(axis: str | int, sizes: dict[str, int]) -> int:
    return axis if isinstance(axis, int) else math.prod(sizes[name] for name in axis.split())


def state_table(fields: Iterable[Field]) -> str:
    """The fields as a table of a docstring: what is kept, in which unit."""
    rows = [("state", "unit", "meaning")]
    rows += [(field.name, field.unit, field.meaning) for field in fields]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = tuple("=" * width for width in widths)
    lines = []
    for row in (rule, rows[0], rule, *rows[1:], rule):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("    " + " ".join(cells).rstrip())
    return "\n".join(lines)
