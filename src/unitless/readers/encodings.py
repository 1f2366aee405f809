"""The encoding of a text file: UTF-8, unless its first block shows another one."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

UTF8 = "utf-8"
UTF16 = ["utf_16_le", "utf_16_be"]
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
    head = data[:SAMPLE]
    newlines = head.count(b"\n")
    is_wide = newlines in (head.count(b"\n\0"), head.count(b"\0\n")) and newlines > 0
    if not is_wide and _is_utf8(data):
        return UTF8
    lines = [line for line in data.split(b"\n") if not line.isascii()]
    if not is_wide and any(_is_utf8(line + b"\n") for line in lines):
        return UTF8
    from charset_normalizer import from_bytes

    sample = head if is_wide else b"\n".join(lines)[:SAMPLE]
    for candidates in UTF16 if is_wide else [WINDOWS], None:
        best = from_bytes(sample, cp_isolation=candidates).best()
        if best is not None:
            return canonical(best.encoding)
    return UTF8


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
