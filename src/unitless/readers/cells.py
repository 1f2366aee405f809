"""Cells of text: which ones are missing, what kind of column they make, and their values.

A kind of column says how its cells are written. "number" is as in Python; other spellings are named
by an example: "number 1.234,5" has decimal commas and may have points between thousands, "number
1234.5 $" may have a sign before or after the number, which is a unit and left out. "date" is an ISO
8601 date, "datetime" one with a time (a cell without is midnight), "date %d.%m.%Y" another spelling
in the codes of `strftime`; a time zone is left out, because dates are encoded in local time. Others
are "boolean" (true and false in any case), "string" and "category".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import polars as pl

MISSING = (
    *("", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "NAN", "nan"),
    *("null", "NULL", "Null", "None", "?"),
)
"""Cells that are missing in every column; blanks around them do not matter."""

MISSING_NUMBERS = ("-", ".", "--", "unknown")
"""Cells that are missing only in columns of numbers: elsewhere they may be a category."""

POINT = ("number", "number 1,234.5", "number 1 234.5", "number 1'234.5")
COMMA = ("number 1234,5", "number 1.234,5", "number 1 234,5", "number 1'234,5")
"""Spellings of numbers."""

EXAMPLE = re.compile(r"number 1([,. ']?)234([.,])5(?: (\S))?")
"""What follows 1 is between thousands, what precedes 5 is the decimal sign, the last is a unit."""

THOUSANDS = {"": "", ",": ",", ".": r"\.", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
"""Thousands separators, and what they look like."""

DAY = r"^\s*(\d{4}-\d\d-\d\d)"
ISO = DAY + r"(?:[T ](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?\s?(?:Z|[+-]\d\d(?::?\d\d)?)?)?\s*$"
TIMES = ("%H", "%I", "%k", "%l", "%M", "%S", "%T", "%R", "%r", "%X", "%c", "%s", "%+")
"""Codes of the time of day."""

SAMPLE = 1000
"""Cells that show the unit of a column, or that it is text or an identifier."""
FEWEST = 20
"""Fewer cells do not show that it is text or an identifier."""

Converted = tuple[pl.Series, pl.Series]
"""Values, null where cells are missing or odd; and which cells are odd: they do not fit."""


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


def converted(cells: pl.Series, kind: str) -> Converted:
    """The values of cells in a column of that kind, null where missing; and which cells are odd.

    >>> values, is_odd = converted(pl.Series(["-1.234,5 €", None, "-", "abc"]), "number 1.234,5 €")
    >>> values.to_list(), is_odd.to_list()
    ([-1234.5, None, None, None], [False, False, False, True])
    """
    if kind in ("string", "category"):
        values = cells
    elif kind == "boolean":
        words = {"true": True, "false": False}
        lower = cells.str.to_lowercase()
        values = lower.replace_strict(words, default=None, return_dtype=pl.Boolean)
    elif kind.startswith("date"):
        values = _dates(cells, kind)
    else:
        values = _numbers(cells, kind)
    is_odd = values.is_null() & cells.is_not_null()
    if values.dtype == pl.Float64 and is_odd.any():
        is_odd &= ~cells.fill_null("").str.strip_chars(" ").is_in(MISSING_NUMBERS)
    return values.alias(cells.name), is_odd


def _signs(kind: str) -> tuple[str, ...]:
    """Thousands separator, decimal sign and unit of numbers of that kind."""
    found = EXAMPLE.fullmatch(kind)
    return found.groups("") if found else ("", ".", "")


def plain_numbers(cells: Any) -> Any:
    """Numbers as Python writes them, of a series or an expression; null for other cells."""
    return cells.str.strip_chars(" \t").cast(pl.Float64, strict=False)


def _numbers(cells: pl.Series, kind: str) -> pl.Series:
    if kind == "number":
        return plain_numbers(cells)
    thousands, decimal, unit = _signs(kind)
    group = THOUSANDS[thousands]
    whole = rf"(?:[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d*)" if group else r"\d*"
    sign = re.escape(unit)
    before, after = (rf"(?:{sign}\s*)?", rf"(?:\s*{sign})?") if unit else ("", "")
    fraction = rf"(?:{re.escape(decimal)}\d*)?(?:[eE][+-]?\d+)?"
    text = cells.str.strip_chars()
    is_number = text.str.contains(rf"^[+-]?{before}[+-]?{whole}{fraction}{after}$")
    text = text.set(~is_number, None)
    text = text.str.replace_all("|".join([*filter(None, [group, sign]), r"\s"]), "")
    return text.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False)


def _dates(cells: pl.Series, kind: str) -> pl.Series:
    text = cells.str.strip_chars()
    form = kind.partition(" ")[2]
    if form and not any(code in form for code in TIMES):
        return text.str.to_date(form, strict=False)
    if not form:
        day, clock, seconds = text.str.extract_groups(ISO).struct.unnest()
        if kind == "date":
            return day.set(clock.is_not_null(), None).str.to_date("%Y-%m-%d", strict=False)
        seconds = seconds.fill_null(":00").str.replace(",", ".", literal=True)
        text = day + "T" + clock.fill_null("00:00") + seconds
    return text.str.to_datetime(form or "%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False)


def most_odd_cells(present: int) -> int:
    """How many of the first cells of a column, missing ones left out, may not fit its type."""
    return max(1, present // 100) if present >= 20 else 0


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


def number_kind(cells: pl.Series, kinds: Sequence[str] = (*POINT, COMMA[1])) -> str | None:
    """The first of these kinds, with a unit if cells have one, that fits the cells.

    >>> number_kind(pl.Series(["$1,250", "$900"])), number_kind(pl.Series(["1,2", "a"]))
    ('number 1,234.5 $', None)
    """
    units = cells.head(SAMPLE).str.extract(r"([\p{Sc}%])").drop_nulls()
    for kind in kinds:
        found = kind
        if len(units):
            found = f"{'number 1234.5' if kind == 'number' else kind} {units[0]}"
        if fits(cells, found) and _has_groups(cells, kind):
            return found
    return None


def _has_groups(cells: pl.Series, kind: str) -> bool:
    """Whether the thousands separator of a kind, if it has one, is in some cell."""
    group = THOUSANDS[_signs(kind)[0]]
    return not group or bool(cells.str.contains(rf"\d{group}\d{{3}}").any())


def number_kinds(
    usual: str = ".", decimal: str | None = None, thousands: str | None = None
) -> list[str]:
    """The spellings of numbers to try in a file, in order of preference.

    1,234 has a decimal comma only where that is the usual sign of the file; 1.234.567 is clear.
    The decimal sign and the thousands separator ("" for none) may be given.
    """
    found = []
    for kind in (*COMMA, *POINT[:2]) if usual == "," else (*POINT, COMMA[1]):
        separator, sign, _ = _signs(kind)
        if decimal in (None, sign) and (thousands is None or separator in ("", thousands)):
            found.append(kind)
    return found


def decimal_sign(cells: pl.DataFrame, separator: str) -> str:
    """The decimal sign of a file with these first cells.

    Only between semicolons and tabs a comma can be one. Cells such as 1,5 show it. In a file with
    semicolons 1,234 does too, unless another column has decimal points.
    """
    if separator not in (";", "\t"):
        return "."
    columns = [each for each in cells if number_kind(each, COMMA) is not None]
    if any(each.str.contains(_unlike_groups(",")).any() for each in columns):
        return ","
    points = (each.str.contains(_unlike_groups(r"\.")) for each in cells if fits(each, "number"))
    if separator == ";" and not any(found.any() for found in points):
        return "," if any(each.str.contains(",").any() for each in columns) else "."
    return "."


def _unlike_groups(sign: str) -> str:
    """A number in which the sign is not between groups of three digits."""
    return rf"\d{sign}(?:\d{{1,2}}|\d{{4,}})(?:\D|$)|(?:^|\D)0{sign}\d"


def date_kind(cells: pl.Series) -> str:
    """The kind of a column of ISO 8601 dates, of which some may have a time."""
    return "datetime" if cells.str.contains(DAY + r"[T ]\d").any() else "date"


def kind_of_cells(cells: pl.Series, numbers: Sequence[str] = (*POINT, COMMA[1])) -> str:
    """The kind of a column with these first cells, null where they are missing."""
    number = number_kind(cells, numbers)
    if number is not None:
        return number
    kinds = ("boolean", date_kind(cells))
    return next((kind for kind in kinds if fits(cells, kind)), "string")


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
