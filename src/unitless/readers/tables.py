"""What the readers of tables (CSV, JSON lines, Parquet, Arrow) share: a frame -> a block.

Frames have columns of Float64, String and Boolean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from unitless.readers.blocks import (
    FINITE,
    NUMBER,
    WEIGHT,
    Bad,
    Block,
    Options,
    Position,
    ReadError,
    allowed,
)
from unitless.readers.source import Source
from unitless.suggestions import no_such_column

Int = NDArray[np.int64]

TYPES = {"number": pl.Float64, "string": pl.String, "boolean": pl.Boolean}
REFUSED = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What polars raises for a file it cannot read."""


class Table(NamedTuple):
    """A frame, the line of each of its rows, bad lines, and how many cells were made missing."""

    frame: pl.DataFrame
    lines: Int
    bad: list[Bad]
    coerced: int


def kind_of(dtype: pl.DataType) -> str:
    """The kind of a column: number, string, boolean, null (nulls only) or other."""
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal() or dtype in (pl.String, pl.Categorical, pl.Enum):
        return "string"
    if dtype == pl.Boolean:
        return "boolean"
    return "null" if dtype == pl.Null else "other"


def flat(frame: pl.DataFrame, file: str) -> pl.DataFrame:
    """The frame with the members of structs as columns of their own; a ReadError if names clash.

    >>> flat(pl.DataFrame({"a": [{"b": 1, "c": {"d": 2}}]}), "x.parquet").columns
    ['a.b', 'a.c.d']
    """
    columns: dict[str, pl.Series] = {}
    paths: dict[str, tuple[str, ...]] = {}
    for path, column in _leaves(list(frame), ()):
        name = ".".join(path)
        if name in columns:
            one, other = (" > ".join(map(repr, each)) for each in (paths[name], path))
            why = f"{one} and {other} would both be the column {name!r}: rename one"
            raise ReadError(why, file=file, column=name)
        columns[name] = column.alias(name)
        paths[name] = path
    return pl.DataFrame(columns)


def _leaves(
    columns: Iterable[pl.Series], outer: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], pl.Series]]:
    """The columns that are no structs, with the names that lead to them.

    polars reads {} as a struct with a nameless member of nulls, which is left out.
    """
    for column in columns:
        path = (*outer, column.name)
        if isinstance(column.dtype, pl.Struct):
            yield from _leaves(column.struct.unnest(), path)
        elif column.name or column.dtype != pl.Null or not outer:
            yield path, column


def is_finite(frame: pl.DataFrame) -> bool:
    """Whether no number is infinite; finite sums answer this fast."""
    sums = frame.select(selectors.float().sum())
    if sums.width == 0 or all(map(math.isfinite, filter(None, sums.row(0)))):
        return True
    return not any(frame.select(selectors.float().is_infinite().any()).row(0))


def without_wrong_cells(
    frame: pl.DataFrame, lines: Int, wrong: pl.DataFrame, text: pl.DataFrame, coerce: bool
) -> Table:
    """The frame without the rows that have a wrong cell; with `coerce` such cells become missing.

    `wrong` has one boolean per cell of the columns in which cells may be wrong. A wrong cell is
    null in `frame` if it is not a number, otherwise infinite; `text` has it as the file does.
    """
    if not wrong.width:
        return Table(frame, lines, [], 0)
    if coerce:
        cleaned = [pl.when(~wrong[name]).then(pl.col(name)).alias(name) for name in wrong.columns]
        count = sum(wrong.sum().row(0))
        return Table(frame.with_columns(cleaned), lines, [], count)
    refused = wrong.select(pl.any_horizontal(pl.all())).to_series().to_numpy()
    bad = []
    for row in np.flatnonzero(refused).tolist():
        name = next(name for name in wrong.columns if wrong[name][row])
        why = NUMBER if frame[name][row] is None else FINITE
        bad.append(Bad(int(lines[row]), name, str(text[name][row]), why))
    return Table(frame.filter(~refused), lines[~refused], bad, 0)


def block(table: Table, begin: Position, end: Position, source: Source, options: Options) -> Block:
    """The table as a block, target and weight apart from the features.

    `begin` is the position before the block; `end` has what is different after it, except counts.
    """
    for name in (options.target, options.weight):
        if name is not None and name not in table.frame.columns:
            raise ReadError(no_such_column(name, table.frame.columns), file=source.name)
    table, weights = _weighed(table, options.weight, source.name)
    frame = table.frame
    target = options.target
    place = {
        **begin,
        **end,
        "rows": begin["rows"] + frame.height,
        "skipped": allowed(table.bad, begin["skipped"], options.skip_bad, source.name),
        "coerced": begin["coerced"] + table.coerced,
    }
    return Block(
        frame=frame.drop([name for name in (target, options.weight) if name is not None]),
        rows=None,
        lines=table.lines,
        start=begin,
        position=place,
        targets=None if target is None else _labels(frame[target]),
        weights=weights,
        done=source.done(),
    )


def _labels(column: pl.Series) -> NDArray[Any]:
    """Numbers with NaN, or objects with None."""
    if column.dtype == pl.Float64:
        return column.to_numpy()
    return np.array(column.to_list(), dtype=object)


def _weighed(table: Table, name: str | None, file: str) -> tuple[Table, NDArray[np.float64] | None]:
    """The rows with a valid weight, and the weights."""
    if name is None:
        return table, None
    column = table.frame[name]
    if column.dtype != pl.Float64:
        why = "importances are numbers, and this column holds others; types can say 'number'"
        raise ReadError(why, file=file, column=name)
    weights = column.to_numpy()
    good = weights >= 0
    if good.all():
        return table, weights
    bad = [
        Bad(int(table.lines[row]), name, str(column[row]), WEIGHT)
        for row in np.flatnonzero(~good).tolist()
    ]
    frame = table.frame.filter(good)
    lines = table.lines[good]
    return table._replace(frame=frame, lines=lines, bad=[*table.bad, *bad]), weights[good]
