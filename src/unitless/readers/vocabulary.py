"""The vocabulary of a text file: names -> columns, inside kernels, in order of appearance.

An open hash table with linear probing. A slot holds a fingerprint of 96 bits under a random key,
and the column: a look-up reads one place in memory, and two of a million names have the same
fingerprint with a probability below 1e-16. The names themselves are stored one after another in
`letters`, each with a newline.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined, kernel
from unitless.readers.sparse_text import Arrays

U = np.uint64
EMPTY = U(0xFFFFFFFFFFFFFFFF)
COLUMN = U(0xFFFFFFFF)
"""The bits of a slot's second word that hold the column; the others belong to the fingerprint."""

COLON, CARET, OPENING, CLOSING = (np.uint8(ord(char)) for char in ":^[]")
SPARE = 24
"""Letters of a name that are not in the file: ^, a newline, the number of a nameless feature."""

SHORT_ROW = 256
"""Rows up to this size are sorted by counting."""

SLOTS = 1 << 12
"""Slots of an empty vocabulary: a power of two, at least twice the number of names."""


@inlined
def extended(first, second, char):
    """The two words of a fingerprint, extended by a character; they begin as the key."""
    first = (first ^ U(char)) * U(0x9E3779B97F4A7C15)
    second = (second ^ U(char)) * U(0xD1B54A32D192ED03)
    return first ^ (first >> U(29)), second ^ (second >> U(31))


@inlined
def _find(slots, first, second):
    """The slot that holds a fingerprint, or the free one in which to put it."""
    mask = U(len(slots) - 1)
    place = first & mask
    while slots[place, 1] != EMPTY:
        if slots[place, 0] == first and (slots[place, 1] ^ second) & ~COLUMN == U(0):
            return place
        place = (place + U(1)) & mask
    return place


@inlined
def _column_in(slots, place):
    """The column in a slot; -1 if it is free."""
    if slots[place, 1] == EMPTY:
        return np.int64(-1)
    return np.int64(slots[place, 1] & COLUMN)


@inlined
def _put(slots, place, first, second, column):
    """Enter a name into a free slot."""
    slots[place, 0] = first
    slots[place, 1] = (second & ~COLUMN) | U(column)


@inlined
def _has_room(words, count, size):
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
    return _find(slots, first, second), first, second


@kernel
def _enter(words, count):
    """Enter the first `count` names of `letters` into empty slots."""
    for column in range(count):
        place, first, second = _find_name(words, column)
        if _column_in(words[0], place) < 0:
            _put(words[0], place, first, second, column)


@kernel
def _assign(text, arrays, rows, progress, words, count, room):
    """Give columns to the features of all rows from progress[0] on, and sort each row by column.

    Rows are moved up to progress[1] where values are dropped. Returns False if the vocabulary is
    full. A row in which a sum of values is not finite gets the importance weight -1.
    """
    starts, marks = arrays[2], arrays[3]
    while progress[0] < rows:
        row = progress[0]
        start = progress[2]
        stop = starts[row + 1]
        if not _find_columns(text, arrays, start, stop, words, count):
            return False
        end = _in_order(arrays, start, stop, progress[1], room)
        if end < 0:
            marks[row, 1] = -1.0
            end = progress[1]
        starts[row + 1] = end
        progress[0] = row + 1
        progress[1] = end
        progress[2] = stop
    return True


@inlined
def _find_columns(text, arrays, start, stop, words, count):
    """Fill in the columns of a row, new ones for new names; False if the vocabulary is full.

    All names of a row are looked up together, so that memory accesses overlap.
    """
    indices, prints, tokens = arrays[1], arrays[5], arrays[6]
    slots = words[0]
    for k in range(start, stop):
        place = _find(slots, prints[k, 0], prints[k, 1])
        column = _column_in(slots, place)
        if column < 0:
            column = count[0]
            size = tokens[k, 1] - tokens[k, 0] + tokens[k, 3] - tokens[k, 2] + SPARE
            if not _has_room(words, column, size):
                return False
            _spell(text, tokens, k, words, column)
            _put(slots, place, prints[k, 0], prints[k, 1], column)
            count[0] += 1
        indices[k] = column
    return True


@inlined
def _spell(text, tokens, k, words, column):
    """Append the name of feature k to `letters` as the name of a column."""
    starts = words[1]
    letters = words[2]
    end = starts[column]
    for at in range(tokens[k, 0], tokens[k, 1]):
        letters[end] = text[at]
        end += 1
    if tokens[k, 0] < tokens[k, 1]:
        letters[end] = CARET
        end += 1
    colon = COLON
    for at in range(tokens[k, 2], tokens[k, 3]):
        letters[end] = text[at]
        if text[at] == colon:
            letters[end] = CARET
            colon = CARET
        end += 1
    if tokens[k, 2] == tokens[k, 3]:
        end = _spell_number(letters, end, tokens[k, 4])
    letters[end] = 10
    starts[column + 1] = end + 1


@inlined
def _spell_number(letters, end, number):
    """Write [number]; returns where it ends."""
    digits = 1
    while number >= 10**digits:
        digits += 1
    letters[end] = OPENING
    letters[end + digits + 1] = CLOSING
    for k in range(digits):
        letters[end + digits - k] = 48 + number % 10
        number //= 10
    return end + digits + 2


@kernel
def _in_order(arrays, start, stop, filled, room):
    """Sort a row by column, add up equal columns, leave out zeros, and move it to `filled`.

    Equal columns are added in the order of the row. Returns the end of the row, -1 if a
    sum is not finite.
    """
    values, indices = arrays[0], arrays[1]
    size = stop - start
    keys, ranked, given = room
    in_order = True
    for k in range(size):
        given[k] = values[start + k]
        keys[k] = np.int64(indices[start + k]) << 32 | k
        rising = k == 0 or keys[k - 1] >> 32 < keys[k] >> 32
        in_order &= rising and given[k] != 0.0
    if not in_order:
        _sort(keys, ranked, size)
    k = 0
    while k < size:
        column = keys[k] >> 32
        total = 0.0
        while k < size and keys[k] >> 32 == column:
            total += given[keys[k] & 0xFFFFFFFF]
            k += 1
        if np.isinf(total):
            return -1
        values[filled] = total
        indices[filled] = column
        filled += total != 0.0
    return filled


@kernel
def _sort(keys, ranked, size):
    """Sort keys[:size]; in a short row, by counting the smaller keys, which vectorises."""
    if size > SHORT_ROW:
        keys[:size].sort()
        return
    for k in range(size):
        rank = 0
        for other in range(size):
            rank += keys[other] < keys[k]
        ranked[rank] = keys[k]
    keys[:size] = ranked[:size]


class Vocabulary:
    """Names and their columns.

    >>> vocabulary = Vocabulary(["red", "blue"])
    >>> vocabulary.names(1)
    ['blue']
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        written = [name.encode() + b"\n" for name in names]
        self._count = np.array([len(written)], dtype=np.int64)
        slots = SLOTS
        while slots < 4 * self.count:
            slots *= 2
        self.letters: NDArray[np.uint8] = np.frombuffer(
            b"".join(written) + bytes(1 << 16), dtype=np.uint8
        ).copy()
        self.starts: NDArray[np.int64] = np.zeros(slots // 2 + 1, dtype=np.int64)
        np.cumsum([len(name) for name in written], out=self.starts[1 : self.count + 1])
        self.key = np.array([secrets.randbits(64) for _ in range(2)], dtype=np.uint64)
        self._enter(slots)

    def _enter(self, slots: int) -> None:
        self.slots = np.full((slots, 2), EMPTY)
        _enter(self._words, self.count)

    @property
    def count(self) -> int:
        """How many names there are."""
        return int(self._count[0])

    @property
    def _words(self) -> tuple[Any, ...]:
        """The arrays, as kernels take them."""
        return self.slots, self.starts, self.letters, self.key

    def assign(self, data: bytes, arrays: Arrays, rows: int) -> tuple[int, list[int]]:
        """Fill in the columns of a chunk: (values left, rows whose sums are not finite)."""
        text = np.frombuffer(data, dtype=np.uint8)
        size = int(np.diff(arrays.starts[: rows + 1]).max(initial=0))
        keys = np.empty(size, dtype=np.int64)
        room = keys, np.empty_like(keys), np.empty(size)
        progress = np.zeros(3, dtype=np.int64)
        while not _assign(text, tuple(arrays), rows, progress, self._words, self._count, room):
            self._grow()
        return int(progress[1]), np.flatnonzero(arrays.marks[:rows, 1] < 0).tolist()

    def _grow(self) -> None:
        """Make room for twice as many names and letters."""
        slots = 2 * len(self.slots)
        self.letters = np.concatenate([self.letters, np.zeros_like(self.letters)])
        starts = np.zeros(slots // 2 + 1, dtype=np.int64)
        starts[: len(self.starts)] = self.starts
        self.starts = starts
        self._enter(slots)

    def names(self, first: int) -> list[str]:
        """The names of the columns from `first` on."""
        letters = self.letters[self.starts[first] : self.starts[self.count]]
        return letters.tobytes().decode().split("\n")[:-1]
