"""How a CSV file is laid out: separator, quotes, header; found on its first lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from unitless.readers.blocks import PATTERN, Options, is_pattern
from unitless.readers.bytes import Text, last_line
from unitless.readers.records import BEHIND, UNCLOSED, Records, find_records

SEPARATORS = "\t;|, "
"""In this order: a tab in every line is no accident, a space may be."""

SAMPLE_LINES, SAMPLE_BYTES = 100, 1 << 20


class Layout(NamedTuple):
    """Separator, quote and columns of a file; a column is "number", "string" or not settled."""

    separator: str
    quote: str | None
    columns: Mapping[str, str | None] = {}

    def records(self, text: Text, start: int, stop: int, *, final: bool = True) -> Records:
        """The records of a text in this layout."""
        return find_records(text, start, stop, self.separator, self.quote, final=final)

    def cut(self, text: Text, start: int, stop: int) -> int:
        """The place behind the last whole record; see `Source.chunks`."""
        if self.quote is None or not (text[start:stop] == ord(self.quote)).any():
            return last_line(text, start, stop)
        return int(self.records(text, start, stop, final=False).starts[-1])


def detect(text: Text, start: int, stop: int, options: Options) -> Layout:
    """The layout in which the first lines are most alike.

    >>> text = np.frombuffer(b"a;b\\n1,5;2\\n2,5;3\\n" + bytes(64), dtype=np.uint8).copy()
    >>> detect(text, 0, 16, Options())
    Layout(separator=';', quote='"', columns={})
    """
    stop = last_line(text, start, min(stop, start + SAMPLE_BYTES))
    quotes = ['"', None] if options.quote == "auto" else [options.quote]
    separators = SEPARATORS if options.separator is None else options.separator
    candidates = [Layout(separator, quote) for quote in quotes for separator in separators]
    if len(candidates) == 1:
        return candidates[0]
    scores = [_alike(candidate, text, start, stop) for candidate in candidates]
    best = max(scores)
    usual = Layout(options.separator or ",", quotes[0])
    return candidates[scores.index(best)] if best >= 0.8 else usual


def _alike(layout: Layout, text: Text, start: int, stop: int) -> float:
    """The share of records that have as many fields as the first one, which has two or more."""
    records = layout.records(text, start, stop)
    filled = np.diff(records.starts)[:SAMPLE_LINES] > 2
    fields = records.fields[:SAMPLE_LINES][filled]
    whole = records.flags[:SAMPLE_LINES][filled] & (BEHIND | UNCLOSED) == 0
    if len(fields) == 0 or fields[0] < 2:
        return 0.0
    return float(np.mean((fields == fields[0]) & whole))


def raw_fields(record: bytes, layout: Layout) -> list[bytes]:
    """The fields of one record as they stand there, quotes and all.

    >>> raw_fields(b"a,'b,''c',d'e", Layout(",", "'"))
    [b'a', b"'b,''c'", b"d'e"]
    """
    line = record.removesuffix(b"\n").removesuffix(b"\r")
    separator, quote = layout.separator.encode(), (layout.quote or "\n").encode()
    fields, at = [], 0
    while True:
        behind = at
        if line.startswith(quote, at):
            behind = line.find(quote, at + 1) + 1 or len(line)
            while line.startswith(quote, behind):
                behind = line.find(quote, behind + 1) + 1 or len(line)
        end = line.find(separator, behind)
        fields.append(line[at:] if end < 0 else line[at:end])
        if end < 0:
            return fields
        at = end + 1


def plain(field: bytes, layout: Layout) -> str:
    """A field without its quotes."""
    quote = (layout.quote or "\n").encode()
    if field.startswith(quote):
        field = field.removeprefix(quote).removesuffix(quote).replace(2 * quote, quote)
    return field.decode()


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
