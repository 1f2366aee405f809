"""Dates and times in cells, by examples, and against Python's own parser."""

import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitless.readers.cells import kind_of_cells
from unitless.readers.date_cells import date_kind, dates_of

COLUMNS = [
    ("2024-01-31", "date"),
    ("2024-01-31|", "date"),
    ("2024-01-31 10:15", "datetime"),
    ("2024-01-31T10:15:30", "datetime"),
    ("2024-01-31T10:15:30.123456", "datetime"),
    ("2024-01-31 10:15:30,5", "datetime"),
    ("2024-01-31T10:15Z", "datetime"),
    ("2024-01-31 10:15:30+02:00|2024-07-31 10:15:30+0100", "datetime"),
    ("2024-01-31|2024-01-31 10:15", "datetime"),
    ("2024-01-31" + "|2024-02-01" * 18 + "|soon", "date"),
    ("2024-01-31" + "|2024-02-01" * 17 + "|soon", "string"),
    ("2024-02-30", "string"),
    ("2024-13-01", "string"),
    ("2024-01-31 25:00", "string"),
    ("2024-01-31x", "string"),
    ("31.01.2024", "string"),
    ("2024-01", "string"),
    ("20240131", "number"),
    ("10:15", "string"),
]


@pytest.mark.parametrize(("cells", "wanted"), COLUMNS)
def test_kinds(cells, wanted):
    column = pl.Series([cell or None for cell in cells.split("|")])
    assert kind_of_cells(column) == wanted


@pytest.mark.parametrize(
    ("kind", "cell", "wanted"),
    [
        ("date %d.%m.%Y", "31.01.2024", datetime.date(2024, 1, 31)),
        ("date %m/%d/%y", "1/31/24", datetime.date(2024, 1, 31)),
        ("date %d.%m.%Y %H:%M", "31.01.2024 10:15", datetime.datetime(2024, 1, 31, 10, 15)),
        ("date %d.%m.%Y", "31/01/2024", None),
        ("date %d.%m.%Y", "31.02.2024", None),
        ("date", "2024-01-31 10:15", None),
        ("datetime", "2024-01-31", datetime.datetime(2024, 1, 31)),
    ],
)
def test_formats(kind, cell, wanted):
    dates, is_odd = dates_of(pl.Series("when", [cell, None]), kind)
    assert dates.to_list() == [wanted, None]
    assert is_odd.to_list() == [wanted is None, False]
    assert dates.name == "when"


@given(st.lists(st.datetimes(), min_size=1), st.sampled_from(["T", " "]))
def test_what_python_writes_is_read_back(times, separator):
    column = pl.Series([time.isoformat(separator) for time in times])
    assert date_kind(column) == "datetime"
    assert dates_of(column, "datetime")[0].to_list() == times
    days = pl.Series([str(time.date()) for time in times])
    assert date_kind(days) == "date"
    assert dates_of(days, "date")[0].to_list() == [time.date() for time in times]


@given(st.text("0123456789-T: .Z+", max_size=20))
def test_a_cell_is_its_date_or_odd(cell):
    dates, is_odd = dates_of(pl.Series([cell]), "datetime")
    assert is_odd[0] == (dates[0] is None)
    if dates[0] is not None:
        text = cell.strip().replace(",", ".")
        head, dot, fraction = text.partition(".")
        digits = fraction.rstrip("Z+-:") if dot else ""
        text = f"{head}.{digits[:6]:0<6}" if dot and digits.isdigit() else text
        found = datetime.datetime.fromisoformat(text.removesuffix("Z").strip())
        assert dates[0] == found.replace(tzinfo=None)
