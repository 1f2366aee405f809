"""What is refused names the row, the column, the value and the way out; and nothing has changed."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from twin_of_frame_encoder import LIBRARIES, learned, series

from unitless.encoders import FrameEncoder

DAY = dt.date(2024, 2, 29)


MIXED = [
    ([1, 2], ["red"], r"row 0, column 'x': 'red' is a category, and the column holds numbers"),
    (["red"], [7.5], r"row 0, column 'x': 7.5 is a number, and the column holds categories"),
    (["red"], [None, DAY], r"row 1, column 'x': 2024-02-29T.* is a date, .* categories; .*strings"),
    ([DAY], [None, None, "soon"], r"row 2, column 'x': 'soon' is a category, .* holds dates"),
    ([DAY], [1], r"row 0, column 'x': 1.0 is a number, and the column holds dates; convert"),
    ([True], [DAY], r"row 0, column 'x': 2024.* is a date, and the column holds numbers; use None"),
]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("before", "after", "message"), MIXED)
def test_a_kind_is_kept(library, before, after, message):
    columns = FrameEncoder()
    learned(columns, [series(library, before)])
    state = columns.state()
    for grow in (True, False):
        with pytest.raises(ValueError, match=message):
            columns.encode(series(library, after), grow=grow)
    assert columns.state() == state


def test_a_whole_number_category_in_a_column_of_numbers():
    columns = FrameEncoder()
    learned(columns, [series("pandas", [1])])
    with pytest.raises(ValueError, match="row 0, column 'x': 7 is a category"):
        columns.encode(series("pandas", pd.Categorical([7])))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["red", 7], r"row 1, column 'x': 7 is a number, and the column holds categories"),
        ([None, 7, "red"], r"row 2, column 'x': 'red' is a category, .* holds numbers; use None"),
        ([1.0, None, -np.inf, "a"], r"row 3, column 'x': 'a' is a category"),
        ([1j], r"row 0, column 'x': 1j is a complex; only numbers"),
        ([[1, 2]], r"row 0, column 'x': \[1, 2\] is a list; only numbers"),
        ([None, b"red"], r"row 1, column 'x': b'red' is a bytes; .* convert the column, or drop"),
        ([dt.time(1)], r"row 0, column 'x': .* is a time"),
    ],
)
def test_refused_objects(values, message):
    with pytest.raises(ValueError, match=message):
        FrameEncoder().encode(series("pandas", values, "object"))


@pytest.mark.parametrize(
    "frame",
    [
        series("polars", [[1.0]]),
        series("polars", [b"red"]),
        series("polars", [dt.time(1)]),
        series("pyarrow", [{"a": 1}]),
        series("pandas", pd.period_range("2024", periods=1)),
        series("pandas", [1j]),
    ],
)
def test_refused_types(frame):
    with pytest.raises(ValueError, match=r"row 0, column 'x': .* only numbers, booleans, strings"):
        FrameEncoder().encode(frame)


@pytest.mark.parametrize("frame", [np.ones((2, 2)), {"a": [1]}, pl.LazyFrame({"a": [1]}), None])
def test_what_is_no_frame(frame):
    with pytest.raises(TypeError, match=r"expected a data frame .* collect\(\)"):
        FrameEncoder().encode(frame)


def test_names_that_are_no_strings():
    assert learned(FrameEncoder(), [pd.DataFrame([[1.0, "a"]])]) == [{"0": 1.0, "1=a": 1.0}]
    with pytest.raises(ValueError, match="two columns are called '1': rename one"):
        FrameEncoder().encode(pd.DataFrame([[1.0, 2.0]], columns=["1", 1]))
