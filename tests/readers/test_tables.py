"""Targets and importances of tables, in every format that has columns."""

import io
import json

import numpy as np
import polars as pl
import pytest

from readers.naive import read
from unitless.encoders import FrameEncoder
from unitless.readers import ReadError, open_blocks
from unitless.rows import as_rows

ROWS = [
    {"x": 1.5, "word": "a", "y": 1.0, "w": 2.0, "kind": "no", "yes": True},
    {"x": 2.5, "word": "b", "y": None, "w": 0.0, "kind": None, "yes": None},
    {"x": None, "word": "a", "y": 3.0, "w": 1.0, "kind": "yes", "yes": False},
]
TABLES = ["csv", "tsv", "jsonl", "parquet", "arrow"]
each_table = pytest.mark.parametrize("format", TABLES)


def written(rows, format):
    """The rows as a file of that format."""
    file, frame = io.BytesIO(), pl.DataFrame(rows)
    if format == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    if format == "parquet":
        frame.write_parquet(file)
    elif format == "arrow":
        frame.write_ipc(file)
    else:
        frame.write_csv(file, separator="," if format == "csv" else "\t")
    return file.getvalue()


@each_table
def test_targets_and_weights_are_apart(format):
    (block,) = read(written(ROWS, format), format=format, target="y", weight="w")
    assert block.frame.columns == ["x", "word", "kind", "yes"]
    assert block.targets.dtype == block.weights.dtype == np.float64
    np.testing.assert_array_equal(block.targets, [1.0, np.nan, 3.0])
    assert block.weights.tolist() == [2.0, 0.0, 1.0]


@each_table
def test_targets_that_are_no_numbers(format):
    (block,) = read(written(ROWS, format), format=format, target="kind")
    assert block.targets.tolist() == ["no", None, "yes"]
    assert block.weights is None
    (block,) = read(written(ROWS, format), format=format, target="yes")
    no_types = format in ("csv", "tsv")
    assert block.targets.tolist() == (["true", None, "false"] if no_types else [True, None, False])


@each_table
def test_columns_that_are_not_there(format):
    for option in ("target", "weight"):
        with pytest.raises(ReadError, match="no column 'z'; there are"):
            read(written(ROWS, format), format=format, **{option: "z"})


@each_table
@pytest.mark.parametrize("weight", [-1.0, None])
def test_importances_that_cannot_be(format, weight):
    rows = [*ROWS, {**ROWS[0], "w": weight}, ROWS[2]]
    line = {"csv": 5, "tsv": 5}.get(format, 4)
    why = "the weight is missing" if weight is None else "importance"
    with pytest.raises(ReadError, match=why) as caught:
        read(written(rows, format), format=format, weight="w")
    error = caught.value
    text = None if weight is None else str(weight)
    assert (error.line, error.column, error.text) == (line, "w", text)
    (block,) = read(written(rows, format), format=format, weight="w", target="y", skip_bad=1)
    assert block.weights.tolist() == [2.0, 0.0, 1.0, 1.0]
    assert len(block) == len(block.targets) == block.frame.height == 4
    assert block.position.skipped == 1


@each_table
def test_importances_that_are_words(format):
    with pytest.raises(ReadError, match="numbers") as caught:
        read(written(ROWS, format), format=format, weight="word")
    assert caught.value.column == "word"


@pytest.mark.parametrize("format", ["svmlight", "vw"])
def test_sparse_text_has_its_own(format):
    with pytest.raises(ValueError, match="hold their labels"):
        open_blocks(io.BytesIO(b"1 1:1\n"), format=format, target="y")


@each_table
def test_one_file_in_every_format_is_the_same_rows(format):
    """Types, missing values, booleans and categories come out alike."""
    (block,) = read(written(ROWS, format), format=format, target="y", weight="w")
    columns = FrameEncoder()
    encoded = columns.encode(block.frame)
    made = as_rows(encoded.X, block.targets, block.weights)
    assert encoded.names == ["x", "yes", "word=a", "kind=no", "word=b", "kind=yes"]
    np.testing.assert_array_equal(
        encoded.X.toarray(),
        [[1.5, 1, 1, 1, 0, 0], [2.5, np.nan, 0, 0, 1, 0], [np.nan, 0, 1, 0, 0, 1]],
    )
    assert len(made) == 3


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_types_can_be_given(format):
    rows = [{"a": 1, "b": 5}, {"a": 2, "b": None}]
    kinds = {"a": "string", "b": "number"}
    (block,) = read(written(rows, format), format=format, types=kinds, target="a")
    assert block.targets.tolist() == ["1", "2"]
    np.testing.assert_array_equal(block.frame["b"].to_numpy(), [5, np.nan])
    with pytest.raises(ValueError, match="number, boolean, string"):
        read(written(rows, format), format=format, types={"a": "dates"})


@each_table
@pytest.mark.parametrize("name", ["*", "^a.*$"])
def test_names_that_polars_would_not_take_for_names(format, name):
    rows = [{"a": 1, "ab": 2}, {"a": 1, name: 5, "ab": 2}]
    data = written(rows if format == "jsonl" else rows[1:], format)
    with pytest.raises(ReadError, match="pattern") as caught:
        read(data, format=format)
    if format == "jsonl":
        assert (caught.value.line, caught.value.column) == (2, name)
        assert len(read(data, format=format, skip_bad=1)[0]) == 1
