"""A scanner that finds where the records of a CSV text begin and end.

A quote opens a field only as its first character, as RFC 4180 says; elsewhere it is a character.
Inside quotes a newline belongs to the field, and two quotes are one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined, kernel

STRAY, AFTER_QUOTE, UNCLOSED = 1, 2, 4
"""A quote inside a plain field; text after a closing quote; a quote never closed."""

START, LINE, FIELDS, FLAGS = range(4)


class Records(NamedTuple):
    """Records of a text: where each begins (and the last ends), its line, fields and flags."""

    starts: NDArray[np.int64]
    lines: NDArray[np.int64]
    fields: NDArray[np.int64]
    flags: NDArray[np.int64]
    newlines: int


def find_records(data: bytes, separator: str, quote: str | None, *, final: bool = True) -> Records:
    """The records of a text, lines counted from 0.

    An incomplete record is left out, unless the text is final: then a quote that is never closed
    makes only its own line bad.

    >>> records = find_records(b'a,"b\\nc"\\nd,e\\n', ",", '"')
    >>> records.starts.tolist(), records.lines.tolist(), records.fields.tolist()
    ([0, 8, 12], [0, 2], [2, 2])
    """
    text = np.frombuffer(data, dtype=np.uint8)
    found = np.empty((int(np.count_nonzero(text == 10)) + 2, 4), dtype=np.int64)
    n, newlines = _scan(text, ord(separator), ord(quote or "\n"), final, found)
    lines, fields, flags = found[:n, 1:].T.copy()
    return Records(found[: n + 1, START].copy(), lines, fields, flags, newlines)


@kernel
def _scan(text, separator, quote, final, found):
    """Fill in start, line, fields and flags of each record: (records, newlines)."""
    at = 0
    n = 0
    line = 0
    while at < len(text):
        found[n, START] = at
        found[n, LINE] = line
        end, fields, flags, inside = _record(text, at, separator, quote)
        if end < 0:
            if not final:
                break
            flags = UNCLOSED
            inside = 0
            end = at
            while end < len(text) and text[end] != 10:
                end += 1
            end += 1
        found[n, FIELDS] = fields
        found[n, FLAGS] = flags
        line += 1 + inside
        at = end
        n += 1
    found[n, START] = at
    return n, line


@inlined
def _record(text, at, separator, quote):
    """(end, -1 if the record is not whole; fields, flags, newlines inside)."""
    fields = 1
    flags = 0
    inside = 0
    fresh = True  # at the first character of a field
    while at < len(text):
        char = text[at]
        if char == 10:
            return at + 1, fields, flags, inside
        if char == separator:
            fields += 1
        elif char == quote and not fresh:
            flags |= STRAY
        elif char == quote:
            at, more = _closing(text, at, quote)
            inside += more
            if at + 2 > len(text):
                break
            after = text[at + 1]
            ends = after == 10 or after == separator
            if after == 13 and at + 2 < len(text):
                ends |= text[at + 2] == 10
            flags |= 0 if ends else AFTER_QUOTE
        fresh = char == separator
        at += 1
    return -1, fields, flags, inside


@inlined
def _closing(text, at, quote):
    """The place of the quote that closes the one at a place, and the newlines between them."""
    inside = 0
    at += 1
    while at < len(text):
        if text[at] == quote:
            if at + 1 == len(text) or text[at + 1] != quote:
                return at, inside
            at += 1
        inside += text[at] == 10
        at += 1
    return at, inside
