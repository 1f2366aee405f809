"""Streams: whatever the compression, the source and the size of chunks, the same lines."""

import bz2
import gzip
import io
import itertools
import lzma
import sys
import zipfile

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from unitless.readers import ReadError
from unitless.readers.source import LONGEST_LINE, Source


def zipped(data):
    """A zip archive of one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/", b"")
        archive.writestr("folder/data.csv", data)
        archive.writestr("__MACOSX/folder/._data.csv", b"added by a Mac")
    return file.getvalue()


FILES = st.text("ab\n", max_size=60).map(str.encode)
PACKED = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "gzip members": lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:]),
    "zstd frames": lambda data: zstandard.compress(data[:7]) + zstandard.compress(data[7:]),
}
ONE_PIECE = [gzip.compress, zstandard.compress, bz2.compress, lzma.compress, zipped]
packings = pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED.keys())


class Drip(io.RawIOBase):
    """A pipe: cannot be sought in, and gives a few bytes at a time."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, view):
        piece = self.data.read(min(3, len(view)))
        view[: len(piece)] = piece
        return len(piece)


def drip(data):
    return io.BufferedReader(Drip(data), 5)


def chunks(source, size):
    return list(source.chunks(size))


@packings
@pytest.mark.parametrize("opened", [io.BytesIO, drip])
@given(data=FILES, size=st.integers(1, 30))
def test_lines_are_whole_and_all_there(pack, opened, data, size):
    found = chunks(Source(opened(pack(data))), size)
    assert b"".join(text for text, _ in found) == data + b"\n" * (data[-1:] not in (b"\n", b""))
    assert all(text.endswith(b"\n") for text, _ in found)
    sizes = [len(text) for text, _ in found]
    assert [end for _, end in found[:-1]] == list(itertools.accumulate(sizes[:-1]))
    assert not found or found[-1][1] == len(data)


@packings
@pytest.mark.parametrize("opened", [io.BytesIO, drip])
@given(data=FILES, size=st.integers(1, 30), which=st.integers(0, 50))
def test_going_on_gives_the_same_chunks(pack, opened, data, size, which):
    found = chunks(Source(opened(pack(data))), size)
    if found:
        which %= len(found)
        source = Source(opened(pack(data)))
        source.skip_to(found[which][1])
        assert chunks(source, size) == found[which + 1 :]


@pytest.mark.parametrize("pack", ONE_PIECE)
def test_a_compressed_file_cut_short(pack):
    packed = pack(np.random.default_rng(0).bytes(3000))
    for size in (5, 100, len(packed) - 9, len(packed) - 1):
        with pytest.raises(ReadError, match="damaged or cut short"):
            chunks(Source(io.BytesIO(packed[:size])), 100)


@pytest.mark.parametrize("pack", ONE_PIECE)
def test_a_damaged_compressed_file(pack):
    packed = bytearray(pack(np.random.default_rng(0).bytes(3000)))
    packed[4:40] = b"\xff" * 36
    with pytest.raises(ReadError, match="damaged or cut short"):
        chunks(Source(io.BytesIO(bytes(packed))), 100)


def test_going_on_behind_the_end():
    with pytest.raises(ReadError, match="not the file"):
        Source(io.BytesIO(b"short")).skip_to(10)


def test_byte_order_mark():
    assert chunks(Source(io.BytesIO(b"\xef\xbb\xbfa\nb\n")), 100) == [(b"a\nb\n", 7)]


def test_a_line_without_end(monkeypatch):
    monkeypatch.setattr("unitless.readers.source.LONGEST_LINE", 1 << 12)
    with pytest.raises(ReadError, match="longer than"):
        chunks(Source(io.BytesIO(b"a" * (1 << 14))), 100)
    assert LONGEST_LINE >= 1 << 20


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(drip(b"aa\nbb\n")))
    source = Source("-")
    assert chunks(source, 3) == [(b"aa\n", 3), (b"bb\n", 6)]
    assert (source.name, source.done()) == ("standard input", None)
    source.close()
    assert not sys.stdin.buffer.closed


def test_how_much_is_done(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"a\n" * 50)
    source = Source(path)
    assert [source.done() for _ in source.chunks(50)] == [0.5, 1.0]
    source.close()


def test_no_such_file():
    with pytest.raises(FileNotFoundError):
        Source("no such file.csv")
