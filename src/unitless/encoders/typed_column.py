"""TypedColumn: a column of a block with its kind, which is detected for Python objects."""

import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.durations import seconds
from unitless.encoders.namespaces import Key

Float = NDArray[np.float64]
Kind = Literal["number", "category", "list", "date"]
ADVICE = {
    "number": "use None for a missing value, or give the numbers and the rest as two columns",
    "category": "convert the column to strings",
    "date": "convert the column to dates, with None for missing ones",
    "list": "use lists of strings, with None for missing ones",
}
KINDS: dict[Kind, Any] = {
    "category": str,
    "number": (Real, Decimal, np.bool_, datetime.timedelta, np.timedelta64),
    "date": (datetime.date, np.datetime64),
}
"""The kinds of Python objects."""
STAMPED = datetime.datetime, np.datetime64
"""Dates with a time of day."""


class TypedColumn(NamedTuple):
    """A column of a block."""

    name: str
    kind: Kind | None
    """ "number", "category", "date" or "list"; None if neither a type nor a value shows it."""
    values: NDArray[Any]
    """Numbers, NaN if missing; datetime64[us], NaT if missing; codes of levels, -1 if missing."""
    start: int = 0
    """First row in which the kind is known: 0 if the column has a type, else that of a value."""
    keys: Sequence[Key] = ()
    """Category, list: the levels or lists by code, in order of first appearance."""
    timed: NDArray[np.bool_] | None = None
    """Date: whether the date of each row has a time of day."""

    def first_row(self) -> int | None:
        """The row of the first value that is not missing."""
        if self.kind is None:
            return None
        is_coded = self.kind in ("category", "list")
        present = self.values >= 0 if is_coded else self.values == self.values
        return int(np.argmax(present)) if present.any() else None

    def refuse_kind(self, row: int, wanted: str) -> None:
        """An error if the column, in this row, is not of the kind that is wanted."""
        if self.kind == wanted:
            return
        shown = str(self.values[row])
        if self.kind in ("category", "list"):
            key = self.keys[self.values[row]]
            shown = repr(key) if isinstance(key, str) else key[1]
            if self.kind == "list":
                shown = repr([*key])
        raise wrong_kind(row, self.name, shown, str(self.kind), wanted)


def spelled_booleans(column: TypedColumn, levels: Iterable[object]) -> TypedColumn:
    """Booleans, which are numbers, as the levels of a category that has true or false among them.

    They are spelled like that level: true, True or TRUE. Without one the column stays as it is.
    """
    known = {*levels}
    spellings = ("True", "False"), ("TRUE", "FALSE"), ("true", "false")
    for yes, no in spellings:
        if known & {yes, no} and column.first_row() is not None:
            words = {1.0: yes, 0.0: no}
            return coded(column.name, "category", map(words.get, column.values.tolist()))
    return column


def coded(name: str, kind: Kind, keys: Iterable[Key | None], start: int = 0) -> TypedColumn:
    """A column of the levels or lists with these keys, None where missing."""
    codes: dict[Any, int] = {None: -1}
    of_rows = [codes.setdefault(key, len(codes) - 1) for key in keys]
    del codes[None]
    return TypedColumn(name, kind, np.array(of_rows, dtype=np.int64), start, [*codes])


def wrong_kind(row: int, name: str, shown: str, kind: str, wanted: str) -> ValueError:
    """The error for a value of one kind in a column of another."""
    plural = "categories" if wanted == "category" else f"{wanted}s"
    return ValueError(
        f"row {row}, column {name!r}: {shown} is a {kind}, and the column holds {plural}; "
        f"{ADVICE[wanted]}"
    )


def object_column(name: str, values: Sequence[Any], missing: Sequence[bool]) -> TypedColumn:
    """A column of Python objects, which are all of the kind of the first one."""
    present = [None if gone else value for value, gone in zip(values, missing, strict=True)]
    first = None
    start = 0
    for row, value in enumerate(present):
        if isinstance(value, Real | Decimal) and value != value:
            present[row] = value = None
        if value is None:
            continue
        kind = next((kind for kind in KINDS if isinstance(value, KINDS[kind])), None)
        if kind is None:
            raise ValueError(
                f"row {row}, column {name!r}: {value!r} is a {type(value).__name__}; only numbers, "
                "booleans, strings, categories and dates are features: convert the column, or "
                "drop it"
            )
        if first is None:
            first = kind
            start = row
        if kind != first:
            raise wrong_kind(row, name, repr(value), kind, first)
    if first is None:
        return TypedColumn(name, None, np.empty(0))
    if first == "number":
        floats = np.array([_as_float(value) for value in present])
        return TypedColumn(name, first, floats, start)
    if first == "date":
        timed = np.array([isinstance(value, STAMPED) for value in present])
        stamps = [wall_clock(value) for value in present]
        return TypedColumn(name, first, np.array(stamps, "datetime64[us]"), start, timed=timed)
    return coded(name, first, present, start)


def _as_float(value: Any) -> float:
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return float(seconds(np.array(value, dtype="timedelta64")))
    try:
        return np.nan if value is None else float(value)
    except OverflowError:
        return np.inf


def wall_clock(value: object) -> object:
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value
