"""Convert data frames of any library to typed columns, with narwhals."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.encoders.namespaces import key_of
from unitless.encoders.typed_column import (
    TypedColumn,
    infinite_value,
    number_column,
    object_column,
)


def opened(frame: Any) -> Any:
    """The frame as narwhals sees it.

    >>> import pandas
    >>> opened(pandas.DataFrame({"age": [31, 17]})).columns
    ['age']
    """
    import narwhals.stable.v2 as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            f"expected a data frame (pandas, polars, pyarrow), got {type(frame).__name__}; "
            "collect() a lazy one, and give arrays to as_rows"
        ) from None
    names = column_names(table)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two columns are called {twice!r}: rename one")
    return table


def column_names(table: Any) -> list[str]:
    """Names as strings; pandas allows other types."""
    return [str(name) for name in table.columns]


def number_columns(schema: dict[str, Any]) -> list[str]:
    """The names of the columns whose type is a number or a boolean."""
    import narwhals.stable.v2 as nw

    return [name for name, dtype in schema.items() if dtype.is_numeric() or dtype == nw.Boolean]


def numeric_table(table: Any, schema: dict[str, Any], names: list[str]) -> NDArray[np.float64]:
    """These columns of numbers as one array, missing as NaN; without a copy if possible."""
    import narwhals.stable.v2 as nw

    if not names:
        return np.empty((len(table), 0))
    if len(names) < len(schema):
        wanted = {*names}
        places = [k for k, name in enumerate(schema) if name in wanted]
        together = places[-1] - places[0] + 1 == len(places)
        table = table[:, places[0] : places[-1] + 1] if together else table[:, places]
    if any(schema[name] != nw.Float64 for name in names):
        table = table.select(nw.all().cast(nw.Float64))
    values: NDArray[np.float64] = table.to_numpy()
    infinite = np.isinf(values)
    if infinite.any():
        row, column = np.unravel_index(np.argmax(infinite), values.shape)
        raise infinite_value(int(row), names[column], values[row, column])
    return values


def typed_column(name: str, table: Any, dtype: Any) -> TypedColumn:
    """One column of the table; its type shows the kind, or else its values do.

    >>> import pandas
    >>> table = opened(pandas.DataFrame({"colour": ["red", "blue"]}))
    >>> typed_column("colour", table, table.schema["colour"]).keys
    ['red', 'blue']
    """
    import narwhals.stable.v2 as nw

    series = table.get_column(next(each for each in table.columns if str(each) == name))
    if dtype.is_numeric() or dtype == nw.Boolean:
        floats = series if dtype == nw.Float64 else series.cast(nw.Float64)
        return number_column(name, floats.to_numpy())
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        codes, levels = _factorized(series)
        return TypedColumn(name, "category", codes, keys=[key_of(level) for level in levels])
    if dtype in (nw.Date, nw.Datetime):
        stamps = _wall_clock(series, dtype)
        return TypedColumn(name, "date", stamps, timed=np.full(len(stamps), dtype == nw.Datetime))
    return object_column(name, series.to_list(), series.is_null().to_list())


def _wall_clock(series: Any, dtype: Any) -> NDArray[np.datetime64]:
    """The local time in the column's own time zone."""
    zone = getattr(dtype, "time_zone", None)
    if series.implementation.is_pandas_like() and "pyarrow" in str(series.to_native().dtype):
        # pandas has these dates as objects, and before version 3 drops a zone by going to UTC.
        clock = [day.replace(tzinfo=None) if zone else day for day in series.drop_nulls().to_list()]
        stamps = np.full(len(series), "NaT", dtype="datetime64[us]")
        stamps[~series.is_null().to_numpy()] = clock
        return stamps
    local = series.dt.replace_time_zone(None) if zone else series
    return local.to_numpy().astype("datetime64[us]")


def _factorized(series: Any) -> tuple[NDArray[np.int64], list[Any]]:
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
    codes = strings.cast(polars.Enum(levels)).to_physical().cast(polars.Int64).fill_null(-1)
    return codes.to_numpy(), levels.to_list()
