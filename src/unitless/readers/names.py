"""Names -> columns for text kernels: a hash table keyed by bytes, and the names themselves.

In the table a name and its namespace are a fingerprint of 96 bits under a random key: two of a
million names are taken for one another with a probability below 1e-16, nobody can write a file
whose names crowd one corner, and a look-up touches one cache line. Kernels look up, and list what
they do not find; `Columns.add` gives it columns, in the order of the file.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from unitless.numerics import inner, kernel
from unitless.readers.bytes import Text
from unitless.readers.decimals import integer
from unitless.readers.words import byte, high_product, load8

U = np.uint64
_FULL = U(0xFFFFFFFFFFFFFFFF)
_COLUMN = U(0xFFFFFFFF)
DIRECT = 1 << 22
"""Names that are whole numbers below this have a table without hashing."""

Table = NDArray[np.uint64]
"""Slots of (print, print | column), a power of two of them, then the random key."""


@inner
def _folded(a, b):
    """Both halves of the product, mixed."""
    return (a * b) ^ high_product(a, b)


@inner
def _few(text, start, stop):
    """At most eight bytes, zeros behind them."""
    return load8(text, start) & (_FULL >> U(64 - 8 * (stop - start))) if start < stop else U(0)


@inner
def _many(text, start, stop, seed, salt):
    """64 bits made of more than eight bytes."""
    state = seed ^ U(stop - start)
    while start < stop - 8:
        state = _folded(state ^ load8(text, start), salt)
        start += 8
    return _folded(state ^ load8(text, stop - 8), salt)


@inner
def space_word(text, start, stop, table):
    """64 bits that stand for a namespace."""
    if stop - start <= 8:
        return _few(text, start, stop) ^ U(stop - start)
    last = table.shape[0] - 1
    return _many(text, start, stop, table[last, 0], table[last, 1])


@inner
def prints(text, start, stop, space, table):
    """The two words of a name's fingerprint; the lower half of the second is left to the column.

    `start` < 0 is the nameless feature -1 - start.
    """
    size, last = stop - start, table.shape[0] - 1
    if start < 0:
        low, high = U(-1 - start), U(0)
    elif size <= 8:
        low, high = _few(text, start, stop), U(0)
    elif size <= 16:
        low, high = load8(text, start), _few(text, start + 8, stop)
    else:
        low = _many(text, start, stop, table[last, 0], table[last, 1])
        high = _many(text, start, stop, table[last - 1, 0], table[last - 1, 1])
    space ^= U(size) << U(56)
    first = _folded(low ^ table[last, 0], high ^ space ^ table[last, 1])
    second = _folded(high ^ table[last - 1, 0], low ^ space ^ table[last - 1, 1])
    return first, second & ~_COLUMN


@inner
def home(first, table):
    """The slot at which the search for a name begins."""
    return np.int64(first) & (table.shape[0] - 3)


@inner
def find(table, first, second):
    """(slot, column) of a name; the free slot for it and -1 if it is not in the table."""
    slot = home(first, table)
    while True:
        word = table[slot, 1]
        if (table[slot, 0] ^ first) | ((word ^ second) & ~_COLUMN) == U(0):
            return slot, np.int64(word & _COLUMN)
        if word == _FULL:
            return slot, np.int64(-1)
        slot = (slot + 1) & (table.shape[0] - 3)


@inner
def _find_again(text, unknown, i, table):
    """(slot, column, first, second) of the name in row i of `unknown`."""
    space = space_word(text, unknown[i, 3], unknown[i, 4], table)
    first, second = prints(text, unknown[i, 0], unknown[i, 1], space, table)
    slot, column = find(table, first, second)
    return slot, column, first, second


@inner
def whole_number(text, start, stop):
    """The number that a name is, if it is one below `DIRECT`, written without needless zeros."""
    size = stop - start
    if start < 0 or size > 7 or byte(text, start) > 57 or (byte(text, start) == 48 and size > 1):
        return np.int64(-1)
    number = integer(text, start, stop)
    return number if number < DIRECT else np.int64(-1)


@inner
def _number(text, unknown, i):
    """The number that the name in row i of `unknown` is, in no namespace; otherwise -1."""
    if unknown[i, 3] < unknown[i, 4]:
        return np.int64(-1)
    return whole_number(text, unknown[i, 0], unknown[i, 1])


@kernel
def _largest(text, unknown):
    """The largest of the names that are whole numbers; -1 if none is."""
    largest = np.int64(-1)
    for i in range(len(unknown)):
        largest = max(largest, _number(text, unknown, i))
    return largest


@kernel
def _insert(text, unknown, done, indices, table, direct, column, room):
    """Enter names from row `done` on, at most `room` new ones into the table.

    Returns the rows of new names, the row reached, and how many went into the table.
    """
    new = np.empty(len(unknown) - done, dtype=np.int64)
    count = entered = 0
    for i in range(done, len(unknown)):
        number = _number(text, unknown, i)
        if number >= 0:
            found = np.int64(direct[number])
            if found == -1:
                direct[number] = column + count
        else:
            slot, found, first, second = _find_again(text, unknown, i, table)
            if found == -1:
                if entered == room:
                    return new[:count], i, entered
                table[slot, 0], table[slot, 1] = first, second | U(column + count)
                entered += 1
        if found == -1:
            found = column + count
            new[count] = i
            count += 1
        indices[unknown[i, 2]] = found
    return new[:count], len(unknown), entered


@kernel
def _renumber(text, unknown, new, indices, table, direct, known, columns):
    """The names of the rows `new`, numbered from `known` on, get these columns instead."""
    for i in range(len(unknown)):
        number = indices[unknown[i, 2]] - known
        if number >= 0:
            indices[unknown[i, 2]] = columns[number]
    for n in range(len(new)):
        number = _number(text, unknown, new[n])
        if number >= 0:
            direct[number] = columns[n]
        else:
            slot, _, _, second = _find_again(text, unknown, new[n], table)
            table[slot, 1] = second | (U(columns[n]) & _COLUMN)


@kernel
def _rehashed(table, bigger):
    """The bigger table with the names of the first."""
    for old in range(len(table) - 2):
        if table[old, 1] != _FULL:
            slot, _ = find(bigger, table[old, 0], table[old, 1] & ~_COLUMN)
            bigger[slot] = table[old]
    return bigger


def _table(slots: int, key: Iterable[int]) -> Table:
    table = np.full((slots + 2, 2), _FULL)
    table[-2:] = np.array(list(key), dtype=np.uint64).reshape(2, 2)
    return table


@kernel
def _spelt(text, unknown, new):
    """The names of the rows `new`, a line each, and whether two of a file might be spelt alike.

    `namespace^name`, `namespace^name^text` and `name` differ as their parts do, unless a part has
    a ^ of its own, or `name^text` without a namespace looks like a `namespace^name`.
    """
    size = 0
    for i in new:
        size += unknown[i, 4] - unknown[i, 3] + max(unknown[i, 1] - unknown[i, 0], 24) + 2
    out, end, doubtful = np.empty(size, dtype=np.uint8), 0, False
    for i in new:
        start, stop, space_from, space_to = (
            unknown[i, 0],
            unknown[i, 1],
            unknown[i, 3],
            unknown[i, 4],
        )
        for at in range(space_from, space_to):
            out[end] = text[at]
            doubtful |= text[at] == 94
            end += 1
        if space_from < space_to:
            out[end] = 94
            end += 1
        if start < 0:
            end = _spell_number(out, end, -1 - start)
            doubtful = True
        colon = False
        for at in range(start, stop):
            first_colon = text[at] == 58 and not colon
            out[end] = 94 if first_colon else text[at]
            doubtful |= text[at] == 94 or (first_colon and space_from == space_to)
            colon |= first_colon
            end += 1
        out[end] = 10
        end += 1
    return out[:end], doubtful


@inner
def _spell_number(out, end, number):
    """Write [number]; where it ends."""
    digits = 1
    while number >= 10**digits:
        digits += 1
    out[end], out[end + digits + 1] = 91, 93
    for k in range(digits):
        out[end + digits - k] = 48 + number % 10
        number //= 10
    return end + digits + 2


class Columns:
    """The columns of names, and the table in which kernels find them.

    >>> text = np.frombuffer(b"red blue red" + bytes(8), dtype=np.uint8).copy()
    >>> columns = Columns(["blue"])
    >>> unknown = np.array([[0, 3, 0, 0, 0], [4, 8, 1, 0, 0], [9, 12, 2, 0, 0]])
    >>> indices = np.full(3, -1, dtype=np.int32)
    >>> columns.add(text, unknown, indices)
    ['red']
    >>> indices
    array([1, 0, 1], dtype=int32)
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.names = list(names)
        self.numbers: dict[str, int] | None = None
        """Column by name; only kept where equal names may come from different keys."""
        self.entered = self.used = 0
        """Names met so far, and those of them in the table."""
        self.table = _table(1 << 12, (secrets.randbits(64) for _ in range(4)))
        self.direct: NDArray[np.int32] = np.full(1, -1, dtype=np.int32)

    def add(self, text: Text, unknown: NDArray[np.int64], indices: NDArray[np.int32]) -> list[str]:
        """Give columns to names that have none; the names that are new.

        `unknown` has rows of (from, to, where, space from, space to): indices[where] is the
        column of the name text[from:to] in a namespace; `from` < 0 is nameless feature -1 - from.
        A name that is not UTF-8 gets the column -2.
        """
        known = len(self.names)
        new = self._enter(text, unknown, indices)
        spelt, doubtful = _spelt(text, unknown, new)
        names = _decoded(spelt.tobytes())
        doubtful |= "" in names or known > self.entered - len(new)
        if self.numbers is None and not doubtful:
            self.names += names
        else:
            columns = self._columns(names)
            _renumber(text, unknown, new, indices, self.table, self.direct, known, columns)
        return self.names[known:]

    def _columns(self, names: list[str]) -> NDArray[np.int64]:
        """The columns of names, known and new; -2 for "", a name that is not UTF-8."""
        if self.numbers is None:
            self.numbers = {name: column for column, name in enumerate(self.names)}
        known = self.numbers
        columns = [-2 if name == "" else known.setdefault(name, len(known)) for name in names]
        self.names += itertools.islice(known, len(self.names), None)
        return np.array(columns, dtype=np.int64)

    def _grow(self, number: int) -> None:
        """Make room for whole numbers up to that one."""
        if number >= len(self.direct):
            longer = np.full(min(DIRECT, 2 * number + 1), -1, dtype=np.int32)
            longer[: len(self.direct)] = self.direct
            self.direct = longer

    def _enter(
        self, text: Text, unknown: NDArray[np.int64], indices: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Enter unknown names into the table, numbered on; the rows that were new to it."""
        self._grow(int(_largest(text, unknown)))
        new: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
        done, number = 0, len(self.names)
        while done < len(unknown):
            slots = len(self.table) - 2
            if 2 * self.used >= slots:
                bigger = _table(2 * slots, self.table[-2:].reshape(-1))
                self.table = _rehashed(self.table, bigger)
                continue
            room = slots // 2 - self.used
            how = indices, self.table, self.direct, number, room
            more, done, used = _insert(text, unknown, done, *how)
            self.used, number = self.used + used, number + len(more)
            new.append(more)
        self.entered += number - len(self.names)
        return np.concatenate(new)


def _decoded(lines: bytes) -> list[str]:
    """The lines as text; empty where one is not UTF-8, as no name is."""
    try:
        return lines.decode().split("\n")[:-1]
    except UnicodeDecodeError:
        return [_decoded_line(line) for line in lines.split(b"\n")[:-1]]


def _decoded_line(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return ""
