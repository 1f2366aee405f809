"""The records of a CSV text, and the dialect in which it is written.

A quote opens a field only as its first character, as RFC 4180 says; elsewhere it is a character.
Inside quotes a newline belongs to the field, and two quotes are one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.readers.source import whole_lines

SEPARATORS = "\t;|, "
"""In order of preference: a tab in every line is hardly a coincidence, a space may be."""

SAMPLE_RECORDS = 100
SAMPLE_BYTES = 1 << 20
MOST_RECORDS = 0.8
"""Share of the sample's records that must have the same number of fields."""

Text = NDArray[np.uint8]
Places = NDArray[np.int64]

AFTER_QUOTE = "a separator was expected after a closing quote"
UNCLOSED = "a quote is opened and not closed"


class Dialect(NamedTuple):
    """Separator and quote of a file."""

    separator: str
    quote: str | None

    def has_quotes(self, data: bytes) -> bool:
        """Whether there are quotes in a text."""
        return self.quote is not None and self.quote.encode() in data


class Record(NamedTuple):
    """Where a record begins and ends, the lines before it, its fields, and why it is bad."""

    begin: int
    end: int
    line: int
    fields: list[bytes]
    why: str | None

    @property
    def is_blank(self) -> bool:
        """Whether it is an empty line."""
        return self.end - self.begin <= 2 and self.fields == [b""]


@cache
def _patterns(dialect: Dialect) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """A plain field or one in quotes, each with what follows it."""
    separator = re.escape(dialect.separator.encode())
    quote = re.escape((dialect.quote or "\n").encode())
    inside = b"[^%b]*(?:%b%b[^%b]*)*" % (quote, quote, quote, quote)
    plain = rb"([^%b\n]*?)(%b|\r?\n)" % (separator, separator)
    quoted = rb"%b(%b)%b(?!%b)(%b|\r?\n)?" % (quote, inside, quote, quote, separator)
    return re.compile(plain), re.compile(quoted)


def records(data: bytes, dialect: Dialect, *, final: bool = True) -> Iterator[Record]:
    """The records of a text, which ends in a newline if it is final.

    A last record that may not be complete is left out. A misplaced quote makes its line bad.

    >>> [record.fields for record in records(b'a,"b\\nc"\\n"d""e",f\\n', Dialect(",", '"'))]
    [[b'a', b'b\\nc'], [b'd"e', b'f']]
    """
    plain, quoted = _patterns(dialect)
    quote = (dialect.quote or "\n").encode()
    at = 0
    line = 0
    while at < len(data):
        begin = at
        fields: list[bytes] = []
        why = None
        last = False
        while not last:
            opened = dialect.quote is not None and data.startswith(quote, at)
            found = quoted.match(data, at) if opened else plain.match(data, at)
            if found is None or not found[2]:
                at = data.find(b"\n", at) + 1
                if not final and (found is None or not at or found.end() + 2 > len(data)):
                    return
                why = UNCLOSED if found is None else AFTER_QUOTE
                break
            field = found[1]
            if opened:
                field = field.replace(2 * quote, quote)
            fields.append(field)
            at = found.end()
            last = found[2].endswith(b"\n")
        yield Record(begin, at, line, fields, why)
        line += data.count(b"\n", begin, at)


def _quotes(text: Text, dialect: Dialect) -> Places | None:
    """The places of the quotes, which open and close in turn; None if one is misplaced."""
    quote = ord(dialect.quote or "\n")
    places = np.flatnonzero(text == quote)
    opening = places[::2]
    closing = places[1::2]
    before = np.where(opening > 0, text[opening - 1], 10)
    after = text[np.minimum(closing + 1, len(text) - 1)]
    beside = [ord(dialect.separator), 10, quote]
    is_regular = np.isin(before, beside).all() and np.isin(after, [*beside, 13]).all()
    return places if is_regular else None


def whole_records(data: bytes, dialect: Dialect) -> int:
    """How many bytes are whole records.

    >>> whole_records(b'a,b\\nc,"d\\n', Dialect(",", '"'))
    4
    """
    end = whole_lines(data)
    if not dialect.has_quotes(data):
        return end
    quotes = _quotes(np.frombuffer(data, dtype=np.uint8), dialect)
    if quotes is None:
        found = records(data, dialect, final=False)
        return max((each.end for each in found), default=0)
    while (before := int(np.searchsorted(quotes, end))) % 2:
        end = data.rfind(b"\n", 0, quotes[before - 1]) + 1
    return end


def regular_lines(data: bytes, dialect: Dialect, width: int) -> Places | None:
    """The line on which each record begins, if polars reads all of them as `records` does.

    That is so if no line is empty, no quote or carriage return is misplaced, and there are as many
    separators as whole records have: polars refuses a record with too many, so none has too few.
    """
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return None
    text = np.frombuffer(data, dtype=np.uint8)
    newlines = np.flatnonzero(text == 10)
    ends = newlines
    is_separator = (text == ord(dialect.separator)).view(np.uint8)
    separators = np.count_nonzero(is_separator)
    if dialect.has_quotes(data):
        quotes = _quotes(text, dialect)
        if quotes is None or len(quotes) % 2:
            return None
        ends = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
        # Sums of bytes are several times faster, where they cannot overflow.
        dtype = np.uint8 if np.diff(quotes).max() < 256 else np.int64
        inside = np.add.reduceat(is_separator, quotes, dtype=dtype)[::2]
        separators -= int(inside.sum())
    sizes = np.diff(ends, prepend=-1)
    has_empty_line = (sizes == 1).any() or ((sizes == 2) & (text[ends - 1] == 13)).any()
    if has_empty_line or separators != (width - 1) * len(ends):
        return None
    if len(ends) == len(newlines):
        return np.arange(len(ends))
    return np.searchsorted(newlines, np.concatenate([[0], ends[:-1] + 1]))


def detect(data: bytes, separator: str | None, quote: str | None) -> Dialect:
    """The dialect in which most of the first records have the same number of fields.

    >>> detect(b"a;b\\n1,5;2\\n2,5;3\\n", None, "auto")
    Dialect(separator=';', quote='"')
    """
    sample = data[: whole_lines(data[:SAMPLE_BYTES])]
    quotes = ['"', None] if quote == "auto" else [quote]
    candidates = [Dialect(each, one) for one in quotes for each in separator or SEPARATORS]
    if len(candidates) == 1:
        return candidates[0]
    scores = [_alike(sample, candidate) for candidate in candidates]
    best = max(scores)
    if best >= MOST_RECORDS:
        return candidates[scores.index(best)]
    return Dialect(separator or ",", quotes[0])


def _alike(sample: bytes, dialect: Dialect) -> float:
    """The share of records that have as many fields as the first one, which has two or more."""
    found = itertools.islice(records(sample, dialect), SAMPLE_RECORDS)
    widths = (0 if each.why else len(each.fields) for each in found if not each.is_blank)
    first = next(widths, 0)
    if first < 2:
        return 0.0
    others = list(widths)
    return (others.count(first) + 1) / (len(others) + 1)
