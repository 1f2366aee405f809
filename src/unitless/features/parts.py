"""Columns of cells -> parts: which features a row has, and their values.

Every kind of column ends as the same thing, a `Part`: entries (row, key, value) of one space, by
ascending row. So interactions, columns and names need not know what a column was.
"""

import re
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.features import dates
from unitless.features.cells import Cells
from unitless.features.spaces import Key, Space

WORD = re.compile(r"\w+")


class Part(NamedTuple):
    """The entries of one space in a block: row rows[k] has values[k] of feature keys[codes[k]]."""

    space: Space
    keys: list[Key]
    """In order of first appearance."""
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    values: NDArray[np.float64]

    def first_rows(self) -> NDArray[np.int64]:
        """The row where each key appears first."""
        first = np.empty(len(self.keys), dtype=np.int64)
        first[self.codes[::-1]] = self.rows[::-1]  # the last assignment stays
        return first


def parts_of(cells: Cells, text: bool) -> list[Part]:
    """The parts of a column: one, or for a date several."""
    if cells.kind == "number":
        return [_number(cells.name, cells.values, cells.start)]
    if cells.kind == "date":
        return _dates(cells)
    if cells.kind == "category":
        return [_words(cells) if text else _levels((cells.name, "="), cells.values, cells.keys)]
    return []


def by_appearance(codes: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The same codes numbered by first appearance, and what the new ones stand for.

    >>> by_appearance(np.array([7, 3, 7, 5]))
    (array([0, 1, 0, 2]), array([7, 3, 5]))
    """
    found, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse], found[order]


def _number(name: str, values: NDArray[np.float64], start: int) -> Part:
    rows = np.arange(start, len(values))
    return Part((name, ""), [""], rows, np.zeros(len(rows), dtype=np.int64), values[start:])


def _levels(space: Space, codes: NDArray[Any], keys: list[Key]) -> Part:
    rows = np.flatnonzero(codes >= 0)
    return Part(space, keys, rows, codes[rows], np.ones(len(rows)))


def _dates(cells: Cells) -> list[Part]:
    """The days since the epoch as a number; hour, weekday and month as categories."""
    parts = [_number(cells.name, dates.days(cells.values), cells.start)]
    for suffix, codes, labels in dates.cycles(cells.values, cells.timed):
        rows = np.flatnonzero(codes >= 0)
        ranks, found = by_appearance(codes[rows])
        keys: list[Key] = [labels[code] for code in found]
        space = (cells.name, f".{suffix}=")
        parts.append(Part(space, keys, rows, ranks, np.ones(len(rows))))
    return parts


def _words(cells: Cells) -> Part:
    """How often each word stands in the text; a text that comes twice is cut up once."""
    vocabulary: dict[Key, int] = {}
    codes: list[int] = []
    counts: list[int] = []
    lengths: list[int] = []
    for key in cells.keys:
        words = Counter(WORD.findall((key if isinstance(key, str) else key[1]).lower()))
        codes += [vocabulary.setdefault(word, len(vocabulary)) for word in words]
        counts += words.values()
        lengths.append(len(words))
    rows = np.flatnonzero(cells.values >= 0)
    texts = cells.values[rows]
    length = np.array(lengths, dtype=np.int64)
    picked = ranges((np.cumsum(length) - length)[texts], length[texts])
    return Part(
        (cells.name, ":"),
        list(vocabulary),
        np.repeat(rows, length[texts]),
        np.array(codes, dtype=np.int64)[picked],
        np.array(counts, dtype=np.float64)[picked],
    )


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Runs of consecutive integers, one after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
