"""Names -> columns for text kernels: a hash table keyed by bytes, and the names themselves.

In the table a name and its namespace are a fingerprint of 95 bits under a random key. It is made by
three functions that are strongly universal (MULTILINEAR-HM of Lemire and Kaser, "Strongly universal
string hashing is fast", 2014): two of a million names are taken for one another with a probability
below 1e-16, and nobody can write a file whose names crowd one corner. A look-up touches one line of
the cache. Kernels look up, and list what they do not find; `Columns.add` gives it columns, in the
order of the file. Kernels may look up meanwhile: a name half entered is one not found.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.numerics import inner, kernel, prefetch
from unitless.readers.bytes import Text
from unitless.readers.decimals import integer
from unitless.readers.words import (
    LINE,
    byte,
    has_byte,
    high_product,
    load8,
    matches,
    store8,
    trailing_zeros,
)

U = np.uint64
_FULL = U(0xFFFFFFFFFFFFFFFF)
_COLUMN = U(0xFFFFFFFF)
_PRINT = U(0x7FFFFFFF00000000)  # of a second print: not all bits set, as where nothing stands
DIRECT = 1 << 22
"""Names that are whole numbers below this have a table without hashing."""

WHOLE = U(1)
"""In the place of a second print: the name is such a number, and the first print is it."""

KEY = 4 * LINE
"""Slots of the key, two words each: seven for each function, then two and two for long names."""

Table = NDArray[np.uint64]
"""Slots of (print, print | column), a power of two of them, four to a line of the cache; then the
random key, in lines of its own."""


@inner
def _key(table, i):
    """Word i of the key."""
    return table[table.shape[0] - KEY + i // 2, i % 2]


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
def _folded(a, b):
    """Both halves of the product, mixed."""
    return (a * b) ^ high_product(a, b)


@inner
def _hashed(table, f, low, high, space):
    """Function f of a name: its upper half is the hash.

    `low` and `high` are the name's two words, `space` is `_space` of its namespace; of one name, or
    of eight.
    """
    a, b = _key(table, 7 * f) + (low & _COLUMN), _key(table, 7 * f + 1) + (low >> U(32))
    c, d = _key(table, 7 * f + 2) + (high & _COLUMN), _key(table, 7 * f + 3) + (high >> U(32))
    return a * b + c * d + space


@inner
def _space(table, f, word):
    """What a namespace adds to function f."""
    a, b = _key(table, 7 * f + 4) + (word & _COLUMN), _key(table, 7 * f + 5) + (word >> U(32))
    return _key(table, 7 * f + 6) + a * b


@inner
def space_hashes(text, start, stop, table):
    """What a namespace adds to each function."""
    word = _few(text, start, stop)
    if stop - start > 8:
        word = _many(text, start, stop, _key(table, 21), _key(table, 22))
    return _space(table, 0, word), _space(table, 1, word), _space(table, 2, word)


@inner
def name_words(text, start, stop, table):
    """Two words that stand for a name: the name itself, where it has no more than 16 bytes.

    No name has bytes of zero, so no two short names have the same words. `start` < 0 is the
    nameless feature -1 - start.
    """
    if start < 0:
        return U(-1 - start), U(0)
    if stop - start <= 8:
        return _few(text, start, stop), U(0)
    if stop - start <= 16:
        return load8(text, start), _few(text, start + 8, stop)
    low = _many(text, start, stop, _key(table, 21), _key(table, 22))
    return low, _many(text, start, stop, _key(table, 23), _key(table, 24))


@inner
def prints(low, high, spaces, table):
    """The two words of a fingerprint; the lower half of the second is left to the column.

    Of one name, or of eight at once.
    """
    first = _hashed(table, 0, low, high, spaces[0]) & ~_COLUMN
    first = first | (_hashed(table, 1, low, high, spaces[1]) >> U(32))
    return first, _hashed(table, 2, low, high, spaces[2]) & _PRINT


@inner
def mask_of(table):
    """The bits of a first print that say in which line of the cache a name is looked for first."""
    return U((table.shape[0] - KEY) // LINE - 1)


@inner
def home(first, table):
    """The slot at which the search for a name begins: the first of a line of the cache."""
    return np.int64(first & mask_of(table)) * LINE


@inner
def find(table, first, second):
    """(slot, column) of a name; the free slot for it and -1 if it is not in the table."""
    slot = home(first, table)
    while True:
        met = matches(table, slot, first, second)
        if met != U(0):
            slot += trailing_zeros(met) >> 1
            return slot, np.int64(table[slot, 1] & _COLUMN)
        for free in range(slot, slot + LINE):
            if table[U(free), 1] == _FULL:
                return free, np.int64(-1)
        slot = slot + LINE if slot + LINE < table.shape[0] - KEY else 0


@inner
def column_at_home(table, first, second):
    """The column of a name, if it stands in the line where its search begins; otherwise -1."""
    slot = home(first, table)
    met = matches(table, slot, first, second)
    if met == U(0):
        return np.int64(-1)
    return np.int64(table[U(slot + (trailing_zeros(met) >> 1)), 1] & _COLUMN)


@inner
def whole_number(text, start, stop):
    """The number that a name is, if it is one below `DIRECT`, written without needless zeros."""
    size = stop - start
    if start < 0 or size > 7 or byte(text, start) > 57 or (byte(text, start) == 48 and size > 1):
        return np.int64(-1)
    number = integer(text, start, stop)
    return number if number < DIRECT else np.int64(-1)


@inner
def is_doubtful(text, start, stop):
    """Whether a name might be spelt like another one, or might not be text; see `_spelt`.

    (It may say so of names that are neither; without a name there is always a doubt.)
    """
    odd = U(start < 0)
    for at in range(start, stop, 8):
        word = load8(text, at)
        if stop - at < 8:
            word &= _FULL >> U(64 - 8 * (stop - at))
        odd |= has_byte(word, 94) | has_byte(word, 58) | (word & U(0x8080808080808080))
    return odd != U(0)


@kernel
def _largest(prints):
    """The largest of the names that are whole numbers; -1 if none is."""
    largest = np.int64(-1)
    for i in range(len(prints)):
        if prints[i, 1] == WHOLE:
            largest = max(largest, np.int64(prints[i, 0]))
    return largest


@kernel
def _insert(unknown, prints, done, indices, table, direct, column, room):
    """Enter names from row `done` on, at most `room` new ones into the table.

    Returns the rows of new names, the row reached, and how many went into the table.
    """
    new = np.empty(len(prints) - done, dtype=np.int64)
    count = entered = 0
    for i in range(done, len(prints)):
        first, second = prints[i, 0], prints[i, 1]
        prefetch(table, home(prints[min(i + 16, len(prints) - 1), 0], table))
        if second == WHOLE:
            found = np.int64(direct[first])
            if found == -1:
                direct[first] = column + count
        else:
            slot, found = find(table, first, second)
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
    return new[:count], len(prints), entered


@kernel
def _renumber(unknown, prints, new, indices, table, direct, known, columns):
    """The names of the rows `new`, numbered from `known` on, get these columns instead."""
    for i in range(len(unknown)):
        number = indices[unknown[i, 2]] - known
        if number >= 0:
            indices[unknown[i, 2]] = columns[number]
    for n in range(len(new)):
        first, second = prints[new[n], 0], prints[new[n], 1]
        if second == WHOLE:
            direct[first] = columns[n]
        else:
            slot, _ = find(table, first, second)
            table[slot, 1] = second | (U(columns[n]) & _COLUMN)


@kernel
def _rehashed(table, bigger):
    """The bigger table, which is empty, with the names of the first where `find` looks for them."""
    for old in range(U(len(table) - KEY)):
        first, second = table[old, 0], table[old, 1]
        if second != _FULL:
            slot = U(home(first, bigger))
            while bigger[slot, 1] != _FULL:
                slot = slot + U(1) if slot + U(1) < U(len(bigger) - KEY) else U(0)
            bigger[slot, 0], bigger[slot, 1] = first, second
    return bigger


def _table(slots: int, key: Iterable[int]) -> Table:
    """An empty table, which begins with a line of the cache (64 bytes)."""
    room = np.full((slots + KEY + LINE, 2), _FULL)
    start = -room.ctypes.data % 64 // 16
    table = room[start : start + slots + KEY]
    table[-KEY:] = np.array(list(key), dtype=np.uint64).reshape(KEY, 2)
    return table


@kernel
def _spelt(text, unknown, new):
    """The names of the rows `new`, a line each, and whether two of a file might be spelt alike.

    `namespace^name`, `namespace^name^text` and `name` differ as their parts do, unless a part has
    a ^ of its own, or `name^text` without a namespace looks like a `namespace^name`.
    """
    size = 8
    for i in new:
        size += unknown[i, 4] - unknown[i, 3] + max(unknown[i, 1] - unknown[i, 0], 24) + 2
    out, end, doubtful = np.empty(size, dtype=np.uint8), 0, False
    for i in new:
        start, stop = np.int64(unknown[i, 0]), np.int64(unknown[i, 1])
        space_from, space_to = np.int64(unknown[i, 3]), np.int64(unknown[i, 4])
        if space_from < space_to:
            end, caret, _ = _copied(text, space_from, space_to, out, end)
            doubtful |= caret
            out[end] = 94
            end += 1
        if start < 0:
            end = _spell_number(out, end, -1 - start)
            doubtful = True
        else:
            name = end
            end, caret, colon = _copied(text, start, stop, out, end)
            doubtful |= caret or (colon and space_from == space_to)
            while colon and out[name] != 58:
                name += 1
            if colon:
                out[name] = 94
        out[end] = 10
        end += 1
    return out[:end], doubtful


@inner
def _copied(text, start, stop, out, end):
    """Copy text[start:stop] to `end`, eight bytes at a time: (its end, has it a ^, has it a :)."""
    caret, colon = U(0), U(0)
    for at in range(start, stop, 8):
        word = load8(text, at)
        store8(out, end + (at - start), word)
        if stop - at < 8:
            word &= _FULL >> U(64 - 8 * (stop - at))
        caret |= has_byte(word, 94)
        colon |= has_byte(word, 58)
    return end + (stop - start), caret != U(0), colon != U(0)


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


class Spelt(Sequence[str]):
    """Names as bytes, a line each, which become text when somebody reads them.

    >>> Spelt(2, lambda: b"red\\nblue\\n")
    ['red', 'blue']
    """

    def __init__(self, size: int, spell: Callable[[], bytes]) -> None:
        self.size, self._spell = size, spell

    @cached_property
    def lines(self) -> bytes:
        """The names; to be asked for while the text they are spelt from is there."""
        return self._spell()

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[str]:
        return iter(_decoded(self.lines))

    def __getitem__(self, which: Any) -> Any:
        return _decoded(self.lines)[which]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))


class Columns:
    """The columns of names, and the table in which kernels find them.

    >>> columns = Columns(["blue"])
    >>> columns.count, len(columns.table)
    (1, 4112)
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.names: list[Sequence[str]] = [list(names)]
        """Of all columns, in runs."""
        self.count = len(names)
        self.numbers: dict[str, int] | None = None
        """Column by name; only kept where equal names may come from different keys."""
        self.entered = self.used = 0
        """Names met so far, and those of them in the table."""
        self.table = _table(1 << 12, (secrets.randbits(64) for _ in range(2 * KEY)))
        self.direct: NDArray[np.int32] = np.full(1, -1, dtype=np.int32)

    @property
    def simple(self) -> bool:
        """Whether names without a doubt are new where the table does not have them."""
        return self.numbers is None and self.count == self.entered

    def add(
        self,
        text: Text,
        unknown: NDArray[np.int32],
        prints: Table,
        indices: NDArray[np.int32],
        sure: bool,
    ) -> Sequence[str]:
        """Give columns to names that have none; the names that are new.

        `unknown` has rows of (from, to, where, space from, space to): indices[where] is the
        column of the name text[from:to] in a namespace; `from` < 0 is nameless feature -1 - from.
        `prints` are its fingerprints. A name that is not UTF-8 gets the column -2. `sure`: the
        columns are `simple` and no name `is_doubtful`. Otherwise nobody may look up meanwhile, for
        a name may get another column than the one first entered.
        """
        if not len(unknown):
            return ()
        known, simple = self.count, self.simple
        new = self._enter(unknown, prints, indices)
        names: Sequence[str] = Spelt(len(new), lambda: _spelt(text, unknown, new)[0].tobytes())
        if not sure and (not simple or _any_doubt(text, unknown, new)):
            columns, names = self._columns(names)
            _renumber(unknown, prints, new, indices, self.table, self.direct, known, columns)
        self.names.append(names)
        self.count += len(names)
        return names

    def _columns(self, names: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
        """The columns of names, -2 for "", a name that is not UTF-8; and those that are new."""
        if self.numbers is None:
            every = itertools.chain.from_iterable(self.names)
            self.numbers = {name: column for column, name in enumerate(every)}
        known, before = self.numbers, len(self.numbers)
        columns = [-2 if name == "" else known.setdefault(name, len(known)) for name in names]
        return np.array(columns, dtype=np.int64), [*itertools.islice(known, before, None)]

    def _grow(self, number: int) -> None:
        """Make room for whole numbers up to that one."""
        if number >= len(self.direct):
            longer = np.full(min(DIRECT, 2 * number + 1), -1, dtype=np.int32)
            longer[: len(self.direct)] = self.direct
            self.direct = longer

    def _enter(
        self, unknown: NDArray[np.int32], prints: Table, indices: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Enter unknown names into the table, numbered on; the rows that were new to it."""
        self._grow(int(_largest(prints)))
        new: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
        done, number = 0, self.count
        while done < len(unknown):
            slots = len(self.table) - KEY
            if 2 * self.used >= slots:
                bigger = _table(2 * slots, self.table[-KEY:].reshape(-1))
                self.table = _rehashed(self.table, bigger)
                continue
            room = slots // 2 - self.used
            how = indices, self.table, self.direct, number, room
            more, done, used = _insert(unknown, prints, done, *how)
            self.used, number = self.used + used, number + len(more)
            new.append(more)
        self.entered += number - self.count
        return np.concatenate(new)


def _any_doubt(text: Text, unknown: NDArray[np.int32], new: NDArray[np.int64]) -> bool:
    """Whether one of these names may be spelt like another, or is not text."""
    spelt, doubtful = _spelt(text, unknown, new)
    try:
        spelt.tobytes().decode()
    except UnicodeDecodeError:
        return True
    return bool(doubtful)


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
