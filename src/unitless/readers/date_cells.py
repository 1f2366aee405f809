"""Dates and times in cells of text.

A kind of column says how its dates are written: "date" is an ISO 8601 date, "datetime" one with a
time (a cell without is midnight), "date %d.%m.%Y" another spelling, in the codes of `strftime`. A
time zone at the end of a time is left out: dates are encoded in local time.
"""

from __future__ import annotations

import polars as pl

from unitless.readers.number_cells import most_odd_cells

DATE = r"^\s*(\d{4}-\d\d-\d\d)"
ISO = DATE + r"(?:[T ](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?\s?(?:Z|[+-]\d\d(?::?\d\d)?)?)?\s*$"
TIMES = ("%H", "%I", "%k", "%l", "%M", "%S", "%T", "%R", "%r", "%X", "%c", "%s", "%+")
"""Codes of the time of day."""


def is_timed(kind: str) -> bool:
    """Whether dates of this kind have a time of day.

    >>> is_timed("datetime"), is_timed("date %d.%m.%Y"), is_timed("date %d.%m.%Y %H:%M")
    (True, False, True)
    """
    return kind == "datetime" or any(code in kind for code in TIMES)


def dates_of(cells: pl.Series, kind: str) -> tuple[pl.Series, pl.Series]:
    """The cells as dates, null where they are missing or not dates; and which are not.

    >>> dates, is_odd = dates_of(pl.Series(["2024-02-29 10:15+02:00", None, "soon"]), "datetime")
    >>> str(dates[0]), is_odd.to_list()
    ('2024-02-29 10:15:00', [False, False, True])
    """
    text = cells.str.strip_chars()
    form = kind.partition(" ")[2] or "%Y-%m-%d"
    if kind == "datetime":
        form = "%Y-%m-%dT%H:%M:%S%.f"
        parts = text.str.extract_groups(ISO).struct.unnest()
        day, clock, seconds = parts
        seconds = seconds.fill_null(":00").str.replace(",", ".", literal=True)
        text = day + "T" + clock.fill_null("00:00") + seconds
    if is_timed(kind):
        dates = text.str.to_datetime(form, time_unit="us", strict=False)
    else:
        dates = text.str.to_date(form, strict=False)
    return dates.alias(cells.name), dates.is_null() & cells.is_not_null()


def iso_kind(cells: pl.Series) -> str:
    """The kind of a column of ISO 8601 dates, of which some may have a time."""
    return "datetime" if cells.str.contains(DATE + r"[T ]\d").any() else "date"


def date_kind(cells: pl.Series) -> str | None:
    """The kind of a column with these first cells, if it is one of ISO 8601 dates or times.

    >>> date_kind(pl.Series(["2024-01-01", None])), date_kind(pl.Series(["2024-01-01T10:00Z"]))
    ('date', 'datetime')
    """
    for part in (cells.head(20 + len(cells) // 50), cells):  # the first few usually tell
        present = len(part) - part.null_count()
        is_date = part.str.contains(ISO)
        odd = present - int(is_date.sum())
        if odd > most_odd_cells(len(cells) if part is not cells else present) or odd == present > 0:
            return None
    kind = iso_kind(cells)
    dates, is_odd = dates_of(cells, kind)
    found = len(cells) - dates.null_count()
    return kind if found and is_odd.sum() <= most_odd_cells(found + int(is_odd.sum())) else None
