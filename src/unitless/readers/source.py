"""Files as streams of bytes: plain or compressed, from a path, a stream or standard input.

Compression is recognised by the first bytes, not by the name. Text comes in chunks of whole
lines; where a chunk ends depends only on where it starts, so reading on from the end of a chunk
gives the same chunks as before. If a pipe pauses, a chunk is what has arrived so far.
"""

from __future__ import annotations

import bz2
import itertools
import lzma
import os
import select
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from unitless.readers.archives import HEAD, ZIP, open_zip, refuse_unreadable
from unitless.readers.blocks import ReadError
from unitless.readers.encodings import UTF8, as_utf8, canonical, encoding_of

LONGEST_LINE = 1 << 26
"""Bytes of the longest line: this bounds the memory that a file without newlines takes."""

PIECE = 1 << 17
COMPRESSED_PIECE = 4096
"""Bytes read at a time. At most 128 MB come out of a compressed piece."""

FIRST_PAUSE = 1.0
PAUSE = 0.001
"""Seconds without a byte after which a pipe counts as paused, at its beginning and later."""

SHORT_PIECE = 4096
"""Fewer bytes than this that come at once are rows that somebody waits for, not a file that is
copied: after the first block, nothing is awaited behind them."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FIRST_BYTES = 4
"""Bytes by which compression is recognised."""

File = str | os.PathLike[str] | BinaryIO
Pieces = Iterator[bytes]


def _zstandard() -> object:
    from zstandard import ZstdDecompressor

    return ZstdDecompressor().decompressobj()


DECOMPRESSORS: dict[bytes, Callable[[], object]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"\x28\xb5\x2f\xfd": _zstandard,
    **{b"BZh%d" % level: bz2.BZ2Decompressor for level in range(1, 10)},
    b"\xfd7zX": lzma.LZMADecompressor,
}


def whole_lines(data: bytes) -> int:
    """How many bytes are whole lines."""
    return data.rfind(b"\n") + 1


class Source:
    """A file that is read once, from beginning to end.

    `settle` is the minimum number of lines of the first chunk, however slowly they arrive. An
    encoding of None is detected in the first chunk.

    >>> import gzip, io
    >>> source = Source(io.BytesIO(gzip.compress(b"two\\nlines")))
    >>> [data for data, _ in source.chunks(5)]
    [b'two\\n', b'lines\\n']
    """

    def __init__(self, file: File, settle: int = 100, encoding: str | None = UTF8) -> None:
        self.encoding = None if encoding is None else canonical(encoding)
        self.settle = settle
        self.path: str | None = None
        self.member: str | None = None
        """The name of the file inside a zip archive."""
        self.raw: Any = file
        self.owned = False
        """Whether this object opened the file."""
        self.name = str(getattr(file, "name", "the stream"))
        if file == "-":
            self.name = "standard input"
            self.raw = sys.stdin.buffer
        elif isinstance(file, str | os.PathLike):
            self.name = self.path = os.fspath(file)
            self.raw = open(file, "rb")  # noqa: SIM115
            self.owned = True
        self.seekable = self.raw.seekable() and self.raw.tell() == 0
        self.size = self.raw.seek(0, os.SEEK_END) if self.seekable else None
        if self.seekable:
            self.raw.seek(0)
        self.pipe = None if self.seekable else _descriptor(self.raw)
        if file == "-" and self.pipe is not None:
            # Unbuffered: a waiting thread would hold the buffer's lock, and Python could not exit.
            self.raw = open(self.pipe, "rb", buffering=0, closefd=False)  # noqa: SIM115
        self.offset = 0
        """The place of the buffer in the uncompressed text."""
        self._buffer = b""
        self._pieces: Pieces
        self._open()
        if self.encoding is not None:
            self.transcode(self.encoding)

    def _open(self) -> None:
        """Read the first bytes, and prepare to decompress what follows."""
        head = b""
        while len(head) < FIRST_BYTES and (more := self.raw.read(FIRST_BYTES - len(head))):
            head += more
        start = next((DECOMPRESSORS[each] for each in DECOMPRESSORS if head.startswith(each)), None)
        self.plain = start is None and head not in ZIP
        if self.plain:
            self._pieces = itertools.chain([head], _pieces(self.raw, PIECE))
            return
        self.pipe = None
        if start is not None:
            rest = _pieces(self.raw, COMPRESSED_PIECE)
            self._pieces = _decompressed(itertools.chain([head], rest), start)
            return
        if not self.seekable:
            self.raw = _copy(head, self.raw)
            self.owned = True
        self.member, self._pieces = open_zip(self.raw, self.name)

    def transcode(self, encoding: str) -> None:
        """From now on, give the text in UTF-8, and count its bytes."""
        self.encoding = encoding
        if encoding != UTF8:
            self.change(lambda pieces: as_utf8(pieces, encoding))

    def change(self, made_of: Callable[[Pieces], Pieces]) -> None:
        """From now on, give what is made of the rest of the file, and count its bytes."""
        self.plain = False
        self._pieces = made_of(itertools.chain([self._buffer], self._pieces))
        self._buffer = b""

    def close(self) -> None:
        """Close the file, unless it is standard input."""
        if self.raw is not sys.stdin.buffer:
            self.raw.close()

    def __del__(self) -> None:
        """Close a file that was opened and never read."""
        if self.owned:
            self.raw.close()

    def done(self) -> float | None:
        """The share of the file that has been read, if its size is known."""
        if not self.size:
            return None
        return (self.offset if self.plain else self.raw.tell()) / self.size

    def _fill(self, size: int, wait: bool = True) -> bool:
        """Read until that many bytes are in the buffer; True if a pipe paused before.

        Otherwise the buffer is smaller only at the end of the file.
        """
        pieces = [self._buffer]
        length = len(self._buffer)
        pauses = False
        while length < size and not pauses:
            try:
                piece = next(self._pieces, b"")
            except EOFError as error:
                why = f"the file is damaged or cut short ({error})"
                raise ReadError(why, file=self.name) from None
            except UnicodeDecodeError as error:
                why = f"its bytes are not {self.encoding} ({error.reason}): use --encoding"
                raise ReadError(why, file=self.name) from None
            if not piece:
                break
            pieces.append(piece)
            length += len(piece)
            pauses = not wait and self._idle(len(piece))
        self._buffer = b"".join(pieces)
        if self.offset == 0:
            refuse_unreadable(self._buffer[:HEAD], self.name)
        return pauses

    def _idle(self, size: int) -> bool:
        """Whether nothing arrives from the pipe for a while after a piece of that size."""
        if self.pipe is None:
            return False
        patience = PAUSE if size >= SHORT_PIECE else 0
        if self.settle > 1:
            patience = FIRST_PAUSE
        return not select.select([self.pipe], [], [], patience)[0]

    def read(self, size: int) -> bytes:
        """That many bytes; fewer only at the end of the file."""
        self._fill(size)
        return self._take(size)

    def _take(self, size: int) -> bytes:
        data = self._buffer[:size]
        self._buffer = self._buffer[size:]
        self.offset += len(data)
        return data

    def skip_to(self, offset: int) -> None:
        """Skip to that byte of the uncompressed file."""
        if offset and self.plain and self.size is not None and offset <= self.size:
            self.offset = self.raw.seek(offset)
            self._pieces = _pieces(self.raw, PIECE)
            self._buffer = b""
        while self.offset < offset:
            if not self.read(min(1 << 20, offset - self.offset)):
                raise ReadError(
                    f"the file ends at byte {self.offset}, before byte {offset}, where reading "
                    "was to continue: it is not the file that was read before",
                    file=self.name,
                )

    def peek(self) -> bytes:
        """The bytes at the beginning of the file, up to some that are not blank."""
        size = -1
        while len(self._buffer) > size and not self._buffer.removeprefix(BYTE_ORDER_MARK).strip():
            size = len(self._buffer)
            self._fill(size + 1)
        return self._buffer

    def chunks(
        self, size: int, cut: Callable[[bytes], int] = whole_lines
    ) -> Iterator[tuple[bytes, int]]:
        """The rest of the file in chunks of whole lines, each with the place of the file after it.

        A chunk has at most `size` bytes, more only if a line is longer. `cut(data)` says how many
        bytes, from the first on, are whole lines. The last line gets a newline.
        """
        size = max(size, len(BYTE_ORDER_MARK))
        window = size
        while True:
            pauses = self._fill(window, wait=False)
            if pauses and self._buffer.count(b"\n") < self.settle:
                continue  # a pause that comes too early does not end the first chunk
            if self.encoding is None:
                self.transcode(encoding_of(self._buffer[:window]))
                if self.encoding != UTF8:
                    continue
            has_ended = len(self._buffer) < window and not pauses
            whole = len(self._buffer) if has_ended else cut(self._buffer[:window])
            if whole:
                self.settle = 0
                window = size
                begins_file = self.offset == 0
                data = self._take(whole)
                if begins_file:
                    data = data.removeprefix(BYTE_ORDER_MARK)
                yield data if data.endswith(b"\n") else data + b"\n", self.offset
            elif has_ended:
                return
            elif not pauses:
                if window >= LONGEST_LINE:
                    raise ReadError(
                        f"the line or quoted field at byte {self.offset} is longer than "
                        f"{LONGEST_LINE >> 20} MB: is this a text file, are its quotes closed?",
                        file=self.name,
                    )
                window *= 2


def _descriptor(raw: Any) -> int | None:
    """The file descriptor of a pipe on which `select` works, otherwise None."""
    try:
        select.select([raw.fileno()], [], [], 0)
        return int(raw.fileno())
    except (AttributeError, OSError, ValueError):
        return None


def _copy(head: bytes, raw: Any) -> object:
    """A temporary file of the bytes of a pipe."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115
    copy.write(head)
    shutil.copyfileobj(raw, copy)
    return copy


def _pieces(raw: Any, size: int) -> Pieces:
    """What is left of a stream, as it arrives."""
    read = getattr(raw, "read1", raw.read)
    return iter(lambda: read(size), b"")


def _decompressed(pieces: Pieces, start: Callable[[], Any]) -> Pieces:
    """The uncompressed bytes of one or more frames; damage is an EOFError."""
    data = next(pieces, b"")
    while data:
        frame = start()
        while not frame.eof:
            data = data or next(pieces, b"")
            if not data:
                raise EOFError("the compressed data have no end")
            try:
                found = frame.decompress(data)
            except Exception as error:  # each library has its own
                raise EOFError(str(error)) from None
            data = frame.unused_data
            if found:
                yield found
        data = data or next(pieces, b"")
