"""Numbers as people write them: decimal commas, thousands separators, percent and currency signs.

A kind of column says how its numbers are written, by an example: "number" is as in Python,
"number 1.234,5" has decimal commas and may have points between thousands, "number 1234.5 $" may
have a sign before or after the number. A sign is a unit and is left out: `5%` is 5.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import polars as pl

MISSING_NUMBERS = ("-", ".", "--", "unknown")
"""Cells that are missing only in columns of numbers: elsewhere they may be a category."""

THOUSANDS = {"": "", ",": ",", ".": r"\.", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
"""Thousands separators, and what they look like."""

UNIT = r"[\p{Sc}%]"
KIND = re.compile(r"number 1(?P<thousands>[,. ']?)234(?P<decimal>[.,])5(?: (?P<unit>\S))?")
SAMPLE = 1000
"""Cells in which the unit of a column is looked for."""


class NumberFormat(NamedTuple):
    """Decimal sign, thousands separator and unit of the numbers of a column."""

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    @property
    def kind(self) -> str:
        """The format as a kind of column.

        >>> NumberFormat(",", ".", "€").kind, NumberFormat().kind
        ('number 1.234,5 €', 'number')
        """
        if self == PLAIN:
            return "number"
        return f"number 1{self.thousands}234{self.decimal}5 {self.unit}".rstrip()

    @staticmethod
    def of(kind: str) -> NumberFormat:
        """The format of a kind of column."""
        found = KIND.fullmatch(kind)
        return NumberFormat(**found.groupdict("")) if found else PLAIN

    def pattern(self) -> str:
        """What cells look like, blanks around them left out."""
        group = THOUSANDS[self.thousands]
        whole = rf"(?:[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d*)" if group else r"\d*"
        unit = re.escape(self.unit)
        before, after = (rf"(?:{unit}\s*)?", rf"(?:\s*{unit})?") if unit else ("", "")
        fraction = rf"(?:{re.escape(self.decimal)}\d*)?(?:[eE][+-]?\d+)?"
        return rf"^[+-]?{before}[+-]?{whole}{fraction}{after}$"


PLAIN = NumberFormat()


def numbers_of(cells: pl.Series, format: NumberFormat = PLAIN) -> tuple[pl.Series, pl.Series]:
    """The cells as numbers, null where they are missing or not numbers; and which are not.

    >>> numbers, is_odd = numbers_of(pl.Series(["1.5", None, "-", "abc"]))
    >>> numbers.to_list(), is_odd.to_list()
    ([1.5, None, None, None], [False, False, False, True])
    >>> numbers_of(pl.Series(["-1.234,5 €", "€ 7"]), NumberFormat(",", ".", "€"))[0].to_list()
    [-1234.5, 7.0]
    """
    text = cells.str.strip_chars(" \t" if format == PLAIN else None)
    if format != PLAIN:
        text = text.set(~text.str.contains(format.pattern()), None)
        signs = [THOUSANDS[format.thousands], re.escape(format.unit)]
        text = text.str.replace_all("|".join([*filter(None, signs), r"\s"]), "")
        if format.decimal != ".":
            text = text.str.replace(format.decimal, ".", literal=True)
    numbers = text.cast(pl.Float64, strict=False)
    is_odd = numbers.is_null() & cells.is_not_null()
    if is_odd.any():
        is_odd &= ~cells.fill_null("").str.strip_chars(" ").is_in(MISSING_NUMBERS)
    return numbers, is_odd


def most_odd_cells(present: int) -> int:
    """How many of the first cells of a column, missing ones left out, may not fit its type.

    >>> [most_odd_cells(present) for present in (1, 19, 20, 100, 199, 200, 1000)]
    [0, 0, 1, 1, 1, 2, 10]
    """
    return max(1, present // 100) if present >= 20 else 0


def are_numbers(cells: pl.Series, format: NumberFormat = PLAIN) -> bool:
    """Whether a column with these first cells, null where missing, is one of numbers.

    >>> are_numbers(pl.Series(["1", None, "-", "2"])), are_numbers(pl.Series(["-", "unknown"]))
    (True, False)
    """
    # Most columns of text show in their first cells that they have too many others.
    _, is_odd = numbers_of(cells.head(20 + len(cells) // 50), format)
    if is_odd.sum() > most_odd_cells(len(cells)):
        return False
    numbers, is_odd = numbers_of(cells, format)
    has_only_gaps = numbers.null_count() == len(cells) > cells.null_count()
    odd = int(is_odd.sum())
    present = len(cells) - numbers.null_count() + odd
    return not has_only_gaps and odd <= most_odd_cells(present)


class NumberSigns(NamedTuple):
    """The decimal sign and the thousands separator of a file; None if it is to be detected."""

    decimal: str | None = None
    thousands: str | None = None
    usual: str = "."
    """The decimal sign that most columns have."""

    def formats(self) -> list[NumberFormat]:
        """The formats that columns may have, in order of preference."""
        point = [NumberFormat(".", separator) for separator in ("", ",", " ", "'")]
        comma = [NumberFormat(",", separator) for separator in ("", ".", " ", "'")]
        # 1,234 has a decimal comma only where other columns show one; 1.234.567 is clear.
        all_formats = comma + point[:2] if self.usual == "," else point + comma[1:2]
        return [
            format
            for format in all_formats
            if self.decimal in (None, format.decimal)
            if self.thousands is None or format.thousands in ("", self.thousands)
        ]


DETECTED = NumberSigns()


def number_format(cells: pl.Series, signs: NumberSigns = DETECTED) -> NumberFormat | None:
    """The format in which a column with these first cells is one of numbers, if there is one.

    >>> number_format(pl.Series(["$1,250", "$900"])), number_format(pl.Series(["1,2", "a"]))
    (NumberFormat(decimal='.', thousands=',', unit='$'), None)
    """
    units = cells.head(SAMPLE).str.extract(f"({UNIT})").drop_nulls()
    unit = units[0] if len(units) else ""
    for format in signs.formats():
        found = format._replace(unit=unit)
        if are_numbers(cells, found) and _has_groups(cells, format.thousands):
            return found
    return None


def _has_groups(cells: pl.Series, thousands: str) -> bool:
    """Whether a thousands separator, if it is one, is in some cell."""
    return not thousands or bool(cells.str.contains(rf"\d{THOUSANDS[thousands]}\d{{3}}").any())


def decimal_sign(cells: pl.DataFrame, separator: str) -> str:
    """The decimal sign of a file with these first cells.

    Only between semicolons and tabs a comma can be one. Cells such as 1,5 show it. In a file with
    semicolons 1,234 does too, unless another column has decimal points.

    >>> decimal_sign(pl.DataFrame({"a": ["1,5", "2"], "b": ["1,234", "x"]}), ";")
    ','
    """
    if separator not in (";", "\t"):
        return "."
    comma = NumberSigns(",", usual=",")
    columns = [each for each in cells if number_format(each, comma) is not None]
    if any(each.str.contains(_unlike_groups(",")).any() for each in columns):
        return ","
    points = (each.str.contains(_unlike_groups(r"\.")) for each in cells if are_numbers(each))
    if separator == ";" and not any(found.any() for found in points):
        return "," if any(each.str.contains(",").any() for each in columns) else "."
    return "."


def _unlike_groups(sign: str) -> str:
    """A number in which the sign is not between groups of three digits."""
    return rf"\d{sign}(?:\d{{1,2}}|\d{{4,}})(?:\D|$)|(?:^|\D)0{sign}\d"
