"""Files as streams of bytes: plain, gzip or Zstandard, from a path, a stream or standard input.

Compression is recognised by the first bytes, whatever the name says. Text comes in chunks of whole
lines; where a chunk ends depends only on where it starts, so a file read on from the end of a chunk
comes in the same chunks as before.
"""

from __future__ import annotations

import gzip
import io
import itertools
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.readers.blocks import ReadError

PADDING = 64
"""Bytes that kernels may read beyond either end of a text."""

LONGEST = 1 << 26
"""Bytes of the longest line: what bounds the memory of a file without newlines."""

PIECE = 4096
"""Bytes of a Zstandard file decompressed at a time: at most 128 MB come out of them."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"

Text = NDArray[np.uint8]
File = str | os.PathLike[str] | BinaryIO
Cut = Callable[[Text, int, int], int]


class Chunk(NamedTuple):
    """Whole lines, text[start:stop]: the bytes from `offset` to `end` of the file.

    The last line of a file gets a newline if it has none. The text lasts until the next chunk.
    """

    text: Text
    start: int
    stop: int
    offset: int
    end: int


class Source:
    """A file that is read once, from front to back.

    >>> source = Source(io.BytesIO(gzip.compress(b"two\\nlines")))
    >>> [bytes(chunk.text[chunk.start : chunk.stop]) for chunk in source.chunks(5)]
    [b'two\\n', b'lines\\n']
    """

    def __init__(self, file: File) -> None:
        self.raw: Any
        self.path: str | None = None
        if file == "-":
            self.name, self.raw = "standard input", sys.stdin.buffer
        elif isinstance(file, str | os.PathLike):
            self.name = self.path = os.fspath(file)
            self.raw = open(file, "rb")  # noqa: SIM115
        else:
            self.name, self.raw = str(getattr(file, "name", "the stream")), file
        self.seekable = self.raw.seekable() and self.raw.tell() == 0
        self.size = self.raw.seek(0, os.SEEK_END) if self.seekable else None
        self.offset = 0
        self._open()

    def _open(self) -> None:
        """Start at the first byte, behind the compression."""
        if self.seekable:
            self.raw.seek(0)
        head = self.raw.read(4)
        if self.seekable:
            self.raw.seek(0)
        whole = self.raw if self.seekable else _from_start(head, self.raw)
        self.plain = not head.startswith((GZIP, ZSTANDARD))
        if self.plain:
            self.stream: Any = whole
        elif head.startswith(GZIP):
            self.stream = gzip.GzipFile(fileobj=whole)
        else:
            self.stream = _Joined(_frames(whole))

    def close(self) -> None:
        """Close the file, unless it is standard input."""
        if self.raw is not sys.stdin.buffer:
            self.raw.close()

    def done(self) -> float | None:
        """The share of the file that has been read, if its size is known."""
        return self.raw.tell() / self.size if self.size else None

    def read(self, size: int) -> bytes:
        """At most that many bytes; less only at the end of the file."""
        piece = bytearray(size)
        return bytes(memoryview(piece)[: self.read_into(memoryview(piece))])

    def read_into(self, view: memoryview) -> int:
        """Fill the view; it is filled in part only at the end of the file."""
        filled = 0
        while filled < len(view) and (got := self._read_some(view[filled:])):
            filled += got
        self.offset += filled
        return filled

    def _read_some(self, view: memoryview) -> int:
        try:
            return self.stream.readinto(view) or 0
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ReadError(
                f"the compressed file is damaged or cut short ({error})", file=self.name
            ) from None

    def skip_to(self, offset: int) -> None:
        """Go on to that byte of the uncompressed file."""
        if self.plain and self.size is not None and offset <= self.size:
            self.offset = self.raw.seek(offset)
        room = memoryview(bytearray(1 << 20))
        while self.offset < offset:
            if not self.read_into(room[: offset - self.offset]):
                raise ReadError(
                    f"the file ends at byte {self.offset}, before byte {offset}, where reading "
                    "was to go on: it is not the file that was read before",
                    file=self.name,
                )

    def chunks(self, size: int, cut: Cut | None = None) -> Iterator[Chunk]:
        """The rest of the file in chunks of at most `size` bytes, more only if a line is longer.

        `cut(text, start, stop)` gives the place behind the last line that is whole; `start` if
        there is none.
        """
        cut, size = cut or last_line, max(size, len(BYTE_ORDER_MARK))
        window, held, offset = size, 0, self.offset
        text = _buffer(size)
        while True:
            if held < window:
                held += self.read_into(text.data[PADDING + held : PADDING + window])
            if held < window:
                break
            whole = cut(text, PADDING, PADDING + window) - PADDING
            if whole:
                yield _chunk(text, PADDING + whole, offset, offset + whole)
                offset, held, window = offset + whole, held - whole, size
            elif window >= LONGEST:
                raise ReadError(
                    f"the line or quoted field at byte {offset} is longer than "
                    f"{LONGEST >> 20} MB: is this a text file, are its quotes closed?",
                    file=self.name,
                )
            else:
                window *= 2
            text = _moved(text, whole, held, max(held, window))
        if held:
            stop = PADDING + held
            text[stop] = 10
            yield _chunk(text, stop + int(text[stop - 1] != 10), offset, offset + held)


def _chunk(text: Text, stop: int, offset: int, end: int) -> Chunk:
    mark = len(BYTE_ORDER_MARK)
    if offset == 0 and text[PADDING : PADDING + mark].tobytes() == BYTE_ORDER_MARK:
        return Chunk(text, PADDING + mark, max(stop, PADDING + mark), mark, max(end, mark))
    return Chunk(text, PADDING, stop, offset, end)


def _buffer(room: int) -> Text:
    return np.zeros(PADDING + room + PADDING, dtype=np.uint8)


def padded(data: bytes) -> Text:
    """The bytes with room on both sides, as kernels take them."""
    text = _buffer(len(data))
    text[PADDING : PADDING + len(data)] = np.frombuffer(data, dtype=np.uint8)
    return text


def _moved(text: Text, start: int, size: int, room: int) -> Text:
    """The bytes from `start` on at the front of a buffer with that much room."""
    rest = text[PADDING + start : PADDING + start + size].copy()
    if len(text) != room + 2 * PADDING:
        text = _buffer(room)
    text[PADDING : PADDING + size] = rest
    return text


def last_line(text: Text, start: int, stop: int) -> int:
    """The place behind the last newline of text[start:stop], or `start`."""
    for high in range(stop, start, -65536):
        low = max(start, high - 65536)
        newlines = np.flatnonzero(text[low:high] == 10)
        if len(newlines):
            return low + int(newlines[-1]) + 1
    return start


class _Joined(io.RawIOBase):
    """Pieces of bytes as one stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces, self.left = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        while not self.left:
            piece = next(self.pieces, None)
            if piece is None:
                return 0
            self.left = memoryview(piece)
        size = min(len(view), len(self.left))
        view[:size], self.left = self.left[:size], self.left[size:]
        return size


def _from_start(head: bytes, raw: Any) -> Any:
    """A stream that cannot go back, from its first bytes on, which have been read."""
    pieces = itertools.chain([head], iter(lambda: raw.read(1 << 17), b""))
    return io.BufferedReader(_Joined(pieces), 1 << 17)


def _frames(raw: Any) -> Iterator[bytes]:
    """Decompressed Zstandard frames; a frame cut short is an error."""
    from zstandard import ZstdDecompressor, ZstdError

    data = raw.read(PIECE)
    while data:
        frame = ZstdDecompressor().decompressobj()
        while not frame.eof:
            try:
                yield frame.decompress(data)
            except ZstdError as error:
                raise EOFError(str(error)) from None
            data = frame.unused_data or raw.read(PIECE)
            if not data and not frame.eof:
                raise EOFError("its last frame has no end")
