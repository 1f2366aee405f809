"""Files as streams of bytes: plain or compressed, from a path, a stream or standard input.

Compression is recognised by the first bytes, not by the name. Text comes in chunks of whole
lines; where a chunk ends depends only on where it starts, so reading on from the end of a chunk
gives the same chunks as before. If a pipe pauses, a chunk is what has arrived so far.
"""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import os
import select
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from unitless.readers.blocks import ReadError

LONGEST_LINE = 1 << 26
"""Bytes of the longest line: this bounds the memory that a file without newlines takes."""

ZSTANDARD_PIECE = 4096
"""Bytes of a Zstandard file decompressed at a time: at most 128 MB come out of them."""

FIRST_PAUSE = 1.0
PAUSE = 0.1
"""Seconds without a byte after which a pipe counts as paused, at its beginning and later."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
BZIP2 = tuple(b"BZh%d" % level for level in range(1, 10))
XZ = b"\xfd7zX"
HEAD = 4
"""Bytes by which compression is recognised."""

DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""What decompression raises for a damaged file; an OSError then has no errno."""

File = str | os.PathLike[str] | BinaryIO


class Chunk(NamedTuple):
    """Whole lines: the bytes from `offset` to `end` of the file.

    The last line of a file gets a newline if it has none.
    """

    data: bytes
    offset: int
    end: int


class Source:
    """A file that is read once, from beginning to end.

    >>> source = Source(io.BytesIO(gzip.compress(b"two\\nlines")))
    >>> [chunk.data for chunk in source.chunks(5)]
    [b'two\\n', b'lines\\n']
    """

    def __init__(self, file: File, settle: int = 100) -> None:
        self.raw: Any
        self.settle = settle
        """Minimum number of lines of the first chunk, however slowly they arrive."""
        self.pauses = False
        """Whether it is a pipe from which nothing has arrived for a while."""
        self.path: str | None = None
        if file == "-":
            self.name = "standard input"
            self.raw = sys.stdin.buffer
        elif isinstance(file, str | os.PathLike):
            self.name = self.path = os.fspath(file)
            self.raw = open(file, "rb")  # noqa: SIM115
        else:
            self.name = str(getattr(file, "name", "the stream"))
            self.raw = file
        self.seekable = self.raw.seekable() and self.raw.tell() == 0
        self.size = self.raw.seek(0, os.SEEK_END) if self.seekable else None
        self.offset = 0
        self.pipe = None if self.seekable else _descriptor(self.raw)
        if file == "-" and self.pipe is not None:
            # Unbuffered: a waiting thread would hold the buffer's lock, and Python could not exit.
            self.raw = open(self.pipe, "rb", buffering=0, closefd=False)  # noqa: SIM115
        self._open()

    def _open(self) -> None:
        """Open the stream of uncompressed bytes at its beginning."""
        if self.seekable:
            self.raw.seek(0)
            head = self.raw.read(HEAD)
            self.raw.seek(0)
            whole = self.raw
        else:
            head = b""
            while len(head) < HEAD and (more := self.raw.read(HEAD - len(head))):
                head += more
            whole = _Joined(_from_start(head, self.raw))
        self.plain = False
        if head.startswith(GZIP):
            self.stream: Any = gzip.GzipFile(fileobj=_buffered(whole))
        elif head.startswith(ZSTANDARD):
            self.stream = _Joined(_zstandard(_buffered(whole)))
        elif head.startswith(BZIP2):
            self.stream = bz2.BZ2File(_buffered(whole))
        elif head.startswith(XZ):
            self.stream = lzma.LZMAFile(_buffered(whole))  # noqa: SIM115
        else:
            self.stream = whole
            self.plain = True
        if not self.plain:
            self.pipe = None
        self._read_some = getattr(self.stream, "read1", self.stream.read)

    def close(self) -> None:
        """Close the file, unless it is standard input."""
        if self.raw is not sys.stdin.buffer:
            self.raw.close()

    def __del__(self) -> None:
        """Close a file that was opened and never read."""
        if getattr(self, "path", None) is not None and hasattr(self, "raw"):
            self.raw.close()

    def done(self) -> float | None:
        """The share of the file that has been read, if its size is known."""
        return self.raw.tell() / self.size if self.size else None

    def read(self, size: int, wait: bool = True) -> bytes:
        """That many bytes; fewer only at the end of the file, or when a pipe pauses.

        With `wait` it waits however long a pause is.
        """
        pieces = []
        self.pauses = False
        while size > 0 and not self.pauses:
            piece = self._some(size)
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
            self.offset += len(piece)
            self.pauses = not wait and self._idle()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _some(self, size: int) -> bytes:
        try:
            return self._read_some(size) or b""
        except DAMAGED as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            why = f"the compressed file is damaged or cut short ({error})"
            raise ReadError(why, file=self.name) from None

    def _idle(self) -> bool:
        """Whether nothing arrives from the pipe for a while."""
        if self.pipe is None or self.offset <= HEAD:
            return False
        patience = FIRST_PAUSE if self.settle > 1 else PAUSE
        return not select.select([self.pipe], [], [], patience)[0]

    def skip_to(self, offset: int) -> None:
        """Skip to that byte of the uncompressed file."""
        if self.plain and self.size is not None and offset <= self.size:
            self.offset = self.raw.seek(offset)
        while self.offset < offset:
            if not self.read(min(1 << 20, offset - self.offset)):
                raise ReadError(
                    f"the file ends at byte {self.offset}, before byte {offset}, where reading "
                    "was to continue: it is not the file that was read before",
                    file=self.name,
                )

    def chunks(self, size: int, cut: Callable[[bytes], int] | None = None) -> Iterator[Chunk]:
        """The rest of the file in chunks of at most `size` bytes, more only if a line is longer.

        `cut(data)` says how many bytes, from the first on, are whole lines.
        """
        cut = cut or whole_lines
        size = max(size, len(BYTE_ORDER_MARK))
        offset = self.offset
        held = b""
        window = size
        while True:
            held += self.read(window - len(held), wait=False)
            if len(held) < window and not self.pauses:
                break
            whole = self._whole(held[:window], cut)
            if whole:
                self.settle = 0
                yield _chunk(held[:whole], offset, offset + whole)
                offset += whole
                held = held[whole:]
                window = size
            elif self.pauses:
                continue
            elif window >= LONGEST_LINE:
                raise ReadError(
                    f"the line or quoted field at byte {offset} is longer than "
                    f"{LONGEST_LINE >> 20} MB: is this a text file, are its quotes closed?",
                    file=self.name,
                )
            else:
                window *= 2
        if held:
            yield _chunk(held, offset, offset + len(held))

    def _whole(self, held: bytes, cut: Callable[[bytes], int]) -> int:
        """How many of the bytes held are whole lines; 0 if a pause comes too early."""
        if self.pauses and held.count(b"\n") < self.settle:
            return 0
        return cut(held)


def whole_lines(data: bytes) -> int:
    """How many bytes are whole lines.

    >>> whole_lines(b"one\\ntw")
    4
    """
    return data.rfind(b"\n") + 1


def _chunk(data: bytes, offset: int, end: int) -> Chunk:
    if not data.endswith(b"\n"):
        data += b"\n"
    if offset == 0 and data.startswith(BYTE_ORDER_MARK):
        mark = len(BYTE_ORDER_MARK)
        return Chunk(data[mark:], mark, end)
    return Chunk(data, offset, end)


def _descriptor(raw: Any) -> int | None:
    """The file descriptor of a pipe on which `select` works, otherwise None."""
    try:
        select.select([raw.fileno()], [], [], 0)
        return int(raw.fileno())
    except (AttributeError, OSError, ValueError):
        return None


class _Joined(io.RawIOBase):
    """Pieces of bytes as one stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        while not self.left:
            piece = next(self.pieces, None)
            if piece is None:
                return 0
            self.left = memoryview(piece)
        size = min(len(view), len(self.left))
        view[:size] = self.left[:size]
        self.left = self.left[size:]
        return size


def _buffered(raw: Any) -> Any:
    return io.BufferedReader(raw, 1 << 17) if isinstance(raw, _Joined) else raw


def _from_start(head: bytes, raw: Any) -> Iterator[bytes]:
    """The pieces of a stream that cannot seek; its first bytes have been read already."""
    read = getattr(raw, "read1", raw.read)
    return itertools.chain([head], iter(lambda: read(1 << 17), b""))


def _zstandard(raw: Any) -> Iterator[bytes]:
    """Decompressed frames; a frame cut short is an error."""
    from zstandard import ZstdDecompressor, ZstdError

    data = raw.read(ZSTANDARD_PIECE)
    while data:
        frame = ZstdDecompressor().decompressobj()
        while not frame.eof:
            try:
                yield frame.decompress(data)
            except ZstdError as error:
                raise EOFError(str(error)) from None
            data = frame.unused_data or raw.read(ZSTANDARD_PIECE)
            if not data and not frame.eof:
                raise EOFError("its last frame has no end")
