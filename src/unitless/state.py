"""Declarations of state: each learner, and each part of the Blend, lists what it keeps.

Saving, loading, checking (`unitless.persistence.states`), `rescale` and the table at the end of a
class's docstring follow from the declarations.
"""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
LARGEST = float(np.finfo(np.float64).max)
SMALLEST = float(np.finfo(np.float64).smallest_normal)


class Damaged(ValueError):
    """The state in a file is inconsistent."""


def need(holds: bool | np.bool_, what: str) -> None:
    """Raise `Damaged` with this message unless the condition holds."""
    if not holds:
        raise Damaged(what)


class Field(NamedTuple):
    """An array of the state, or one number of a feature's record."""

    name: str
    """The attribute that holds it; `state.U` is the field U of the NamedTuple `state`."""
    unit: str
    """How it follows its feature's unit: "1" (not at all), "sign", "x", "|x|", "x^2" or "1/x".
    "2^k" is a power of two or 0. Other units are for readers."""
    meaning: str
    shape: tuple[str | int, ...] = ()
    """Of each axis the size: a number, or names of `_sizes` to be multiplied."""
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

    def check(self, values: NDArray[Any]) -> None:
        """Refuse values that a field of this unit cannot have."""
        need(self.may_be_nan or np.isfinite(values).all(), f"{self.name} is not finite")
        if self.unit in ("|x|", "x^2"):
            need((values >= 0).all(), f"{self.name} is negative")
        if self.unit == "2^k":
            power = (np.frexp(values)[0] == 0.5) | (values == 0)
            need(power.all(), f"{self.name}: a unit is not a power of two")

    def of(self, owner: Any) -> NDArray[Any]:
        """The array itself."""
        return attrgetter(self.name)(owner)

    def put(self, owner: Any, array: NDArray[Any]) -> None:
        """Replace the array."""
        record, _, field = self.name.rpartition(".")
        if record:
            array = getattr(owner, record)._replace(**{field: array})
        setattr(owner, record or field, array)


class Fact(NamedTuple):
    """A part of the state that is no array; JSON in a file."""

    name: str
    meaning: str
    to_json: Callable[[Any], Any]
    from_json: Callable[[Any], Any]


class Component(NamedTuple):
    """An object with a state of its own or None, or a list of such objects."""

    name: str


def count_from_json(found: Any) -> int:
    """A number of columns, as a file has it."""
    whole = isinstance(found, int) and not isinstance(found, bool)
    need(whole and 0 <= found < 2**31, f"{found!r} is not a number of columns")
    return found


def checked_count(number: float, most: float, name: str = "totals") -> int:
    """Refuse a number that is not a count between 0 and `most`; return it."""
    whole = 0 <= number <= most and number == int(number)
    need(whole, f"{name}: {number} is not a count up to {most}")
    return int(number)


UNITS = Field("_units", "2^k", "factor of each coordinate; see `unitless.units`", ("units",))
COLUMNS = Fact("_columns", "number of columns", int, count_from_json)


class Stateful:
    """Base of all that is saved."""

    saved: ClassVar[tuple[Field | Fact | Component, ...]] = ()

    def _sizes(self) -> dict[str, int]:
        """The sizes that shapes of `saved` name; they may follow from the arrays at hand."""
        return {}

    def _loaded(self) -> None:
        """All arrays were replaced: refuse them if kernels would leave their bounds."""

    @classmethod
    def _documented(cls) -> Iterable[Field]:
        """The fields that the docstring lists."""
        return [field for field in cls.saved if isinstance(field, Field)]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        fields = [field for field in cls._documented() if field.name != "_units"]
        if cls.__doc__ and fields:
            cls.__doc__ = f"{cls.__doc__.rstrip()}\n\n{state_table(fields)}\n"

    def rescale_fields(self, columns: NDArray[Any], factors: Float) -> None:
        """From now on these columns arrive multiplied by these factors."""
        for field in self.saved:
            if isinstance(field, Field) and field.unit != "1":
                array = field.of(self)
                array[columns] = field.rescaled(array[columns], factors)


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
