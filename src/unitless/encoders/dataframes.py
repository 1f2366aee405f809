"""Convert data frames of any library to typed columns, with narwhals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.durations import seconds
from unitless.encoders.namespaces import key_of
from unitless.encoders.typed_column import (
    Float,
    TypedColumn,
    coded,
    object_column,
    wall_clock,
)


def opened(frame: Any) -> Any:
    """The frame as narwhals sees it."""
    import narwhals.stable.v2 as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            f"expected a data frame (pandas, polars, pyarrow), got {type(frame).__name__}; "
            "collect() a lazy one, and give arrays to as_rows"
        ) from None
    names = [str(name) for name in table.columns]  # pandas allows other types
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two columns are called {twice!r}: rename one")
    if names == table.columns:
        return table
    return table.rename(dict(zip(table.columns, names, strict=True)))


def type_name(dtype: Any) -> str:
    """The name of a type without its parameters: Datetime, Enum, List."""
    return dtype.base_type().__name__


def holds_numbers(dtype: Any) -> bool:
    """Whether a type is a number or a boolean."""
    return dtype.is_numeric() or type_name(dtype) == "Boolean"


def holds_booleans(series: Any) -> bool:
    """Whether a column has only booleans: its type, or its objects."""
    if type_name(series.dtype) != "Object":
        return type_name(series.dtype) == "Boolean"
    values = series.drop_nulls().to_list()
    return all(isinstance(value, bool | np.bool_) for value in values)


def numeric_table(table: Any, names: Sequence[str]) -> Float:
    """These columns of numbers as one array, missing as NaN; without a copy if possible."""
    import narwhals.stable.v2 as nw

    if not names:
        return np.empty((len(table), 0))
    first = table.columns.index(names[0])
    run = slice(first, first + len(names))
    # pandas copies columns that are listed, and not a range of them.
    own = table[:, run] if table.columns[run] == [*names] else table.select(names)
    if any(dtype != nw.Float64 for dtype in own.schema.values()):
        own = own.select(nw.all().cast(nw.Float64))
    values: Float = own.to_numpy()
    return values


def typed_column(name: str, table: Any) -> TypedColumn:
    """One column of the table; its type shows the kind, or else its values do."""
    series = table.get_column(name)
    kind = type_name(series.dtype)
    if holds_numbers(series.dtype):
        return TypedColumn(name, "number", numeric_table(table, [name])[:, 0])
    if kind in ("String", "Categorical", "Enum"):
        codes, levels = _factorized(series)
        return TypedColumn(name, "category", codes, keys=[*map(key_of, levels)])
    if kind in ("Date", "Datetime"):
        stamps = _wall_clock(series)
        timed = np.full(len(stamps), kind == "Datetime")
        return TypedColumn(name, "date", stamps, timed=timed)
    if kind == "Duration":
        return TypedColumn(name, "number", seconds(series.to_numpy()))
    values = series.to_list()
    if kind == "List" and type_name(series.dtype.inner) == "String":
        lists = (None if value is None else tuple(value) for value in values)
        return coded(name, "list", lists)
    return object_column(name, values, series.is_null().to_list())


def _wall_clock(series: Any) -> NDArray[np.datetime64]:
    """The local time in the column's own time zone."""
    zone = getattr(series.dtype, "time_zone", None)
    if series.implementation.is_pandas_like() and "pyarrow" in str(series.to_native().dtype):
        # pandas has these dates as objects, and before version 3 drops a zone by going to UTC.
        stamps = np.full(len(series), "NaT", dtype="datetime64[us]")
        stamps[~series.is_null().to_numpy()] = [*map(wall_clock, series.drop_nulls().to_list())]
        return stamps
    local = series.dt.replace_time_zone(None) if zone else series
    return local.to_numpy().astype("datetime64[us]")


def _factorized(series: Any) -> tuple[NDArray[np.int64], list[object]]:
    """Codes by order of first appearance, -1 if missing, and the levels."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        codes, levels = native.factorize()
        return codes, levels.tolist()
    if series.implementation.is_pyarrow():
        plain = getattr(native.type, "value_type", native.type)
        coded = native.cast(plain).combine_chunks().dictionary_encode()
        codes = coded.indices.fill_null(-1).to_numpy().astype(np.int64)  # for pairs of codes
        return codes, coded.dictionary.to_pylist()
    polars = series.__native_namespace__()
    strings = native.cast(polars.String)
    levels = strings.drop_nulls().unique(maintain_order=True)
    codes = strings.cast(polars.Enum(levels)).to_physical()
    return codes.cast(polars.Int64).fill_null(-1).to_numpy(), levels.to_list()
