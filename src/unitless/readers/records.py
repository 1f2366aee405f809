"""Where the records of a CSV text begin and end: a scanner over bytes.

A quote opens a field only as its first character, as RFC 4180 says; elsewhere it is a character.
Inside quotes a newline belongs to the field, and two quotes are one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.numerics import inner, kernel
from unitless.readers.bytes import Text
from unitless.readers.words import any64, byte, equal64, ones, trailing_zeros

STRAY, BEHIND, UNCLOSED = 1, 2, 4
"""A quote inside a plain field; text behind a closing quote; a quote never closed."""

_ZERO, _ONE = np.uint64(0), np.uint64(1)
NEWLINE = np.uint8(10)


class Records(NamedTuple):
    """Records of a text: where each begins (and the last ends), its line, fields and oddities."""

    starts: NDArray[np.int64]
    lines: NDArray[np.int64]
    fields: NDArray[np.int64]
    flags: NDArray[np.int64]
    newlines: int


def find_records(
    text: Text, start: int, stop: int, separator: str, quote: str | None, *, final: bool = True
) -> Records:
    """The records of text[start:stop], lines counted from 0.

    A record that is not whole is left out, unless the text is final: then a quote that is never
    closed spoils its line and no more.

    >>> text = np.frombuffer(b'a,"b\\nc"\\nd,e\\n' + bytes(64), dtype=np.uint8).copy()
    >>> records = find_records(text, 0, 12, ",", '"')
    >>> records.starts.tolist(), records.lines.tolist(), records.fields.tolist()
    ([0, 8, 12], [0, 2], [2, 2])
    """
    mark = np.uint8(ord(quote or "\n"))
    room = int(np.count_nonzero(text[start:stop] == 10)) + 1  # the last may not be whole
    starts, lines = np.empty(room + 1, dtype=np.int64), np.empty(room, dtype=np.int64)
    fields, flags = np.empty_like(lines), np.empty_like(lines)
    n, newlines = _scan(
        text, start, stop, np.uint8(ord(separator)), mark, final, starts, lines, fields, flags
    )
    return Records(starts[: n + 1], lines[:n], fields[:n], flags[:n], newlines)


@kernel
def _scan(text, start, stop, separator, quote, final, starts, lines, fields, flags):
    at, n, line = start, 0, 0
    base, left = at, any64(text, at, separator, quote, NEWLINE)
    while at < stop:
        starts[n], lines[n] = at, line
        end, base, left, fields[n], flags[n], inside = _record(
            text, at, base, left, stop, separator, quote
        )
        if end > stop:
            if not final:
                break
            flags[n], inside, end = UNCLOSED, 0, at
            while end < stop and byte(text, end) != 10:
                end += 1
            end += 1
            base, left = end, any64(text, end, separator, quote, NEWLINE)
        line += 1 + inside
        n, at = n + 1, end
    starts[n] = at
    return n, line


@inner
def _next(text, base, left, stop, separator, quote):
    """The next separator, quote or newline, at `stop` or beyond if there is none before it.

    (base, left, place): see `words.next_break`.
    """
    while left == _ZERO and base + 64 < stop:
        base += 64
        left = any64(text, base, separator, quote, NEWLINE)
    return base, left & (left - _ONE), base + trailing_zeros(left)


@inner
def _record(text, at, base, left, stop, separator, quote):
    """(end, beyond `stop` if there is none; base, left; fields, flags, newlines inside)."""
    fields, flags, inside, char = 1, 0, 0, np.int64(0)
    while char != 10:
        base, left, place = _next(text, base, left, stop, separator, quote)
        char = byte(text, place)
        if place >= stop:
            return stop + 1, base, left, fields, flags, inside
        if char == quote and quote != 10:
            if place > at:
                flags |= STRAY
                continue
            base, left, place, more = _closing(text, base, left, stop, separator, quote)
            inside += more
            behind = byte(text, place + 1)
            ends = behind == 10 or (behind == 13 and byte(text, place + 2) == 10)
            flags |= 0 if ends or behind == separator else BEHIND
            at = -1  # no further quote opens this field
        else:
            fields += char == separator
            at = place + 1
    return at, base, left, fields, flags, inside


@inner
def _closing(text, base, left, stop, separator, quote):
    """(base, left, place) of the quote that closes a field, and the newlines before it."""
    inside = 0
    while True:
        base, left, place = _next(text, base, left, stop, separator, quote)
        if place >= stop:
            return base, left, stop, inside
        char = byte(text, place)
        inside += char == 10
        if char == quote:
            if byte(text, place + 1) != quote:
                return base, left, place, inside
            base, left, place = _next(text, base, left, stop, separator, quote)


@kernel
def even_lines(text, start, stop, separator, quote, fields):
    """(lines, whether each has that many fields and none a quote), sixty-four bytes at a time."""
    lines, found, full = 0, 0, np.uint64(0xFFFFFFFFFFFFFFFF)
    for at in range(start, stop, 64):
        inside = full if stop - at >= 64 else (_ONE << np.uint64(stop - at)) - _ONE
        separators = equal64(text, at, separator) & inside
        ends = equal64(text, at, NEWLINE) & inside
        if quote != 10 and equal64(text, at, quote) & inside != np.uint64(0):
            return lines, False
        while ends != np.uint64(0):
            line = ends ^ (ends - _ONE)
            if found + ones(separators & line) != fields - 1:
                return lines, False
            separators, ends = separators & ~line, ends & (ends - _ONE)
            lines, found = lines + 1, 0
        found += ones(separators)
    return lines, True
