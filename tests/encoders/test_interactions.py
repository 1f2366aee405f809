"""Interactions: which pairs, and their products; `test_blocks_of_frames` has the brute force."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twin_of_frame_encoder import LIBRARIES, frame_of, learned

from unitless.encoders import FrameEncoder
from unitless.encoders.dataframes import opened, typed_column
from unitless.encoders.encoded_column import by_appearance
from unitless.encoders.interactions import pairs_of, parsed

FRAME = pl.DataFrame(
    {"c": ["red", "blue", None], "x": [2.0, None, 3.0], "y": [5.0, 0.0, 7.0], "d": ["s", "s", "t"]}
)


def made(*specs):
    """The features of interactions by row; missing as None."""
    found = learned(FrameEncoder(interactions=specs), [FRAME])
    return [{name: v for name, v in row.items() if ":" in name} for row in found]


def test_number_by_number():
    assert made("x:y") == [{"x:y": 10.0}, {"x:y": None}, {"x:y": 21.0}]
    assert made("y:y") == [{"y:y": 25.0}, {}, {"y:y": 49.0}]


def test_category_by_number():
    assert made("c:x") == [{"c=red:x": 2.0}, {"c=blue:x": None}, {}]
    assert made("y:c") == [{"y:c=red": 5.0}, {}, {}]


def test_category_by_category():
    assert made("c:d") == [{"c=red:d=s": 1.0}, {"c=blue:d=s": 1.0}, {}]


def test_sources():
    columns = FrameEncoder(interactions=["c:x"])
    learned(columns, [FRAME[:1]])
    assert columns.names == ["x", "y", "c=red", "d=s", "c=red:x"]
    assert columns.sources == [("x",), ("y",), ("c",), ("d",), ("c", "x")]


def test_every_pair():
    assert [*made("::")[0]] == ["x:y", "c=red:d=s", "c=red:x", "c=red:y", "d=s:x", "d=s:y"]
    assert [*made("x::")[0]] == ["x:y", "x:c=red", "x:d=s"]


def test_order_of_columns_does_not_matter_to_names():
    columns = FrameEncoder(interactions="::")
    learned(columns, [FRAME])
    before = columns.names
    learned(columns, [FRAME[:, ::-1]])
    assert columns.names == before


def test_each_pair_once():
    pairs = list(pairs_of([("b", "a"), ("a", "b"), ("a", None), (None, None)], ["a", "b", "c"]))
    assert pairs == [("b", "a"), ("a", "c"), ("b", "c")]


def test_columns_that_are_not_there():
    assert made("c:nowhere", "nowhere::") == [{}, {}, {}]


@pytest.mark.parametrize("spec", ["", "a", ":", "a:", ":a", "a:b:c", "a::b", "::a", ":::", "a:::"])
def test_what_is_no_pair(spec):
    with pytest.raises(ValueError, match="is not an interaction: write 'a:b'"):
        parsed(spec)


def test_a_name_with_a_colon():
    frame = pl.DataFrame({"a:1": [2.0], "b": [3.0]})
    columns = FrameEncoder(interactions=[("a:1", "b")])
    assert learned(columns, [frame]) == [{"a:1": 2.0, "b": 3.0, "a:1:b": 6.0}]


def test_a_product_beyond_float64():
    """It is infinite, which the model refuses; the encoder says where it comes from."""
    frame = pl.DataFrame({"a": [1.0, 1e200], "b": [1.0, -1e200]})
    encoder = FrameEncoder(interactions=["a:b"])
    encoded = encoder.encode(frame)
    assert encoded.X[1].tolist() == [1e200, -1e200, -np.inf]
    origins = [("a", ("a",)), ("b", ("b",)), ("a:b", ("a", "b"))]
    assert [encoder.origin(encoded, column) for column in range(3)] == origins
    encoder.commit(encoded)
    encoded = encoder.encode(frame.with_columns(c=pl.lit("red")))
    assert encoder.origin(encoded, 2) == origins[2]
    assert encoder.origin(encoded, 3) == ("c=red", ("c",))


def test_a_number_too_small_to_multiply():
    frame = pl.DataFrame({"a": [1e-200], "b": [1e-200]})
    assert learned(FrameEncoder(interactions=["a:b"]), [frame]) == [{"a": 1e-200, "b": 1e-200}]


@given(st.lists(st.integers(0, 99)))
def test_codes_by_appearance(codes):
    ranks, found = by_appearance(np.array(codes, dtype=np.int64))
    seen = list(dict.fromkeys(codes))
    assert found.tolist() == seen
    assert ranks.tolist() == [seen.index(code) for code in codes]


def test_many_pairs_of_levels():
    """More pairs than a table would hold; each pair of a level has its own feature."""
    n = 300
    table = pl.DataFrame({"a": [f"a{k}" for k in range(n)], "b": [f"b{k % 7}" for k in range(n)]})
    columns = FrameEncoder(interactions="a:b", max_levels=n)
    found = learned(columns, [table])
    assert [list(row)[-1] for row in found] == [f"a=a{k}:b=b{k % 7}" for k in range(n)]
    assert np.array([len(row) for row in found]).tolist() == [3] * n


@pytest.mark.parametrize("library", LIBRARIES)
def test_codes_have_room_for_pairs(library):
    """50 000 by 50 000 levels are more than 32 bits count, in which pyarrow numbers them."""
    table = opened(frame_of([["red"]], {"c": "category"}, library))
    column = typed_column("c", table)
    assert column.values.dtype == np.int64
