"""Vowpal Wabbit text: `label importance 'tag |namespace:weight name:value name ... |...`.

What VW reads is read as VW reads it, in float64. A feature is named as VW's audit names it:
`name` in the namespace without a name, `namespace^name` otherwise, `namespace^name^text` for
`name:text`; features without a name, `:3.5`, are `namespace^[0]`, `namespace^[1]`, ... Columns
come in the order in which names appear. Equal names of a row are added up, zeros left out.

Where VW warns and drops the rest of a line, and where it guesses, a line is bad: no `|` at all, a
label or importance that is no number, a base prediction (third number), `name:` without a value,
`name:12ab`. Strings like `e5` or `-`, which VW takes for 0, are strings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unitless.lanes import LANES, bits, store
from unitless.numerics import flat, inner
from unitless.readers import eights, names, sparse
from unitless.readers.blocks import FINITE, WEIGHT, Block, Options, Position
from unitless.readers.bytes import Source, Text
from unitless.readers.decimals import NO, ODD, YES, decimal, number_word, short_decimal
from unitless.readers.names import (
    DIRECT,
    WHOLE,
    Columns,
    column_at_home,
    find,
    home,
    is_doubtful,
    mask_of,
    name_words,
    prints,
    space_hashes,
    whole_number,
)
from unitless.readers.order import INFINITE, in_order
from unitless.readers.sparse import (
    AT,
    BAD,
    BATCH,
    BREAK,
    DOUBT,
    FOUND,
    HALF,
    LATE,
    LINE,
    MIDDLE,
    ROOM,
    ROW,
    UNKNOWN,
    VALUE,
    Int,
    Part,
    Piece,
)
from unitless.readers.words import ask, byte

U = np.uint64
BAR = np.uint8(124)
TEXT, NUMBER, NOTHING = 0, 1, 2
FIRST, SECOND, NAME, SPACE, MISSED = range(0, sparse.RING, 2 * ROOM)
"""The fields of the ring: both prints of a name, where it stands, where its namespace stands; and
the values whose names are not where they are looked for first."""

UTF8 = "names are written in UTF-8"


def blocks(source: Source, options: Options, start: Position) -> Iterator[Block]:
    """The rows of a file from a position on.

    >>> import io
    >>> source = Source(io.BytesIO(b"1 2.5 |size:10 h:1.8 |c red\\n-1 'b |c blue red:2\\n"))
    >>> for block in blocks(source, Options(), {}):
    ...     print(block.new_names, block.rows.values, block.rows.weights, block.tags)
    ['size^h', 'c^red', 'c^blue'] [18.  1.  2.  1.] [2.5 1. ] ['', 'b']
    """
    return sparse.blocks(source, options, start, VowpalWabbit(options.names))


class VowpalWabbit:
    """The format, with the columns of its names."""

    name = "vw"
    extra = BAR

    def __init__(self, known: Sequence[str]) -> None:
        self.columns = Columns(known)

    def parse(self, text: Text, stop: int, piece: Piece, counts: Int) -> None:
        _parse(text, stop, piece, counts, self.columns.table, self.columns.direct)

    def why(self, token: str, before: str, behind: str) -> str:
        if "|" not in before + token + behind:
            return "a line has a | before its features"
        if token.startswith("|"):
            return "|namespace or |namespace:number was expected"
        if "|" in before:
            return "name, name:number or name:text was expected"
        return "label, importance and 'tag were expected before the |"

    def alone(self, part: Part) -> bool:
        return bool(part.counts[DOUBT]) or not self.columns.simple

    def finish(self, part: Part) -> None:
        piece, n = part.piece, part.counts[UNKNOWN]
        unknown, found = piece.unknown[:n], piece.unknown_prints[:n]
        sure = not self.alone(part)
        part.new_names = self.columns.add(part.text, unknown, found, piece.indices, sure)
        part.columns = self.columns.count

    def tidy(self, part: Part) -> None:
        piece, rows = part.piece, int(part.counts[ROW])
        if isinstance(part.new_names, names.Spelt):
            _ = part.new_names.lines  # spelt now: the text serves another part soon
        why = in_order(piece.values, piece.indices, piece.starts, rows)
        for row in np.flatnonzero(why).tolist():
            text = "an infinite value" if why[row] == INFINITE else "a name in other bytes"
            part.refuse(row, FINITE if why[row] == INFINITE else UTF8, text)
        weights = piece.marks[1 : 2 * rows : 2]
        for row in np.flatnonzero(~((weights >= 0) & (weights < np.inf))).tolist():
            part.refuse(row, WEIGHT, str(weights[row]))


@flat
def _parse(text, stop, piece, counts, table, direct):
    at, b, row = counts[AT], counts[BREAK], counts[ROW]
    counts[BAD] = -1
    while at < stop and counts[BAD] < 0:
        late = counts[LATE]
        at, b, char = _label(text, at, b, row, piece, counts)
        value = piece.starts[row]
        if char == 124:
            at, b = _features(text, at, b, piece, counts, table, direct)
        if counts[BAD] >= 0:
            counts[VALUE], counts[LATE] = value, late
        elif char == 124:
            piece.lines[row] = counts[LINE]
            row += 1
            piece.starts[row] = counts[VALUE]
        counts[LINE] += 1
    _look_up_all(text, piece, counts, table, direct)
    counts[AT], counts[BREAK], counts[ROW] = at, b, row


@inner
def _label(text, at, b, row, piece, counts):
    """The part before the first bar: (place and break behind the bar, its last character)."""
    line, begin, char = at, at, np.int64(0)
    while char != 124 and char != 10:
        at, b = np.int64(piece.breaks[b]), b + 1
        char = byte(text, at)
        if char == 9 and begin == line:  # as VW: what stands before the first tab is dropped
            begin = at + 1
        elif char < 32 and char != 10:
            sparse.refuse_control(text, at, counts)
    if char == 124:
        _words(text, begin, at, row, piece, counts)
    else:
        while line < at and byte(text, line) <= 32:
            line += 1
        if line < at:
            sparse.refuse(counts, line)
    return at + 1, b, char


@inner
def _words(text, at, bar, row, piece, counts):
    """Label, importance, tag; the last word is a tag if it touches the bar or begins with '."""
    marks, tags = piece.marks, piece.tags
    marks[2 * row], marks[2 * row + 1], tags[row, 0], tags[row, 1] = np.nan, 1.0, bar, bar
    words, start, stop = 0, bar, bar
    while at < bar:
        if byte(text, at) != 32:
            if start < bar:
                words = _mark(text, start, stop, row, words, piece, counts)
            start = at
            while at < bar and byte(text, at) != 32:
                at += 1
            stop = at
        at += 1
    if start < bar and (stop == bar or byte(text, start) == 39):
        tags[row, 0], tags[row, 1] = start + (byte(text, start) == 39), stop
    elif start < bar:
        _mark(text, start, stop, row, words, piece, counts)


@inner
def _mark(text, start, stop, row, words, piece, counts):
    """Keep the label (words = 0) or the importance (1) of a row; the number of words, then."""
    if words > 1:
        sparse.refuse(counts, start)
        return words
    found, value = short_decimal(text, start, stop)
    piece.marks[2 * row + words] = value
    if not found:
        piece.marks[2 * row + words] = 1.0
        sparse.later(piece, counts, start, stop, -1 - 2 * row - words)
    return words + 1


@inner
def _features(text, at, b, piece, counts, table, direct):
    """The namespaces and features of a row, up to its newline: (place and break behind it)."""
    breaks, k = piece.breaks, counts[VALUE]
    spaces, weight, nameless, char = (U(0), U(0), U(0)), 1.0, 0, np.int64(124)
    space_from, space_to, odd_from, odd_to = at, at, at, at
    while char != 10:
        opens = char == 124
        end, b = np.int64(breaks[b]), b + 1
        char = byte(text, end)
        if opens:
            spaces, space_from, space_to = space_hashes(text, at, end, table), at, end
            weight, nameless, odd_from, odd_to = 1.0, 0, at, at
            counts[DOUBT] |= is_doubtful(text, at, end)
            if char == 58:
                begin, end, b = end + 1, np.int64(breaks[b]), b + 1
                char = byte(text, end)
                kind, weight = decimal(text, begin, end)
                if kind == ODD and not _is_word(text, begin, end):  # many digits: left to Python
                    kind, weight, odd_from, odd_to = YES, 1.0, begin, end
                if kind != YES or space_from == space_to or char == 58:
                    sparse.refuse(counts, at - 1)
        elif end > at or char == 58:
            name_to, begin, value = end, end + 1, weight
            if char == 58:
                end, b = np.int64(breaks[b]), b + 1
                char = byte(text, end)
                found, value = short_decimal(text, begin, end)
                value *= weight
                if not found or char == 58:
                    form = _form(text, begin, end)
                    if form == TEXT:
                        while char == 58 or char == 124:
                            end, b = np.int64(breaks[b]), b + 1
                            char = byte(text, end)
                        value, name_to = 1.0, end
                    elif form == NUMBER and char != 58:
                        value = weight
                        sparse.later(piece, counts, begin, end, k)
                    else:
                        sparse.refuse(counts, at)
            piece.values[k] = value
            if odd_from < odd_to and name_to <= begin:
                sparse.later(piece, counts, odd_from, odd_to, k)
            nameless += at == name_to
            start, stop = (at, name_to) if at < name_to else (-nameless, -nameless)
            space = space_from, space_to
            _ask(text, start, stop, space, spaces, piece, k, counts, table, direct)
            k = _one_more(text, k, 1, piece, counts, table, direct)
        if char < 32 and char != 10:
            sparse.refuse_control(text, end, counts)
        at = end + 1
        m = np.int64(LANES if odd_from == odd_to else 0)
        while m == LANES and char == 32 and byte(text, np.int64(breaks[b])) == 58:
            space = space_from, space_to
            m = _ask_eight(text, b, weight, space, spaces, piece, k, counts, table, direct)
            if m > 0:
                k, b = _one_more(text, k, m, piece, counts, table, direct), b + 2 * m
                at = np.int64(breaks[b - 1]) + 1
                char = byte(text, at - 1)
    counts[VALUE] = k
    return at, b


@inner
def _form(text, start, stop):
    """What follows a colon, if it is no short number: a longer NUMBER, a TEXT, NOTHING."""
    if start == stop:
        return NOTHING
    if _is_word(text, start, stop):
        return NUMBER
    start += byte(text, start) == 43 or byte(text, start) == 45
    start += byte(text, start) == 46
    return NUMBER if start < stop and 48 <= byte(text, start) <= 57 else TEXT


@inner
def _is_word(text, start, stop):
    """Whether it is nan, inf or infinity, with or without a sign."""
    sign = byte(text, start) == 43 or byte(text, start) == 45
    return number_word(text, start + sign, stop) != NO


# Names wait in a ring of two halves. While one fills, the memory answers for the other; then that
# one is looked up, and they change places.


@inner
def _slot(k, counts):
    """Where value k is in the half that fills."""
    return counts[HALF] * ROOM + k - counts[MIDDLE]


@inner
def _ask(text, start, stop, space, spaces, piece, k, counts, table, direct):
    """Keep the fingerprint of a name, and ask the memory for where its column will stand."""
    number = whole_number(text, start, stop) if space[0] == space[1] else np.int64(-1)
    first, second = U(number), WHOLE
    if number < 0:
        low, high = name_words(text, start, stop, table)
        first, second = prints(low, high, spaces, table)
        ask(table, home(first, table))
    else:
        ask(direct, number)  # beyond the end it asks for what is not there, and gets nothing
    ring, slot = piece.ring, _slot(k, counts)
    ring[FIRST + slot], ring[SECOND + slot] = first, second
    ring[NAME + slot], ring[SPACE + slot] = _span(start, stop), _span(space[0], space[1])


@inner
def _ask_eight(text, b, weight, space, spaces, piece, k, counts, table, direct):
    """Eight features `name:number` from break b on; how many of them were as simple as that.

    They are all whole numbers, or all other names of at most 16 bytes.
    """
    breaks, ring, slot = piece.breaks, piece.ring, _slot(k, counts)
    last = eights.load_chars(text, breaks, b + 1, 0)
    newline = bits(last == eights.NEWLINE)
    good, value = eights.decimals(text, breaks, b)
    good &= newline | bits(last == eights.SPACE)
    plain = space[0] == space[1]
    if plain and U(byte(text, np.int64(breaks[b - 1]) + 1) - 48) < U(10):
        digits, number = eights.integers(text, breaks, b)
        sizes = eights.every_other(breaks, b) - eights.every_other(breaks, b - 1)
        zero = (eights.load_chars(text, breaks, b - 1, 1) == U(48)) & (sizes != U(2))
        good &= digits & ~bits(zero) & bits(number < U(DIRECT))
        eights.store_words(ring, FIRST + slot, number)
        eights.ask_eight(direct, ring, FIRST + slot, eights.FULL, U(1))
        eights.store_words(ring, SECOND + slot, eights.every_word(WHOLE))
    else:
        short, low, high = eights.names(text, breaks, b)
        first, second = prints(low, high, spaces, table)
        digit = bits((low & U(255)) - U(48) < U(10)) if plain else U(0)
        good &= short & ~digit
        eights.store_words(ring, FIRST + slot, first)
        eights.ask_eight(table, ring, FIRST + slot, mask_of(table), U(names.LINE))
        eights.store_words(ring, SECOND + slot, second)
    starts, colons = eights.every_other(breaks, b - 1) + U(1), eights.every_other(breaks, b)
    eights.store_words(ring, NAME + slot, starts | (colons << U(32)))
    eights.store_words(ring, SPACE + slot, eights.every_word(_span(space[0], space[1])))
    store(piece.values, k, value * weight)
    return eights.how_many(good, newline)


@inner
def _span(start, stop):
    """Two places as one number."""
    return (U(start) & U(0xFFFFFFFF)) | (U(stop) << U(32))


@inner
def _one_more(text, k, m, piece, counts, table, direct):
    """m values more: their number. Where a half is full, the other one is looked up."""
    if k + m - counts[MIDDLE] >= BATCH:
        _look_up(text, piece, counts, table, direct, 1 - counts[HALF], counts[MIDDLE])
        counts[MIDDLE], counts[HALF] = k + m, 1 - counts[HALF]
    return k + m


@flat
def _look_up_all(text, piece, counts, table, direct):
    """Look up all names that wait, but for those of a bad line."""
    n, k, middle = counts[UNKNOWN], counts[VALUE], counts[MIDDLE]
    while n > 0 and piece.unknown[n - 1, 2] >= k:
        n -= 1
    counts[UNKNOWN] = n
    _look_up(text, piece, counts, table, direct, 1 - counts[HALF], min(middle, k))
    counts[FOUND] = middle
    _look_up(text, piece, counts, table, direct, counts[HALF], k)
    counts[FOUND] = counts[MIDDLE] = k


@flat
def _look_up(text, piece, counts, table, direct, half, stop):
    """Find the columns of the values before `stop` whose names wait in that half.

    One in 25 or so is not in its first line: of these the next line is asked for, and they are
    looked up when all others are.
    """
    ring, missed = piece.ring, U(MISSED)
    slot = U(half * ROOM - counts[FOUND])
    stop = max(stop, counts[FOUND])  # of a bad line, names may have been looked up already
    for i in range(U(counts[FOUND]), U(stop)):
        first, second = ring[U(FIRST) + slot + i], ring[U(SECOND) + slot + i]
        if second != WHOLE:
            column = column_at_home(table, first, second)
        else:
            column = np.int64(direct[first]) if first < U(len(direct)) else np.int64(-1)
        piece.indices[i] = column
        if column < 0:
            ask(table, home(first, table) + names.LINE)
            ring[missed] = i
            missed += U(1)
    _look_again(text, piece, counts, table, slot, missed)
    counts[FOUND] = stop


@inner
def _look_again(text, piece, counts, table, slot, end):
    """Find the columns of the values that were missed, or list their names as unknown."""
    ring, unknown, n = piece.ring, piece.unknown, counts[UNKNOWN]
    for j in range(U(MISSED), end):
        i = ring[j]
        first, second = ring[U(FIRST) + slot + i], ring[U(SECOND) + slot + i]
        column = find(table, first, second)[1] if second != WHOLE else np.int64(-1)
        piece.indices[i] = column
        if column < 0:
            name, space = ring[U(NAME) + slot + i], ring[U(SPACE) + slot + i]
            unknown[n, 0], unknown[n, 1], unknown[n, 2] = _from(name), _to(name), i
            unknown[n, 3], unknown[n, 4] = _from(space), _to(space)
            piece.unknown_prints[n, 0], piece.unknown_prints[n, 1] = first, second
            counts[DOUBT] |= is_doubtful(text, _from(name), _to(name))
            n += 1
    counts[UNKNOWN] = n


@inner
def _from(span):
    return np.int64(np.int32(span & U(0xFFFFFFFF)))


@inner
def _to(span):
    return np.int64(np.int32(span >> U(32)))
