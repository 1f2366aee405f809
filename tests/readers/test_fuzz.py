"""Any bytes give blocks or a ReadError, and no row is lost or made up.

`UNITLESS_FUZZ=1000000` tries that many inputs instead of a few thousand.
"""

import io
import os
import random

import pytest

from readers.naive import svmlight_line, vw_features, vw_line
from readers.test_blocks import FILES
from unitless.readers import ReadError, open_blocks

TRIES = int(os.environ.get("UNITLESS_FUZZ", 4000)) // 5
ALPHABETS = {
    "csv": b'a1.,;"\n\r\t |-e\xff\x00N',
    "tsv": b'a1."\n\r\t -e\xff\x00N',
    "jsonl": b'{}[]:",ab1.e-\n\\u nulltrue\xff',
    "svmlight": b"1:.-+e# \nq\r\t\xff\x00",
    "vw": b"1:.|-+e' a\n^\r\t\xff\x00",
}


def mutated(rng, data):
    """The bytes with some of them changed, doubled or left out."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(data))
        cut = data[at : at + rng.randint(0, 20)]
        choice = rng.randrange(4)
        if choice == 0:
            data[at] = rng.randrange(256)
        elif choice == 1:
            del data[at : at + len(cut)]
        elif choice == 2:
            data[at:at] = cut
        else:
            data[at : at + len(cut)] = bytes(rng.randrange(256) for _ in cut)
    return bytes(data)


def inputs(format):
    rng = random.Random(format)
    for k in range(TRIES):
        if k % 2 and format in ALPHABETS:
            yield rng, bytes(rng.choices(ALPHABETS[format], k=rng.randrange(80)))
        else:
            start = rng.randrange(0, 200) if format in ALPHABETS else 0
            yield rng, mutated(rng, FILES[format][start : start + rng.randint(50, 1500)])


@pytest.mark.parametrize("format", [*ALPHABETS, "parquet", "arrow"])
def test_any_bytes(format):
    good = 0
    for rng, data in inputs(format):
        options = {
            "skip_bad": rng.choice([0, 0, 1, 1000]),
            "coerce": rng.random() < 0.3,
            "header": rng.random() < 0.8,
            "block_bytes": rng.choice([1, 30, 200, 1 << 20]),
        }
        try:
            blocks = list(open_blocks(io.BytesIO(data), format=format, read_ahead=False, **options))
        except ReadError as error:
            assert error.file == "the stream"  # noqa: PT017
            continue
        good += 1
        check_counts(format, data, blocks, options)
    assert good > TRIES // 50 or format in ("parquet", "arrow")


def check_counts(format, data, blocks, options):
    last = blocks[-1].position
    assert last["rows"] == sum(map(len, blocks))
    lines = [line for block in blocks for line in block.lines.tolist()]
    assert lines == sorted(set(lines))
    for block in blocks:
        height = len(block.rows) if block.frame is None else block.frame.height
        assert height == len(block) > 0
    twin = {"svmlight": svmlight_line, "vw": vw_line}.get(format)
    if twin:
        wanted = expected(twin, data)
        assert lines == [line for line, row in wanted if row == "row"]
        assert last["skipped"] == sum(row == "bad" for _, row in wanted)
    elif format in ALPHABETS:
        assert len(lines) + last["skipped"] <= data.count(b"\n") + 1


def expected(twin, data):
    """(line, "row" or "bad") of each line that is not blank."""
    found = []
    data = data.removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), start=1):
        text = line.removesuffix(b"\r").decode("latin-1")
        try:
            row = twin(text)
            seen = text if twin is vw_line else text.partition("#")[0]  # VW has no comments
            control = any(char < " " and char != "\t" for char in seen)
            named = vw_features(text.partition("|")[2]) if twin is vw_line else []
            bad = control or not all(decodable(name) for name, _ in named)
            found += [] if row is None else [(number, "bad" if bad and row else "row")]
        except ValueError:
            found.append((number, "bad"))
    return found


def decodable(name):
    try:
        name.encode("latin-1").decode()
    except UnicodeDecodeError:
        return False
    return True
