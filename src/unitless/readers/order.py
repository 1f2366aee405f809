"""Sparse rows into the order that `Rows` asks for: columns rising, none twice, no zeros."""

from __future__ import annotations

import numpy as np

from unitless.lanes import LANES, any_lane, before, every, load, store, where
from unitless.numerics import inner, kernel
from unitless.readers.words import GROUP, ranks_of

U = np.uint64
INFINITE, NAMELESS = 1, 2
"""Why a row cannot be used: a value or a sum of values overflows; a column is negative."""

PLAIN, RANKED, MIXED = 3, 4, 5
"""Other rows: as they should be; no column twice; any."""

SPARE = GROUP
"""Numbers that may be read behind the last row."""

BITS = 6
"""The sort looks at six bits a pass: 64 counters suit rows of some ten to some hundred values."""

SHORT = 256
"""Rows up to this size are sorted by counting, for each column, those below it: vectors do that."""

_MASK = U((1 << BITS) - 1)


@kernel
def in_order(values, indices, starts, rows):
    """Sort each row by column, add up equal columns, leave out zeros; in place.

    Equal columns are added in the order in which they stand. `starts` changes with the rows.
    Returns why a row cannot be used, 0 where it can. Behind the last row there is room.

    >>> values, indices = np.zeros(4 + SPARE), np.zeros(4 + SPARE, dtype=np.int32)
    >>> values[:4], indices[:4], starts = [1, 2, 3, 0], [7, 4, 7, 2], np.array([0, 3, 4])
    >>> in_order(values, indices, starts, 2)
    array([0, 0], dtype=uint8)
    >>> starts, indices[:2], values[:2]
    (array([0, 2, 2]), array([4, 7], dtype=int32), array([2., 4.]))
    """
    longest = np.int64(1)
    for row in range(rows):
        longest = max(longest, starts[row + 1] - starts[row])
    keys, old = np.empty((2, longest), U), np.empty(longest + LANES)
    short, ranks = np.empty(SHORT + GROUP, np.int32), np.empty(SHORT + GROUP, np.int32)
    counters = np.empty(1 << BITS, dtype=np.int64)
    why = np.zeros(rows, dtype=np.uint8)
    begin, filled = starts[0], starts[0]
    for row in range(rows):
        size = starts[row + 1] - begin
        rising, plain = _look(values, indices, begin, size, old)
        form = PLAIN if rising and plain and filled == begin else MIXED
        if form == MIXED:
            form = _ranked(indices, begin, size, short, ranks)
        if form == PLAIN:
            filled += size
        elif form == NAMELESS:
            why[row] = NAMELESS
        elif form == RANKED and plain:
            for k in range(size):
                place = filled + np.int64(np.uint32(ranks[k]))
                values[place], indices[place] = old[k], short[k]
            filled += size
        else:
            for k in range(size):
                keys[0, k] = U(indices[begin + k]) << U(32) | U(k)
            side = 0 if rising else _sort(keys, counters, size)
            filled, finite = _merged(values, indices, filled, keys[side], old, size)
            why[row] = 0 if finite else INFINITE
        begin, starts[row + 1] = starts[row + 1], filled
    return why


@inner
def _look(values, indices, begin, size, old):
    """(whether columns rise from 0 or more; no value is 0 or infinite); old = the values."""
    rising = 1
    while rising < size and indices[begin + rising - 1] < indices[begin + rising]:
        rising += 1
    least, most = every(1.0), every(1.0)
    for k in range(0, size, LANES):
        value = load(values, begin + k)
        store(old, k, value)
        value = where(before(size - k), abs(value), 1.0)
        least, most = min(least, value), max(most, value)
    named = size == 0 or indices[begin] >= 0
    return rising >= size and named, not any_lane((least == 0.0) | (most == np.inf))


@inner
def _ranked(indices, begin, size, short, ranks):
    """Copy the columns of a row and rank them: RANKED, or MIXED if two are equal or it is long."""
    total = np.int64(0)
    for k in range(0, size if size <= SHORT else 0, GROUP):
        part = ranks_of(indices, begin, k, size, short, ranks)
        if part < 0:
            return NAMELESS
        total += part
    if size <= SHORT:
        return RANKED if total == size * (size - 1) // 2 else MIXED
    for k in range(begin, begin + size):
        if indices[k] < 0:
            return NAMELESS
    return MIXED


@inner
def _sort(keys, counters, size):
    """Sort keys[0, :size] by their upper halves; equal ones keep their order.

    The keys go to and fro between keys[0] and keys[1]; where they end is returned.
    """
    side, shift, most = 0, U(32), U(0)
    for k in range(size):
        most = max(most, keys[0, k] >> shift)
    while most > U(0):
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
        side, shift, most = 1 - side, shift + U(BITS), most >> U(BITS)
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
