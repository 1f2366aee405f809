"""Files as streams of bytes: plain, gzip or Zstandard, from a path, a stream or standard input.

Compression is recognised by the first bytes, whatever the name says. Text comes in chunks of whole
lines; where a chunk ends depends only on where it starts, so a file read on from the end of a chunk
comes in the same chunks as before. Of a pipe that pauses, a chunk is what has come so far.
"""

from __future__ import annotations

import gzip
import io
import itertools
import os
import select
import sys
import zlib
from collections import deque
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

FIRST_PAUSE, PAUSE = 1.0, 0.1
"""Seconds without a byte after which a pipe is said to pause, at its beginning and later."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HEAD = 4
"""Bytes by which compression is recognised."""

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

    def __init__(self, file: File, settle: int = 100) -> None:
        self.raw: Any
        self.settle = settle
        """Lines of the first chunk, at least, however slowly they come."""
        self.pauses = False
        """Whether it is a pipe from which nothing more has come for a while."""
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
        self.pipe = None if self.seekable else _descriptor(self.raw)
        if file == "-" and self.pipe is not None:
            # No buffer: its lock, held by a thread that waits, would keep Python from ending.
            self.raw = open(self.pipe, "rb", buffering=0, closefd=False)  # noqa: SIM115
        self._open()

    def _open(self) -> None:
        """Start at the first byte, behind the compression."""
        if self.seekable:
            self.raw.seek(0)
        head = self.raw.read(HEAD)
        while not self.seekable and len(head) < HEAD and (more := self.raw.read(HEAD - len(head))):
            head += more
        if self.seekable:
            self.raw.seek(0)
        whole = self.raw if self.seekable else _Joined(_from_start(head, self.raw))
        self.plain = not head.startswith((GZIP, ZSTANDARD))
        if self.plain:
            self.stream: Any = whole
            return
        self.pipe = None
        if not self.seekable:
            whole = io.BufferedReader(whole, 1 << 17)
        if head.startswith(GZIP):
            self.stream = gzip.GzipFile(fileobj=whole)
        else:
            self.stream = _Joined(_frames(whole))

    def close(self) -> None:
        """Close the file, unless it is standard input."""
        if self.raw is not sys.stdin.buffer:
            self.raw.close()

    def __del__(self) -> None:
        """A file that nobody began to read is closed as well."""
        if getattr(self, "path", None) is not None and hasattr(self, "raw"):
            self.raw.close()

    def done(self) -> float | None:
        """The share of the file that has been read, if its size is known."""
        return self.raw.tell() / self.size if self.size else None

    def read(self, size: int) -> bytes:
        """At most that many bytes; less only at the end of the file."""
        piece = bytearray(size)
        return bytes(memoryview(piece)[: self.read_into(memoryview(piece))])

    def read_into(self, view: memoryview, wait: bool = True) -> int:
        """Fill the view; it is filled in part only at the end of the file, or when a pipe pauses.

        With `wait` no pause is too long.
        """
        filled, self.pauses = 0, False
        while filled < len(view) and not self.pauses and (got := self._read_some(view[filled:])):
            filled += got
            self.offset += got
            self.pauses = not wait and self._idle()
        return filled

    def _idle(self) -> bool:
        """Whether nothing comes out of the pipe for a while."""
        if self.pipe is None or self.offset <= HEAD:
            return False
        patience = FIRST_PAUSE if self.settle > 1 else PAUSE
        return not select.select([self.pipe], [], [], patience)[0]

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

    def chunks(self, size: int, cut: Cut | None = None, keep: int = 0) -> Iterator[Chunk]:
        """The rest of the file in chunks of at most `size` bytes, more only if a line is longer.

        `cut(text, start, stop)` gives the place behind the last line that is whole; `start` if
        there is none. The texts of the last `keep` chunks last while the next one is read.
        """
        cut, size = cut or last_line, max(size, len(BYTE_ORDER_MARK))
        window, held, offset = size, 0, self.offset
        text, used = _buffer(size), deque[Text]()
        while True:
            if held < window:
                held += self.read_into(text.data[PADDING + held : PADDING + window], wait=False)
            if held < window and not self.pauses:
                break
            whole = self._whole(text, cut, held if self.pauses else window)
            if whole:
                self.settle = 0
                yield _chunk(text, PADDING + whole, offset, offset + whole)
                offset, held, window = offset + whole, held - whole, size
                used.append(text)
                other = used.popleft() if len(used) > keep else _buffer(size)
                text = _moved(text, whole, held, other, max(held, window))
            elif self.pauses:
                continue
            elif window >= LONGEST:
                raise ReadError(
                    f"the line or quoted field at byte {offset} is longer than "
                    f"{LONGEST >> 20} MB: is this a text file, are its quotes closed?",
                    file=self.name,
                )
            else:
                window *= 2
                text = _moved(text, 0, held, text, max(held, window))
        if held:
            stop = PADDING + held
            text[stop] = 10
            yield _chunk(text, stop + int(text[stop - 1] != 10), offset, offset + held)

    def _whole(self, text: Text, cut: Cut, held: int) -> int:
        """How many bytes of those held are whole lines; 0 if a pause comes too early."""
        if self.pauses and np.count_nonzero(text[PADDING : PADDING + held] == 10) < self.settle:
            return 0
        return cut(text, PADDING, PADDING + held) - PADDING


def _descriptor(raw: Any) -> int | None:
    """Of a pipe that can be asked whether something is in it."""
    try:
        select.select([raw.fileno()], [], [], 0)
        return int(raw.fileno())
    except (AttributeError, OSError, ValueError):
        return None


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


def _moved(text: Text, start: int, size: int, other: Text, room: int) -> Text:
    """The bytes from `start` on at the front of the other buffer, or of one with that much room."""
    rest = text[PADDING + start : PADDING + start + size].copy()
    if len(other) != room + 2 * PADDING:
        other = _buffer(room)
    other[PADDING : PADDING + size] = rest
    return other


def last_line(text: Text, start: int, stop: int) -> int:
    """The place behind the last newline of text[start:stop], or `start`."""
    high, size = stop, 4096
    while high > start:
        low = max(start, high - size)
        newline = text[low:high].tobytes().rfind(b"\n")
        if newline >= 0:
            return low + newline + 1
        high, size = low, 65536
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


def _from_start(head: bytes, raw: Any) -> Iterator[bytes]:
    """The pieces of a stream that cannot go back, as they come; its first bytes have been read."""
    read = getattr(raw, "read1", raw.read)
    return itertools.chain([head], iter(lambda: read(1 << 17), b""))


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
