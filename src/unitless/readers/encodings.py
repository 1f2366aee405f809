"""The encoding of a text file: UTF-8, unless its first block shows another one."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

UTF8 = "utf-8"
UTF16 = ("utf-16-le", "utf-16-be")
WINDOWS = "cp1252"
DETECTION_BYTES = 1 << 14
"""Bytes that show an encoding other than UTF-8; only lines that are not ASCII count."""


def canonical(name: str) -> str:
    """The name that Python has for an encoding; an error if there is none.

    >>> canonical("UTF8"), canonical("windows-1252")
    ('utf-8', 'cp1252')
    """
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise ValueError(
            f"there is no encoding {name!r}: use utf-8, utf-16, windows-1252 or another one of "
            "Python's codecs"
        ) from None


def encoding_of(data: bytes) -> str:
    """The encoding of a text that begins like this.

    A text with some valid non-ASCII characters is UTF-8, its other lines are damaged. Windows-1252
    comes before what else charset-normalizer finds possible, because it is so common.

    >>> encoding_of("größer".encode()), encoding_of("größer".encode("cp1252"))
    ('utf-8', 'cp1252')
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for encoding in UTF16 if b"\0" in data[:DETECTION_BYTES] else ():
        text = _decoded(data[:DETECTION_BYTES], encoding) or ""
        if "\n" in text and "\0" not in text:
            return encoding
    if data.isascii() or _decoded(data, UTF8) is not None:
        return UTF8
    lines = [line for line in data.split(b"\n") if not line.isascii()]
    if any(_decoded(line + b"\n", UTF8) is not None for line in lines):
        return UTF8
    from charset_normalizer import from_bytes

    for candidates in [WINDOWS], None:
        best = from_bytes(b"\n".join(lines)[:DETECTION_BYTES], cp_isolation=candidates).best()
        if best is not None:
            return canonical(best.encoding)
    return UTF8


def _decoded(data: bytes, encoding: str) -> str | None:
    """The text, of which the last character may be cut off; None if it is not in this encoding."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return None


def as_utf8(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """The pieces of a text in UTF-8; bytes that are not valid raise UnicodeDecodeError.

    >>> list(as_utf8(iter([b"\\xe4", b"\\xf6"]), "cp1252"))
    [b'\\xc3\\xa4', b'\\xc3\\xb6']
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    for piece in pieces:
        if text := decoder.decode(piece):
            yield text.encode()
    if text := decoder.decode(b"", final=True):
        yield text.encode()
