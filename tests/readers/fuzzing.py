"""What must hold for any bytes: blocks or a ReadError, and no row lost or made up."""

import io
import itertools
import json
import random

import pyarrow
import pyarrow.feather
import pyarrow.parquet

from readers.naive import csv_records, svmlight_line, vw_line
from readers.test_blocks import FILES
from unitless.readers import ReadError, open_blocks

ALPHABETS = {
    "csv": b'ax^1.,;"\n\r\t |-e\xff\x00N',
    "tsv": b'ax^1."\n\r\t -e\xff\x00N',
    "jsonl": b'{}[]:",ab1.e-\n\\u nulltrue\xff',
    "svmlight": b"1:.-+e# \nq\r\t\xff\x00",
    "vw": b"1:.|-+e' a\n^#\r\t\xff\x00",
}
"""Bytes that mean something in each format, and some that do not."""

FORMATS = [*ALPHABETS, "parquet", "arrow"]
MARK = b"\xef\xbb\xbf"


def mutated(rng, data):
    """The bytes with some of them changed, doubled or left out."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(data) + 1)
        cut = data[at : at + rng.randint(0, 20)]
        choice = rng.randrange(4)
        if choice == 0:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif choice == 1:
            del data[at : at + len(cut)]
        elif choice == 2:
            data[at:at] = cut
        else:
            data[at : at + len(cut)] = bytes(rng.randrange(256) for _ in cut)
    return bytes(data)


def made(rng, format):
    """Bytes that look like the format, in one of ten with byte order marks among them."""
    data = _made(rng, format)
    for _ in range(rng.choice([0] * 9 + [3]) if format in ALPHABETS else 0):
        at = rng.randrange(len(data) + 1)
        data = data[:at] + MARK + data[at:]
    return data


def _made(rng, format):
    """Bytes that look like the format: its characters in disorder, or a good file spoilt."""
    if format in ALPHABETS and rng.random() < 0.5:
        return bytes(rng.choices(ALPHABETS[format], k=rng.randrange(80)))
    if format not in ALPHABETS:  # their ends tell where all else is
        return mutated(rng, FILES[format])
    start = rng.choice([0, rng.randrange(len(FILES[format]))])
    return mutated(rng, FILES[format][start : start + rng.choice([60, 200, 600])])


def options_of(rng, length):
    """Ways to read; a block a line only where there are few lines."""
    return {
        "skip_bad": rng.choice([0, 1, 1000, 1000]),
        "strict": rng.random() < 0.5,
        "header": rng.random() < 0.8,
        "block_bytes": rng.choice([1 + length // 10, 30 + length // 10, 200, 1 << 20]),
    }


def tried(format, seed):
    """One input, made of the seed: whether it was read; an AssertionError if wrongly."""
    rng = random.Random(f"{format} {seed}")
    data = made(rng, format)
    return check(format, data, options_of(rng, len(data)))


def check(format, data, options):
    """Whether the bytes can be read; if so, all of their rows were."""
    try:
        # The plain parsers know UTF-8 only.
        options = {**options, "encoding": "utf-8", "read_ahead": False}
        blocks = list(open_blocks(io.BytesIO(data), format=format, **options))
    except ReadError as error:
        assert error.file == "the stream"  # noqa: PT017
        return False
    last = blocks[-1].position
    assert last.rows == sum(map(len, blocks))
    lines = [line for block in blocks for line in block.lines.tolist()]
    assert lines == sorted(set(lines))
    for block in blocks:
        height = len(block.rows) if block.frame is None else block.frame.height
        assert height == len(block)
        assert len(block) > 0 or block is blocks[-1]
    if format not in ("parquet", "arrow"):
        data = data.removeprefix(MARK) + b"\n" * (not data.endswith(b"\n"))
    check_rows[format](data, lines, last, options)
    return True


def check_sparse(twin, data, lines, last):
    """The lines that are rows, and how many are bad, as a plain parser has it."""
    wanted = list(expected(twin, data))
    assert lines == [line for line, row in wanted if row == "row"]
    assert last.skipped == sum(row == "bad" for _, row in wanted)


def check_csv(data, lines, last, options):
    """Each record is the header, a row, or a bad line; one of a wrong shape is bad."""
    separator, quote = last.separator.encode(), last.quote and last.quote.encode()
    records = csv_records(data, separator, quote)
    starts = [start for start, *_ in records] + [len(data)]
    texts = [data[start:stop] for start, stop in itertools.pairwise(starts)]
    filled = [k for k, text in enumerate(texts) if text not in (b"\n", b"\r\n")]
    found = [records[k] for k in filled][options["header"] :]
    assert len(lines) + last.skipped == len(found)
    width = len(last.columns)
    assert set(lines) <= {line + 1 for _, line, fields in found if fields == width}


def check_jsonl(data, lines, last, options):
    """Each line that is not blank is a row or bad; an array is read as json reads it."""
    if data.lstrip(b" \t\r\n\v\f").startswith(b"["):
        if not last.skipped:
            assert len(lines) == len(json.loads(data))
        return
    filled = [k for k, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    assert len(lines) + last.skipped == len(filled)
    assert set(lines) <= set(filled)


def check_stored(data, lines, last, options):
    """The rows are those that Arrow's own reader finds in the file as a whole."""
    file = pyarrow.BufferReader(data)
    read = pyarrow.feather if data.startswith(b"ARROW1") else pyarrow.parquet
    try:
        found = read.read_table(file).num_rows
    except (pyarrow.ArrowException, OSError, ValueError):
        return  # it is stricter in places
    assert len(lines) + last.skipped == found


check_rows = {
    "csv": check_csv,
    "tsv": check_csv,
    "jsonl": check_jsonl,
    "svmlight": lambda data, lines, last, _: check_sparse(svmlight_line, data, lines, last),
    "vw": lambda data, lines, last, _: check_sparse(vw_line, data, lines, last),
    "parquet": check_stored,
    "arrow": check_stored,
}


def expected(twin, data):
    """(line, "row" or "bad") of each line that is not blank."""
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), start=1):
        text = line.removesuffix(b"\r").decode("latin-1")
        seen = text if twin is vw_line else text.partition("#")[0]  # VW has no comments
        try:
            good = not any(char < " " and char != "\t" for char in seen)
            row = good and twin(text)
        except ValueError:
            good = row = False
        if good and twin is vw_line:
            good = decodable(text)
        if row is not None:
            yield number, "row" if good else "bad"


def decodable(name):
    try:
        name.encode("latin-1").decode()
    except UnicodeDecodeError:
        return False
    return True
