"""The vocabulary of a text file: names -> columns, inside kernels, in order of appearance.

An open hash table with linear probing. A slot holds a fingerprint of 96 bits under a random key,
and the column: a look-up reads one place in memory, and two of a million names have the same
fingerprint with a probability below 1e-16.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from unitless.kernels.decorators import inlined, kernel

U = np.uint64
EMPTY = U(0xFFFFFFFFFFFFFFFF)
COLUMN = U(0xFFFFFFFF)
"""The bits of a slot's second word that hold the column; the others belong to the fingerprint."""

SLOTS = 1 << 12
"""Slots of an empty vocabulary: a power of two. At most three of four hold a name."""

SHORT_ROW = 128
"""Rows up to this size are sorted by insertion."""


class Vocabulary:
    """Names and their columns.

    >>> vocabulary = Vocabulary(["red", "blue"])
    >>> int(vocabulary.count[0]), len(vocabulary.slots)
    (2, 4096)
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        size = SLOTS
        while 3 * size < 4 * len(names):
            size *= 2
        self.slots = np.full((size, 2), EMPTY)
        self.key = np.array([secrets.randbits(64) for _ in range(2)], dtype=np.uint64)
        self.count = np.array([len(names)], dtype=np.int64)
        letters = "".join(f"{name}\n" for name in names).encode()
        _enter(np.frombuffer(letters, dtype=np.uint8), self.slots, self.key)

    def grow(self) -> None:
        """Double the number of slots."""
        slots = np.full((2 * len(self.slots), 2), EMPTY)
        _move(self.slots, slots)
        self.slots = slots


@inlined
def extended(first, second, char):
    """The two words of a fingerprint, extended by a character; they begin as the key."""
    first = (first ^ U(char)) * U(0x9E3779B97F4A7C15)
    second = (second ^ U(char)) * U(0xD1B54A32D192ED03)
    return first, second


@inlined
def first_place(slots, first):
    """The slot at which the search for a fingerprint begins."""
    mixed = first ^ (first >> U(32))  # the upper bits depend on all characters
    return np.int64(mixed & U(len(slots) - 1))


@inlined
def _find(slots, first, second):
    """The slot that holds a fingerprint, or the free one in which to put it."""
    place = first_place(slots, first)
    while slots[place, 1] != EMPTY:
        if slots[place, 0] == first and (slots[place, 1] ^ second) & ~COLUMN == U(0):
            return place
        place = (place + 1) & (len(slots) - 1)
    return place


@inlined
def column_of(slots, first, second, next_column):
    """The column of a name, which is the next one if it is new."""
    place = _find(slots, first, second)
    if slots[place, 1] == EMPTY:
        slots[place, 0] = first
        slots[place, 1] = (second & ~COLUMN) | U(next_column)
    return np.int64(slots[place, 1] & COLUMN)


@inlined
def has_room(slots, names):
    """Whether the slots have room for that many names."""
    return 4 * names <= 3 * len(slots)


@kernel
def _enter(letters, slots, key):
    """Give names, each of which ends in a newline, the columns 0, 1, ..."""
    first = key[0]
    second = key[1]
    column = 0
    for char in letters:
        if char != 10:
            first, second = extended(first, second, char)
            continue
        column_of(slots, first, second, column)
        column += 1
        first = key[0]
        second = key[1]


@kernel
def _move(old, slots):
    for k in range(len(old)):
        if old[k, 1] != EMPTY:
            slots[_find(slots, old[k, 0], old[k, 1])] = old[k]


@inlined
def merge_equal(values, indices, begin, end):
    """Sort a row by column, add up equal columns, drop zeros: its end, -1 if a sum is infinite."""
    _sort(values[begin:end], indices[begin:end])
    k = begin
    filled = begin
    while k < end:
        column = indices[k]
        total = 0.0
        while k < end and indices[k] == column:
            total += values[k]
            k += 1
        if np.isinf(total):
            return -1
        values[filled] = total
        indices[filled] = column
        filled += total != 0.0
    return filled


@inlined
def _sort(values, indices):
    """Sort by column; equal columns keep their order."""
    if len(indices) > SHORT_ROW:
        order = np.argsort(indices, kind="mergesort")
        values[:] = values[order]
        indices[:] = indices[order]
        return
    for k in range(1, len(indices)):
        column = indices[k]
        value = values[k]
        at = k
        while at > 0 and indices[at - 1] > column:
            indices[at] = indices[at - 1]
            values[at] = values[at - 1]
            at -= 1
        indices[at] = column
        values[at] = value
