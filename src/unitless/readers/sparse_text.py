"""What the readers of sparse text (svmlight, VW) share: chunks -> kernels -> blocks.

A kernel parses a chunk line by line into arrays. It stops at a line that it cannot finish: a bad
line, a number that Python has to compute, a vocabulary that is full. `read_chunk` does what is
needed and calls it again; what the unfinished line has written is overwritten.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined
from unitless.readers.blocks import (
    FINITE,
    NUMBER,
    WEIGHT,
    Bad,
    Block,
    Options,
    Position,
    allowed,
)
from unitless.readers.numbers import HARD, INFINITE, NO, read_number
from unitless.readers.source import Source
from unitless.rows import Rows

AT, LINE, ROW, PLACE, ASKED, ANSWERED = range(6)
"""A kernel's state: where it is, lines and rows read, the bad token, hard numbers of the line."""

DONE, ASK, GROW, NOT_NUMBER, NOT_FINITE, NOT_WEIGHT, CONTROL, OWN = range(8)
"""How a kernel ends: at the end; at hard numbers; at a full vocabulary; at a bad line, for one of
these reasons or, from `OWN` on, for a reason of the format."""

REASONS = {
    NOT_NUMBER: NUMBER,
    NOT_FINITE: FINITE,
    NOT_WEIGHT: WEIGHT,
    CONTROL: "control characters are not allowed",
}

HARD_NUMBERS = 64
"""Room for the hard numbers of a line, to begin with."""


class Arrays(NamedTuple):
    """What a kernel fills; it gets them as a plain tuple.

    ======= ===========================================================================
    values  of all rows, one row after another
    indices their columns
    starts  row i owns values[starts[i] : starts[i + 1]]
    marks   label and importance of each row
    spans   of each row: its line, counted from 0 in the chunk; where its tag starts, ends
    ======= ===========================================================================
    """

    values: NDArray[np.float64]
    indices: NDArray[np.int32]
    starts: NDArray[np.int64]
    marks: NDArray[np.float64]
    spans: NDArray[np.int64]


class Parser(Protocol):
    """A format."""

    columns_are_named: bool
    """Whether columns have names, which are text."""
    reasons: dict[int, str]
    """Why a line is bad, from `OWN` on."""
    columns: int
    """Columns so far."""

    def parse(self, text: Any, state: Any, hard: Any, arrays: Any) -> int:
        """Run the kernel from state[AT] on; how it ended."""

    def grow(self) -> None:
        """Make room in the vocabulary."""

    def finish(self, arrays: Arrays) -> list[str]:
        """Count the columns behind a chunk; the names that are new in it."""


@inlined
def ends_token(char):
    """Whether a byte stands behind a token: a blank, a newline or another control character."""
    return char <= 32


@inlined
def number_at(text, at, state, hard):
    """(status, value, the place behind) of a number; one that is hard is asked for."""
    kind, value, behind = read_number(text, at)
    if kind == NO:
        return NOT_NUMBER, value, behind
    if kind == INFINITE:
        return NOT_FINITE, value, behind
    if kind == HARD:
        k = state[ASKED]
        state[ASKED] = k + 1
        if k < state[ANSWERED]:
            value = hard[k, 2]
        elif k < len(hard):
            hard[k, 0] = at
            hard[k, 1] = behind
    return DONE, value, behind


@inlined
def skip_line(text, at):
    """The place behind the line."""
    while text[at] != 10:
        at += 1
    return at + 1


def blocks(source: Source, options: Options, start: Position, parser: Parser) -> Iterator[Block]:
    """The rows of the file from a position on."""
    place = {"offset": 0, "line": 0, "rows": 0, "skipped": 0, **start}
    room = _room(0, 0)
    for chunk in source.chunks(options.block_bytes):
        begin = place
        data, bad = _decodable(chunk.data) if parser.columns_are_named else (chunk.data, [])
        room = _large_enough(room, data)
        lines, rows, more = _read(data, parser, room, options.skip_bad)
        arrays = _copied(room, rows)
        new_names = parser.finish(arrays)
        bad = [one._replace(line=one.line + place["line"] + 1) for one in (*bad, *more)]
        place = {
            **place,
            "offset": chunk.end,
            "line": place["line"] + lines,
            "rows": place["rows"] + rows,
            "skipped": allowed(bad, place["skipped"], options.skip_bad, source.name),
            "columns": parser.columns,
        }
        yield _block(data, arrays, begin, place, new_names, source.done())


def _decodable(data: bytes) -> tuple[bytes, list[Bad]]:
    """The lines that are UTF-8, the others blanked out and listed."""
    try:
        data.decode()
        return data, []
    except UnicodeDecodeError:
        lines = data.split(b"\n")
    bad = []
    for number, line in enumerate(lines):
        try:
            line.decode()
        except UnicodeDecodeError:
            bad.append(Bad(number, None, shown_bytes(line), "its bytes are not UTF-8"))
            lines[number] = b""
    return b"\n".join(lines), bad


def shown_bytes(data: bytes) -> str:
    """Bytes as text, whatever they are."""
    return data.decode("utf-8", "backslashreplace")


def _room(values: int, rows: int) -> Arrays:
    return Arrays(
        np.empty(values),
        np.empty(values, dtype=np.int32),
        np.zeros(rows + 1, dtype=np.int64),
        np.empty((rows, 2)),
        np.empty((rows, 3), dtype=np.int64),
    )


def _large_enough(room: Arrays, data: bytes) -> Arrays:
    """Arrays for the chunk, the old ones if they are: memory that is new is slow."""
    values = len(data) // 2 + 1  # a token and a blank have two bytes
    rows = int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == 10))
    if len(room.values) < values or len(room.spans) < rows:
        return _room(values + values // 4, rows + rows // 4)
    return room


def _read(data: bytes, parser: Parser, room: Arrays, most: int) -> tuple[int, int, list[Bad]]:
    """Parse a chunk into the arrays: (lines, rows, bad lines); it ends early at too many."""
    text = np.frombuffer(data, dtype=np.uint8)
    state = np.zeros(6, dtype=np.int64)
    hard = np.empty((HARD_NUMBERS, 3))
    bad: list[Bad] = []
    while len(bad) <= most:
        status = parser.parse(text, state, hard, tuple(room))
        if status == DONE:
            break
        if status == GROW:
            parser.grow()
        elif status == ASK:
            hard = _answered(data, state, hard)
        else:
            why = REASONS.get(status) or parser.reasons[status]
            bad.append(_bad(data, int(state[PLACE]), int(state[LINE]) - 1, why))
    return int(state[LINE]), int(state[ROW]), bad


def _answered(data: bytes, state: NDArray[np.int64], hard: NDArray[np.float64]) -> Any:
    """The hard numbers of a line with their values; in a larger array if there are more."""
    asked = int(state[ASKED])
    if asked > len(hard):
        state[ANSWERED] = 0
        return np.empty((2 * asked, 3))
    for k in range(asked):
        hard[k, 2] = float(data[int(hard[k, 0]) : int(hard[k, 1])])
    state[ANSWERED] = asked
    return hard


def _bad(data: bytes, place: int, line: int, why: str) -> Bad:
    """The bad line, with the token at a place; -1 is the whole line."""
    if place < 0:
        return Bad(line, None, None, why)
    begin = data.rfind(b"\n", 0, place) + 1
    stop = place + (data[place] not in b"\n ")
    while data[stop] > 32:
        stop += 1
    column = len(shown_bytes(data[begin:place])) + 1
    return Bad(line, column, shown_bytes(data[place:stop]), why)


def _copied(room: Arrays, rows: int) -> Arrays:
    """The arrays of so many rows, apart from the room that the next chunk uses."""
    values = int(room.starts[rows])
    sizes = (values, values, rows + 1, rows, rows)
    return Arrays(*(array[:size].copy() for array, size in zip(room, sizes, strict=True)))


def _block(
    data: bytes,
    arrays: Arrays,
    begin: Position,
    end: Position,
    new_names: list[str],
    done: float | None,
) -> Block:
    labels, weights = arrays.marks.T.copy()
    lines, tag_from, tag_to = arrays.spans.T
    rows = Rows(
        arrays.values,
        arrays.indices,
        arrays.starts,
        end["columns"],
        labels,
        weights if (weights != 1).any() else None,
    )
    tags = None
    if (tag_from < tag_to).any():
        pairs = zip(tag_from.tolist(), tag_to.tolist(), strict=True)
        tags = [shown_bytes(data[start:stop]) for start, stop in pairs]
    return Block(
        frame=None,
        rows=rows,
        lines=lines + (begin["line"] + 1),
        start=begin,
        position=end,
        targets=rows.targets,
        weights=rows.weights,
        new_names=new_names,
        tags=tags,
        done=done,
    )
