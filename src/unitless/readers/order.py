"""Sparse rows into the order that `Rows` asks for: columns rising, none twice, no zeros."""

from __future__ import annotations

import numpy as np

from unitless.numerics import inner, kernel
from unitless.readers.words import GROUP, ranks_of

U = np.uint64
INFINITE, NAMELESS = 1, 2
"""Why a row cannot be used: a value or a sum of values overflows; a column is negative."""

BITS = 6
"""The sort looks at six bits a pass: 64 counters suit rows of some ten to some hundred values."""

SHORT = 256
"""Rows up to this size are sorted by counting, for each column, those below it: vectors do that."""

_MASK = U((1 << BITS) - 1)


@kernel
def in_order(values, indices, starts, rows):
    """Sort each row by column, add up equal columns, leave out zeros; in place.

    Equal columns are added in the order in which they stand. `starts` changes with the rows.
    Returns why a row cannot be used, 0 where it can.

    >>> values, indices = np.array([1.0, 2.0, 3.0, 0.0]), np.array([7, 4, 7, 2], dtype=np.int32)
    >>> starts = np.array([0, 3, 4])
    >>> in_order(values, indices, starts, 2)
    array([0, 0], dtype=uint8)
    >>> starts, indices[:2], values[:2]
    (array([0, 2, 2]), array([4, 7], dtype=int32), array([2., 4.]))
    """
    longest = np.int64(1)
    for row in range(rows):
        longest = max(longest, starts[row + 1] - starts[row])
    keys, old = np.empty((2, longest), U), np.empty(longest)
    short, ranks = np.zeros(SHORT + GROUP, np.int32), np.empty(SHORT + GROUP, np.int32)
    counters = np.empty(1 << BITS, dtype=np.int64)
    why = np.zeros(rows, dtype=np.uint8)
    begin, filled = starts[0], starts[0]
    for row in range(rows):
        size = starts[row + 1] - begin
        most, rising, plain = _look(values, indices, begin, size)
        if rising and plain and filled == begin:
            filled += size
        elif most < 0:
            why[row] = NAMELESS
        elif plain and size <= SHORT and _ranked(indices, begin, size, short, ranks):
            for k in range(size):
                old[k] = values[begin + k]
            for k in range(size):
                place = filled + np.int64(np.uint32(ranks[k]))
                values[place], indices[place] = old[k], short[k]
            filled += size
        else:
            for k in range(size):
                keys[0, k] = U(indices[begin + k]) << U(32) | U(k)
                old[k] = values[begin + k]
            side = 0 if rising else _sort(keys, counters, size, most)
            filled, finite = _merged(values, indices, filled, keys[side], old, size)
            why[row] = 0 if finite else INFINITE
        begin, starts[row + 1] = starts[row + 1], filled
    return why


@inner
def _look(values, indices, begin, size):
    """(largest column, -1 if one is negative; whether columns rise; no value is 0 or infinite)."""
    previous, most, least = np.int64(-1), np.int64(0), np.int64(0)
    falls, odd = 0, 0
    for k in range(begin, begin + size):
        index = np.int64(indices[k])
        falls |= index <= previous
        odd |= (values[k] == 0) | (abs(values[k]) == np.inf)
        most, least, previous = max(most, index), min(least, index), index
    return (np.int64(-1) if least < 0 else most), falls == 0, odd == 0


@inner
def _ranked(indices, begin, size, short, ranks):
    """Copy the columns of a row and rank them; whether no two are equal."""
    for k in range(size):
        short[k] = indices[begin + k]
    for k in range(0, size, GROUP):
        ranks_of(short, k, size, ranks)
    total = np.int64(0)
    for k in range(size):
        total += np.int64(ranks[k])
    return total == size * (size - 1) // 2


@inner
def _sort(keys, counters, size, most):
    """Sort keys[0, :size] by their upper halves, at most `most`; equal ones keep their order.

    The keys go to and fro between keys[0] and keys[1]; where they end is returned.
    """
    side, shift = 0, U(32)
    while most > 0:
        here, there, total = keys[side], keys[1 - side], 0
        for j in range(1 << BITS):
            counters[j] = 0
        for k in range(size):
            counters[(here[k] >> shift) & _MASK] += 1
        for j in range(1 << BITS):
            counters[j], total = total, total + counters[j]
        for k in range(size):
            key = here[k]
            j = (key >> shift) & _MASK
            there[counters[j]] = key
            counters[j] += 1
        side, shift, most = 1 - side, shift + U(BITS), most >> BITS
    return side


@inner
def _merged(values, indices, filled, keys, old, size):
    """Write a sorted row from `filled` on: (where it ends, whether all of it is finite)."""
    k, finite = 0, True
    while k < size:
        column, total = keys[k] >> U(32), old[keys[k] & U(0xFFFFFFFF)]
        k += 1
        while k < size and keys[k] >> U(32) == column:
            total += old[keys[k] & U(0xFFFFFFFF)]
            k += 1
        finite &= abs(total) != np.inf
        values[filled], indices[filled] = total, np.int32(column)
        filled += total != 0
    return filled, finite
