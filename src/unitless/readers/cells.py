"""Cells of text: which ones are missing, what kind of column they make, and their values.

A kind of column says how its cells are written. "number" is as in Python, other spellings of
numbers are named by an example (see `number_cells`). "date" is an ISO 8601 date, "datetime" one
with a time (a cell without is midnight), "date %d.%m.%Y" another spelling in the codes of
`strftime` (see `date_cells`); a time zone is left out, because dates are encoded in local time.
Others are "boolean" (true and false in any case), "string" and "category".
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from unitless.readers.date_cells import (
    dates,
    formats_by_order,
    is_plausible,
    iso_kind,
    number_formats,
)
from unitless.readers.number_cells import (
    USUAL,
    Converted,
    most_odd_cells,
    number_kind,
    numbers_of,
    plain_numbers,
    target_kind,
)

MISSING = (
    *("", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "NAN", "nan"),
    *("null", "NULL", "Null", "None", "?"),
)
"""Cells that are missing in every column; blanks around them do not matter."""

SAMPLE = 1000
"""Cells that show that a column is text or an identifier."""
FEW_ROWS = 100
"""Up to here, as in the blocks of a slow pipe, one query costs more than the cells."""
FEWEST = 20
"""Fewer cells do not show that it is text or an identifier."""


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


def converted(cells: pl.Series, kind: str) -> Converted:
    """The values of cells in a column of that kind, null where missing; and which cells are odd.

    >>> values, is_odd = converted(pl.Series(["-1.234,5 €", None, "-", "abc"]), "number 1.234,5 €")
    >>> values.to_list(), is_odd.to_list()
    ([-1234.5, None, None, None], [False, False, False, True])
    """
    if kind.startswith("number"):
        return numbers_of(cells, kind)
    if kind in ("string", "category"):
        values = cells
    elif kind == "boolean":
        words = {"true": True, "false": False}
        lower = cells.str.to_lowercase()
        values = lower.replace_strict(words, default=None, return_dtype=pl.Boolean)
    else:
        values = dates(cells, kind)
    return values.alias(cells.name), values.is_null() & cells.is_not_null()


def fits(cells: pl.Series, kind: str) -> bool:
    """Whether cells, null where missing, make a column of that kind: all of them, or nearly all."""
    values = cells
    few = cells.head(20 + len(cells) // 50)
    for part in (few, cells):  # the first few usually tell
        values, is_odd = converted(part, kind)
        odd = int(is_odd.sum())
        present = len(part) - values.null_count() + odd
        most = most_odd_cells(present if part is cells else len(cells))
        if odd > (0 if kind == "boolean" else most):
            return False
    return values.null_count() < len(cells) or cells.null_count() == len(cells)


def odd_cells(cells: pl.Series, kind: str) -> int:
    """How many cells do not fit that kind."""
    return int(converted(cells, kind)[1].sum())


def date_kinds(cells: pl.Series) -> list[str]:
    """The kinds of dates that fit the cells best: several, if cells do not show which is right.

    Only the order of day, month and year may be open. Between points the day comes first, if that
    fits.

    >>> date_kinds(pl.Series(["05/06/2021", "31/01/2021"])), date_kinds(pl.Series(["05/06/2021"]))
    (['date %d/%m/%Y'], ['date %d/%m/%Y', 'date %m/%d/%Y'])
    """
    iso = iso_kind(cells)
    if cells.null_count() < len(cells) and fits(cells, iso):
        return [iso]
    odd: dict[str, int] = {}
    for forms in formats_by_order(cells).values():
        counts = {f"date {form}": 0 for form in forms if fits(cells, f"date {form}")}
        for kind in counts:
            counts[kind] = odd_cells(cells, kind)
        if counts:
            best = min(counts, key=lambda kind: counts[kind])
            odd[best] = counts[best]
    found = [kind for kind in odd if odd[kind] == min(odd.values())]
    usual = [kind for kind in found if kind.startswith("date %d.%m.")]
    return usual or found


def epoch_kind(name: str, cells: pl.Series) -> str | None:
    """The kind of a column of numbers that are dates, because of its name and their sizes.

    >>> epoch_kind("event_time", pl.Series([1612101600.0, 1612188000.0]))
    'date %s'
    """
    forms = number_formats(name)
    numbers = cells if cells.dtype.is_numeric() or not forms else plain_numbers(cells)
    present = len(cells) - cells.null_count()
    for form in forms if present else ():
        others = present - int(is_plausible(numbers, form).sum())
        is_written = cells.dtype.is_numeric() or fits(cells, f"date {form}")
        if others <= most_odd_cells(present) and is_written:
            return f"date {form}"
    return None


def kind_of_cells(
    cells: pl.Series, numbers: Sequence[str] = USUAL, *, is_label: bool = False
) -> str:
    """The kind of a column with these first cells, null where they are missing.

    Labels, which are never dates, keep the spelling of the file if they are not numbers.
    """
    if cells.null_count() == len(cells):
        return numbers[0]
    if is_label:
        return target_kind(cells, numbers) or "string"
    number = number_kind(cells, numbers)
    if number is not None:
        return epoch_kind(cells.name, cells) or number
    if fits(cells, "boolean"):
        return "boolean"
    found = date_kinds(cells)
    return found[0] if len(found) == 1 else "string"


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
