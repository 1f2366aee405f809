"""Convert typed columns to entries: the features of each row, and their values.

A column of any kind becomes one or several `EncodedColumn`: entries (row, key, value) of one
namespace, by ascending row. Interactions and the matrix need not know the kind of a column.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import dates
from unitless.encoders.namespaces import Key, Namespace
from unitless.encoders.typed_column import Float, TypedColumn

Ints = NDArray[np.int64]
WORD = re.compile(r"\w+")


class EncodedColumn(NamedTuple):
    """Entries of one namespace: row rows[k] has the value values[k] of feature keys[codes[k]]."""

    namespace: Namespace
    keys: Sequence[Key]
    """In order of first appearance."""
    rows: Ints
    codes: Ints
    values: Float

    def first_rows(self) -> list[int]:
        """The row in which each key appears first."""
        if len(self.keys) == 1 and len(self.rows):
            return [int(self.rows[0])]
        first = np.empty(len(self.keys), dtype=np.int64)
        first[self.codes[::-1]] = self.rows[::-1]  # of equal codes the last assignment stays
        return first.tolist()


def number(name: str, values: Float, start: int = 0) -> EncodedColumn:
    """A column of numbers from row `start` on."""
    rows = np.arange(start, len(values))
    codes = np.zeros_like(rows)
    return EncodedColumn((name, ""), [""], rows, codes, values[start:])


def encoded_columns(column: TypedColumn, text: bool) -> list[EncodedColumn]:
    """A typed column as entries: one set, or several for a date."""
    if column.kind == "number":
        return [number(column.name, column.values, column.start)]
    if column.kind == "date":
        return _date(column)
    if column.kind == "list":
        members = [list(dict.fromkeys(each)) for each in column.keys]
        return [_parts(column, "=", members)]
    if column.kind is None:
        return []
    if text:  # one entry per word, which the matrix adds up; equal texts are split once
        texts = (key if isinstance(key, str) else key[1] for key in column.keys)
        words = [WORD.findall(text.lower()) for text in texts]
        return [_parts(column, ":", words)]
    return [_levels((column.name, "="), column.values, column.keys)]


def by_appearance(codes: Ints) -> tuple[Ints, Ints]:
    """Renumber codes by first appearance; also the old code of each new one.

    >>> by_appearance(np.array([7, 3, 7, 5]))
    (array([0, 1, 0, 2]), array([7, 3, 5]))
    """
    distinct, first, positions = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.argsort(order)
    return ranks[positions], distinct[order]


def _levels(namespace: Namespace, codes: Ints, keys: Sequence[Key]) -> EncodedColumn:
    rows = np.flatnonzero(codes >= 0)
    ones = np.ones(len(rows))
    return EncodedColumn(namespace, keys, rows, codes[rows], ones)


def _date(column: TypedColumn) -> list[EncodedColumn]:
    """Days since the epoch as a number; hour, weekday and month as categories."""
    made = [number(column.name, dates.days(column.values), column.start)]
    for suffix, codes, labels in dates.cycles(column.values, column.timed):
        namespace = (column.name, f".{suffix}=")
        cycle = _levels(namespace, codes.astype(np.int8), [])
        ranks, found = by_appearance(cycle.codes)
        keys = [labels[code] for code in found]
        made.append(cycle._replace(codes=ranks, keys=keys))
    return made


def _parts(column: TypedColumn, suffix: str, words: list[list[str]]) -> EncodedColumn:
    """One entry per part of a value; `words` has the parts of each distinct one."""
    vocabulary: dict[Key, int] = {}
    word_codes = [vocabulary.setdefault(word, len(vocabulary)) for word in chain(*words)]
    counts = np.array([*map(len, words)], dtype=np.int64)
    starts = np.cumsum(counts) - counts
    rows = np.flatnonzero(column.values >= 0)
    text = column.values[rows]
    picked = ranges(starts[text], counts[text])
    return EncodedColumn(
        namespace=(column.name, suffix),
        keys=list(vocabulary),
        rows=np.repeat(rows, counts[text]),
        codes=np.array(word_codes, dtype=np.int64)[picked],
        values=np.ones(len(picked)),
    )


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Runs of consecutive integers, one after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(starts - before, lengths)
