"""The front door, positions and reading ahead, for every format."""

import gzip
import io
import json
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import polars as pl
import pyarrow.ipc
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from readers.test_source import drip
from unitless.readers import FORMATS, ReadError, format_of, open_blocks
from unitless.readers.prefetch import prefetch

RNG = np.random.default_rng(0)
N = 120


def write_arrow(frame, file, batch):
    """An Arrow file in batches of that number of rows; polars can do that since 1.36 only."""
    table = frame.to_arrow()
    with pyarrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch)


def made(format):
    """A file of N rows, with all that makes positions difficult."""
    x, word = RNG.standard_normal(N), RNG.choice(["red", "green", "blue"], N)
    if format in ("parquet", "arrow"):
        file = io.BytesIO()
        frame = pl.DataFrame({"x": x, "word": word})
        if format == "parquet":
            frame.write_parquet(file, row_group_size=50)
        else:
            write_arrow(frame, file, 50)
        return file.getvalue()
    gap = "\t" if format == "tsv" else ","
    lines = {
        "csv": [
            f'{v}{gap}"{w}\n{w}"' if i % 7 == 0 else f"{v}{gap}{w}"
            for i, (v, w) in enumerate(zip(x, word, strict=True))
        ],
        "jsonl": [
            json.dumps({"x": v, f"k{i // 30}": w})
            for i, (v, w) in enumerate(zip(x, word, strict=True))
        ],
        "svmlight": [
            f"{i % 2} 1:{v} {2 + i}:1 # {w}" for i, (v, w) in enumerate(zip(x, word, strict=True))
        ],
        "vw": [
            f"{i % 2} {i % 3} 't{i} |{w} x:{v} y{i % 40} |z w:{w} {i // 2}"
            for i, (v, w) in enumerate(zip(x, word, strict=True))
        ],
    }["csv" if format == "tsv" else format]
    lines[10:10] = ["", "bad line"] if format != "jsonl" else ["", "{bad"]
    head = [f"x{gap}word"] if format in ("csv", "tsv") else []
    return "\n".join(head + lines).encode()


FILES = {format: made(format) for format in FORMATS}
BYTES = {"parquet": 160, "arrow": 160, "csv": 400, "tsv": 400}
each_format = pytest.mark.parametrize("format", FORMATS)


def opened(format, file=None, **options):
    file = io.BytesIO(FILES[format]) if file is None else file
    options = {"skip_bad": 1, "block_bytes": BYTES.get(format, 600), **options}
    return open_blocks(file, format=format, **options)


def rows(blocks):
    """(line, what it holds) of each row; names and tags included."""
    found, names = [], []
    for block in blocks:
        names += block.new_names
        for i in range(len(block)):
            found.append((int(block.lines[i]), content(block, i, names)))
    return found


def content(block, i, names):
    if block.frame is not None:
        return {k: v for k, v in block.frame.row(i, named=True).items() if v is not None}
    one = block.rows[i : i + 1]
    return (
        one.targets.tolist(),
        None if one.weights is None else one.weights.tolist(),
        dict(zip(one.indices.tolist(), one.values.tolist(), strict=True)),
        block.tags[i] if block.tags else None,
    )


def flat_weights(found):
    """All weights 1 may be None or ones, as the block has it."""
    return [
        (line, (row[0], row[1] or [1.0], *row[2:]) if isinstance(row, tuple) else row)
        for line, row in found
    ]


@each_format
@pytest.mark.parametrize("read_ahead", [True, False])
def test_blocks_make_the_file(format, read_ahead):
    one = flat_weights(rows(opened(format, block_bytes=1 << 20, read_ahead=read_ahead)))
    many = list(opened(format, read_ahead=read_ahead))
    assert len(many) > 5
    assert flat_weights(rows(many)) == one
    assert len(one) == N
    assert many[-1].position.rows == N
    assert many[-1].position.skipped == (format not in ("parquet", "arrow"))


@each_format
@pytest.mark.parametrize(
    ("pack", "stream"),
    [(bytes, io.BytesIO), (bytes, drip), (gzip.compress, drip), (zstandard.compress, io.BytesIO)],
    ids=["plain", "plain pipe", "gz pipe", "zst"],
)
def test_resumed_at_every_block(format, pack, stream):
    def fresh():
        return stream(pack(FILES[format]))

    blocks = list(opened(format, fresh()))
    for k, block in enumerate(blocks):
        names = [name for past in blocks[: k + 1] for name in past.new_names]
        token = json.loads(json.dumps(block.position.as_json()))
        rest = list(opened(format, fresh(), resume=token, names=names))
        assert flat_weights(rows(rest)) == flat_weights(rows(blocks[k + 1 :]))
        if rest:
            assert rest[-1].position == blocks[-1].position
            tail = [name for late in blocks[k + 1 :] for name in late.new_names]
            assert [name for late in rest for name in late.new_names] == tail


@each_format
@settings(max_examples=25)
@given(data=st.data())
def test_resumed_at_any_row(format, data):
    blocks = list(opened(format, read_ahead=False))
    k = data.draw(st.integers(0, len(blocks) - 1))
    row = data.draw(st.integers(0, len(blocks[k])))
    token = json.loads(json.dumps(blocks[k].position_at(row).as_json()))
    seen = sum(map(len, blocks[:k])) + row
    names = [name for past in blocks[: k + 1] for name in past.new_names]
    rest = list(opened(format, resume=token, names=names, read_ahead=False))
    assert flat_weights(rows(rest)) == flat_weights(rows(blocks))[seen:]
    if rest and len(rest[0]) > 1:  # and once more, from inside a block that began inside
        again = opened(format, resume=rest[0].position_at(1), names=names, read_ahead=False)
        assert flat_weights(rows(again)) == flat_weights(rows(blocks))[seen + 1 :]


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_resumed_blocks_of_tables_are_the_same_blocks(format):
    blocks = list(opened(format))
    rest = list(opened(format, resume=blocks[1].position))
    assert [len(block) for block in rest] == [len(block) for block in blocks[2:]]
    for one, other in zip(rest, blocks[2:], strict=True):
        assert one.frame.equals(other.frame)
        assert (one.position, one.start) == (other.position, other.start)


def test_names_come_also_with_rows_that_were_skipped():
    blocks = list(opened("vw"))
    names = [name for past in blocks[:3] for name in past.new_names]
    rest = list(opened("vw", resume=blocks[3].position_at(2), names=names))
    late = [name for block in blocks[3:] for name in block.new_names]
    assert [name for block in rest for name in block.new_names] == late


@each_format
def test_nothing_behind_the_end(format):
    *_, last = opened(format)
    assert list(opened(format, resume=last.position)) == []


def test_positions_belong_to_a_format():
    (block, *_) = opened("csv")
    with pytest.raises(ValueError, match="position is one of a csv file"):
        opened("vw", resume=block.position)


# The front door


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.csv", "csv"),
        ("a.CSV.gz", "csv"),
        ("b.data", "csv"),
        ("b.txt.zst", "csv"),
        ("a.tsv", "tsv"),
        ("x.y.jsonl", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.arrow", "arrow"),
        ("a.feather", "arrow"),
        ("a.svm", "svmlight"),
        ("a.vw", "vw"),
        ("a.libsvm.gz", "svmlight"),
        ("-", "csv"),
    ],
)
def test_formats_by_name(name, format):
    assert format_of(name) == format


def test_unknown_formats(tmp_path):
    for name in ("file.xyz", "file", "file.csv"):
        (tmp_path / name).write_text("a,b\n")
    with pytest.raises(ValueError, match="its name does not tell the format"):
        open_blocks(tmp_path / "file.xyz")
    with pytest.raises(ValueError, match="its name does not tell the format"):
        open_blocks(tmp_path / "file")
    with pytest.raises(ValueError, match="there is no format 'xml'"):
        open_blocks(tmp_path / "file.csv", format="xml")
    with pytest.raises(FileNotFoundError):
        open_blocks("missing.csv")


def test_standard_input():
    code = "from unitless.readers import open_blocks as o; print([b.frame.rows() for b in o('-')])"
    run = subprocess.run(
        [sys.executable, "-c", code], input=b"a,b\n1,x\n", capture_output=True, timeout=120
    )
    assert run.stdout.decode().strip() == "[[(1.0, 'x')]]"


def test_importing_the_readers_loads_nothing_heavy():
    code = "import sys, unitless.readers; print({'numpy', 'polars'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert run.stdout.decode().strip() == "set()"


@pytest.mark.parametrize("format", ["svmlight", "vw"])
def test_sparse_text_needs_no_polars(format):
    code = (
        "import io, sys; from unitless.readers import open_blocks\n"
        f"list(open_blocks(io.BytesIO({FILES[format][:60]!r}), format={format!r}, skip_bad=9))\n"
        "print('polars' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
    assert run.stdout.decode().strip() == "False"


def test_errors_survive_pickling():
    error = ReadError("why", file="f", line=3, column="c", text="t" * 100)
    other = pickle.loads(pickle.dumps(error))
    assert str(other) == str(error)
    assert (other.line, other.column, len(other.text)) == (3, "c", 100)
    assert str(error).endswith("...'")


# Reading ahead


def test_prefetch_passes_errors_on():
    def items():
        yield 1
        raise ReadError("late", file="f")

    stream = prefetch(items())
    assert next(stream) == 1
    with pytest.raises(ReadError, match="late"):
        next(stream)


def test_prefetch_stops_when_the_reader_does():
    closed = threading.Event()

    def items():
        try:
            yield from range(1000)
        finally:
            closed.set()

    stream = prefetch(items())
    assert next(stream) == 0
    stream.close()
    assert closed.is_set()


def test_prefetch_keeps_two_at_most():
    made = []

    def items():
        for k in range(10):
            made.append(k)
            yield k

    stream = prefetch(items())
    next(stream)
    time.sleep(0.2)
    assert len(made) <= 3
    stream.close()


@pytest.mark.parametrize(
    ("found", "named"),
    [({"rows": "2"}, r"\$.rows"), ({"line": 1, "place": 2}, "place"), ([], "array")],
)
def test_a_position_with_another_entry_is_refused_by_name(found, named):
    with pytest.raises(ValueError, match=f"not a position in a file: .*{named}"):
        opened("csv", resume=found)
