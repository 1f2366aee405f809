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
from hypothesis import given, settings
from hypothesis import strategies as st

from readers.naive import read
from readers.test_blocks import write_arrow
from readers.test_source import drip
from unitless.encoders import FrameEncoder
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
        "day": pl.Date,
        "coin": number,
        "in.deep.er": number,
        "in.b": string,
        "none": number,
    }
    day = datetime.date(2020, 1, 2)
    assert block.frame.row(0) == (1.0, 1.5, True, "x", "a", day, 1.25, 1.0, "x", None)
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
        read(data, format=format, strict=True)
    assert (caught.value.line, caught.value.column, caught.value.text) == (2, "a", "inf")
    (block,) = read(data, format=format, strict=True, skip_bad=1)
    assert (block.frame.rows(), block.lines.tolist()) == ([(1.0, 1.0), (3.0, 3.0)], [1, 3])
    (block,) = read(data, format=format)
    assert block.frame["a"].to_list() == [1.0, None, 3.0]
    assert block.position.coerced == 1


@formats
def test_columns_that_cannot_be_read(format):
    with pytest.raises(ReadError, match="cannot be read") as caught:
        read(written(pl.DataFrame({"a": [1], "b": [[1, 2]]}), format), format=format)
    assert caught.value.column == "b"
    assert "to leave it out, use --ignore, or types={'b': 'string'}" in str(caught.value)


@formats
def test_columns_that_are_left_out(format):
    frame = pl.DataFrame({"a": [1], "b": [[1, 2]], "c": [datetime.time(1)], "d": [7]})
    types = dict.fromkeys("bcd", "string")
    (block,) = read(written(frame, format), format=format, types=types)
    assert block.frame.rows() == [(1.0, None, None, "7")]


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
        stored([86_400], pa.int32(), pa.time32("s")),
        stored([2**62], pa.int64(), pa.time64("us")),
        stored([4102444800], pa.int64(), pa.timestamp("s", "Europe/Paris")),  # 2100-01-01
        stored([-62135596800], pa.int64(), pa.timestamp("s", "America/New_York")),  # 0001-01-01
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
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_are_seconds(format, unit):
    """The same bits from every unit; a data frame has them, too."""
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    numbers = [90 * ticks, None, -3 * ticks // 2, 2**40 * ticks // 1000, 0]
    table = pa.table({"took": pa.array(numbers, pa.duration(unit))})
    found = read(written_by_arrow(table, format), format=format)[0].frame["took"]
    exact = [None if each is None else each / ticks for each in numbers]
    assert found.dtype == pl.Float64
    assert found.to_list() == exact
    for frame in (table, table.to_pandas(), pl.from_arrow(table)):
        encoded = FrameEncoder().encode(frame)
        assert encoded.kinds == {"took": "number"}
        np.testing.assert_array_equal(encoded.X[:, 0], np.array(exact, dtype=float))


@formats
@pytest.mark.parametrize("cells", [["2021-01-31"], ["2021-01-31 14:00", "2021-02-01"]])
def test_strings_that_are_declared_dates(format, cells):
    """With times where cells have them, and the same after resuming."""
    file = written_by_arrow(pa.table({"day": cells * 30}), format)
    kind, dtype = ("date", pl.Date) if len(cells) == 1 else ("datetime", pl.Datetime("us"))
    (block,) = read(file, format=format, types={"day": "date"})
    assert block.position.columns == {"day": kind}
    assert block.frame.schema == {"day": dtype}
    assert block.frame["day"].null_count() == 0
    place = block.position_at(len(cells) * 30 - 1)
    (rest,) = read(file, format=format, types={"day": "date"}, resume=place)
    assert rest.frame.equals(block.frame[-1:])


@formats
def test_first_and_last_day(format):
    days = [datetime.date.min, datetime.date(1969, 12, 31), datetime.date.max]
    times = [datetime.datetime.min, datetime.datetime(1969, 1, 1), datetime.datetime.max]
    table = pa.table({"day": days, "time": pa.array(times, pa.timestamp("us"))})
    (block,) = read(written_by_arrow(table, format), format=format)
    assert block.frame["day"].to_list() == days
    assert block.frame["time"].to_list() == times


@formats
def test_dates_in_other_types(format):
    """Local time without a zone; text if asked for, or for classes; and text as dates."""
    time = datetime.datetime(2024, 1, 1, 10)
    table = pl.DataFrame({"day": [time.date()], "time": [time], "text": ["01.02.2024"]})
    table = table.with_columns(pl.col("time").dt.replace_time_zone("Asia/Tokyo"), y=pl.col("day"))
    types = {"day": "category", "text": "date %d.%m.%Y"}
    (block,) = read(written(table, format), format=format, types=types, target="y")
    assert block.frame.row(0) == ("2024-01-01", time, datetime.date(2024, 2, 1))
    assert block.targets.tolist() == ["2024-01-01"]


@formats
@pytest.mark.parametrize(
    ("table", "name"),
    [
        ({"s": [{"u": 1}], "s.u": [2]}, "s.u"),
        ({"a": [{"b": {"c": 1}, "b.c": 2}]}, "a.b.c"),
    ],
)
def test_members_that_meet_a_column_of_their_name(format, table, name):
    with pytest.raises(ReadError, match=f"two columns would be called '{name}'") as caught:
        read(written_by_arrow(pa.table(table), format), format=format)
    assert caught.value.column == name


NUMBERS = {
    "small": (pa.int8(), st.integers(-128, 127)),
    "integer": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "single": (pa.float32(), st.floats(width=32, allow_infinity=False, allow_nan=False)),
    "number": (pa.float64(), st.floats(allow_infinity=False, allow_nan=False)),
}
MOMENTS = {
    "day": (pa.int32(), pa.date32(), 1),
    "second": (pa.int64(), pa.timestamp("s"), 86_400),
    "zoned": (pa.int64(), pa.timestamp("us", "America/New_York"), 86_400 * 10**6),
}


def moment(cell):
    """The local time; text has whole minutes of an offset, which before 1900 had seconds."""
    return datetime.datetime.fromisoformat(str(cell)).replace(tzinfo=None)


@formats
@settings(max_examples=60)
@given(data=st.data())
def test_pyarrow_reads_the_same(format, data):
    """Each cell is the one of pyarrow, or the file is refused with its column."""
    kind = data.draw(st.sampled_from([*NUMBERS, *MOMENTS, "decimal", "word"]))
    if kind in MOMENTS:
        integer, dtype, unit = MOMENTS[kind]
        near = st.integers(-800_000, 3_000_000).map(lambda days: days * unit)
        wild = st.integers(-(2**31), 2**31 - 1)
        cells = data.draw(st.lists(near | wild | st.none(), min_size=1, max_size=4))
        column = pa.array(cells, integer).view(dtype)
    elif kind == "decimal":
        cells = st.decimals(-(10**30), 10**30, places=3)
        column = pa.array(data.draw(st.lists(cells, min_size=1)), pa.decimal128(38, 3))
    elif kind == "word":
        column = pa.array(data.draw(st.lists(st.text() | st.none(), min_size=1)), pa.string())
    else:
        dtype, cells = NUMBERS[kind]
        column = pa.array(data.draw(st.lists(cells | st.none(), min_size=1)), dtype)
    try:
        (block,) = read(written_by_arrow(pa.table({"c": column}), format), format=format)
    except ReadError as error:
        assert error.column == "c"  # noqa: PT017
        assert kind in MOMENTS
        return
    for found, cell in zip(block.frame["c"].to_list(), column.to_pylist(), strict=True):
        if cell is None or kind == "word":
            assert found == cell
        elif kind in ("day", "second", "zoned"):
            assert moment(found) == moment(cell)
        else:
            assert found == float(cell)


def arrow_file(table):
    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


@pytest.mark.parametrize("second", [2**62, -(2**62), 2**63 - 1])
@pytest.mark.parametrize("nested", [False, True])
def test_seconds_that_polars_would_turn_into_others(second, nested):
    """2**62 seconds are 0 milliseconds modulo 2**64: a date in 1970."""
    when = pa.array([0, second, None], pa.int64()).view(pa.timestamp("s"))
    table = pa.table({"a": pa.StructArray.from_arrays([when], ["b"])} if nested else {"a": when})
    with pytest.raises(ReadError, match="years 1 to 9999") as caught:
        read(arrow_file(table), format="arrow")
    name = "a.b" if nested else "a"
    assert caught.value.column == name
    assert len(read(arrow_file(table), format="arrow", types={name: "string"})) == 1
    near = pa.table({"a": pa.array([0, 253_402_300_799], pa.int64()).view(pa.timestamp("s"))})
    (block,) = read(arrow_file(near), format="arrow")
    assert block.frame["a"].dt.year().to_list() == [1970, 9999]
