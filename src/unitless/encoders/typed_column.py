"""TypedColumn: a column of a block with its kind, which is detected for Python objects."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.encoders.namespaces import Key, key_of

ADVICE = {
    "number": "use None for a missing value, or give the numbers and the rest as two columns",
    "category": "convert the column to strings",
    "date": "convert the column to dates, with None for missing ones",
    "list": "use lists of strings, with None for missing ones",
}


@dataclass(frozen=True)
class TypedColumn:
    """A column of a block."""

    name: str
    kind: str | None
    """ "number", "category", "date" or "list"; None if neither a type nor a value shows it."""
    values: NDArray[Any]
    """Numbers, NaN if missing; datetime64[us], NaT if missing; codes of levels, -1 if missing."""
    start: int = 0
    """First row in which the kind is known: 0 if the column has a type, else that of a value."""
    keys: list[Key] = field(default_factory=list)
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

    def value_shown(self, row: int) -> str:
        """The value of a row, for a message."""
        if self.kind not in ("category", "list"):
            return str(self.values[row])
        key = self.keys[self.values[row]]
        if self.kind == "list":
            return repr([*key])
        return repr(key) if isinstance(key, str) else key[1]


def spelled_booleans(column: TypedColumn, levels: Iterable[Any]) -> TypedColumn:
    """Booleans, which are numbers, as the levels of a category that has true or false among them.

    They are spelled like that level: true, True or TRUE. Without one the column stays as it is.
    """
    known = [key for key in levels if isinstance(key, str) and key.lower() in ("true", "false")]
    row = column.first_row()
    if row is None or not known:
        return column
    ways = (way for way in (str.upper, str.title) if way(known[0]) == known[0])
    spell = next(ways, str.lower)
    first = column.values[row]
    values = [first, 1 - first] if (column.values == 1 - first).any() else [first]
    codes = np.where(np.isnan(column.values), -1, column.values != first).astype(np.int64)
    keys: list[Key] = [spell(str(bool(value))) for value in values]
    return TypedColumn(column.name, "category", codes, keys=keys)


def wrong_kind(row: int, name: str, shown: str, kind: str, wanted: str) -> ValueError:
    """The error for a value of one kind in a column of another."""
    plural = "categories" if wanted == "category" else f"{wanted}s"
    return ValueError(
        f"row {row}, column {name!r}: {shown} is a {kind}, and the column holds {plural}; "
        f"{ADVICE[wanted]}"
    )


def refuse_infinity(values: NDArray[np.float64], names: Sequence[str]) -> None:
    """Refuse an infinite value of a table, in the words of `Rows.refuse_infinity`."""
    infinite = np.isinf(values)
    if infinite.any():
        row, column = divmod(int(np.argmax(infinite)), len(names))
        raise ValueError(
            f"row {row}, column {names[column]!r}: {values[row, column]} is not a number to learn "
            "from; drop the row, or use None for a missing value"
        )


def object_column(name: str, values: Sequence[Any], missing: Sequence[bool]) -> TypedColumn:
    """A column of Python objects, which are all of the kind of the first one."""
    kinds = [
        None if gone or _is_nan(value) else _kind_of(row, name, value)
        for row, (value, gone) in enumerate(zip(values, missing, strict=True))
    ]
    start = next((row for row, kind in enumerate(kinds) if kind), len(kinds))
    if start == len(kinds):
        return TypedColumn(name, None, np.empty(0))
    for row, kind in enumerate(kinds):
        if kind and kind != kinds[start]:
            raise wrong_kind(row, name, repr(values[row]), kind, str(kinds[start]))
    present = [value if kind else None for value, kind in zip(values, kinds, strict=True)]
    return _OF_KIND[str(kinds[start])](name, present, start)


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


def _numbers(name: str, values: list[Any], start: int) -> TypedColumn:
    floats = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        try:
            floats[row] = np.nan if value is None else float(value)
        except OverflowError:
            floats[row] = np.inf
    refuse_infinity(floats[:, None], [name])
    return TypedColumn(name, "number", floats, start)


def _categories(name: str, values: list[Any], start: int) -> TypedColumn:
    codes: dict[Key, int] = {}
    of_rows = [-1 if v is None else codes.setdefault(key_of(v), len(codes)) for v in values]
    return TypedColumn(name, "category", np.array(of_rows), start, list(codes))


def _dates(name: str, values: list[Any], start: int) -> TypedColumn:
    timed = [isinstance(v, datetime.datetime | np.datetime64) for v in values]
    local = [v.replace(tzinfo=None) if isinstance(v, datetime.datetime) else v for v in values]
    stamps = np.array(local, dtype="datetime64[us]")
    return TypedColumn(name, "date", stamps, start, timed=np.array(timed))


_OF_KIND = {"number": _numbers, "category": _categories, "date": _dates}
