"""Convert typed columns to entries: the features of each row, and their values.

A column of any kind becomes one or several `EncodedColumn`: entries (row, key, value) of one
namespace, by ascending row. Interactions and the matrix need not know the kind of a column.
"""

import re
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import dates
from unitless.encoders.namespaces import Key, Namespace, is_number
from unitless.encoders.typed_column import TypedColumn

WORD = re.compile(r"\w+")


class EncodedColumn(NamedTuple):
    """Entries of one namespace: row rows[k] has the value values[k] of feature keys[codes[k]]."""

    namespace: Namespace
    keys: list[Key]
    """In order of first appearance."""
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    values: NDArray[np.float64]

    def first_rows(self) -> NDArray[np.int64]:
        """The row in which each key appears first."""
        return _first_places(self.codes, self.rows, len(self.keys))

    def is_full(self, rows: int) -> bool:
        """Whether it is a number with an entry in each of `rows` rows."""
        return is_number(self.namespace) and len(self.rows) == rows > 0


def number(name: str, values: NDArray[np.float64], start: int = 0) -> EncodedColumn:
    """A column of numbers from row `start` on."""
    rows = np.arange(start, len(values))
    codes = np.zeros(len(rows), dtype=np.int64)
    return EncodedColumn((name, ""), [""], rows, codes, values[start:])


def numbers(columns: dict[str, NDArray[np.float64]], rows: int) -> list[EncodedColumn]:
    """Columns of numbers that have a value in each row; they share rows and codes."""
    every = np.arange(rows)
    codes = np.zeros(rows, dtype=np.int64)
    return [EncodedColumn((name, ""), [""], every, codes, v) for name, v in columns.items()]


def encoded_columns(column: TypedColumn, text: bool) -> list[EncodedColumn]:
    """A typed column as entries: one set, or several for a date.

    >>> colours = TypedColumn("colour", "category", np.array([0, -1, 1]), keys=["red", "blue"])
    >>> (made,) = encoded_columns(colours, text=False)
    >>> made.namespace, made.keys, made.rows, made.codes, made.values
    (('colour', '='), ['red', 'blue'], array([0, 2]), array([0, 1]), array([1., 1.]))
    """
    if column.kind == "number":
        return [number(column.name, column.values, column.start)]
    if column.kind == "date":
        return _date(column)
    if column.kind == "category":
        return [_words(column) if text else _levels(column)]
    return []


def by_appearance(codes: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Renumber codes below `size` by first appearance; also the old code of each new one.

    >>> by_appearance(np.array([7, 3, 7, 5]), 8)
    (array([0, 1, 0, 2]), array([7, 3, 5]))
    """
    if size > 4 * len(codes) + 64:  # a table over all codes would be mostly empty
        sorted_codes, ranks = np.unique(codes, return_inverse=True)
        ranks, found = by_appearance(ranks, len(sorted_codes))
        return ranks, sorted_codes[found]
    first = _first_places(codes, np.arange(len(codes)), size)
    found = np.flatnonzero(first >= 0)
    found = found[np.argsort(first[found])]
    first[found] = np.arange(len(found))
    return first[codes], found


def _first_places(codes: NDArray[Any], places: NDArray[Any], size: int) -> NDArray[np.int64]:
    """The place at which each code appears first, -1 if it does not."""
    first = np.full(size, -1)
    first[codes[::-1]] = places[::-1]  # of equal codes the last assignment stays
    return first


def _levels(column: TypedColumn) -> EncodedColumn:
    rows = np.flatnonzero(column.values >= 0)
    codes = column.values[rows]
    return EncodedColumn((column.name, "="), column.keys, rows, codes, np.ones(len(rows)))


def _date(column: TypedColumn) -> list[EncodedColumn]:
    """Days since the epoch as a number; hour, weekday and month as categories."""
    made = [number(column.name, dates.days(column.values), column.start)]
    for suffix, codes, labels in dates.cycles(column.values, column.timed):
        rows = np.flatnonzero(codes >= 0)
        ranks, found = by_appearance(codes[rows], len(labels))
        keys: list[Key] = [labels[code] for code in found]
        namespace = (column.name, f".{suffix}=")
        made.append(EncodedColumn(namespace, keys, rows, ranks, np.ones(len(rows))))
    return made


def _words(column: TypedColumn) -> EncodedColumn:
    """One entry per word, which the matrix adds up; equal texts are split once."""
    texts = [key if isinstance(key, str) else key[1] for key in column.keys]
    words = [WORD.findall(text.lower()) for text in texts]
    flat = list(chain(*words))
    vocabulary: dict[Key, int] = {word: k for k, word in enumerate(dict.fromkeys(flat))}
    word_codes = np.array([vocabulary[word] for word in flat], dtype=np.int64)
    counts = np.array([len(each) for each in words], dtype=np.int64)
    rows = np.flatnonzero(column.values >= 0)
    text = column.values[rows]
    picked = ranges((np.cumsum(counts) - counts)[text], counts[text])
    return EncodedColumn(
        (column.name, ":"),
        list(vocabulary),
        np.repeat(rows, counts[text]),
        word_codes[picked],
        np.ones(len(picked)),
    )


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Runs of consecutive integers, one after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
