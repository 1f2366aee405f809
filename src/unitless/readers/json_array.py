"""A JSON array of objects as JSON lines: each element becomes a line."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator

from unitless.readers.source import Source

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[][{},]', re.DOTALL)
"""A string, or a character that opens, closes or separates."""


def open_array(source: Source) -> None:
    """Let a source give JSON lines also if its text is an array."""
    if source.encoding is None and source.peek().startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        source.transcode("utf-16")
    if source.peek().removeprefix(BOM_UTF8).lstrip().startswith(b"["):
        source.change(as_lines)


def as_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The elements of an array, each on a line of its own; an EOFError if the array has no end.

    An empty element, and what follows the array, are lines that are no objects, and so bad.

    >>> list(as_lines(iter([b'[{"a": [1,\\n 2]}, {"b"', b': 2}] '])))
    [b'{"a": [1,  2]}\\n', b'{"b": 2}\\n']
    """
    text = next(pieces)
    while b"[" not in text:
        text += next(pieces)
    text = text[text.index(b"[") + 1 :]
    begun = False
    while True:
        commas, end = _commas(text)
        begin = 0
        for comma in commas:
            yield _line(text[begin:comma])
            begin = comma + 1
            begun = True
        if end is not None:
            break
        piece = next(pieces, b"")
        if not piece:
            raise EOFError("the array does not end")
        text = text[begin:] + piece
    if begun or text[begin:end].strip():
        yield _line(text[begin:end])
    rest = text[end:] + b"".join(pieces)
    if rest[1:].strip():
        yield _line(rest)


def _line(text: bytes) -> bytes:
    return (text.replace(b"\n", b" ").strip() or b",") + b"\n"


def _commas(text: bytes) -> tuple[list[int], int | None]:
    """The places of the commas between elements, and that of the closing bracket."""
    found: list[int] = []
    depth = 0
    for token in TOKEN.finditer(text):
        char = token[0]
        if char in (b"{", b"["):
            depth += 1
        elif char in (b"}", b"]"):
            depth -= 1
        if depth < 0:
            return found, token.start()
        if depth == 0 and char == b",":
            found.append(token.start())
    return found, None
