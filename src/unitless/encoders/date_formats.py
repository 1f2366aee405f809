"""Formats of dates in cells of text: how they may be written, and their values.

A format has the codes of `strftime`; %s is seconds and %Q milliseconds since 1970. A format is
guessed from the shape of the first cells; `column_kinds` tries it on all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

DAY = r"^\s*(\d{4}-\d\d-\d\d)"
ISO = DAY + r"(?:[T ](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?\s?(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?\s*$"
TIMES = ("%H", "%I", "%k", "%l", "%M", "%S", "%T", "%R", "%r", "%X", "%c", "%s", "%+")
"""Codes of the time of day."""

FIRST_CELLS = 20
"""Cells that show the formats to try."""

SECONDS = {"%s": 1.0, "%Q": 1e-3}
"""Times since 1970 in seconds, by format."""
FIRST_YEAR, LAST_YEAR = 1990, 2100
"""Numbers are times since 1970 if they are in these years, and their column is named so."""
PLAUSIBLE = 631_152_000.0, 4_102_444_800.0
"""The beginning of these years, in seconds since 1970."""
CALENDAR = -62_135_596_800.0, 253_402_300_800.0
"""The years 1 to 9999 in seconds since 1970."""
TIME_WORDS = {
    *("time", "date", "datetime", "timestamp", "ts", "epoch", "unix", "unixtime", "when", "day"),
    *("created", "updated", "modified"),
}
"""Words in the names of columns that hold times."""

CODES = {
    "%d": r"\d{1,2}",
    "%m": r"\d{1,2}",
    "%Y": r"\d{4}",
    "%y": r"\d\d",
    "%b": "[A-Za-z]+",
    "%B": "[A-Za-z]+",
    "%a": "[A-Za-z]+",
    "%A": "[A-Za-z]+",
    "%H": r"\d{1,2}",
    "%I": r"\d{1,2}",
    "%M": r"\d\d",
    "%S": r"\d\d",
    "%.f": r"(?:\.\d+)?",
    "%p": "[AaPp][Mm]",
}
"""What each code stands for: polars also takes the year 21 for %Y."""
CODE = re.compile(r"%\.f|%.")

WEEKDAY = r"(?:(?P<weekday>[A-Za-z]{3,9})(?P<after>,? ))?"
NUMBERS = r"(?P<a>\d{1,4})(?P<s>[./-])(?P<b>\d{1,2})(?P=s)(?P<c>\d{1,4})"
DAY_FIRST = (
    r"(?P<d>\d\d?)(?P<s1>[-/ ]|\. ?)(?P<m>[A-Za-z]{3,9})(?P<s2>[-/ ]|[.,] ?)(?P<y>\d{4}|\d\d)"
)
MONTH_FIRST = r"(?P<m2>[A-Za-z]{3,9})(?P<s3>\.? |-)(?P<d2>\d\d?)(?P<s4>,? |-)(?P<y2>\d{4})"
CLOCK = r"(?:(?P<t>T|,? |:)\d\d?:\d\d(?P<seconds>:\d\d)?(?P<f>\.\d+)?(?P<half> ?[AaPp][Mm])?)?"
SHAPE = re.compile(rf"{WEEKDAY}(?:{NUMBERS}|{DAY_FIRST}|{MONTH_FIRST}){CLOCK}")
COMPACT = re.compile(r"\d{8}T\d{6}")


def dates(cells: pl.Series, kind: str) -> pl.Series:
    """The values of cells in a column of dates, null for cells that are none of that kind."""
    text = cells.str.strip_chars()
    form = kind.partition(" ")[2]
    if form in SECONDS:
        return _since_1970(text, SECONDS[form])
    if form:
        text = text.set(~text.str.contains(_pattern(form)), None)
    if form and not any(code in form for code in TIMES):
        return text.str.to_date(form, strict=False)
    if not form:
        day, clock, seconds = text.str.extract_groups(ISO).struct.unnest()
        if kind == "date":
            return day.set(clock.is_not_null(), None).str.to_date("%Y-%m-%d", strict=False)
        seconds = seconds.fill_null(":00").str.replace(",", ".", literal=True)
        text = day + "T" + clock.fill_null("00:00") + seconds
    return text.str.to_datetime(form or "%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False)


def _since_1970(text: pl.Series, unit: float) -> pl.Series:
    number = text.cast(pl.Float64, strict=False) * unit
    first, last = CALENDAR
    number = number.set(~((number >= first) & (number < last)), None)
    return (number * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us"))


def _pattern(form: str) -> str:
    """What cells of a format look like; anything, if it has a code that is not listed."""
    if not all(code in CODES for code in CODE.findall(form)):
        return ""
    parts = [CODES[each] if each in CODES else re.escape(each) for each in _parts(form)]
    return f"^{''.join(parts)}$"


def _parts(form: str) -> Iterator[str]:
    at = 0
    for found in CODE.finditer(form):
        yield form[at : found.start()]
        yield found[0]
        at = found.end()
    yield form[at:]


def iso_kind(cells: pl.Series) -> str:
    """The kind of a column of ISO 8601 dates, of which some may have a time."""
    return "datetime" if cells.str.contains(DAY + r"[T ]\d").any() else "date"


def formats_by_order(cells: pl.Series) -> dict[str, list[str]]:
    """Formats that some of the first cells have, by the order of day, month and year.

    >>> formats_by_order(pl.Series(["5/6/2021"]))
    {'dmy': ['%d/%m/%Y'], 'mdy': ['%m/%d/%Y']}
    """
    found: dict[str, list[str]] = {}
    for cell in cells.drop_nulls().head(FIRST_CELLS).str.strip_chars().unique(maintain_order=True):
        for form in _formats(cell):
            order = "".join(code[1] for code in CODE.findall(form) if code[1] in "dmybBY")
            order = order.lower().replace("b", "m")
            if form not in found.setdefault(order, []):
                found[order].append(form)
    return found


def _formats(cell: str) -> list[str]:
    """The formats of which a cell may be an example."""
    if COMPACT.fullmatch(cell):
        return ["%Y%m%dT%H%M%S"]
    shape = SHAPE.fullmatch(cell)
    if shape is None:
        return []
    begin = ""
    if shape["weekday"]:
        begin = ("%a" if len(shape["weekday"]) == 3 else "%A") + shape["after"]
    end = ""
    if shape["t"]:
        clock = "%I:%M" if shape["half"] else "%H:%M"
        seconds = ":%S" if shape["seconds"] else ""
        fraction = "%.f" if shape["f"] else ""
        half = shape["half"][:-2] + "%p" if shape["half"] else ""
        end = shape["t"] + clock + seconds + fraction + half
    return [begin + day + end for day in _days(shape)]


def _days(shape: re.Match[str]) -> list[str]:
    """The formats of the day of a cell."""
    if shape["m"]:
        year = "%Y" if len(shape["y"]) == 4 else "%y"
        return [f"%d{shape['s1']}{month}{shape['s2']}{year}" for month in _months(shape["m"])]
    if shape["m2"]:
        return [f"{month}{shape['s3']}%d{shape['s4']}%Y" for month in _months(shape["m2"])]
    first, last = len(shape["a"]), len(shape["c"])
    orders: list[tuple[str, ...]] = []
    if first == 4 and last <= 2:
        orders = [("%Y", "%m", "%d")]
    elif first <= 2 and last == 4:
        orders = [("%d", "%m", "%Y"), ("%m", "%d", "%Y")]
    elif first <= 2 and last == 2:
        orders = [("%d", "%m", "%y"), ("%m", "%d", "%y")]
        orders += [("%y", "%m", "%d")] if first == 2 else []
    return [shape["s"].join(codes) for codes in orders]


def _months(name: str) -> list[str]:
    """Codes of a name of a month, such as Jan or January; May may be short or not."""
    return ["%b", "%B"] if len(name) == 3 else ["%B"]


def is_named_like_a_time(name: str) -> bool:
    """Whether numbers in a column of that name may be times.

    >>> [is_named_like_a_time(name) for name in ("event_time", "createdAt", "timer", "ts")]
    [True, True, False, True]
    """
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    found = re.findall(r"[a-z]+", words.lower())
    return bool(found) and (not TIME_WORDS.isdisjoint(found) or found[-1] == "at")


def number_formats(name: str) -> list[str]:
    """The formats to try for numbers in a column of that name."""
    return [*SECONDS, "%Y%m%d"] if is_named_like_a_time(name) else []


def is_plausible(numbers: pl.Series, form: str) -> pl.Series:
    """Which numbers may be times in that format: the years are recent."""
    first, last = PLAUSIBLE
    if form in SECONDS:
        return (numbers * SECONDS[form] >= first) & (numbers * SECONDS[form] < last)
    return (numbers >= FIRST_YEAR * 1e4) & (numbers < LAST_YEAR * 1e4)
