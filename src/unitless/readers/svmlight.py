"""svmlight (libsvm) text: `label index:value index:value ... # comment`, a row a line.

The index is the column: index 7 is column 7, whether a file counts from 0 or from 1 (a stream
cannot know; column 0 then stays empty and costs nothing). Indices rise within a row, as the
format asks. `qid:` is left out; several labels (`1,2 3:4`) are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unitless.lanes import LANES, bits, store
from unitless.numerics import flat, inner
from unitless.readers import eights, sparse
from unitless.readers.blocks import Block, Options, Position
from unitless.readers.bytes import Source, Text
from unitless.readers.decimals import integer, short_decimal
from unitless.readers.sparse import AT, BAD, BREAK, LATE, LINE, ROW, VALUE, Int, Part, Piece
from unitless.readers.words import byte, load8

U = np.uint64
HASH = np.uint8(35)
LARGEST = 2**31 - 2
_QID, _THREE = np.uint64(0x646971), np.uint64(0xFFFFFF)


def blocks(source: Source, options: Options, start: Position) -> Iterator[Block]:
    """The rows of a file from a position on.

    >>> import io
    >>> source = Source(io.BytesIO(b"+1 3:0.5 7:2 # first\\n-1 1:4\\n"))
    >>> for block in blocks(source, Options(), {}):
    ...     print(block.rows.targets, block.rows.indices, block.rows.values, block.rows.columns)
    [ 1. -1.] [3 7 1] [0.5 2.  4. ] 8
    """
    return sparse.blocks(source, options, start, Svmlight(start.get("columns", 0)))


class Svmlight:
    """The format, with the number of columns so far."""

    name = "svmlight"
    extra = HASH

    def __init__(self, columns: int) -> None:
        self.columns = columns

    def parse(self, text: Text, stop: int, piece: Piece, counts: Int) -> None:
        _parse(text, stop, piece, counts)

    def why(self, token: str, before: str, behind: str) -> str:
        if not before.strip() and "," in token:
            return "a row has one label (files of several labels are not supported)"
        if not before.strip():
            return "a row begins with its label, a number"
        index, colon, value = token.partition(":")
        if not colon or ":" in value:
            return "index:value was expected"
        if not (index.isascii() and index.isdigit()):
            return "an index is a whole number"
        if int(index) > LARGEST:
            return f"an index is at most {LARGEST}"
        return "the indices of a row rise and do not repeat"

    def alone(self, part: Part) -> bool:
        return False

    def finish(self, part: Part) -> None:
        used = part.piece.indices[: part.counts[VALUE]]
        self.columns = max(self.columns, int(used.max(initial=-1)) + 1)
        part.columns = self.columns

    def tidy(self, part: Part) -> None:
        """Rows are in order, or have been refused."""


@flat
def _parse(text, stop, piece, counts):
    at, b, row = counts[AT], counts[BREAK], counts[ROW]
    counts[BAD] = -1
    while at < stop and counts[BAD] < 0:
        late = counts[LATE]
        at, b, k, labelled = _row(text, at, b, row, piece, counts)
        if counts[BAD] >= 0:
            counts[LATE] = late
        elif labelled:
            piece.lines[row], piece.marks[2 * row + 1] = counts[LINE], 1.0
            row += 1
            piece.starts[row] = counts[VALUE] = k
        counts[LINE] += 1
    counts[AT], counts[BREAK], counts[ROW] = at, b, row


@inner
def _row(text, at, b, row, piece, counts):
    """One line, from break b on: (place and break behind it, values so far, is it a row)."""
    values, indices, breaks, k = piece.values, piece.indices, piece.breaks, counts[VALUE]
    previous, labelled, char = np.int64(-1), False, np.int64(0)
    while char != 10:
        end, b = np.int64(breaks[b]), b + 1
        char = byte(text, end)
        if char == 58:
            index, begin = integer(text, at, end), end + 1
            end, b = np.int64(breaks[b]), b + 1
            char = byte(text, end)
            found, value = short_decimal(text, begin, end)
            if previous < index <= LARGEST and labelled and char != 58:
                values[k], indices[k], previous = value, index, index
                if not found:
                    values[k] = 1.0
                    sparse.later(piece, counts, begin, end, k)
                k += 1
            elif not (labelled and _is_query(text, at, begin, end)):
                sparse.refuse(counts, at)
        elif end > at:
            if labelled:
                sparse.refuse(counts, at)
            found, piece.marks[2 * row] = short_decimal(text, at, end)
            if not found:
                piece.marks[2 * row] = 1.0
                sparse.later(piece, counts, at, end, -1 - 2 * row)
            labelled = True
        if char < 32 and char != 10:
            sparse.refuse_control(text, end, counts)
        while char == 35 or (
            counts[BAD] >= 0 and char != 10
        ):  # a comment; what follows a bad token
            end, b = np.int64(breaks[b]), b + 1
            char = 35 if byte(text, end) != 10 else np.int64(10)
        at = end + 1
        if char == 32 and labelled and counts[BAD] < 0:
            done = _eights(text, b, k, previous, values, indices, breaks)
            if done > 0:
                k, b, previous = k + done, b + 2 * done, np.int64(indices[k + done - 1])
                at = np.int64(breaks[b - 1]) + 1
                char = byte(text, at - 1)
    return at, b, k, labelled


@inner
def _eights(text, b, k, previous, values, indices, breaks):
    """Read `index:value ` from break b on, eight at a time; how many were as simple as that."""
    first, m, newline = k, np.int64(LANES), U(0)
    while m == LANES and newline == U(0):
        last = eights.load_chars(text, breaks, b + 1, 0)
        digits, number = eights.integers(text, breaks, b)
        good, value = eights.decimals(text, breaks, b)
        rising = bits(eights.moved_on(number + U(1), U(previous + 1)) < number + U(1))
        newline = bits(last == eights.NEWLINE)
        good &= digits & rising & (newline | bits(last == eights.SPACE))
        m = eights.how_many(good, newline)
        store(values, k, value)
        eights.store_words(indices, k, number)
        if m > 0:
            k, b, previous = k + m, b + 2 * m, np.int64(indices[k + m - 1])
    return k - first


@inner
def _is_query(text, at, begin, end):
    """Whether text[at:end] is `qid:` and a whole number; `begin` is behind the colon."""
    return begin - at == 4 and load8(text, at) & _THREE == _QID and integer(text, begin, end) >= 0
