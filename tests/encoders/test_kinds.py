"""What kind a column is, in every library's types."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from twin_of_frame_encoder import as_dicts, learned, series, table_of

from unitless.encoders import FrameEncoder

DAY = dt.date(2024, 2, 29)
NOON = dt.datetime(2024, 2, 29, 12)


NUMBERS = [
    ("pandas", "float32"),
    ("pandas", "Int64"),
    ("pandas", "UInt8"),
    ("pandas", "Float64"),
    ("pandas", "object"),
    ("pandas", "int64[pyarrow]"),
    ("polars", pl.Int8),
    ("polars", pl.UInt64),
    ("polars", pl.Float32),
    ("polars", pl.Decimal(9, 2)),
    ("pyarrow", pa.int32()),
    ("pyarrow", pa.float32()),
    ("pyarrow", pa.decimal128(9, 2)),
]


@pytest.mark.parametrize(("library", "dtype"), NUMBERS)
def test_numbers(library, dtype):
    values = [Decimal(3), None, Decimal(0)] if "ecimal" in str(dtype) else [3, None, 0]
    encoded = FrameEncoder().encode(series(library, values, dtype))
    assert as_dicts(encoded.X, encoded.names) == [{"x": 3.0}, {"x": None}, {}]
    assert encoded.kinds == {"x": "number"}


BOOLEANS = [
    ("pandas", "boolean"),
    ("pandas", "object"),
    ("pandas", "bool[pyarrow]"),
    ("polars", None),
    ("pyarrow", None),
]


@pytest.mark.parametrize(("library", "dtype"), BOOLEANS)
def test_booleans_are_numbers(library, dtype):
    encoded = FrameEncoder().encode(series(library, [True, None, False], dtype))
    assert as_dicts(encoded.X, encoded.names) == [{"x": 1.0}, {"x": None}, {}]


CATEGORIES = [
    ("pandas", "str"),
    ("pandas", "object"),
    ("pandas", "string"),
    ("pandas", "category"),
    ("pandas", pd.CategoricalDtype(["z", "b", "a"], ordered=True)),
    ("pandas", "string[pyarrow]"),
    ("polars", pl.String),
    ("polars", pl.Categorical),
    ("polars", pl.Enum(["z", "a", "b"])),
    ("polars", pl.Object),
    ("pyarrow", pa.string()),
    ("pyarrow", pa.large_string()),
    ("pyarrow", pa.dictionary(pa.int8(), pa.string())),
]


@pytest.mark.parametrize(("library", "dtype"), CATEGORIES)
def test_categories(library, dtype):
    encoded = FrameEncoder().encode(series(library, ["b", None, "a", "b"], dtype))
    assert encoded.names == ["x=b", "x=a"]
    assert as_dicts(encoded.X, encoded.names) == [{"x=b": 1.0}, {}, {"x=a": 1.0}, {"x=b": 1.0}]
    assert encoded.kinds == {"x": "category"}


def test_levels_appear_with_the_rows_not_with_the_dictionary():
    """Whose order is another, whose levels need not all occur, and which may change midway."""
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([1, None, 0]), ["a", "b", "unused"]),
        pa.DictionaryArray.from_arrays(pa.array([1, 0]), ["c", "a"]),
    ]
    frames = [
        pa.table({"x": pa.chunked_array(chunks)}),
        series("pandas", pd.Categorical(["b", None, "a", "a", "c"], ["unused", "a", "c", "b"])),
    ]
    for frame in frames:
        encoded = FrameEncoder().encode(frame)
        assert encoded.names == ["x=b", "x=a", "x=c"]
        rows = [{"x=b": 1.0}, {}, {"x=a": 1.0}, {"x=a": 1.0}, {"x=c": 1.0}]
        assert as_dicts(encoded.X, encoded.names) == rows


@pytest.mark.parametrize(
    "frame",
    [
        series("pandas", pd.Categorical([7, None, 3])),
        series("pyarrow", pa.array([7, None, 3]).dictionary_encode()),
    ],
)
def test_whole_numbers_as_categories(frame):
    columns = FrameEncoder()
    assert learned(columns, [frame]) == [{"x=7": 1.0}, {}, {"x=3": 1.0}]
    strings = columns.encode(series("polars", ["7"]))
    assert strings.names == ["x=7'"]  # a level of its own, and a name of its own
    assert table_of(strings.X).tolist() == [[0.0, 0.0, 1.0]]


def test_true_one_and_their_names_are_four_levels():
    columns = FrameEncoder()
    for levels in ([True], [1], [1.0], ["1"]):
        learned(columns, [series("pandas", pd.Categorical(levels))])
    assert columns.names == ["x=True", "x=1", "x=1.0", "x=1'"]


DATES = [
    ("pandas", "object"),
    ("pandas", "date32[pyarrow]"),
    ("polars", pl.Date),
    ("pyarrow", pa.date32()),
    ("pyarrow", pa.date64()),
]


@pytest.mark.parametrize(("library", "dtype"), DATES)
def test_dates_have_no_hour(library, dtype):
    encoded = FrameEncoder().encode(series(library, [DAY, None], dtype))
    assert encoded.names[:3] == ["x", "x.weekday=Thu", "x.month=2"]
    if "date64" not in str(dtype):  # which is a date with a time
        assert len(encoded.names) == 3
    assert as_dicts(encoded.X, encoded.names)[1] == {"x": None}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (
            [None, 2, 2.5, True, Decimal("0.5"), Fraction(1, 4), np.float32(1), np.bool_(1)],
            "number",
        ),
        ([None, DAY, NOON, pd.NaT, None], "date"),
        ([None, 1, float("nan"), Decimal("nan"), pd.NA, np.float32("nan")], "number"),
    ],
)
@pytest.mark.parametrize("cuts", [[], [1], [2, 4], [1, 2, 3, 4]])
def test_objects_without_a_type(values, kind, cuts):
    """Before the first value nothing is known, wherever the blocks end."""
    frame = series("pandas", values, "object")
    whole, parts = FrameEncoder(), FrameEncoder()
    expected = learned(whole, [frame])
    ends = [0, *cuts, len(values)]
    blocks = [frame.iloc[a:b] for a, b in pairwise(ends)]
    assert learned(parts, blocks) == expected
    assert parts.state() == whole.state()
    assert parts.kinds == {"x": kind}
    assert expected[0] == {}
    assert expected[-1]["x"] == (1.0 if values[-1] is not None and values[-1] == 1 else None)


def test_a_column_of_missing_numbers_goes_on_without_a_type():
    """Its feature is known, so that a row without a value is missing, whatever stands beside it."""
    blocks = [([None], "float64"), ([None], "object"), ([None, 2.0], "object")]
    found = learned(FrameEncoder(), [series("pandas", *block) for block in blocks])
    assert found == [{"x": None}, {"x": None}, {"x": None}, {"x": 2.0}]


def test_nan_among_strings_is_missing():
    """polars takes it for a value."""
    frame = series("polars", [float("nan"), "red", Decimal("nan")], pl.Object)
    assert learned(FrameEncoder(), [frame]) == [{}, {"x=red": 1.0}, {}]


def test_only_a_datetime_has_an_hour():
    found = learned(FrameEncoder(), [series("pandas", [DAY, NOON], "object")])
    assert [[name for name in row if "hour" in name] for row in found] == [[], ["x.hour=12"]]


NOTHING = [
    series("pandas", [None, None], "object"),
    series("pandas", [None, None], "float64"),
    series("pandas", [None, None], "datetime64[us]"),
    series("pandas", [None, None], "category"),
    series("polars", [None, None]),
    series("polars", [None, None], pl.String),
    series("polars", [None, None], pl.Int64),
    series("pyarrow", [None, None]),
    series("pyarrow", [None, None], pa.date32()),
]


@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize(
    ("value", "missing"), [(2.5, {"x": None}), ("red", {}), (NOON, {"x": None})]
)
def test_a_column_without_values_fits_every_kind(nothing, value, missing):
    """Chunks of a file may have an empty column, and each library gives it another type."""
    something = series("polars", [value])
    columns = FrameEncoder()
    found = learned(columns, [nothing, something, nothing])
    assert found[0] == ({"x": None} if "x" in found[0] else {})
    assert found[3:] == [missing, missing]
    assert set(columns.kinds) == {"x"}
