"""The vocabulary of a text file: names -> columns, inside kernels, in order of appearance.

An open hash table with linear probing. A slot holds a fingerprint of 96 bits under a random key,
and the column: a look-up touches one place in memory, and two of a million names have the same
fingerprint with a probability below 1e-16. The names themselves stand one behind another in
`letters`, each with a newline.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined, kernel

U = np.uint64
EMPTY = U(0xFFFFFFFFFFFFFFFF)
COLUMN = U(0xFFFFFFFF)
"""The bits of a slot's second word that hold the column; the others belong to the fingerprint."""

SLOTS = 1 << 12
"""Slots of an empty vocabulary: a power of two, at least twice the number of names."""


@inlined
def extended(first, second, char):
    """The two words of a fingerprint, behind one more character; of none they are the key."""
    first = (first ^ U(char)) * U(0x9E3779B97F4A7C15)
    second = (second ^ U(char)) * U(0xD1B54A32D192ED03)
    return first ^ (first >> U(29)), second ^ (second >> U(31))


@inlined
def find(slots, first, second):
    """The slot that holds a fingerprint, or the free one in which to put it."""
    mask = U(len(slots) - 1)
    place = first & mask
    while slots[place, 1] != EMPTY:
        if slots[place, 0] == first and (slots[place, 1] ^ second) & ~COLUMN == U(0):
            return place
        place = (place + U(1)) & mask
    return place


@inlined
def column_in(slots, place):
    """The column in a slot; -1 if it is free."""
    if slots[place, 1] == EMPTY:
        return np.int64(-1)
    return np.int64(slots[place, 1] & COLUMN)


@inlined
def put(slots, place, first, second, column):
    """Enter a name into a free slot."""
    slots[place, 0] = first
    slots[place, 1] = (second & ~COLUMN) | U(column)


@inlined
def has_room(words, count, size):
    """Whether one more name of at most that size fits."""
    slots, starts, letters, _ = words
    return 2 * count + 2 < len(slots) and starts[count] + size <= len(letters)


@inlined
def _find_name(words, column):
    """(slot, fingerprint) of a name that is written in `letters`."""
    slots, starts, letters, key = words
    first = key[0]
    second = key[1]
    for at in range(starts[column], starts[column + 1] - 1):
        first, second = extended(first, second, letters[at])
    return find(slots, first, second), first, second


@inlined
def forget(words, first, count):
    """Take the names from column `first` on out again, the last one first."""
    for column in range(count - 1, first - 1, -1):
        place, _, _ = _find_name(words, column)
        words[0][place, 1] = EMPTY


@kernel
def _enter(words, count):
    """Enter the first `count` names, which are written already, into slots that are empty."""
    for column in range(count):
        place, first, second = _find_name(words, column)
        if column_in(words[0], place) < 0:
            put(words[0], place, first, second, column)


class Vocabulary:
    """Names and their columns.

    >>> vocabulary = Vocabulary(["red", "blue"])
    >>> vocabulary.names(1, 2)
    ['blue']
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        written = [name.encode() + b"\n" for name in names]
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
        letters = self.letters[self.starts[first] : self.starts[stop]]
        return letters.tobytes().decode().split("\n")[:-1]
