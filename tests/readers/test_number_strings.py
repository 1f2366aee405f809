"""Numbers as people write them, in every table format, whatever the block size and on resume."""

import io
import json

import numpy as np
import polars as pl
import pytest

from readers.naive import read
from unitless.readers.blocks import OddCells

ROWS = 300
CELLS = {
    "profit": lambda k: f"(${k}.40)" if k % 3 else f"${1000 + k:,}.50",
    "owed": lambda k: f"{k}.17-",
    "cost": lambda k: f"{k} EUR",
    "mass": lambda k: f"{k / 2} kg",
    "heat": lambda k: f"\u2212{k}.5",
    "plain": lambda k: f" {k}",
}
VALUES = {
    "profit": lambda k: -(k + 0.4) if k % 3 else 1000.5 + k,
    "owed": lambda k: -(k + 0.17),
    "cost": lambda k: k,
    "mass": lambda k: k / 2,
    "heat": lambda k: -(k + 0.5),
    "plain": lambda k: k,
}
TABLES = ["csv", "tsv", "jsonl", "parquet", "arrow"]
each_table = pytest.mark.parametrize("format", TABLES)


def written(frame, format):
    """The frame as a file of that format."""
    if format == "jsonl":
        return frame.write_ndjson().encode()
    if format in ("csv", "tsv"):
        return frame.write_csv(separator="," if format == "csv" else "\t").encode()
    file = io.BytesIO()
    frame.write_parquet(file) if format == "parquet" else frame.write_ipc(file)
    return file.getvalue()


def spelled(functions, rows=ROWS):
    return pl.DataFrame({name: [of(k) for k in range(rows)] for name, of in functions.items()})


@each_table
@pytest.mark.parametrize("block_bytes", [1 << 20, 2000])
def test_every_format_has_the_same_values(format, block_bytes):
    data = written(spelled(CELLS), format)
    blocks = read(data, format=format, block_bytes=block_bytes, target="profit")
    assert (len(blocks) > 1) == (block_bytes == 2000)
    frame = pl.concat([block.frame for block in blocks])
    wanted = spelled(VALUES).cast(pl.Float64)
    assert frame.equals(wanted.drop("profit"))
    targets = np.concatenate([block.targets for block in blocks])
    np.testing.assert_array_equal(targets, wanted["profit"])
    assert blocks[-1].position.coerced == 0
    for block in blocks:
        place = json.loads(json.dumps(block.position_at(min(3, len(block))).as_json()))
        rest = read(data, format=format, block_bytes=block_bytes, target="profit", resume=place)
        again = pl.concat([each.frame for each in rest])
        assert again.equals(frame.tail(len(again)))


@each_table
def test_strings_of_categories_stay(format):
    cells = {"unit": lambda k: f"{k} kg" if k % 2 else f"{k} g", "name": lambda k: f"user{k}"}
    cells["part"] = lambda k: f"{k}" if k % 2 else "none"
    (block,) = read(written(spelled(cells), format), format=format)
    assert {*block.frame.dtypes} == {pl.String}


@pytest.mark.parametrize("format", ["jsonl", "parquet", "arrow"])
def test_a_string_that_is_no_number_is_missing(format):
    """Words that mean a missing cell are not counted; categories keep them."""
    cells = [f"{k}%" for k in range(97)]
    frame = pl.DataFrame({"x": [*cells, "n.v.", "NA", "-"], "s": ["a"] * 99 + ["NA"]})
    (block,) = read(written(frame, format), format=format)
    assert block.frame["x"].to_list() == [*range(97), None, None, None]
    assert block.position.odd_cells == {"x": OddCells(1, 98, "n.v.")}
    assert block.frame["s"].to_list() == frame["s"].to_list()
    (block,) = read(written(frame, format), format=format, na=["n.v.", "a", "5"])
    assert block.position.coerced == 0
    assert block.frame["x"][5] is None
    assert block.frame["s"].null_count() == 99
    (block,) = read(written(frame, format), format=format, types={"x": "category"})
    assert block.frame["x"].to_list() == frame["x"].to_list()


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_classes_that_are_written_as_strings(format):
    """A few whole numbers in quotes are classes; so are all strings if the task says so."""
    codes = pl.DataFrame({"y": [f"{k % 3}" for k in range(60)]})
    for options in ({}, {"types": {"y": "label"}}):
        (block,) = read(written(codes, format), format=format, target="y", **options)
        assert block.targets[:3].tolist() == ["0", "1", "2"]
    (block,) = read(written(codes, format), format=format, target="y", types={"y": "number"})
    assert block.targets[:3].tolist() == [0, 1, 2]
    many = pl.DataFrame({"y": [f"{k}" for k in range(60)]})
    (block,) = read(written(many, format), format=format, target="y")
    assert block.targets.tolist() == [*range(60)]
    (block,) = read(written(many, format), format=format, target="y", types={"y": "label"})
    assert block.targets[:2].tolist() == ["0", "1"]
    numbers = pl.DataFrame({"y": [0, 1, 2] * 20})
    (block,) = read(written(numbers, format), format=format, target="y", types={"y": "label"})
    assert block.targets[:3].tolist() == [0, 1, 2]


def test_a_categorical_of_parquet_keeps_its_type():
    frame = pl.DataFrame({"x": [f"{k}" for k in range(9)]}, schema={"x": pl.Categorical})
    (block,) = read(written(frame, "parquet"), format="parquet")
    assert block.frame["x"].dtype == pl.String


def test_a_run_of_an_earlier_version_goes_on_with_its_categories():
    data = written(spelled({"x": lambda k: f"{k}"}), "parquet")
    place = {"format": "parquet", "line": 5, "rows": 5, "skipped": 0, "coerced": 0, "columns": {}}
    (block,) = read(data, format="parquet", resume=place)
    assert block.frame["x"][0] == "5"


def test_conversions_keep_the_digits_of_strings():
    (block,) = read(b'{"x": "12345678901234567890"}\n', format="jsonl", exact=True)
    assert block.frame["x"].to_list() == ["12345678901234567890"]


# Points between thousands in files with decimal commas


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("block_bytes", [1 << 20, 200, 1000])
@pytest.mark.parametrize("large", [60, 295])
def test_points_between_thousands_may_come_late(separator, block_bytes, large):
    """Numbers below 1000 do not show them, decimal commas elsewhere do."""
    numbers = [k if k < large else 1000 + k for k in range(ROWS)]
    lines = [f"{k / 8}".replace(".", ",") + f"{separator}{n:,}" for k, n in enumerate(numbers)]
    data = "\n".join(
        [f"a{separator}b", *(line.replace(f"{separator}1,", f"{separator}1.") for line in lines)]
    )
    blocks = read(data.encode(), block_bytes=block_bytes)
    frame = pl.concat([block.frame for block in blocks])
    assert frame["b"].to_list() == numbers
    assert frame["a"].to_list() == [k / 8 for k in range(ROWS)]
    place = blocks[0].position
    rest = read(
        data.encode(), block_bytes=block_bytes, resume=json.loads(json.dumps(place.as_json()))
    )
    if len(blocks) > 1:
        assert pl.concat([each.frame for each in rest]).equals(frame.tail(-len(blocks[0])))


def test_decimal_commas_far_from_the_beginning():
    """The first 64 KB show whole numbers only, the rest of the block decimal commas."""
    count = 20_000
    lines = [f"{k % 900};{k % 800}" for k in range(count)] + ["1,5;1.014"] * 300
    (block,) = read("\n".join(["a;b", *lines]).encode())
    assert block.frame.tail(1).rows() == [(1.5, 1014.0)]
    assert block.position.coerced == 0


def test_a_file_with_points_is_not_read_with_commas():
    """Kinds of a model that learned from a file with decimal commas."""
    kinds = {"a": "number 1234,5", "b": "number 1.234,5"}
    (block,) = read(b"a,b\n1.234,7\n", types=kinds)
    assert block.frame.rows() == [(1.234, 7.0)]
    (block,) = read(b"a;b\n1.234;1.234\n", types=kinds)
    assert block.frame.rows() == [(1234.0, 1234.0)]


# Missing cells


@pytest.mark.parametrize(
    "cell", ["", "NA", "n/a", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "?"]
)
@pytest.mark.parametrize("blank", ["", " "])
def test_cells_that_are_missing_in_every_column(cell, blank):
    text = "x,s,y\n" + "1,a,p\n2,b,q\n" * 5 + f"{blank}{cell}{blank},{blank}{cell},{cell}\n"
    (block,) = read(text.encode(), target="y")
    assert block.frame.fill_nan(None).row(10) == (None, None)
    assert block.targets[10] is None
    assert block.position.coerced == 0


@pytest.mark.parametrize("cell", ["-", ".", "--", "unknown"])
def test_cells_that_are_missing_in_columns_of_numbers(cell):
    text = "x,s\n" + "1,a\n2,b\n" * 5 + f" {cell},{cell}\n"
    (block,) = read(text.encode())
    assert block.frame.row(10) == (None, cell)
    assert block.position.coerced == 0
