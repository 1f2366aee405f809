"""The vocabulary of a text file: names -> columns, inside kernels, in order of appearance.

An open hash table with linear probing. A slot holds a fingerprint of 96 bits under a random key,
and the column: a look-up touches one place in memory, and two of a million names have the same
fingerprint with a probability below 1e-16. A kernel writes a name behind the last one in `letters`
and looks it up; if it is new, it stays there and gets the next column.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.numerics import inner, kernel

U = np.uint64
EMPTY = U(0xFFFFFFFFFFFFFFFF)
COLUMN = U(0xFFFFFFFF)
"""The bits of a slot's second word that hold the column; the others belong to the fingerprint."""

SLOTS = 1 << 12
"""Slots of an empty vocabulary: a power of two, at least twice the number of names."""


@inner
def _fingerprint(letters, start, stop, key):
    """Two words made of letters[start:stop]; of the second, only the upper half counts."""
    first = key[0]
    second = key[1]
    for at in range(start, stop):
        char = U(letters[at])
        first = (first ^ char) * U(0x9E3779B97F4A7C15)
        second = (second ^ char) * U(0xD1B54A32D192ED03)
        first ^= first >> U(29)
        second ^= second >> U(31)
    return first, second & ~COLUMN


@inner
def _find(slots, first, second):
    """The slot that holds a fingerprint, or the free one in which to put it."""
    mask = U(len(slots) - 1)
    place = first & mask
    while slots[place, 1] != EMPTY:
        if slots[place, 0] == first and slots[place, 1] & ~COLUMN == second:
            return place
        place = (place + U(1)) & mask
    return place


@inner
def column_of(words, count, size):
    """The column of the name written behind the last of `count` names; `count` if it is new.

    A new name stays. There has to be room: see `has_room`.
    """
    slots, starts, letters, key = words
    begin = starts[count]
    first, second = _fingerprint(letters, begin, begin + size, key)
    place = _find(slots, first, second)
    if slots[place, 1] != EMPTY:
        return np.int64(slots[place, 1] & COLUMN)
    slots[place, 0] = first
    slots[place, 1] = second | U(count)
    starts[count + 1] = begin + size
    return count


@inner
def has_room(words, count, size):
    """Whether one more name of at most that size fits."""
    slots, starts, letters, _ = words
    return 2 * count + 2 < len(slots) and starts[count] + size <= len(letters)


@inner
def forget(words, first, count):
    """Take the names from column `first` on out again, the last one first."""
    slots, starts, letters, key = words
    for column in range(count - 1, first - 1, -1):
        one, two = _fingerprint(letters, starts[column], starts[column + 1], key)
        slots[_find(slots, one, two), 1] = EMPTY


@kernel
def _enter(words, count):
    """Enter the first `count` names, which are written already, into slots that are empty."""
    slots, starts, letters, key = words
    for column in range(count):
        first, second = _fingerprint(letters, starts[column], starts[column + 1], key)
        place = _find(slots, first, second)
        if slots[place, 1] == EMPTY:
            slots[place, 0] = first
            slots[place, 1] = second | U(column)


class Vocabulary:
    """Names and their columns.

    >>> vocabulary = Vocabulary(["red", "blue"])
    >>> vocabulary.names(1, 2)
    ['blue']
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        written = [name.encode() for name in names]
        count = len(written)
        slots = SLOTS
        while slots < 4 * count:
            slots *= 2
        self.letters: NDArray[np.uint8] = np.frombuffer(
            b"".join(written) + bytes(1 << 16), dtype=np.uint8
        ).copy()
        self.starts: NDArray[np.int64] = np.zeros(slots // 2 + 1, dtype=np.int64)
        np.cumsum([len(name) for name in written], out=self.starts[1 : count + 1])
        self.key = np.array([secrets.randbits(64) for _ in range(2)], dtype=np.uint64)
        self.slots = np.full((slots, 2), EMPTY)
        _enter(self.words, count)

    @property
    def words(self) -> tuple[Any, ...]:
        """The arrays, as kernels take them."""
        return self.slots, self.starts, self.letters, self.key

    def grow(self, count: int) -> None:
        """Make room for twice as many names and letters; there are `count` names."""
        slots = 2 * len(self.slots)
        self.letters = np.concatenate([self.letters, np.zeros_like(self.letters)])
        starts = np.zeros(slots // 2 + 1, dtype=np.int64)
        starts[: len(self.starts)] = self.starts
        self.starts = starts
        self.slots = np.full((slots, 2), EMPTY)
        _enter(self.words, count)

    def names(self, first: int, stop: int) -> list[str]:
        """The names of the columns from `first` to `stop`."""
        places = self.starts[first : stop + 1].tolist()
        letters = self.letters[places[0] : places[-1]].tobytes()
        cuts = pairwise(place - places[0] for place in places)
        if letters.isascii():
            text = letters.decode()
            return [text[start:end] for start, end in cuts]
        return [letters[start:end].decode() for start, end in cuts]
