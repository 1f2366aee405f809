"""The dialect of a CSV file: separator, quotes and header, detected on its first lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from unitless.readers.blocks import PATTERN, Options, is_pattern
from unitless.readers.csv_scanner import AFTER_QUOTE, UNCLOSED, Records, find_records
from unitless.readers.source import whole_lines

SEPARATORS = "\t;|, "
"""In order of preference: a tab in every line is hardly a coincidence, a space may be."""

SAMPLE_LINES = 100
SAMPLE_BYTES = 1 << 20
MOST_LINES = 0.8
"""Share of the sample's lines that must have the same number of fields."""


class Dialect(NamedTuple):
    """Separator, quote and columns of a file; a column is "number", "string" or None (unknown)."""

    separator: str
    quote: str | None
    columns: Mapping[str, str | None] = {}

    def records(self, data: bytes, *, final: bool = True) -> Records:
        """The records of a text in this dialect."""
        return find_records(data, self.separator, self.quote, final=final)

    def has_quotes(self, data: bytes) -> bool:
        """Whether there are quotes in a text."""
        return self.quote is not None and self.quote.encode() in data

    def split(self, record: bytes) -> list[bytes]:
        """The fields of one record, without their quotes.

        >>> Dialect(",", "'").split(b"a,'b,''c',d'e")
        [b'a', b"b,'c", b"d'e"]
        """
        line = record.removesuffix(b"\n").removesuffix(b"\r")
        separator = self.separator.encode()
        quote = (self.quote or "\n").encode()
        fields = []
        at = 0
        while True:
            after = at
            if line.startswith(quote, at):
                after = line.find(quote, at + 1) + 1 or len(line)
                while line.startswith(quote, after):
                    after = line.find(quote, after + 1) + 1 or len(line)
            end = line.find(separator, after)
            field = line[at:] if end < 0 else line[at:end]
            if field.startswith(quote):
                field = field.removeprefix(quote).removesuffix(quote).replace(2 * quote, quote)
            fields.append(field)
            if end < 0:
                return fields
            at = end + 1


def detect(data: bytes, options: Options) -> Dialect:
    """The dialect in which most of the first lines have the same number of fields.

    >>> detect(b"a;b\\n1,5;2\\n2,5;3\\n", Options())
    Dialect(separator=';', quote='"', columns={})
    """
    sample = data[:SAMPLE_BYTES]
    sample = sample[: whole_lines(sample)]
    quotes = ['"', None] if options.quote == "auto" else [options.quote]
    separators = SEPARATORS if options.separator is None else options.separator
    candidates = [Dialect(separator, quote) for quote in quotes for separator in separators]
    if len(candidates) == 1:
        return candidates[0]
    scores = [_alike(candidate, sample) for candidate in candidates]
    best = max(scores)
    if best >= MOST_LINES:
        return candidates[scores.index(best)]
    return Dialect(options.separator or ",", quotes[0])


def _alike(dialect: Dialect, sample: bytes) -> float:
    """The share of records that have as many fields as the first one, which has two or more."""
    records = dialect.records(sample)
    filled = np.diff(records.starts)[:SAMPLE_LINES] > 2
    fields = records.fields[:SAMPLE_LINES][filled]
    whole = records.flags[:SAMPLE_LINES][filled] & (AFTER_QUOTE | UNCLOSED) == 0
    if len(fields) == 0 or fields[0] < 2:
        return 0.0
    return float(np.mean((fields == fields[0]) & whole))


def column_names(fields: list[str], header: bool) -> list[str]:
    """The names of the columns; c1, c2, ... where the file gives none.

    >>> column_names(["age", "", " income"], header=True)
    ['age', 'c2', 'income']
    """
    names = [name.strip() if header else "" for name in fields]
    names = [name or f"c{k}" for k, name in enumerate(names, start=1)]
    for name in names:
        if is_pattern(name):
            raise ValueError(f"{name!r}: {PATTERN}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the header names {twice!r} more than once")
    return names
