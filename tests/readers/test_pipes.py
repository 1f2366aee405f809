"""Pipes that pause: what has come is read at once, and it is what a file would have given."""

import io
import os
import threading

import numpy as np
import pytest

from unitless.readers import open_blocks
from unitless.readers import source as sources

LINES = {
    "vw": [b"1 | a:2 b\n", b"-1 | b c:0.5\n", b"1 'tag | d\n", b"-1 | a\n"],
    "svmlight": [b"1 1:2 3:4\n", b"-1 2:1\n", b"1 7:3\n", b"-1 1:1\n"],
    "csv": [b"x,y\n1,2\n", b"3,4\n", b"5,6\n", b"7,8\n"],
    "jsonl": [b'{"x": 1}\n', b'{"x": 2}\n', b'{"x": 3}\n', b'{"x": 4}\n'],
}
formats = pytest.mark.parametrize("format", LINES)
HANGS = 30.0
"""Seconds after which the other end is closed, so that a test that would hang fails."""


@pytest.fixture
def pipe(monkeypatch):
    """(the end to read from, the end to write into)"""
    monkeypatch.setattr(sources, "PAUSE", 0.01)
    monkeypatch.setattr(sources, "FIRST_PAUSE", 0.01)
    out, into = os.pipe()
    end = os.fdopen(into, "wb", buffering=0)
    clock = threading.Timer(HANGS, end.close)
    clock.start()
    with os.fdopen(out, "rb") as start:
        yield start, end
    clock.cancel()
    end.close()


def plain(block):
    """What a block holds."""
    if block.frame is not None:
        return block.frame.rows()
    rows = block.rows
    cuts = zip(rows.starts[:-1], rows.starts[1:], strict=True)
    return [
        (label, rows.indices[a:b].tolist(), rows.values[a:b].tolist())
        for label, (a, b) in zip(rows.targets.tolist(), cuts, strict=True)
    ]


@formats
def test_rows_come_as_they_arrive(pipe, format):
    start, end = pipe
    first, second, *rest = LINES[format]
    end.write(first + second[:3])  # half a line waits for its other half
    blocks = open_blocks(start, format=format, settle=1)
    found = [next(blocks)]
    assert len(found[0]) == 1
    end.write(second[3:])
    found.append(next(blocks))
    assert len(found[1]) == 1
    end.write(b"".join(rest))
    end.close()
    found += blocks
    (whole,) = open_blocks(io.BytesIO(b"".join(LINES[format])), format=format)
    assert [row for block in found for row in plain(block)] == plain(whole)
    assert np.concatenate([block.lines for block in found]).tolist() == whole.lines.tolist()
    assert found[-1].position == whole.position


@formats
def test_the_first_block_waits_until_types_can_be_told(pipe, format):
    start, end = pipe
    end.write(b"".join(LINES[format][:2]))
    later = threading.Timer(0.3, lambda: (end.write(b"".join(LINES[format][2:])), end.close()))
    later.start()
    assert len(next(open_blocks(start, format=format, settle=4))) == 4
    later.join()


def test_a_bad_line_behind_a_pause(pipe):
    start, end = pipe
    end.write(b"1 | a\n")
    blocks = open_blocks(start, format="vw", settle=1)
    assert len(next(blocks)) == 1
    end.write(b"no bar\n")
    end.close()
    with pytest.raises(ValueError, match=r"line 2.*no"):
        next(blocks)


@formats
def test_bad_lines_behind_the_last_row_are_counted(pipe, format):
    """A block was given away at the pause; the bad line comes later, and no row behind it."""
    start, end = pipe
    end.write(LINES[format][0])
    blocks = open_blocks(start, format=format, settle=1, skip_bad=2, strict=True)
    first = next(blocks)
    assert (len(first), first.position.skipped) == (1, 0)
    end.write(b"{,x:y\n")
    end.write(b"{,z:y\n")
    end.close()
    (last,) = blocks
    assert (len(last), last.position.skipped, last.position.rows) == (0, 2, 1)


def test_a_header_settles_no_types(pipe):
    """It may come alone, and so may a line that cannot be used."""
    start, end = pipe
    end.write(b"size,colour\n")
    blocks = open_blocks(start, settle=1, skip_bad=1)
    later = threading.Timer(0.2, lambda: end.write(b"1,2,3\n"))
    later.start()
    later.join()
    threading.Timer(0.2, lambda: (end.write(b"1,red\n2,blue\n"), end.close())).start()
    (block,) = blocks
    assert block.frame.rows() == [(1.0, "red"), (2.0, "blue")]
    assert block.position.columns == {"size": "number", "colour": "string"}
    assert block.position.skipped == 1
