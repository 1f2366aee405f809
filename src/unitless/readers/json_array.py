"""A JSON array of objects as JSON lines: each element becomes a line."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator

from unitless.readers.source import Source

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[][{},]', re.DOTALL)
"""A string, or a character that opens, closes or separates."""
DEPTH = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}


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
    is_first = True
    has_ended = False
    while not has_ended:
        ends, has_ended = _ends(text)
        begin = 0
        for end in ends:
            element = text[begin:end].replace(b"\n", b" ").strip()
            is_only = is_first and has_ended and end == ends[-1]
            if element or not is_only:
                yield (element or b",") + b"\n"
            begin = end + 1
            is_first = False
        text = text[begin:]
        if not has_ended:
            piece = next(pieces, b"")
            if not piece:
                raise EOFError("the array does not end")
            text += piece
    rest = text + b"".join(pieces)
    if rest.strip():
        yield b"]" + rest.replace(b"\n", b" ").strip() + b"\n"


def _ends(text: bytes) -> tuple[list[int], bool]:
    """The places after the elements, and whether the last one is the closing bracket."""
    found: list[int] = []
    depth = 0
    for token in TOKEN.finditer(text):
        depth += DEPTH.get(token[0], 0)
        if depth < 0 or (depth == 0 and token[0] == b","):
            found.append(token.start())
        if depth < 0:
            return found, True
    return found, False
