"""Dates against known values: before 1970, leap days, time zones."""

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twin_of_frame_encoder import LIBRARIES, learned

from unitless.encoders import FrameEncoder
from unitless.encoders.dates import cycles, days

KNOWN = [
    ("1970-01-01T00:00", 0.0, "0", "Thu", "1"),
    ("1969-12-31T18:00", -0.25, "18", "Wed", "12"),
    ("1969-12-31T23:59:59.999999", -1 / 86_400_000_000, "23", "Wed", "12"),
    ("1900-02-28T06:00", -25508.75, "6", "Wed", "2"),
    ("2000-02-29T12:00", 11016.5, "12", "Tue", "2"),
    ("2024-03-10T02:30", 19792 + 2.5 / 24, "2", "Sun", "3"),
    ("0001-01-01T00:00", -719162.0, "0", "Mon", "1"),
    ("9999-12-31T00:00", 2932896.0, "0", "Fri", "12"),
]


@pytest.mark.parametrize(("text", "number", "hour", "weekday", "month"), KNOWN)
@pytest.mark.parametrize("library", LIBRARIES)
def test_known_dates(library, text, number, hour, weekday, month):
    stamps = np.array([text, "NaT"], dtype="datetime64[us]")
    table = {
        "pandas": lambda: pd.DataFrame({"t": stamps}),
        "polars": lambda: pl.DataFrame({"t": stamps}),
        "pyarrow": lambda: pa.table({"t": pa.array(stamps)}),
    }[library]()
    names = [f"t.hour={hour}", f"t.weekday={weekday}", f"t.month={month}"]
    expected = {"t": number, **dict.fromkeys(names, 1.0)}
    expected = {name: value for name, value in expected.items() if value != 0}
    assert learned(FrameEncoder(), [table]) == [expected, {"t": None}]


@given(st.datetimes())
def test_any_date(when):
    stamps = np.array([when], dtype="datetime64[us]")
    found = {what: labels[codes[0]] for what, codes, labels in cycles(stamps, np.array([True]))}
    weekday = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][when.weekday()]
    assert found == {"hour": str(when.hour), "weekday": weekday, "month": str(when.month)}
    exact = (when - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1)
    assert days(stamps)[0] == pytest.approx(exact, rel=2**-52)


UNITS = [(library, unit) for library in LIBRARIES for unit in ("s", "ms", "us", "ns")]
UNITS.remove(("polars", "s"))


@pytest.mark.parametrize(("library", "unit"), UNITS)
def test_every_unit(library, unit):
    stamps = np.array(["1969-12-31T18:00", "2024-02-29T06:00"], dtype=f"datetime64[{unit}]")
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library]
    found = learned(
        FrameEncoder(), [make({"t": stamps if library != "pyarrow" else pa.array(stamps)})]
    )
    assert [row["t"] for row in found] == [-0.25, 19782.25]
    assert [row[f"t.hour={hour}"] for row, hour in zip(found, (18, 6), strict=True)] == [1.0, 1.0]


ZURICH = ZoneInfo("Europe/Zurich")
SUMMER = dt.datetime(2024, 7, 1, 0, 30, tzinfo=ZURICH)  # in UTC the day before


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"t": [SUMMER]}),
        pd.DataFrame({"t": pd.Series([SUMMER], dtype="object")}),
        pd.DataFrame({"t": pd.Series([SUMMER], dtype="timestamp[us, tz=Europe/Zurich][pyarrow]")}),
        pl.DataFrame({"t": pl.Series([SUMMER], dtype=pl.Datetime("us", "Europe/Zurich"))}),
        pa.table({"t": pa.array([SUMMER], type=pa.timestamp("us", tz="Europe/Zurich"))}),
    ],
)
def test_the_clock_on_the_wall_counts(frame):
    (row,) = learned(FrameEncoder(), [frame])
    assert row.pop("t") == (dt.date(2024, 7, 1) - dt.date(1970, 1, 1)).days + 0.5 / 24
    assert list(row) == ["t.hour=0", "t.weekday=Mon", "t.month=7"]
