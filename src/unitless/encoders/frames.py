"""Data frames -> columns of cells: the only file that knows narwhals, and hence every frame."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.encoders.cells import Cells, numbers, objects, refuse_infinity
from unitless.encoders.spaces import key_of


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
    """Names as strings; pandas has others."""
    return [str(name) for name in table.columns]


def is_numeric(table: Any) -> bool:
    """Whether every column is of numbers or booleans."""
    import narwhals.stable.v2 as nw

    return all(dtype.is_numeric() or dtype == nw.Boolean for dtype in table.schema.values())


def numeric_table(table: Any) -> NDArray[np.float64]:
    """All columns of a numeric frame at once, missing as NaN; without copying if it can be."""
    import narwhals.stable.v2 as nw

    if any(dtype != nw.Float64 for dtype in table.schema.values()):
        table = table.select(nw.all().cast(nw.Float64))
    if not table.columns:
        return np.empty((len(table), 0))
    values: NDArray[np.float64] = table.to_numpy()
    infinite = np.isinf(values)
    if infinite.any():
        row, column = np.unravel_index(np.argmax(infinite), values.shape)
        refuse_infinity(int(row), column_names(table)[column], values[row, column])
    return values


def columns_of(table: Any) -> list[Cells]:
    """Every column of the frame by its kind.

    >>> import pandas
    >>> frame = pandas.DataFrame({"age": [31, None], "colour": ["red", "blue"]})
    >>> [(cells.name, cells.kind, cells.values.tolist()) for cells in columns_of(opened(frame))]
    [('age', 'number', [31.0, nan]), ('colour', 'category', [0, 1])]
    """
    return [
        cells_of(str(name), table.get_column(name), dtype) for name, dtype in table.schema.items()
    ]


def cells_of(name: str, series: Any, dtype: Any) -> Cells:
    """One column; its type tells the kind, or else its values do."""
    import narwhals.stable.v2 as nw

    if dtype.is_numeric() or dtype == nw.Boolean:
        floats = series if dtype == nw.Float64 else series.cast(nw.Float64)
        return numbers(name, floats.to_numpy())
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        codes, levels = _factorized(series)
        return Cells(name, "category", codes, keys=[key_of(level) for level in levels])
    if dtype in (nw.Date, nw.Datetime):
        stamps = _wall_clock(series, dtype)
        return Cells(name, "date", stamps, timed=np.full(len(stamps), dtype == nw.Datetime))
    return objects(name, series.to_list(), series.is_null().to_list())


def _wall_clock(series: Any, dtype: Any) -> NDArray[np.datetime64]:
    """What the clock on the wall showed, in its own time zone."""
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
    """Codes by order of first appearance, -1 if missing, and the levels; each library's own way."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        codes, levels = native.factorize()
        return codes, levels.tolist()
    if series.implementation.is_pyarrow():
        plain = getattr(native.type, "value_type", native.type)
        coded = native.cast(plain).combine_chunks().dictionary_encode()
        codes = coded.indices.fill_null(-1).to_numpy().astype(np.int64)  # pairs need the room
        return codes, coded.dictionary.to_pylist()
    polars = series.__native_namespace__()
    strings = native.cast(polars.String)
    levels = strings.drop_nulls().unique(maintain_order=True)
    codes = strings.cast(polars.Enum(levels)).to_physical().cast(polars.Int64).fill_null(-1)
    return codes.to_numpy(), levels.to_list()
