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

from unitless.numerics import flat, inner
from unitless.readers import sparse
from unitless.readers.blocks import FINITE, WEIGHT, Block, Options, Position
from unitless.readers.bytes import Source, Text
from unitless.readers.decimals import NO, YES, decimal, number_word, short_decimal
from unitless.readers.names import (
    WHOLE,
    Columns,
    column_of,
    home,
    prints,
    space_word,
    whole_number,
)
from unitless.readers.order import INFINITE, in_order
from unitless.readers.sparse import (
    AT,
    BAD,
    BREAK,
    FOUND,
    LATE,
    LINE,
    RING,
    ROW,
    UNKNOWN,
    VALUE,
    Int,
    Part,
    Piece,
)
from unitless.readers.words import ask, byte

BAR = np.uint8(124)
TEXT, NUMBER, NOTHING = 0, 1, 2
BATCH = RING // 2
"""Names are looked up so many at a time, as many behind: by then the memory has answered."""

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

    def __init__(self, names: Sequence[str]) -> None:
        self.columns = Columns(names)

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

    def finish(self, part: Part) -> None:
        piece, n = part.piece, part.counts[UNKNOWN]
        unknown, prints = piece.unknown[:n], piece.unknown_prints[:n]
        part.new_names = self.columns.add(part.text, unknown, prints, piece.indices)
        part.columns = self.columns.count

    def tidy(self, part: Part) -> None:
        piece, rows = part.piece, int(part.counts[ROW])
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
    _look_up(piece, counts, table, direct, counts[VALUE])
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
    space, weight, nameless, char = np.uint64(0), 1.0, 0, np.int64(124)
    space_from, space_to = at, at
    while char != 10:
        opens = char == 124
        end, b = np.int64(breaks[b]), b + 1
        char = byte(text, end)
        if opens:
            space, space_from, space_to = space_word(text, at, end, table), at, end
            weight, nameless = 1.0, 0
            if char == 58:
                begin, end, b = end + 1, np.int64(breaks[b]), b + 1
                char = byte(text, end)
                kind, weight = decimal(text, begin, end)
                if kind != YES or space_from == space_to or char == 58:
                    sparse.refuse(counts, at - 1)
        elif end > at or char == 58:
            name_to, value = end, weight
            if char == 58:
                begin, end, b = end + 1, np.int64(breaks[b]), b + 1
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
            nameless += at == name_to
            start, stop = (at, name_to) if at < name_to else (-nameless, -nameless)
            _ask(text, start, stop, space, piece, k, table, direct)
            j = k & (RING - 1)
            piece.places[j, 0], piece.places[j, 1] = start, stop
            piece.places[j, 2], piece.places[j, 3] = space_from, space_to
            k += 1
            if k - counts[FOUND] == 2 * BATCH:
                _look_up(piece, counts, table, direct, k - BATCH)
        if char < 32 and char != 10:
            sparse.refuse_control(text, end, counts)
        at = end + 1
    counts[VALUE] = k
    return at, b


@inner
def _form(text, start, stop):
    """What follows a colon, if it is no short number: a longer NUMBER, a TEXT, NOTHING."""
    if start == stop:
        return NOTHING
    first = byte(text, start)
    start += first == 43 or first == 45
    if number_word(text, start, stop) != NO:
        return NUMBER
    start += byte(text, start) == 46
    return NUMBER if start < stop and 48 <= byte(text, start) <= 57 else TEXT


@inner
def _ask(text, start, stop, space, piece, k, table, direct):
    """Keep the fingerprint of a name, and ask the memory for where its column will stand."""
    number = whole_number(text, start, stop) if space == np.uint64(0) else np.int64(-1)
    first, second = np.uint64(number), WHOLE
    if number < 0:
        first, second = prints(text, start, stop, space, table)
        ask(table, home(first, table))
    else:
        ask(direct, number)  # beyond the end it asks for what is not there, and gets nothing
    j = k & (RING - 1)
    piece.prints[j, 0], piece.prints[j, 1] = first, second


@flat
def _look_up(piece, counts, table, direct, k):
    """Find the columns of the values before k whose names wait in `prints`, all in one go."""
    unknown, unknown_prints, n = piece.unknown, piece.unknown_prints, counts[UNKNOWN]
    while n > 0 and unknown[n - 1, 2] >= k:  # names of a bad line
        n -= 1
    for i in range(counts[FOUND], k):
        j = i & (RING - 1)
        first, second = piece.prints[j, 0], piece.prints[j, 1]
        if second != WHOLE:
            column = column_of(table, first, second)
        else:
            column = np.int64(direct[first]) if first < np.uint64(len(direct)) else np.int64(-1)
        piece.indices[i] = column
        if column < 0:
            unknown[n, 0], unknown[n, 1], unknown[n, 2] = piece.places[j, 0], piece.places[j, 1], i
            unknown[n, 3], unknown[n, 4] = piece.places[j, 2], piece.places[j, 3]
            unknown_prints[n, 0], unknown_prints[n, 1] = first, second
            n += 1
    counts[FOUND], counts[UNKNOWN] = k, n
