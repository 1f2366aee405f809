"""The map: what encode leaves alone, what commit keeps, what survives being saved."""

import subprocess
import sys
from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from twin_of_frame_encoder import LIBRARIES, as_dicts, frame_of, learned, table_of

from unitless.encoders import FrameEncoder, ManyLevels
from unitless.rows import as_rows

RNG = np.random.default_rng(3)
FRAME = pl.DataFrame({"c": ["red", "blue"], "x": [1.0, None], "t": ["a b a", "c"]})


def trained():
    """A map with some of everything."""
    columns = FrameEncoder(hash_bits=3, max_levels=2, interactions=["c:x", "t::"], text="t")
    with pytest.warns(ManyLevels):
        learned(columns, [FRAME, FRAME.with_columns(c=pl.Series(["green", "black"]))])
    return columns


@pytest.mark.parametrize("grow", [True, False])
def test_encode_changes_nothing(grow):
    columns = trained()
    before = columns.state()
    new = pl.DataFrame({"c": ["grey"], "new": [1.0], "when": pl.Series([0], dtype=pl.Date)})
    first, second = columns.encode(new, grow=grow), columns.encode(new, grow=grow)
    assert columns.state() == before
    assert first.names == second.names
    np.testing.assert_array_equal(table_of(first.X), table_of(second.X))


def test_commit_keeps_what_was_encoded():
    columns = FrameEncoder()
    encoded = columns.encode(FRAME)
    columns.commit(encoded)
    assert columns.names == encoded.names
    assert columns.kinds == encoded.kinds == {"c": "category", "x": "number", "t": "category"}
    assert len(columns) == encoded.X.shape[1]
    again = columns.encode(FRAME)
    assert (again.names, again.kinds, again.features) == ([], {}, [])
    columns.commit(again)
    columns.commit(again)


def test_two_blocks_encoded_before_one_is_committed():
    columns = FrameEncoder()
    one, other = columns.encode(FRAME), columns.encode(FRAME[:1])
    columns.commit(one)
    before = columns.state()
    for stale in (one, other):
        with pytest.raises(ValueError, match="encode it again"):
            columns.commit(stale)
    assert columns.state() == before


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_are_dense_and_as_given(library):
    values = RNG.normal(size=(20, 3))
    values[3, 1] = np.nan
    frame = frame_of(values.tolist(), dict.fromkeys("abc", "number"), library)
    columns = FrameEncoder()
    encoded = columns.encode(frame)
    assert isinstance(encoded.X, np.ndarray)
    np.testing.assert_array_equal(encoded.X, values)
    np.testing.assert_array_equal(as_rows(encoded.X).values, values)
    assert encoded.names == ["a", "b", "c"]


def test_numbers_of_pandas_are_not_copied():
    frame = pd.DataFrame(RNG.normal(size=(9, 2)), columns=["a", "b"])
    assert np.shares_memory(FrameEncoder().encode(frame).X, frame.to_numpy())


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_are_matched_by_name(library):
    """Whatever their order; one that vanished is missing, and one that is new comes last."""
    columns = FrameEncoder()
    learned(columns, [frame_of([[1.0, 2.0]], {"a": "number", "b": "number"}, library)])
    swapped = frame_of([[7.0, 3.0, 4.0]], {"new": "number", "b": "number", "a": "number"}, library)
    assert columns.encode(swapped).X.tolist() == [[4.0, 3.0, 7.0]]
    assert columns.encode(swapped, grow=False).X.tolist() == [[4.0, 3.0]]
    vanished = frame_of([[5.0]], {"b": "number"}, library)
    np.testing.assert_array_equal(table_of(columns.encode(vanished).X), [[np.nan, 5.0]])
    mixed = frame_of([["red", 5.0]], {"c": "category", "b": "number"}, library)
    np.testing.assert_array_equal(table_of(columns.encode(mixed).X), [[np.nan, 5.0, 1.0]])


@pytest.mark.parametrize("names", ["labcdef", "abcldef", "abcdefl"])
def test_numbers_stay_side_by_side(names):
    """What a row stores depends on the features known before it, not on its block."""
    types = {name: "category" if name == "l" else "number" for name in names}
    levels = RNG.integers(0, 9, 40).astype(str).tolist()
    numbers = RNG.normal(size=(6, 40)).tolist()
    rows = [dict(zip("labcdef", each, strict=True)) for each in zip(levels, *numbers, strict=True)]
    block = FrameEncoder().encode(frame_of(rows, types))
    leading = 1 + max(block.names.index(name) for name in "abcdef")
    single = FrameEncoder()
    for k, row in enumerate(rows):
        frame = frame_of([row], types)
        known = as_rows(single.encode(frame, grow=False).X)
        stored = block.X.indices[block.X.indptr[k] : block.X.indptr[k + 1]].tolist()
        if k:
            assert known.indices.tolist() == [column for column in stored if column < len(single)]
            assert stored[:leading] == list(range(leading))
            assert len(stored) <= leading + 1
        encoded = single.encode(frame)
        assert encoded.X.indices.tolist() == stored
        single.commit(encoded)
    assert (block.X.toarray() != 0).sum() == 7 * len(rows)


def test_column_of_missing_numbers_is_there_from_the_first_row():
    """As in the array of the same numbers, which has no other way."""
    frame = pl.DataFrame({"a": [None, None], "b": [1.0, 2.0]}, schema_overrides={"a": pl.Float64})
    encoded = FrameEncoder().encode(frame)
    assert encoded.names == ["a", "b"]
    assert encoded.kinds == {"b": "number"}


@pytest.mark.parametrize("frame", [FRAME[:0], FRAME[["x"]][:0], pl.DataFrame(), pd.DataFrame()])
def test_no_rows(frame):
    columns = FrameEncoder()
    encoded = columns.encode(frame)
    assert encoded.X.shape == (0, 0)
    assert (encoded.names, encoded.kinds) == ([], {})
    learned(columns, [FRAME])
    assert columns.encode(frame).X.shape == (0, len(columns))


def test_no_columns():
    columns = FrameEncoder()
    learned(columns, [FRAME])
    missing = [{"x": None}, {"x": None}]
    assert as_dicts(columns.encode(pd.DataFrame(index=[1, 2])).X, columns.names) == missing
    assert as_dicts(columns.encode(pl.DataFrame(), rows=2).X, columns.names) == missing


@pytest.mark.parametrize("kind", ["number", "date"])
def test_a_column_that_is_absent_is_missing(kind):
    """Also in its interactions, in which a new level may meet it."""
    value = {"number": 3.0, "date": datetime(2024, 1, 31, 10)}[kind]
    types = {"x": kind, "c": "category"}
    columns = FrameEncoder(interactions=["x:c"])
    learned(columns, [frame_of([[value, "red"]], types)])
    for level in ("red", "new"):
        null = columns.encode(frame_of([[None, level]], types))
        absent = columns.encode(frame_of([[level]], {"c": "category"}))
        assert (absent.names, absent.kinds) == (null.names, null.kinds)
        np.testing.assert_array_equal(table_of(absent.X), table_of(null.X))


def test_words_are_counted():
    columns = FrameEncoder(text=["t"])
    table = pl.DataFrame({"t": ["Free! free OFFER, 2nd", None, "", "ünï_x offer"]})
    found = learned(columns, [table])
    assert columns.names == ["t:free", "t:offer", "t:2nd", "t:ünï_x"]
    assert found == [
        {"t:free": 2.0, "t:offer": 1.0, "t:2nd": 1.0},
        {},
        {},
        {"t:offer": 1.0, "t:ünï_x": 1.0},
    ]


def test_text_that_is_none():
    with pytest.raises(ValueError, match=r"row 0, column 't': 1.0 is a number, .* categories"):
        FrameEncoder(text="t").encode(pl.DataFrame({"t": [1.0]}))


def test_names_that_would_be_alike():
    frame = pl.DataFrame(
        {"a": ["b"], "a=b": [2.0], "d.hour": ["0"], "d": pl.Series([0], dtype=pl.Datetime("us"))}
    )
    columns = FrameEncoder()
    found = learned(columns, [frame])
    assert columns.names[:4] == ["a=b", "d", "a=b'", "d.hour=0"]
    assert columns.names[4:] == ["d.hour=0'", "d.weekday=Thu", "d.month=1"]
    assert found[0]["a=b"] == 2.0


def test_a_frame_is_all_that_loads_narwhals():
    code = "import sys, unitless.encoders as f; f.FrameEncoder(); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"narwhals", "pandas", "polars", "pyarrow"}
    assert not heavy & set(run.stdout.split())
