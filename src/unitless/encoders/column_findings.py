"""What the first rows show about the columns of a table: text, identifiers, empty columns.

These functions only decide. `unitless.model.decision_sentences` words it for files, the estimators
for data frames.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import polars as pl

from unitless.encoders.column_kinds import date_kinds
from unitless.encoders.dataframes import type_name
from unitless.encoders.number_spellings import (
    NumberFit,
    has_leading_zeros,
    number_fit_of,
    units_of,
)
from unitless.labels import alike

STRINGS = ("String", "Categorical", "Enum")
"""Types of columns whose values are strings."""
SAMPLE = 1000
"""Cells that show that a column is text or an identifier."""
FEWEST = 20
"""Fewer cells do not show that it is text or an identifier."""
MOST_UNITS = 5
"""Different units of a column of numbers."""
MOST_LEVELS = 1000
"""Levels of a column among which spellings are compared."""


class ColumnFindings(NamedTuple):
    """Names of columns by what was found about them; what a user asked for is no finding."""

    text: list[str]
    """Several words in most cells: words are counted."""
    identifiers: list[str]
    """Strings that are different in every row: left out."""
    counters: list[str]
    """Consecutive whole numbers."""
    empty: list[str]
    """No value in any row: no feature before the first value."""
    codes: list[str]
    """Whole numbers with leading zeros, which are categories."""
    dates: dict[str, list[str]]
    """Strings that are dates, with the kinds that fit."""
    alike: dict[str, list[list[str]]]
    """Levels that differ only in case or blanks."""
    nearly_numbers: dict[str, NumberFit]
    """Strings of which most are numbers."""
    units: dict[str, list[str]]
    """Strings of which most are numbers with one of a few units, "" for none."""


def findings(
    frame: pl.DataFrame, asked: Collection[str] = (), *, identifier_as_feature: bool = False
) -> ColumnFindings:
    """What the first block of a file shows; the user said what the columns `asked` are."""
    open_ones = [column for column in frame if column.name not in asked]
    words = [column for column in open_ones if column.dtype == pl.String]
    dates = {column.name: kinds for column in words if (kinds := date_kinds(column))}
    text = [each.name for each in words if each.name not in dates and is_text(each)]
    no_identifiers = {*asked, *text, *dates}
    identifiers = [] if identifier_as_feature else identifier_columns(frame, no_identifiers)
    others = {*text, *dates, *identifiers}
    levels = [column for column in words if column.name not in others]
    numbers = [column for column in open_ones if column.dtype.is_numeric()]
    spellings = {column.name: alike(_levels(column)) for column in levels}
    return ColumnFindings(
        text=text,
        identifiers=identifiers,
        counters=[column.name for column in numbers if is_identifier(column)],
        empty=empty_columns(frame),
        codes=[column.name for column in levels if has_leading_zeros(column)],
        dates=dates,
        alike={name: groups for name, groups in spellings.items() if groups},
        nearly_numbers={each.name: fit for each in levels if (fit := _mostly_numbers(each))},
        units={each.name: units for each in levels if (units := _different_units(each))},
    )


def _mostly_numbers(column: pl.Series) -> NumberFit | None:
    """How the cells read as numbers, if more than half of them are."""
    fit = number_fit_of(column.to_list())
    return fit if fit is not None and 2 * fit.numbers > fit.present else None


def _different_units(column: pl.Series) -> list[str]:
    """The units of the cells, if more than half are numbers with one of a few units."""
    units = units_of(column).drop_nulls()
    found = units.unique().sort().to_list()
    is_most = 2 * len(units) > len(column) - column.null_count()
    return found if is_most and 1 < len(found) <= MOST_UNITS else []


def identifier_columns(table: Any, asked: Collection[str] = ()) -> list[str]:
    """The columns of strings that are different in every row, of a frame of any library."""
    found = []
    for name, dtype in table.schema.items():
        if name not in asked and _is_string(dtype):
            values = table.get_column(name).drop_nulls().head(SAMPLE).to_list()
            strings = [value for value in values if isinstance(value, str)]
            if len(strings) == len(values) and is_identifier(pl.Series(strings, dtype=pl.String)):
                found.append(name)
    return found


def empty_columns(table: Any) -> list[str]:
    """The columns without a value in any row, of a frame of any library."""
    return [name for name in table.columns if len(table) and _is_empty(table.get_column(name))]


def _is_string(dtype: object) -> bool:
    return type_name(dtype) in STRINGS


def _is_empty(column: Any) -> bool:
    missing = column.is_null()
    if column.dtype.is_float():
        missing = missing | column.is_nan().fill_null(True)
    return bool(missing.all())


def _levels(column: pl.Series) -> Sequence[str]:
    return column.drop_nulls().unique(maintain_order=True).head(MOST_LEVELS).to_list()


def is_text(cells: pl.Series) -> bool:
    """Whether most cells are different, and have several words.

    >>> is_text(pl.Series([f"come to room {k}" for k in range(20)])), is_text(pl.Series(["a b c"]))
    (True, False)
    """
    cells = cells.drop_nulls().head(SAMPLE)
    if len(cells) < FEWEST or cells.n_unique() <= len(cells) / 2:
        return False
    words = cells.str.count_matches(r"\w+")
    return int((words >= 3).sum()) > len(cells) / 2


def is_identifier(cells: pl.Series) -> bool:
    """Whether all cells are different and single words, or the whole numbers one after another.

    >>> is_identifier(pl.Series(range(20))), is_identifier(pl.Series([f"id{k}" for k in range(20)]))
    (True, True)
    """
    cells = cells.drop_nulls().head(SAMPLE)
    if len(cells) < FEWEST:
        return False
    if cells.dtype.is_numeric():
        return bool((cells.diff().drop_nulls() == 1).all())
    return cells.n_unique() == len(cells) and not cells.str.contains(r"\S\s+\S").any()
