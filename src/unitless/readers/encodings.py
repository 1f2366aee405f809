"""The encoding of a text file: UTF-8, unless its first block shows another one."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

UTF8 = "utf-8"
UTF16 = ("utf-16-le", "utf-16-be")
WINDOWS = "cp1252"
SAMPLE = 1 << 14
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
    for encoding in UTF16 if b"\0" in data[:SAMPLE] else ():
        if _has_lines(data[:SAMPLE], encoding):
            return encoding
    if _is_utf8(data):
        return UTF8
    lines = [line for line in data.split(b"\n") if not line.isascii()]
    if any(_is_utf8(line + b"\n") for line in lines):
        return UTF8
    from charset_normalizer import from_bytes

    for candidates in [WINDOWS], None:
        best = from_bytes(b"\n".join(lines)[:SAMPLE], cp_isolation=candidates).best()
        if best is not None:
            return canonical(best.encoding)
    return UTF8


def _has_lines(data: bytes, encoding: str) -> bool:
    """Whether it is text in this encoding of two bytes per character, with ends of lines."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return False
    return "\n" in text and "\0" not in text


def _is_utf8(data: bytes) -> bool:
    """Whether it is UTF-8; the last character may be cut off."""
    if data.isascii():
        return True
    try:
        codecs.getincrementaldecoder(UTF8)().decode(data)
    except UnicodeDecodeError:
        return False
    return True


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
