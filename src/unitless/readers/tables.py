"""What the readers of tables (CSV, JSON lines, Parquet, Arrow) share: a frame -> a block.

Frames have columns of Float64, String, Boolean, Date and Datetime.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from unitless.readers import cells
from unitless.readers.blocks import (
    LONGEST_TEXT,
    Bad,
    FileBlock,
    Options,
    Position,
    ReadError,
    Why,
    allowed,
)
from unitless.readers.encodings import UTF8
from unitless.readers.source import Source
from unitless.suggestions import no_such_column

Int = NDArray[np.int64]

TYPES: dict[str, Any] = {
    "number": pl.Float64,
    "string": pl.String,
    "boolean": pl.Boolean,
    "list": pl.List(pl.String),
}
"""The types of columns by kind."""
EXPECTED = {
    pl.Boolean: Why.BOOLEAN,
    pl.Float64: Why.NUMBER,
    pl.Date: Why.DATE,
    pl.Datetime: Why.DATE,
}

REFUSED = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What polars raises for a file it cannot read."""


OddCells = tuple[int, int, str]
"""The number of cells of a column that do not fit, and line and text of the first."""


class Table(NamedTuple):
    """A frame, the line of each of its rows, bad lines, and the cells that were made missing."""

    frame: pl.DataFrame
    lines: Int
    bad: list[Bad]
    odd: Mapping[str, OddCells] = {}


def kind_of(dtype: pl.DataType) -> str:
    """The kind of a column: number, string, boolean, date, null (nulls only) or other."""
    if dtype.is_numeric():
        return "number"
    if dtype in (pl.Date, pl.Datetime):
        return "date"
    if dtype.is_temporal() or dtype in (pl.String, pl.Categorical, pl.Enum):
        return "string"
    if dtype == pl.Boolean:
        return "boolean"
    return "null" if dtype == pl.Null else "other"


def is_pattern(name: str) -> bool:
    """Whether polars would interpret the name of a column as a pattern, as `*` and `^a.*$`."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def flat(frame: pl.DataFrame, file: str) -> pl.DataFrame:
    """The frame with the members of structs as columns of their own; a ReadError if names clash.

    >>> flat(pl.DataFrame({"a": [{"b": 1, "c": {"d": 2}}]}), "x.parquet").columns
    ['a.b', 'a.c.d']
    """
    while structs := {name: kind for name, kind in frame.schema.items() if kind == pl.Struct}:
        pattern = next(filter(is_pattern, structs), None)
        if pattern is not None:
            raise ReadError(Why.PATTERN, file=file, column=pattern)
        names = [name for name in frame.columns if name not in structs]
        for name, kind in structs.items():
            names += [f"{name}.{field.name}" for field in kind.fields]  # type: ignore[attr-defined]
        for name in names:
            if names.count(name) > 1:
                why = f"two columns would be called {name!r}: rename one"
                raise ReadError(why, file=file, column=name)
        frame = frame.unnest(*structs, separator=".")
    return frame


LARGEST_WHOLE = 2.0**53
"""Up to here, float64 has every whole number."""


def too_large(frame: pl.DataFrame) -> list[str]:
    """Columns with a number that may be a whole number which float64 cannot hold."""
    largest = frame.select(selectors.float().abs().max())
    return [name for name in largest.columns if (largest[name][0] or 0) >= LARGEST_WHOLE]


def is_finite(frame: pl.DataFrame) -> bool:
    """Whether no number is infinite; finite sums answer this fast."""
    sums = frame.select(selectors.float().sum())
    if sums.width == 0:
        return True
    if all(map(math.isfinite, filter(None, sums.row(0)))):
        return True
    infinite = frame.select(selectors.float().is_infinite().any())
    return not any(infinite.row(0))


def typed(text: pl.DataFrame, kinds: Mapping[str, str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The columns of text as their kinds say; and which of their cells do not fit."""
    columns = []
    wrong = {}
    for name, kind in kinds.items():
        if name in text and text[name].dtype == pl.String and kind not in ("string", "category"):
            column, wrong[name] = cells.converted(text[name], kind)
            if column.dtype == pl.Float64:
                wrong[name] |= column.is_infinite().fill_null(False)
            columns.append(column)
    return text.with_columns(columns), pl.DataFrame(wrong)


def without_wrong_cells(
    frame: pl.DataFrame,
    lines: Int,
    wrong: pl.DataFrame,
    text: pl.DataFrame,
    strict: bool,
) -> Table:
    """The frame with wrong cells missing or, with `strict`, without the rows that have one.

    `wrong` has one boolean per cell of the columns in which cells may be wrong. A wrong cell is
    null in `frame` if it is not a number, otherwise infinite; `text` has it as the file does.
    """
    if not wrong.width:
        return Table(frame, lines, [])
    if not strict:
        odd = {}
        for name in wrong.columns:
            count = int(wrong[name].sum())
            if count == 0:
                continue
            row = int(wrong[name].arg_max())  # type: ignore[arg-type]
            shown = str(text[name][row])[: LONGEST_TEXT + 1]
            odd[name] = (count, int(lines[row]), shown)
            right = pl.when(~wrong[name]).then(pl.col(name))
            frame = frame.with_columns(right.alias(name))
        return Table(frame, lines, [], odd)
    refused = wrong.select(pl.any_horizontal(pl.all())).to_series().to_numpy()
    bad = []
    for row in np.flatnonzero(refused).tolist():
        name = next(name for name in wrong.columns if wrong[name][row])
        why = Why.FINITE
        if frame[name][row] is None:
            why = EXPECTED[frame[name].dtype.base_type()]
        bad.append(Bad(int(lines[row]), name, str(text[name][row]), why))
    return Table(frame.filter(~refused), lines[~refused], bad)


def block(
    table: Table, begin: Position, end: Position, source: Source, options: Options
) -> FileBlock:
    """The table as a block, target and weight apart from the features.

    `begin` is the position before the block; `end` has what is different after it, except counts.
    """
    allowed(table.bad, begin["skipped"], options.skip_bad, source.name)  # before what follows of it
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
        "coerced": begin["coerced"] + sum(count for count, *_ in table.odd.values()),
    }
    if source.encoding not in (None, UTF8):
        place["encoding"] = source.encoding
    if table.odd:
        files = begin.get("files", [])[-1:]
        place["odd_cells"] = _added(begin.get("odd_cells", {}), table.odd, files)
    return FileBlock(
        frame=frame.drop([name for name in (target, options.weight) if name is not None]),
        rows=None,
        lines=table.lines,
        start=begin,
        position=place,
        targets=None if target is None else _labels(frame[target]),
        weights=weights,
        done=source.done(),
    )


def _added(
    before: Mapping[str, Any], odd: Mapping[str, OddCells], files: list[str]
) -> dict[str, Any]:
    """The odd cells so far, as JSON: [count, line of the first, its text, its file if several]."""
    found = dict(before)
    for name, (count, line, text) in odd.items():
        earlier, *first = found.get(name, [0, line, text, *files])
        found[name] = [earlier + count, *first]
    return found


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
        Bad(int(table.lines[row]), name, str(column[row]), Why.WEIGHT)
        for row in np.flatnonzero(~good).tolist()
    ]
    frame = table.frame.filter(good)
    lines = table.lines[good]
    table = table._replace(frame=frame, lines=lines, bad=[*table.bad, *bad])
    return table, weights[good]
