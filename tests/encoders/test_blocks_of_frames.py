"""Blocks cut anywhere, of any library, are the twin's rows one by one."""

import warnings
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twin_of_frame_encoder import LIBRARIES, Twin, cut, frame_of, learned, table_of

from unitless.encoders import FrameEncoder, ManyLevels

FLOATS = st.sampled_from([0.0, 1.0, -2.5, 1e-300, 3e100])
DATES = st.datetimes(datetime(1899, 1, 1), datetime(2101, 1, 1))
VALUES = {
    "number": FLOATS,
    "category": st.sampled_from(["red", "green", "blue", "", "ä", "rouge vif"]),
    "text": st.text(alphabet="aAbé 0.", max_size=9),
    "date": DATES,
}
PLACES = st.lists(st.integers(0, 99), max_size=4)


def streams(types):
    """Lists of rows, and places to cut them at."""
    cells = {name: st.none() | VALUES[kind] for name, kind in types.items()}
    return st.tuples(st.lists(st.fixed_dictionaries(cells), max_size=12), PLACES)


def check(types, stream, library, pairs=(), **options):
    """Columns, in blocks, against the twin, row by row."""
    rows, places = stream
    twin = Twin(types, pairs, **options)
    expected = [twin.learn(row) for row in rows]
    text = [name for name, kind in types.items() if kind == "text"]
    columns = FrameEncoder(interactions=[f"{a}:{b}" for a, b in pairs], text=text, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ManyLevels)
        found = learned(columns, [frame_of(block, types, library) for block in cut(rows, places)])
    assert columns.names == twin.names
    assert found == expected


NUMBERS = {"a": "number", "b": "number"}
KINDS = {
    "colour": "category",
    "size": "number",
    "when": "date",
    "mail": "text",
    "shape": "category",
}


@pytest.mark.parametrize("library", LIBRARIES)
@given(stream=streams(NUMBERS))
def test_numbers(library, stream):
    check(NUMBERS, stream, library)


@pytest.mark.parametrize("library", LIBRARIES)
@given(stream=streams(KINDS))
def test_all_kinds(library, stream):
    check(KINDS, stream, library)


@pytest.mark.parametrize("library", LIBRARIES)
@given(max_levels=st.sampled_from([0, 1, 3]), stream=streams(KINDS))
def test_few_levels(library, max_levels, stream):
    check(KINDS, stream, library, max_levels=max_levels, hash_bits=2)


CROSSED = {"colour": "category", "shape": "category", "a": "number", "b": "number", "when": "date"}
PAIRS = [("a", "b"), ("colour", "a"), ("colour", "shape"), ("a", "a"), ("when", "colour")]


@pytest.mark.parametrize("library", LIBRARIES)
@given(max_levels=st.sampled_from([2, 1000]), stream=streams(CROSSED))
def test_interactions(library, max_levels, stream):
    check(CROSSED, stream, library, pairs=PAIRS, max_levels=max_levels)


@given(stream=streams({"mail": "text", "a": "number"}))
def test_interactions_of_words(stream):
    check({"mail": "text", "a": "number"}, stream, "polars", pairs=[("a", "mail")])


@given(stream=streams(KINDS), seen=st.integers(0, 12))
def test_a_row_to_predict_does_not_depend_on_the_others(stream, seen):
    """In the known columns, which are all that a learner has weights for."""
    rows, places = stream
    columns = FrameEncoder(max_levels=3, hash_bits=2, text=["mail"], interactions=["colour:shape"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ManyLevels)
        learned(columns, [frame_of(rows[:seen], KINDS)])
        whole = columns.encode(frame_of(rows, KINDS), grow=False).X
        grown = columns.encode(frame_of(rows, KINDS)).X
    blocks = [columns.encode(frame_of(b, KINDS), grow=False).X for b in cut(rows, places)]
    known = len(columns)
    assert whole.shape == (len(rows), known)
    stacked = [row for block in blocks for row in table_of(block).tolist()]
    assert repr(stacked) == repr(table_of(whole).tolist())
    assert repr(table_of(grown)[:, :known].tolist()) == repr(table_of(whole).tolist())
