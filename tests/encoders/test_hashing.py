"""Buckets are the same everywhere, and levels beyond the limit go there from the right row on."""

import hashlib
import os
import subprocess
import sys
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twin_of_frame_encoder import learned, table_of

from unitless.encoders import FrameEncoder, ManyLevels
from unitless.encoders.namespaces import bucket_of

GOLDEN = {  # as `printf red | b2sum -l 64` has them, the last but for its surrogate
    "": 42724,
    "red": 256269,
    "7": 217319,
    ("int", "7"): 52996,
    "Zürich": 29808,
    ("red", "blue"): 231129,
    ("red", ""): 179704,
    "\ud800": 2114,
}


@pytest.mark.parametrize("key", GOLDEN)
def test_golden_values(key):
    """Models that were saved depend on them: they never change."""
    assert bucket_of(key, 18) == GOLDEN[key]


@given(st.text(), st.integers(1, 30))
def test_definition(level, bits):
    data = level.encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(data, digest_size=8).digest()
    assert bucket_of(level, bits) == int.from_bytes(digest, "little") % 2**bits


@pytest.mark.parametrize("seed", ["0", "1"])
def test_another_process(seed):
    """Python's own hash of strings would differ."""
    code = (
        "from unitless.encoders.namespaces import bucket_of as b\nprint(b('red', 18), b('a', 30))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == [str(bucket_of("red", 18)), str(bucket_of("a", 30))]


def test_buckets_are_spread():
    counts = np.bincount([bucket_of(f"user{k}", 6) for k in range(64_000)], minlength=64)
    assert counts.min() > 800
    assert counts.max() < 1200


def test_the_thousandth_level_and_the_next():
    levels = [f"user{k}" for k in range(1000)]
    columns = FrameEncoder()
    learned(columns, [pl.DataFrame({"u": levels})])
    assert columns.names == [f"u={level}" for level in levels]
    later = pl.DataFrame({"u": ["user7", "new", "user999", "newer", "new"]})
    with pytest.warns(ManyLevels, match=r"column 'u' has more than 1000 levels: .* 2\*\*18"):
        found = learned(columns, [later])
    new, newer = f"u#{bucket_of('new', 18)}", f"u#{bucket_of('newer', 18)}"
    assert columns.names[1000:] == [new, newer]
    names = ["u=user7", new, "u=user999", newer, new]
    assert found == [{name: 1.0} for name in names]


@pytest.mark.parametrize("size", [1, 7, 103, 200])
def test_said_once_however_the_blocks_are_cut(size):
    frame = pl.DataFrame({"u": [f"user{k}" for k in range(150)], "v": ["a", "b", "c"] * 50})
    columns = FrameEncoder(max_levels=100, hash_bits=2)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for start in range(0, 150, size):
            learned(columns, [frame[start : start + size]])
        copy = FrameEncoder.from_state(columns.state())
        learned(copy, [pl.DataFrame({"u": ["another"]})])
    assert [(one.category, "'u'" in str(one.message)) for one in said] == [(ManyLevels, True)]
    assert len(columns) == 100 + 3 + 4


def test_as_an_error_it_refuses_the_block():
    columns = FrameEncoder(max_levels=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ManyLevels):
            columns.encode(pl.DataFrame({"u": ["a", "b"]}))
    assert len(columns) == 0


def test_predictions_say_nothing_and_share_known_buckets_only():
    columns = FrameEncoder(max_levels=1, hash_bits=1)
    new = pl.DataFrame({"u": ["a", "b", "c", "d", "e"]})
    columns.encode(new, grow=False)  # a warning would be an error here
    with pytest.warns(ManyLevels):
        learned(columns, [pl.DataFrame({"u": ["a", "b"]})])
    bucket = bucket_of("b", 1)
    found = table_of(columns.encode(new, grow=False).X)
    expected = [[level == "a", level != "a" and bucket_of(level, 1) == bucket] for level in "abcde"]
    assert found.tolist() == np.array(expected, dtype=float).tolist()


@pytest.mark.parametrize("options", [{"hash_bits": 0}, {"hash_bits": 31}, {"max_levels": -1}])
def test_options_out_of_range(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} = "):
        FrameEncoder(**options)
