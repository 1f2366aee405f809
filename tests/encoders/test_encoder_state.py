"""A map that was saved goes on as if it had not been."""

import copy
import json
import pickle
import warnings

import msgspec
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twin_of_frame_encoder import learned, table_of

from unitless.encoders import EncoderState, FrameEncoder, ManyLevels

FRAME = pl.DataFrame({"c": ["red", "blue"], "x": [1.0, None], "t": ["a b a", "c"]})


def trained():
    """A map with some of everything."""
    columns = FrameEncoder(hash_bits=3, max_levels=2, interactions=["c:x", "t::"], text="t")
    with pytest.warns(ManyLevels):
        learned(columns, [FRAME, FRAME.with_columns(c=pl.Series(["green", "black"]))])
    return columns


def through_json(state):
    """A state that was written to a file and read again."""
    return msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(state))), EncoderState)


def same(columns, twin):
    """Both maps encode new and old alike."""
    frame = pl.concat([FRAME, FRAME.with_columns(c=pl.lit("new"), t=pl.lit("a z"))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ManyLevels)
        one, other = columns.encode(frame), twin.encode(frame)
    assert (one.names, one.features, one.size) == (other.names, other.features, other.size)
    assert repr(table_of(one.X).tolist()) == repr(table_of(other.X).tolist())


@pytest.mark.parametrize(
    "copied",
    [
        lambda columns: FrameEncoder.from_state(columns.state()),
        lambda columns: FrameEncoder.from_state(through_json(columns.state())),
        lambda columns: pickle.loads(pickle.dumps(columns)),
        copy.deepcopy,
    ],
)
def test_round_trip(copied):
    columns = trained()
    twin = copied(columns)
    assert twin.state() == columns.state()
    assert (twin.names, twin.sources, twin.kinds) == (columns.names, columns.sources, columns.kinds)
    same(columns, twin)


LEVELS = st.text() | st.integers() | st.booleans()


@given(st.lists(LEVELS, min_size=1), st.text(min_size=1))
def test_round_trip_of_any_level_and_name(levels, name):
    columns = FrameEncoder(interactions=[(name, name)])
    for level in levels:
        learned(columns, [pd.DataFrame({name: pd.Categorical([level])})])
    twin = FrameEncoder.from_state(through_json(columns.state()))
    assert twin.state() == columns.state()
    assert len(set(columns.names)) == len(columns.names)
    assert len(columns) == 2 * len({(type(level), level) for level in levels})
    for level in levels:
        found = twin.encode(pd.DataFrame({name: pd.Categorical([level])}))
        assert (found.names, found.X.sum()) == ([], 2.0)


def test_the_state_has_no_version_of_its_own():
    """Model files have one number of the format; see `unitless.persistence.FORMAT`."""
    state = msgspec.to_builtins(trained().state())
    assert "version" not in state
    with pytest.raises(msgspec.ValidationError, match="unknown field `version`"):
        msgspec.convert(state | {"version": 1}, EncoderState)


def test_a_state_that_lost_a_name():
    state = trained().state()
    with pytest.raises(ValueError, match="shorter"):
        FrameEncoder.from_state(msgspec.structs.replace(state, names=state.names[1:]))
