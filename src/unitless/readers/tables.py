"""What the readers of tables (CSV, JSON lines, Parquet, Arrow) share: a frame -> a block.

Frames have columns of Float64, String, Boolean, Date, Datetime and List(String).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from unitless.encoders import column_kinds, number_spellings
from unitless.encoders.date_formats import iso_kind
from unitless.readers.blocks import (
    LONGEST_TEXT,
    Bad,
    FileBlock,
    OddCells,
    Options,
    Position,
    ReadError,
    Why,
    allowed,
    line_of,
)
from unitless.readers.encodings import UTF8
from unitless.readers.missing_cells import MissingCells
from unitless.readers.source import Source
from unitless.suggestions import no_such_column

Int = NDArray[np.int64]

LARGEST_WHOLE = 2.0**53
"""Up to here, float64 has every whole number."""

EXPECTED = {
    "boolean": Why.BOOLEAN,
    "number": Why.NUMBER,
    "date": Why.DATE,
    "datetime": Why.DATE,
}
REFUSED = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What polars raises for a file it cannot read."""


class OddCell(NamedTuple):
    """A cell that does not fit its column; it is missing in the frame."""

    row: int
    column: str
    text: str
    why: str


row_of = attrgetter("row")
"""Sorts odd cells."""


class FileTable(NamedTuple):
    """A frame, the line of each of its rows, bad lines, odd cells, and columns that are new."""

    frame: pl.DataFrame
    lines: Int
    bad: Sequence[Bad]
    odd: Sequence[OddCell] = ()
    new: Sequence[str] = ()


def is_pattern(name: str) -> bool:
    """Whether polars would interpret the name of a column as a pattern, as `*` and `^a.*$`."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def too_large(frame: pl.DataFrame) -> list[str]:
    """Columns with a number that may be a whole number which float64 cannot hold."""
    largest = frame.select(selectors.float().abs().max())
    return [name for name in largest.columns if (largest[name][0] or 0) >= LARGEST_WHOLE]


def is_finite(column: pl.Series) -> bool:
    """Whether no number of a column is infinite; a finite sum answers this fast."""
    return math.isfinite(column.sum() or 0) or not column.is_infinite().any()


def with_times(
    text: pl.DataFrame, kinds: Mapping[str, object], names: Iterable[str]
) -> dict[str, Any]:
    """The kinds, in which a column that is declared a date is "datetime" if cells have times."""
    dates = [name for name in names if kinds.get(name) == "date" and name in text.columns]
    columns = [text[name] for name in dates if text[name].dtype == pl.String]
    return {**kinds, **{column.name: iso_kind(column) for column in columns}}


def typed(
    text: pl.DataFrame, kinds: Mapping[str, str], *, numbers_are_finite: bool = False
) -> tuple[pl.DataFrame, list[OddCell]]:
    """The columns of text as their kinds say, without infinite numbers; and the odd cells.

    An infinite number does not fit a column: this is the one place where readers of tables look for
    it, unless they know that the columns that are numbers already are finite.
    """
    columns = []
    odd: list[OddCell] = []
    for column in text:
        kind = kinds.get(column.name, "string")
        values = column
        if column.dtype == pl.String and kind not in ("string", "category"):
            values, is_odd = column_kinds.converted(column, kind)
            odd += _odd_cells(column, is_odd, EXPECTED[kind.partition(" ")[0]])
        elif numbers_are_finite:
            continue
        if values.dtype == pl.Float64 and not is_finite(values):
            infinite = values.is_infinite().fill_null(False)
            odd += _odd_cells(column, infinite, Why.FINITE)
            values = values.set(infinite, None)
        if values is not column:
            columns.append(values)
    return text.with_columns(columns), odd


def spelled_numbers(
    text: pl.DataFrame, options: Options, mixed: Collection[str] = ()
) -> dict[str, str]:
    """The spelling of each column of strings, of formats that have numbers, that holds numbers.

    Of the `mixed` columns, some values were numbers.
    """
    signs = options.decimal, options.thousands
    usual = options.decimal or number_spellings.decimal_sign(text, "\t")
    spellings = number_spellings.number_kinds(usual, *signs)
    if options.exact:  # a conversion keeps strings, and so their digits
        spellings = ["number"]
    has_groups = usual == "," and options.thousands is None  # perhaps later
    found = {}
    for column in MissingCells(options.na).without_tokens(text):
        name = column.name
        kind = column_kinds.kind_of_written_numbers(
            column,
            spellings,
            options.types.get(name),
            is_mixed=name in mixed,
            is_target=name == options.target,
            is_weight=name == options.weight,
        )
        if kind is not None:
            found[name] = number_spellings.with_groups(kind) if has_groups else kind
    return found


def settled_types(options: Options) -> dict[str, str]:
    """The types that were given and say how strings are spelled."""
    types = options.types.items()
    return {name: kind for name, kind in types if kind not in ("label", "number")}


def _odd_cells(column: pl.Series, is_odd: pl.Series, why: str) -> list[OddCell]:
    rows = is_odd.arg_true()
    found = zip(rows, column.gather(rows), strict=True)
    return [OddCell(row, column.name, str(text), why) for row, text in found]


def block(
    table: FileTable, begin: Position, end: Position, source: Source, options: Options
) -> FileBlock:
    """The table as a block, target and weight apart from the features.

    `begin` is the position before the block, `end` that after it, except counts.
    With `strict` a row with an odd cell is a bad line, and so is always one with a bad weight.
    """
    frame, lines, bad, odd, new = table
    allowed(bad, begin.skipped, options.skip_bad, source.name)  # before what follows of it
    given = [name for name in (options.target, options.weight) if name is not None]
    for name in given:
        if name not in frame.columns:
            raise ReadError(no_such_column(name, frame.columns), file=source.name)
    refused: dict[int, Bad] = {}
    for row, *what in odd if options.strict else ():
        refused.setdefault(row, Bad(int(lines[row]), *what))
    weights = None
    if options.weight is not None:
        weights = _weights(frame[options.weight], source.name)
        for row in np.flatnonzero(~(weights >= 0)).tolist():
            cell = frame[options.weight][row]
            why = "the weight is missing; use 0 to leave a row out" if cell is None else Why.WEIGHT
            shown = None if cell is None else str(cell)
            refused.setdefault(row, Bad(int(lines[row]), options.weight, shown, why))
    coerced = end.coerced
    odd_cells = end.odd_cells
    if odd and not options.strict:
        coerced += len(odd)
        odd_cells = _added(begin, odd, lines)
    if refused:
        kept = np.ones(len(lines), dtype=bool)
        kept[[*refused]] = False
        frame = frame.filter(kept)
        lines = lines[kept]
        weights = None if weights is None else weights[kept]
    bad = [*bad, *refused.values()]
    place = msgspec.structs.replace(
        end,
        rows=begin.rows + frame.height,
        skipped=allowed(bad, begin.skipped, options.skip_bad, source.name),
        coerced=coerced,
        odd_cells=odd_cells,
        encoding=end.encoding if source.encoding in (None, UTF8) else source.encoding,
    )
    return FileBlock(
        frame=frame.drop(given),
        rows=None,
        lines=lines,
        start=begin,
        position=place,
        targets=None if options.target is None else _labels(frame[options.target]),
        weights=weights,
        bad=sorted(bad, key=line_of),
        first_rows={name: _first_value(frame[name]) for name in new if name not in given},
        done=source.done(),
    )


def _first_value(column: pl.Series) -> int:
    """The first row with a value; the number of rows if there is none."""
    row = column.is_not_null().arg_max()
    return len(column) if row is None or column[row] is None else row


def _added(begin: Position, odd: Sequence[OddCell], lines: Int) -> dict[str, OddCells]:
    """The odd cells so far."""
    file = begin.files[-1] if begin.files else None
    found = dict(begin.odd_cells)
    for name, count in Counter(cell.column for cell in odd).items():
        before = found.get(name)
        if before is None:
            first = min((cell for cell in odd if cell.column == name), key=row_of)
            text = first.text[: LONGEST_TEXT + 1]
            before = OddCells(0, int(lines[first.row]), text, file)
        found[name] = msgspec.structs.replace(before, count=before.count + count)
    return found


def _labels(column: pl.Series) -> NDArray[Any]:
    """Numbers with NaN, or objects with None."""
    if column.dtype == pl.Float64:
        return column.to_numpy()
    return np.array(column.to_list(), dtype=object)


def _weights(column: pl.Series, file: str) -> NDArray[np.float64]:
    if column.dtype != pl.Float64:
        why = "importances are numbers, and this column holds others; types can say 'number'"
        raise ReadError(why, file=file, column=column.name)
    return column.to_numpy()
