"""What the readers of tables (CSV, JSON lines, Parquet, Arrow) share: a frame -> a block."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unitless.readers.blocks import WEIGHT, Bad, Block, Options, Position, ReadError, allowed
from unitless.readers.bytes import Source

Int = NDArray[np.int64]


class Table(NamedTuple):
    """A frame, the line of each of its rows, bad lines, and how many cells were made missing."""

    frame: pl.DataFrame
    lines: Int
    bad: list[Bad]
    coerced: int


def block(table: Table, begin: Position, end: Position, source: Source, options: Options) -> Block:
    """The table as a block, target and weight apart from the features.

    It begins at one position; the other says what is new behind it, but for the counts.
    """
    for name in (options.target, options.weight):
        if name is not None and name not in table.frame.columns:
            why = f"there is no column {name!r} among {table.frame.columns}"
            raise ReadError(why, file=source.name)
    table, weights = _weighed(table, options.weight, source.name)
    frame, target = table.frame, options.target
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
    """The rows with a weight that can be used, and the weights."""
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
    frame, lines = table.frame.filter(good), table.lines[good]
    return table._replace(frame=frame, lines=lines, bad=[*table.bad, *bad]), weights[good]
