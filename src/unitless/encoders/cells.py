"""One column of a block, by kind; and the values that a frame keeps as Python objects."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.encoders.spaces import Key, key_of

WAYS_OUT = {
    "number": "use None for a missing value, or give the numbers and the rest as two columns",
    "category": "convert the column to strings",
    "date": "convert the column to dates, None where there is none",
}


@dataclass(frozen=True, slots=True)
class Cells:
    """A column of a block.

    ======== ==========================================================================
    field    meaning
    ======== ==========================================================================
    name     of the column
    kind     "number", "category" or "date"; None: neither a type nor a value tells
    values   number: float64, NaN if missing; date: datetime64[us], NaT if missing;
             category: the code of the level, -1 if missing
    start    the first row where the kind is known: 0 if the column has a type, else the
             row of its first value
    keys     category: the levels by code, in order of first appearance
    timed    date: whether the row's date has an hour
    ======== ==========================================================================
    """

    name: str
    kind: str | None
    values: NDArray[Any]
    start: int = 0
    keys: list[Key] = field(default_factory=list)
    timed: NDArray[np.bool_] | None = None

    def first(self) -> int | None:
        """The row of the first value that is not missing."""
        there = self.values >= 0 if self.kind == "category" else self.values == self.values
        return int(np.argmax(there)) if self.kind and there.any() else None

    def show(self, row: int) -> str:
        """The value of a row, for an error."""
        if self.kind != "category":
            return str(self.values[row])
        key = self.keys[self.values[row]]
        return repr(key) if isinstance(key, str) else key[1]


def refusal(row: int, name: str, shown: str, kind: str, wanted: str) -> ValueError:
    """The error for a value of one kind in a column of another."""
    return ValueError(
        f"row {row}, column {name!r}: {shown} is a {kind}, and the column holds "
        f"{wanted.replace('category', 'categorie')}s; {WAYS_OUT[wanted]}"
    )


def refuse_infinity(row: int, name: str, value: float) -> None:
    """The error for an infinite number, in the words of `as_rows`."""
    raise ValueError(
        f"row {row}, column {name!r}: {value} is not a number to learn from; drop the row, "
        "or use None for a missing value"
    )


def numbers(name: str, values: NDArray[np.float64], start: int = 0) -> Cells:
    """A column of numbers; an infinite one is an error."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        refuse_infinity(row, name, values[row])
    return Cells(name, "number", values, start)


def objects(name: str, values: Sequence[Any], missing: Sequence[bool]) -> Cells:
    """A column of Python objects: of one kind, which its first value decides.

    >>> objects("age", [None, 31, True], missing=[True, False, False])
    Cells(name='age', kind='number', values=array([nan, 31.,  1.]), start=1, keys=[], timed=None)
    """
    kinds = [
        None if gone or _is_nan(value) else _kind_of(row, name, value)
        for row, (value, gone) in enumerate(zip(values, missing, strict=True))
    ]
    start = next((row for row, kind in enumerate(kinds) if kind), len(kinds))
    if start == len(kinds):
        return Cells(name, None, np.empty(0))
    for row, kind in enumerate(kinds):
        if kind and kind != kinds[start]:
            raise refusal(row, name, repr(values[row]), kind, str(kinds[start]))
    present = [value if kind else None for value, kind in zip(values, kinds, strict=True)]
    return _MAKE[str(kinds[start])](name, present, start)


def _is_nan(value: Any) -> bool:
    return isinstance(value, Real | Decimal) and value != value


def _kind_of(row: int, name: str, value: Any) -> str:
    if isinstance(value, str):
        return "category"
    if isinstance(value, Real | Decimal | np.bool_):
        return "number"
    if isinstance(value, datetime.date | np.datetime64):
        return "date"
    raise ValueError(
        f"row {row}, column {name!r}: {value!r} is a {type(value).__name__}; only numbers, "
        "booleans, strings, categories and dates are features: convert the column, or drop it"
    )


def _numbers(name: str, values: list[Any], start: int) -> Cells:
    floats = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        try:
            floats[row] = np.nan if value is None else float(value)
        except OverflowError:
            floats[row] = np.inf
    return numbers(name, floats, start)


def _categories(name: str, values: list[Any], start: int) -> Cells:
    codes: dict[Key, int] = {}
    each = [-1 if v is None else codes.setdefault(key_of(v), len(codes)) for v in values]
    return Cells(name, "category", np.array(each), start, list(codes))


def _dates(name: str, values: list[Any], start: int) -> Cells:
    timed = [isinstance(v, datetime.datetime | np.datetime64) for v in values]
    clocks = [v.replace(tzinfo=None) if isinstance(v, datetime.datetime) else v for v in values]
    stamps = np.array(clocks, dtype="datetime64[us]")
    return Cells(name, "date", stamps, start, timed=np.array(timed))


_MAKE = {"number": _numbers, "category": _categories, "date": _dates}
