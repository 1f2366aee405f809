"""svmlight (libsvm) text: `label index:value index:value ... # comment`, one row per line.

The index is the column: index 7 is column 7, whether a file counts from 0 or from 1 (which
a stream cannot know; if it counts from 1, column 0 stays empty and costs nothing). Indices must
increase within a row, as the format requires. `qid:` is ignored; rows with several labels
(`1,2 3:4`) are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from unitless.kernels.decorators import inlined, kernel
from unitless.readers import sparse_text
from unitless.readers.blocks import Block, Options, Position
from unitless.readers.numbers import is_digit
from unitless.readers.source import Source
from unitless.readers.sparse_text import (
    ASKED,
    AT,
    CONTROL,
    DONE,
    LINE,
    NOT_FINITE,
    NOT_NUMBER,
    OWN,
    PLACE,
    ROW,
    Arrays,
    finish_line,
    number_at,
    skip_line,
)

LARGEST_INDEX = 2**31 - 2
LONGEST_INDEX = 18
"""Digits of an index, leading zeros included."""

NO_LABEL, MANY_LABELS, NO_PAIR, NO_INDEX, TOO_LARGE, NOT_RISING = range(OWN, OWN + 6)


def blocks(source: Source, options: Options, start: Position) -> Iterator[Block]:
    """The rows of a file from a position on.

    >>> import io
    >>> source = Source(io.BytesIO(b"+1 3:0.5 7:2 # first\\n-1 1:4\\n"))
    >>> for block in blocks(source, Options(), {}):
    ...     print(block.rows.targets, block.rows.indices, block.rows.values, block.rows.columns)
    [ 1. -1.] [3 7 1] [0.5 2.  4. ] 8
    """
    return sparse_text.blocks(source, options, start, Svmlight(start.get("columns", 0)))


class Svmlight:
    """The format, with the number of columns so far."""

    columns_are_named: ClassVar[bool] = False
    reasons: ClassVar[dict[int, str]] = {
        NO_LABEL: "a row begins with its label, a number",
        MANY_LABELS: "a row has one label (files of several labels are not supported)",
        NO_PAIR: "index:value was expected",
        NO_INDEX: "an index is a whole number",
        TOO_LARGE: f"an index is at most {LARGEST_INDEX}",
        NOT_RISING: "the indices of a row rise and do not repeat",
    }

    def __init__(self, columns: int) -> None:
        self.columns = columns

    def parse(self, text: Any, state: Any, hard: Any, arrays: Any) -> int:
        return int(_parse(text, state, hard, arrays))

    def finish(self, data: bytes, arrays: Arrays, rows: int) -> tuple[int, list[str], list[int]]:
        values = int(arrays.starts[rows])
        self.columns = max(self.columns, int(arrays.indices[:values].max(initial=-1)) + 1)
        return values, [], []


@kernel
def _parse(text, state, hard, arrays):
    """Read rows until the end of the text or a line that cannot be finished; see `sparse_text`."""
    while state[AT] < len(text):
        state[ASKED] = 0
        status, filled, after = _read_line(text, state, hard, arrays)
        status = finish_line(text, state, arrays[2], status, filled, after)
        if status != DONE:
            return status
    return DONE


@inlined
def _read_line(text, state, hard, arrays):
    """Read one line: (status, values so far or -1 for no row, the place after the line)."""
    values, indices, starts, marks, spans = arrays[:5]
    row = state[ROW]
    filled = starts[row]
    previous = -1
    at = _skip_blanks(text, state[AT])
    if _ends_line(text, at):
        return DONE, -1, skip_line(text, at)
    status, label, after = number_at(text, at, state, hard)
    if status != DONE or not _ends_field(text, after):
        state[PLACE] = at
        return _bad_label(text, at, after, status), filled, after
    marks[row, 0] = label
    marks[row, 1] = 1.0
    spans[row, 0] = state[LINE]
    spans[row, 1] = 0
    spans[row, 2] = 0
    at = _skip_blanks(text, after)
    while not _ends_line(text, at):
        state[PLACE] = at
        index = 0
        colon = at
        while is_digit(text[colon]):
            index = index * 10 + (text[colon] - 48)
            colon += 1
        if text[colon] != 58 or colon == at or colon - at > LONGEST_INDEX or index <= previous:
            after = _query(text, at)
            if after < 0:
                return _bad_index(text, at, colon), filled, after
            at = _skip_blanks(text, after)
            continue
        if index > LARGEST_INDEX:
            return TOO_LARGE, filled, colon
        status, value, after = number_at(text, colon + 1, state, hard)
        if status != DONE or not _ends_field(text, after):
            if text[after] == 58:
                return NO_PAIR, filled, after
            control = status == DONE and text[after] < 32
            state[PLACE] = after if control else colon + 1
            if status == DONE:
                status = CONTROL if control else NOT_NUMBER
            return status, filled, after
        values[filled] = value
        indices[filled] = index
        filled += 1
        previous = index
        at = _skip_blanks(text, after)
    return DONE, filled, skip_line(text, at)


@inlined
def _skip_blanks(text, at):
    while text[at] == 32 or text[at] == 9:
        at += 1
    return at


@inlined
def _ends_line(text, at):
    """Whether the line ends here, or a comment begins."""
    char = text[at]
    return char == 10 or char == 35 or (char == 13 and text[at + 1] == 10)


@inlined
def _ends_field(text, at):
    return text[at] == 32 or text[at] == 9 or _ends_line(text, at)


@inlined
def _query(text, at):
    """The place after `qid:` and a whole number; -1 if that is not there."""
    if text[at] != 113 or text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
        return -1
    first = at + 4
    at = first
    while is_digit(text[at]):
        at += 1
    whole = 1 <= at - first <= LONGEST_INDEX
    return at if whole and _ends_field(text, at) else -1


@inlined
def _bad_label(text, at, after, status):
    if status == NOT_FINITE and _ends_field(text, after):
        return NOT_FINITE
    while text[at] > 32 and text[at] != 44:
        at += 1
    return MANY_LABELS if text[at] == 44 else NO_LABEL


@inlined
def _bad_index(text, at, after):
    """Why the token is not an index and a value, or is misplaced; its digits end at `after`."""
    if text[at] < 32:
        return CONTROL
    colons = 0
    whole = after > at and text[after] == 58
    end = at
    while text[end] > 32 and text[end] != 35:
        colons += text[end] == 58
        end += 1
    if colons != 1:
        return NO_PAIR
    if not whole:
        return NO_INDEX
    return TOO_LARGE if after - at > LONGEST_INDEX else NOT_RISING
