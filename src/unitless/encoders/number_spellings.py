"""Numbers as people write them in files: spellings, and which spelling the cells of a column have.

A spelling is named by an example. "number" is as in Python. In all others a negative number may
also be written (5), 5- or with a Unicode minus, and the example shows the signs: "number 1.234,5"
has decimal commas and may have points between thousands, "number 1234.5 $" may have a sign before
or after the number, and "number 1234.5 kg" has this word after each number. Sign and word are a
unit, which is left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from unitless.labels import may_be_classes

MISSING_NUMBERS = ("-", ".", "--", "unknown")
"""Cells that are missing only in columns of numbers: elsewhere they may be a category."""

POINT = ("number", "number 1234.5", "number 1,234.5", "number 1 234.5", "number 1'234.5")
COMMA = ("number 1234,5", "number 1.234,5", "number 1 234,5", "number 1'234,5")
"""Spellings of numbers."""

WITHOUT_GROUPS = ("number", "number 1234.5", "number 1234,5")
USUAL = (*POINT, COMMA[1])
"""What is tried if the usual decimal sign is a point: 1.234.567 is clear, 1,5 is not."""

EXAMPLE = re.compile(r"number 1([,. ']?)234([.,])5(?: (\S+))?")
"""What follows 1 is between thousands, what precedes 5 is the decimal sign, the last is a unit."""

THOUSANDS = {"": "", ",": ",", ".": r"\.", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
"""Thousands separators, and what they look like."""

BLANKS = " \t\u00a0\u202f"
"""What may be around a number and between number and unit; a carriage return is no blank."""
B = f"[{BLANKS}]"

MINUS = "[-\u2212\u2013]"
"""The minus of keyboards and that of Unicode, and the dash that stands for it in documents."""

PERCENT = "%\u2030"
SIGN = rf"[A-Z]{{0,3}}\p{{Sc}}|[{PERCENT}]"
CURRENCIES = (
    "EUR USD GBP CHF JPY CNY RMB INR AUD CAD NZD SEK NOK DKK ISK PLN CZK HUF RON BGN TRY RUB UAH "
    "BRL MXN ARS CLP COP PEN ZAR KRW SGD HKD TWD THB IDR MYR PHP VND ILS AED SAR EGP NGN KES Rs kr"
)
BEFORE = SIGN + "|" + CURRENCIES.replace(" ", "|")
"""Units before a number. Other words before it, as in user17, are names."""
AFTER = SIGN + r"|[\p{L}°][\p{L}°/²³·%]{0,11}\.?"
"""Units after a number: a sign or a word, such as kg, km/h or m²."""

OPENING = rf"[{BLANKS}(+\-\u2212\u2013]*"
CLOSING = rf"[{BLANKS})\-\u2212\u2013]*"
ANY_NUMBER = (
    rf"^{OPENING}(?P<before>{BEFORE})?{OPENING}"
    rf"[.,]?\d[\d.,'\u2019{BLANKS}]*(?:[eE][+-]?\d+)?"
    rf"{CLOSING}(?P<after>{AFTER})?{CLOSING}$"
)
"""A number in any spelling, with or without a unit, and some texts that are none."""

LEADING_ZEROS = r"^\s*0\d+\s*$"
"""A whole number that is no plain number, but a code."""

MOST_SPELLINGS = 5
"""Distinct cells that are no numbers in a column of numbers, if they are more than a few."""

FEW_CELLS = 20
"""First cells that usually show that a column is not of a kind."""

Converted = tuple[pl.Series, pl.Series]
"""Values, null where cells are missing or odd; and which cells are odd: they do not fit."""


class NumberFit(NamedTuple):
    """How the cells of a column read in the spelling that fits most of them."""

    kind: str
    numbers: int
    """How many cells are numbers."""
    odd: int
    """How many are not, missing ones left out."""
    spellings: list[str]
    """The distinct ones of these, most frequent first."""

    @property
    def present(self) -> int:
        """How many cells are not missing."""
        return self.numbers + self.odd

    @property
    def is_mostly_numbers(self) -> bool:
        """Whether at least nine tenths of the cells are numbers."""
        return self.numbers > 0 and self.odd * 10 <= self.present

    @property
    def is_nearly_all_numbers(self) -> bool:
        """Whether all cells are numbers, or all but 1 %; this makes a target numeric."""
        return self.numbers > 0 and self.odd <= most_odd_cells(self.present)

    @property
    def is_numeric(self) -> bool:
        """Whether the cells make a feature of numbers.

        A word is a unit only where nearly all cells have it: 2WD and 4WD beside AWD are levels.
        """
        if self.is_nearly_all_numbers:
            return True
        is_few = self.is_mostly_numbers and len(self.spellings) <= MOST_SPELLINGS
        return is_few and not is_word(_signs(self.kind)[2])


def most_odd_cells(present: int) -> int:
    """How many of the first cells of a column, missing ones left out, hardly count."""
    return max(1, present // 100) if present >= 20 else 0


# Values


def plain_numbers(cells: Any) -> Any:
    """Numbers as Python writes them, of a series or an expression; null for other cells."""
    return cells.str.strip_chars(" \t").cast(pl.Float64, strict=False)


def numbers_of(cells: pl.Series, kind: str) -> Converted:
    """The values of cells in that spelling, and which cells are odd.

    >>> cells = pl.Series(["($1,274.40)", "$5", "1.17-", "7", "-", "abc"])
    >>> values, is_odd = numbers_of(cells, "number 1,234.5 $")
    >>> values.to_list(), is_odd.to_list()[3:]
    ([-1274.4, 5.0, -1.17, 7.0, None, None], [False, False, True])
    """
    values = plain_numbers(cells) if kind == "number" else _spelled_numbers(cells, kind)
    is_odd = values.is_null() & cells.is_not_null()
    if is_odd.any():
        is_odd &= ~cells.fill_null("").str.strip_chars(" ").is_in(MISSING_NUMBERS)
    return values.alias(cells.name), is_odd


def _signs(kind: str) -> tuple[str, ...]:
    """Thousands separator, decimal sign and unit of numbers of that kind."""
    found = EXAMPLE.fullmatch(kind)
    return found.groups("") if found else ("", ".", "")


def is_word(unit: str) -> bool:
    """Whether a unit is a word that follows each number, and not a sign that may be left out.

    >>> is_word("km/h"), is_word("EUR"), is_word("US$"), is_word("%")
    (True, False, False, False)
    """
    is_sign = any(unicodedata.category(char) == "Sc" or char in PERCENT for char in unit)
    return bool(unit) and not is_sign and unit not in CURRENCIES.split()


def _spelled_numbers(cells: pl.Series, kind: str) -> pl.Series:
    thousands, decimal, unit = _signs(kind)
    group, point = THOUSANDS[thousands], re.escape(decimal)
    groups = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+|" if group else ""
    exponent = r"(?:[eE][+-]?\d+)?"
    number = rf"(?:(?:{groups}\d+)(?:{point}\d*)?|{point}\d+){exponent}"
    text = cells.str.strip_chars(BLANKS)

    def values_of(digits: pl.Series) -> pl.Series:
        digits = digits.str.replace_all(group, "") if group else digits
        return digits.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False)

    is_simple = text.str.contains(f"^[+-]?{number}$") & (not is_word(unit))
    values = values_of(text.set(~is_simple, None))
    others = (~is_simple).arg_true()
    if not len(others):
        return values
    text = text.gather(others)
    text = text.set(~text.str.contains(_shapes(number, *_places_of(unit))), None)
    is_negative = text.str.contains(rf"^\D*{MINUS}|\(|{MINUS}\D*$").fill_null(False)
    if unit:
        text = text.str.replace(unit, "", literal=True)
    signs = is_negative.cast(pl.Float64) * -2 + 1
    return values.scatter(others, values_of(text.str.extract(f"({number})")) * signs)


def _places_of(unit: str) -> tuple[str, str]:
    """What may be before a number with that unit, and what may be or is after it."""
    sign = re.escape(unit)
    if not unit:
        return "", ""
    if is_word(unit):
        return "", rf"{B}*{sign}"
    return rf"(?:{sign}{B}*)?", rf"(?:{B}*{sign})?"


def _shapes(number: str, before: str, after: str) -> str:
    """A number with at most one sign: -$5, $-5, 5-, 5 $-, ($5), $(5)."""
    sign = rf"(?:(?:\+|{MINUS}){B}?)"
    shapes = [
        rf"{sign}?{before}{number}{after}",
        rf"{before}{sign}{number}{after}",
        rf"{before}{number}{B}?{MINUS}{after}",
        rf"{before}{number}{after}{B}?{MINUS}",
        rf"\({before}{number}{after}\)",
        rf"{before}\({number}\){after}",
    ]
    return f"^(?:{'|'.join(shapes)})$"


# Which spelling


def best_fit(
    cells: pl.Series, kinds: Sequence[str] = USUAL, least: float = 0.5
) -> NumberFit | None:
    """The spelling, of these with or without a unit, in which most cells are numbers.

    None if no larger share than `least` is like a number, or if cells are codes with leading zeros.

    >>> best_fit(pl.Series(["$1,250", "$900", "n.v."]))
    NumberFit(kind='number 1,234.5 $', numbers=2, odd=1, spellings=['n.v.'])
    """
    if has_leading_zeros(cells):
        return None
    present = cells.drop_nulls().alias("cell")
    for kind in kinds[:1]:  # the usual case, without looking for units
        parts = (present.head(FEW_CELLS), present) if len(present) else ()
        if parts and all(not numbers_of(part, kind)[0].null_count() for part in parts):
            return NumberFit(kind, len(present), 0, [])
    counted = present.to_frame().group_by("cell", maintain_order=True).len("rows")
    counted = counted.filter(~pl.col("cell").str.strip_chars(" ").is_in(MISSING_NUMBERS))
    distinct, rows = counted["cell"], counted["rows"]
    units = units_of(distinct)
    if int(rows.filter(units.is_not_null()).sum()) <= least * int(rows.sum()):
        return None
    found: NumberFit | None = None
    for kind in _candidates(distinct, units, kinds):
        fit = _fit(distinct, rows, units, kind)
        if fit is not None and (found is None or fit.odd < found.odd):
            found = fit
        if found is not None and not found.odd:
            break
    return found


def _candidates(distinct: pl.Series, units: pl.Series, kinds: Sequence[str]) -> list[str]:
    """The kinds to try: those whose thousands separator is there, without and with a unit."""
    seen = [kind for kind in kinds if kind in WITHOUT_GROUPS or _has_groups(distinct, kind)]
    known = units.drop_nulls()
    names = known.filter(known != "").mode().sort()
    with_unit = [kind for kind in seen if kind != "number"]
    return [*seen, *(f"{kind} {name}" for name in names.head(1) for kind in with_unit)]


def _has_groups(cells: pl.Series, kind: str) -> bool:
    """Whether the thousands separator of a kind is in some cell."""
    group = THOUSANDS[_signs(kind)[0]]
    return bool(cells.str.contains(rf"\d{group}\d{{3}}").any())


def _fit(distinct: pl.Series, rows: pl.Series, units: pl.Series, kind: str) -> NumberFit | None:
    """How distinct cells, each on so many rows, read in a spelling; None if units differ."""
    values, is_odd = numbers_of(distinct, kind)
    unit = _signs(kind)[2]
    others = units.filter(is_odd).drop_nulls().unique().to_list()
    if unit and any(_differs(other, unit) for other in others):
        return None
    odd = pl.DataFrame({"cell": distinct, "rows": rows}).filter(is_odd)
    by_count = odd.sort("rows", descending=True, maintain_order=True)["cell"]
    spellings = by_count.str.strip_chars().unique(maintain_order=True).to_list()
    numbers = int(rows.filter(values.is_not_null()).sum())
    return NumberFit(kind, numbers, int(odd["rows"].sum()), spellings)


def _differs(other: str, unit: str) -> bool:
    """Whether a number with the other unit ("" for none) is not of the same column.

    Signs may be left out, and a word after some numbers is an error of typing.
    """
    return other != unit and (is_word(unit) or not (other == "" or is_word(other)))


def units_of(cells: pl.Series) -> pl.Series:
    """The unit of each cell that is like a number, "" if it has none; null for other cells.

    >>> units_of(pl.Series(["12 kg", "$5", "7", "user17"])).to_list()
    ['kg', '$', '', None]
    """
    is_like = cells.str.contains(ANY_NUMBER).fill_null(False)
    units = pl.repeat("", len(cells), dtype=pl.String, eager=True).set(~is_like, None)
    has_unit = (is_like & cells.str.contains(rf"[\p{{L}}\p{{Sc}}°{PERCENT}]")).arg_true()
    found = cells.gather(has_unit).str.extract_groups(ANY_NUMBER).struct.unnest()
    return units.scatter(has_unit, found["before"].fill_null("") + found["after"].fill_null(""))


def number_fit_of(values: Sequence[object]) -> NumberFit | None:
    """How strings, None where missing, read as numbers; None if some are no strings.

    >>> number_fit_of(["1,5", "2", "x"]), number_fit_of([True])
    (NumberFit(kind='number 1234,5', numbers=2, odd=1, spellings=['x']), None)
    """
    if not all(isinstance(value, str | None) for value in values):
        return None
    return best_fit(pl.Series(values, dtype=pl.String), (*POINT, *COMMA))


def number_kind(cells: pl.Series, kinds: Sequence[str] = USUAL) -> str | None:
    """The spelling of a feature with these first cells, null where missing; None if no numbers.

    >>> number_kind(pl.Series(["$1,250", "$900"])), number_kind(pl.Series(["1,2", "a"]))
    ('number 1,234.5 $', None)
    """
    fit = best_fit(cells, kinds)
    return fit.kind if fit is not None and fit.is_numeric else None


def target_kind(cells: pl.Series, kinds: Sequence[str] = USUAL) -> str | None:
    """The spelling of a target with these first cells, null where missing; None if no numbers."""
    fit = best_fit(cells, kinds)
    return fit.kind if fit is not None and fit.is_nearly_all_numbers else None


def has_leading_zeros(cells: pl.Series) -> bool:
    """Whether cells are codes, such as ZIP codes: digits that begin with zeros in some of them.

    >>> has_leading_zeros(pl.Series(["02139", "10115"])), has_leading_zeros(pl.Series(["0", "0.5"]))
    (True, False)
    """
    zeros = int(cells.str.contains(LEADING_ZEROS).sum())
    if not zeros:
        return False
    present = len(cells) - cells.null_count()
    digits = int(cells.str.contains(r"^\s*\d+\s*$").sum())
    most = most_odd_cells(present)
    return zeros > most and present - digits <= most


def are_codes(cells: pl.Series) -> bool:
    """Whether cells are whole numbers, at most 100 different ones, each on several rows.

    >>> are_codes(pl.Series(["3", "7"] * 5)), are_codes(pl.Series(["3", "7"]))
    (True, False)
    """
    present = cells.drop_nulls()
    if not may_be_classes(present.n_unique(), len(present)):
        return False
    return bool(present.str.contains(r"^ *\d+ *$").all())


def forced_kind(cells: pl.Series, kinds: Sequence[str] = USUAL, given: str = "number") -> str:
    """The spelling of a column that is declared a number, however many of its cells are.

    >>> forced_kind(pl.Series(["$5", "$1,250", "a", "b"])), forced_kind(pl.Series(["a"]))
    ('number 1,234.5 $', 'number')
    """
    fit = best_fit(cells, kinds, least=0)
    return fit.kind if fit is not None and fit.numbers else given


def number_kinds(
    usual: str = ".", decimal: str | None = None, thousands: str | None = None
) -> list[str]:
    """The spellings of numbers to try in a file, in order of preference.

    1,234 has a decimal comma only where that is the usual sign of the file; 1.234.567 is clear.
    The decimal sign and the thousands separator ("" for none) may be given.
    """
    found = []
    for kind in (*COMMA, *POINT[:3]) if usual == "," else USUAL:
        separator, sign, _ = _signs(kind)
        if decimal in (None, sign) and (thousands is None or separator in ("", thousands)):
            found.append(kind)
    return found


def decimal_sign(cells: pl.DataFrame, separator: str, expected: str = ".") -> str:
    """The decimal sign of a file with these first cells.

    Only between semicolons and tabs a comma can be one. Cells such as 1,5 show it. Where it is
    expected, the lack of decimal points does too; in a file with semicolons, also 1,234 does then.
    """
    if separator not in (";", "\t"):
        return "."
    columns = [each for each in cells if each.str.contains(",", literal=True).any()]
    columns = [each for each in columns if number_kind(each, COMMA) is not None]
    if not columns and expected == ".":
        return "."
    if any(each.str.contains(_unlike_groups(",")).any() for each in columns):
        return ","
    plain = (each for each in cells if number_kind(each, POINT[:1]) is not None)
    if any(each.str.contains(_unlike_groups(r"\.")).any() for each in plain):
        return "."
    return "," if expected == "," or (separator == ";" and columns) else "."


def has_decimal_comma(kind: str) -> bool:
    """Whether numbers of that kind have decimal commas."""
    return kind.startswith("number") and _signs(kind)[1] == ","


def with_groups(kind: str) -> str:
    """The kind with points between thousands, if it has decimal commas and no groups.

    >>> with_groups("number 1234,5 kg"), with_groups("number")
    ('number 1.234,5 kg', 'number')
    """
    return kind.replace(COMMA[0], COMMA[1])


def _unlike_groups(sign: str) -> str:
    """A number in which the sign is not between groups of three digits."""
    return rf"\d{sign}(?:\d{{1,2}}|\d{{4,}})(?:\D|$)|(?:^|\D)0{sign}\d"
