"""Cells of columns of text: which ones are missing, and what kind of column they make."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from unitless.readers.date_cells import date_kind
from unitless.readers.number_cells import DETECTED, NumberSigns, number_format

MISSING = (
    *("", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "NAN", "nan"),
    *("null", "NULL", "Null", "None", "?"),
)
"""Cells that are missing in every column; blanks around them do not matter."""

SAMPLE = 1000
"""Cells that show whether a column is text or an identifier."""
FEWEST = 20
"""Fewer cells do not show it."""


class MissingCells:
    """The cells that count as missing: those above, and the tokens that the user adds.

    A token that is a number means its value, however a cell writes it.
    """

    def __init__(self, added: Sequence[str] = ()) -> None:
        tokens = [token.strip() for token in added]
        values = pl.Series(tokens, dtype=pl.String).cast(pl.Float64, strict=False)
        self.tokens = [*MISSING, *tokens]
        self.values = values.filter(values.is_finite()).to_list()
        known = zip(tokens, values, strict=True)
        words = [token for token, value in known if value is None]
        self.words = [text for text in [*MISSING[1:], *words] if text.lower() != "nan"]
        """Those that polars does not parse as a number or an empty cell by itself."""

    def without_tokens(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with null for the missing cells of its columns of text."""
        strings = pl.col(pl.String)
        has_blanks = strings.str.starts_with(" ") | strings.str.ends_with(" ")
        # Looking for blanks is faster than removing them, and they are rare.
        found = frame.select(has_blanks.any())
        cells = strings.str.strip_chars(" ") if any(map(any, found.rows())) else strings
        return frame.with_columns(pl.when(~cells.is_in(self.tokens)).then(strings))

    def without_values(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with null for the missing cells of its columns of numbers."""
        if not self.values:
            return frame
        numbers = pl.col(pl.Float64)
        return frame.with_columns(pl.when(~numbers.is_in(self.values)).then(numbers))


def booleans_of(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The cells as booleans, null where they are missing or not booleans; and which are not.

    >>> booleans, is_odd = booleans_of(pl.Series(["TRUE", None, "false", "maybe"]))
    >>> booleans.to_list(), is_odd.to_list()
    ([True, None, False, None], [False, False, False, True])
    """
    values = {"true": True, "false": False}
    words = cells.str.to_lowercase()
    booleans = words.replace_strict(values, default=None, return_dtype=pl.Boolean)
    return booleans, booleans.is_null() & cells.is_not_null()


def kind_of_cells(cells: pl.Series, signs: NumberSigns = DETECTED) -> str:
    """The kind of a column with these first cells, null where they are missing."""
    format = number_format(cells, signs)
    if format is not None:
        return format.kind
    for part in (cells.head(100), cells):  # the first few usually tell
        _, is_odd = booleans_of(part)
        if is_odd.any():
            return date_kind(cells) or "string"
    return "boolean"


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
