"""Columns of cells -> parts: which features a row has, and their values.

Every kind of column ends as the same thing, a `Part`: entries (row, key, value) of one space, by
ascending row. So interactions, columns and names need not know what a column was.
"""

import re
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import dates
from unitless.encoders.cells import Cells
from unitless.encoders.spaces import Key, Space

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
        return _first_places(self.codes, self.rows, len(self.keys))


def parts_of(cells: Cells, text: bool) -> list[Part]:
    """The parts of a column: one, or for a date several.

    >>> colours = Cells("colour", "category", np.array([0, -1, 1]), keys=["red", "blue"])
    >>> (part,) = parts_of(colours, text=False)
    >>> part.space, part.keys, part.rows, part.codes, part.values
    (('colour', '='), ['red', 'blue'], array([0, 2]), array([0, 1]), array([1., 1.]))
    """
    if cells.kind == "number":
        return [_number(cells.name, cells.values, cells.start)]
    if cells.kind == "date":
        return _dates(cells)
    if cells.kind == "category":
        return [_words(cells) if text else _levels((cells.name, "="), cells.values, cells.keys)]
    return []


def by_appearance(codes: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes below `size` numbered by first appearance, and what the new ones stand for.

    >>> by_appearance(np.array([7, 3, 7, 5]), 8)
    (array([0, 1, 0, 2]), array([7, 3, 5]))
    """
    if size > 4 * len(codes) + 64:  # a table of them all would be mostly empty
        sorted_codes, ranks = np.unique(codes, return_inverse=True)
        ranks, found = by_appearance(ranks, len(sorted_codes))
        return ranks, sorted_codes[found]
    first = _first_places(codes, np.arange(len(codes)), size)
    found = np.flatnonzero(first >= 0)
    found = found[np.argsort(first[found])]
    first[found] = np.arange(len(found))
    return first[codes], found


def _first_places(codes: NDArray[Any], places: NDArray[Any], size: int) -> NDArray[np.int64]:
    """The place where each code stands first, -1 if nowhere."""
    first = np.full(size, -1)
    first[codes[::-1]] = places[::-1]  # of equal codes the last assignment stays
    return first


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
        ranks, found = by_appearance(codes[rows], len(labels))
        keys: list[Key] = [labels[code] for code in found]
        space = (cells.name, f".{suffix}=")
        parts.append(Part(space, keys, rows, ranks, np.ones(len(rows))))
    return parts


def _words(cells: Cells) -> Part:
    """One entry a word: those of equal words add up. A text that comes twice is cut up once."""
    texts = [key if isinstance(key, str) else key[1] for key in cells.keys]
    words = [WORD.findall(text.lower()) for text in texts]
    flat = list(chain(*words))
    vocabulary: dict[Key, int] = {word: k for k, word in enumerate(dict.fromkeys(flat))}
    codes = np.array([vocabulary[word] for word in flat], dtype=np.int64)
    counts = np.array([len(each) for each in words], dtype=np.int64)
    rows = np.flatnonzero(cells.values >= 0)
    text = cells.values[rows]
    picked = ranges((np.cumsum(counts) - counts)[text], counts[text])
    entries = np.repeat(rows, counts[text]), codes[picked], np.ones(len(picked))
    return Part((cells.name, ":"), list(vocabulary), *entries)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Runs of consecutive integers, one after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
