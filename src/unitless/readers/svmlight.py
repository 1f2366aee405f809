"""svmlight (libsvm) text: `label index:value index:value ... # comment`, one row per line.

The index is the column: index 7 is column 7, whether a file counts from 0 or from 1 (which
a stream cannot know; if it counts from 1, column 0 stays empty and costs nothing). Indices must
increase within a row, as the format requires. `qid:` is ignored; rows with several labels
(`1,2 3:4`) are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined, kernel
from unitless.readers import sparse_text
from unitless.readers.blocks import FileBlock, Options, Position
from unitless.readers.numbers import NOT_FINITE, NOT_NUMBER, OK, is_digit, read_number
from unitless.readers.source import Source
from unitless.readers.sparse_text import AT, OWN, PLACE, ROW, finish_line, skip_blanks, start_row

LARGEST_INDEX = 2**31 - 2
LONGEST_INDEX = 18
"""Digits of an index, leading zeros included."""

NO_LABEL, NO_PAIR = range(OWN, OWN + 2)
REASONS = {
    NO_LABEL: "a row begins with its label, one number",
    NO_PAIR: f"index:value was expected, with whole indices that rise, at most {LARGEST_INDEX}",
}


def blocks(source: Source, options: Options, start: Position) -> Iterator[FileBlock]:
    """The rows of a file from a position on."""
    columns = start.get("columns", 0)

    def known(_: bytes, indices: NDArray[np.int32]) -> tuple[int, list[str]]:
        nonlocal columns
        columns = max(columns, int(indices.max(initial=-1)) + 1)
        return columns, []

    parser = sparse_text.SparseFormat(_parse, known, REASONS, named=False)
    return sparse_text.blocks(source, options, start, parser)


@kernel
def _parse(text, state, arrays):
    """Read rows until the end of the text or after a bad line."""
    while state[AT] < len(text):
        status, filled, at = _read_line(text, state, arrays)
        finish_line(text, at, state, arrays[2], status, filled)
        if status != OK:
            return status
    return OK


@inlined
def _read_line(text, state, arrays):
    """Read one line: (status, values so far or -1 for no row, a place in the line)."""
    values, indices, starts, _, _ = arrays
    filled = starts[state[ROW]]
    previous = -1
    at = skip_blanks(text, state[AT])
    if _ends_line(text, at):
        return OK, -1, at
    state[PLACE] = at
    status, label, after = read_number(text, at)
    if status != OK or not _ends_field(text, after):
        return (NOT_FINITE if status == NOT_FINITE else NO_LABEL), filled, at
    start_row(state, arrays, label)
    at = skip_blanks(text, after)
    while not _ends_line(text, at):
        state[PLACE] = at
        index = 0
        colon = at
        while is_digit(text[colon]):
            index = index * 10 + (text[colon] - 48)
            colon += 1
        is_index = text[colon] == 58 and at < colon <= at + LONGEST_INDEX
        if not is_index or not previous < index <= LARGEST_INDEX:
            after = _skip_query(text, at)
            if after == at:
                return NO_PAIR, filled, at
            at = skip_blanks(text, after)
            continue
        status, value, after = read_number(text, colon + 1)
        if text[after] == 58:
            return NO_PAIR, filled, at
        if status != OK or not _ends_field(text, after):
            state[PLACE] = colon + 1
            return max(status, NOT_NUMBER), filled, at
        values[filled] = value
        indices[filled] = index
        filled += 1
        previous = index
        at = skip_blanks(text, after)
    return OK, filled, at


@inlined
def _ends_line(text, at):
    """Whether the line ends here, or a comment begins."""
    return text[at] == 10 or text[at] == 35


@inlined
def _ends_field(text, at):
    return text[at] <= 32 or text[at] == 35


@inlined
def _skip_query(text, at):
    """The place after `qid:` and a whole number; the same place if that is not there."""
    if text[at] != 113 or text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
        return at
    end = at + 4
    while is_digit(text[end]):
        end += 1
    whole = 5 <= end - at <= 4 + LONGEST_INDEX
    return end if whole and _ends_field(text, end) else at
