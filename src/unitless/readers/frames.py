"""Frames of any column types -> frames of Float64, String and Boolean."""

from __future__ import annotations

import math

import polars as pl
from polars import selectors

TYPES = {"number": pl.Float64, "string": pl.String, "boolean": pl.Boolean}
REFUSED = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What polars raises over a file it cannot read."""


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the members of structs as columns of their own.

    >>> flat(pl.DataFrame({"a": [{"b": 1, "c": {"d": 2}}]})).columns
    ['a.b', 'a.c.d']
    """
    while any(isinstance(dtype, pl.Struct) for dtype in frame.dtypes):
        columns: list[pl.Series] = []
        for column in frame:
            columns += _members(column) if isinstance(column.dtype, pl.Struct) else [column]
        frame = pl.DataFrame(columns)
    return frame


def _members(column: pl.Series) -> list[pl.Series]:
    """The members of a struct; polars makes a member without name or type of {}."""
    return [
        member.alias(f"{column.name}.{member.name}")
        for member in column.struct.unnest()
        if member.name or member.dtype != pl.Null
    ]


def kind_of(dtype: pl.DataType) -> str:
    """What a column holds: numbers, strings, booleans, nulls only, or something other."""
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal() or dtype in (pl.String, pl.Categorical, pl.Enum):
        return "string"
    if dtype == pl.Boolean:
        return "boolean"
    return "null" if dtype == pl.Null else "other"


def finite(frame: pl.DataFrame) -> bool:
    """Whether no number is infinite; the sums tell at once, unless they overflow or one is NaN."""
    sums = frame.select(selectors.float().sum())
    if sums.width == 0 or all(map(math.isfinite, filter(None, sums.row(0)))):
        return True
    return not any(frame.select(selectors.float().is_infinite().any()).row(0))
