"""Parquet and Arrow IPC: column types, batches, damage."""

import datetime
import gzip
import io
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from readers.naive import read
from readers.test_blocks import write_arrow
from readers.test_source import drip
from unitless.readers import ReadError, open_blocks, parquet

FRAME = pl.DataFrame(
    {
        "whole": pl.Series([1, None, 3], dtype=pl.Int8),
        "half": pl.Series([1.5, float("nan"), None], dtype=pl.Float32),
        "yes": [True, None, False],
        "word": ["x", None, ""],
        "kind": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
        "day": [datetime.date(2020, 1, 2)] * 3,
        "coin": [Decimal("1.25"), Decimal("2.50"), None],
        "in": [{"deep": {"er": 1}, "b": "x"}, {"deep": {"er": 2}, "b": "y"}, None],
        "none": [None, None, None],
    }
)


def written(frame, format):
    file = io.BytesIO()
    frame.write_parquet(file) if format == "parquet" else frame.write_ipc(file)
    return file.getvalue()


formats = pytest.mark.parametrize("format", ["parquet", "arrow"])


@formats
def test_column_types(format):
    (block,) = read(written(FRAME, format), format=format)
    number, string = pl.Float64, pl.String
    assert dict(block.frame.schema) == {
        "whole": number,
        "half": number,
        "yes": pl.Boolean,
        "word": string,
        "kind": string,
        "day": string,
        "coin": number,
        "in.deep.er": number,
        "in.b": string,
        "none": number,
    }
    assert block.frame.row(0) == (1.0, 1.5, True, "x", "a", "2020-01-02", 1.25, 1.0, "x", None)
    assert block.frame["word"].to_list() == ["x", None, ""]
    assert block.lines.tolist() == [1, 2, 3]


@formats
@pytest.mark.parametrize("group", [7, 1000])
def test_batches(format, group):
    frame = pl.DataFrame({"a": np.arange(1000), "b": np.arange(1000) / 2})
    file = io.BytesIO()
    if format == "parquet":
        frame.write_parquet(file, row_group_size=group)
    else:
        write_arrow(frame, file, group)
    blocks = read(file.getvalue(), format=format, block_bytes=1600)
    assert len(blocks) >= 10
    whole = pl.concat([block.frame for block in blocks])
    assert whole.equals(frame.cast(pl.Float64))
    assert np.concatenate([block.lines for block in blocks]).tolist() == list(range(1, 1001))
    assert blocks[-1].done == 1.0


@formats
def test_from_paths_pipes_and_compressed(format, tmp_path):
    data = written(FRAME, format)
    path = tmp_path / f"file[1]*.{format}"
    path.write_bytes(data)
    (wanted,) = open_blocks(path)
    packed = tmp_path / f"packed.{format}.gz"
    packed.write_bytes(gzip.compress(data))
    for file in (drip(data), packed, str(path)):
        (block,) = open_blocks(file, format=format)
        assert block.frame.equals(wanted.frame)


@formats
def test_infinity(format):
    data = written(pl.DataFrame({"a": [1.0, float("inf"), 3.0], "b": [1, 2, 3]}), format)
    with pytest.raises(ReadError, match="finite") as caught:
        read(data, format=format)
    assert (caught.value.line, caught.value.column, caught.value.text) == (2, "a", "inf")
    (block,) = read(data, format=format, skip_bad=1)
    assert (block.frame.rows(), block.lines.tolist()) == ([(1.0, 1.0), (3.0, 3.0)], [1, 3])
    (block,) = read(data, format=format, coerce=True)
    assert block.frame["a"].to_list() == [1.0, None, 3.0]
    assert block.position["coerced"] == 1


@formats
def test_columns_that_cannot_be_read(format):
    with pytest.raises(ReadError, match="cannot be read") as caught:
        read(written(pl.DataFrame({"a": [1], "b": [[1, 2]]}), format), format=format)
    assert caught.value.column == "b"


@formats
def test_damage(format):
    data = written(FRAME, format)
    for broken in (b"", data[:4], data[:-20], b"x" * 100, data[: len(data) // 2]):
        with pytest.raises(ReadError):
            read(broken, format=format)


@formats
def test_no_rows(format):
    with pytest.raises(ReadError, match="no rows"):
        read(written(FRAME.head(0), format), format=format)


def test_fewer_rows_than_promised(monkeypatch):
    """polars may end a damaged file without an error; the count tells."""
    scanned = parquet._scanned

    def one_more(*arguments):
        total, batches = scanned(*arguments)
        return total + 1, batches

    monkeypatch.setattr(parquet, "_scanned", one_more)
    with pytest.raises(ReadError, match="4 rows are promised, 3 can be read"):
        read(written(FRAME, "parquet"), format="parquet")


def written_by_arrow(table, format):
    file = io.BytesIO()
    if format == "parquet":
        pyarrow.parquet.write_table(table, file)
    else:
        with pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    return file.getvalue()


def stored(numbers, integer, kind):
    """A column of these numbers, which stand for dates or times."""
    return pa.array(numbers, integer).view(kind)


@formats
@pytest.mark.parametrize(
    "column",
    [
        stored([0, 2**31 - 1], pa.int32(), pa.date32()),
        stored([-(2**31)], pa.int32(), pa.date32()),
        stored([2932897], pa.int32(), pa.date32()),  # 10000-01-01
        stored([2**62], pa.int64(), pa.timestamp("us")),
        stored([-(2**62)], pa.int64(), pa.timestamp("ms")),
        stored([2**40], pa.int64(), pa.timestamp("s")),
        stored([5], pa.int64(), pa.duration("us")),
        pa.array([{"d": 2**31 - 1}], pa.struct([("d", pa.int32())])).cast(
            pa.struct([("d", pa.date32())])
        ),
    ],
    ids=lambda column: str(column.type),
)
def test_dates_and_times_out_of_range_are_refused(format, column):
    """polars panics over them, writes nonsense or drops them."""
    data = written_by_arrow(pa.table({"a": pa.array([1] * len(column)), "day": column}), format)
    with pytest.raises(ReadError) as caught:
        read(data, format=format)
    assert caught.value.column in ("day", "day.d")
    assert caught.value.file == "the stream"


@formats
def test_first_and_last_day(format):
    days = [datetime.date.min, datetime.date(1969, 12, 31), datetime.date.max]
    times = [datetime.datetime.min, datetime.datetime(1969, 1, 1), datetime.datetime.max]
    table = pa.table({"day": days, "time": pa.array(times, pa.timestamp("us"))})
    (block,) = read(written_by_arrow(table, format), format=format)
    assert block.frame["day"].to_list() == [str(day) for day in days]
    found = [datetime.datetime.fromisoformat(text) for text in block.frame["time"].to_list()]
    assert found == times


@formats
@pytest.mark.parametrize(
    ("table", "name", "both"),
    [
        ({"s": [{"u": 1}], "s.u": [2]}, "s.u", "'s' > 'u' and 's.u' would both"),
        ({"a": [{"b": {"c": 1}, "b.c": 2}]}, "a.b.c", "'a' > 'b' > 'c' and 'a' > 'b.c' would both"),
    ],
)
def test_members_that_meet_a_column_of_their_name(format, table, name, both):
    with pytest.raises(ReadError, match=both) as caught:
        read(written_by_arrow(pa.table(table), format), format=format)
    assert caught.value.column == name
