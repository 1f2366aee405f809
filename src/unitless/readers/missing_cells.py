"""Which cells of text are missing, whatever the kind of their column."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

MISSING = (
    *("", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "NAN", "nan"),
    *("null", "NULL", "Null", "None", "?"),
)
"""Cells that are missing in every column; blanks around them do not matter."""

FEW_ROWS = 100
"""Up to here, as in the blocks of a slow pipe, one query costs more than the cells."""


class MissingCells:
    """The cells that count as missing: those above, and the tokens that the user adds.

    A token that is a number means its value, however a cell writes it. `usual` are the cells that
    are missing without being added.
    """

    def __init__(self, added: Sequence[str] = (), usual: Sequence[str] = MISSING) -> None:
        tokens = [token.strip() for token in added]
        values = pl.Series(tokens, dtype=pl.String).cast(pl.Float64, strict=False)
        self.tokens = [*usual, *tokens]
        self.values = values.filter(values.is_finite()).to_list()
        known = zip(tokens, values, strict=True)
        words = [token for token, value in known if value is None]
        self.words = [text for text in [*usual[1:], *words] if text.lower() != "nan"]
        """Those that polars does not parse as a number or an empty cell by itself."""

    def without_tokens(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with null for the missing cells of its columns of text."""
        strings = pl.col(pl.String)
        has_blanks = strings.str.starts_with(" ") | strings.str.ends_with(" ")
        # Looking for blanks in many rows is faster than removing them, and they are rare.
        may_have = frame.height <= FEW_ROWS or any(map(any, frame.select(has_blanks.any()).rows()))
        cells = strings.str.strip_chars(" ") if may_have else strings
        return frame.with_columns(pl.when(~cells.is_in(self.tokens)).then(strings))

    def without_values(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with null for the missing cells of its columns of numbers."""
        if not self.values:
            return frame
        numbers = pl.col(pl.Float64)
        return frame.with_columns(pl.when(~numbers.is_in(self.values)).then(numbers))
