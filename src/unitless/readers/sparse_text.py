"""What the readers of sparse text (svmlight, VW) share: chunks -> kernels -> blocks.

A kernel parses a chunk line by line into arrays. It stops at a line that it cannot finish: a bad
line, or one with a number that Python has to compute (a hard number, see `numbers`). `_read` notes
the bad line or computes the numbers and calls the kernel again, which overwrites what the
unfinished line has written. Names get their columns afterwards, in the order of the file, while
another thread parses the next chunk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined
from unitless.readers.blocks import (
    FINITE,
    NOT_UTF8,
    NUMBER,
    WEIGHT,
    Bad,
    Block,
    Options,
    Position,
    allowed,
    decoded,
)
from unitless.readers.numbers import HARD, INFINITE, NO, read_number
from unitless.readers.prefetch import prefetch
from unitless.readers.source import Source
from unitless.rows import Rows

AT, LINE, ROW, PLACE, ASKED, ANSWERED = range(6)
"""State of a kernel: its place in the text, lines and rows read, the place of a bad token, how many
hard numbers the line has, and how many of them Python has computed."""

DONE, ASK, NOT_NUMBER, NOT_FINITE, NOT_WEIGHT, CONTROL, OWN = range(7)
"""Where a kernel returns: at the end of the text; at a line with hard numbers; at a bad line, for
one of these reasons or, from `OWN` on, for a reason of the format."""

REASONS = {
    NOT_NUMBER: NUMBER,
    NOT_FINITE: FINITE,
    NOT_WEIGHT: WEIGHT,
    CONTROL: "control characters are not allowed",
}

SUM = "the values of a name that comes more than once add up to no finite number"

HARD_NUMBERS = 64
"""Hard numbers of a line for which there is space at first."""


class Arrays(NamedTuple):
    """The arrays that a kernel fills; it takes them as a plain tuple.

    ======= ===========================================================================
    values  of all rows, one row after another
    indices their columns
    starts  row i owns values[starts[i] : starts[i + 1]]
    marks   label and importance of each row
    spans   of each row: its line, counted from 0 in the chunk; where its tag starts, ends
    prints  VW text: the fingerprint of each value's name
    tokens  VW text: where namespace and name start and end, the number if it has no name
    ======= ===========================================================================
    """

    values: NDArray[np.float64]
    indices: NDArray[np.int32]
    starts: NDArray[np.int64]
    marks: NDArray[np.float64]
    spans: NDArray[np.int64]
    prints: NDArray[np.uint64]
    tokens: NDArray[np.int32]


class Parsed(NamedTuple):
    """A parsed chunk: its text, the arrays, the number of lines and rows, and bad lines."""

    data: bytes
    end: int
    done: float | None
    arrays: Arrays
    lines: int
    rows: int
    bad: list[Bad]


class Parser(Protocol):
    """The parser of one format."""

    columns_are_named: ClassVar[bool]
    """Whether columns have names instead of numbers."""
    reasons: ClassVar[dict[int, str]]
    """Why a line is bad, from `OWN` on."""

    @property
    def columns(self) -> int:
        """Columns so far."""

    def parse(self, text: Any, state: Any, hard: Any, arrays: Any) -> int:
        """Run the kernel from state[AT] on; returns its status."""

    def finish(self, data: bytes, arrays: Arrays, rows: int) -> tuple[int, list[str], list[int]]:
        """Assign the columns of a chunk: (values, new names, rows that cannot be used)."""


@inlined
def number_at(text, at, state, hard):
    """Read a number: (status, value, the place after it).

    A hard number is listed in `hard` for Python, or taken from there once Python has computed it.
    """
    kind, value, after = read_number(text, at)
    if kind == NO:
        return NOT_NUMBER, value, after
    if kind == INFINITE:
        return NOT_FINITE, value, after
    if kind == HARD:
        k = state[ASKED]
        state[ASKED] = k + 1
        if k < state[ANSWERED]:
            value = hard[k, 2]
        elif k < len(hard):
            hard[k, 0] = at
            hard[k, 1] = after
    return DONE, value, after


@inlined
def skip_line(text, at):
    """The place after the line."""
    while text[at] != 10:
        at += 1
    return at + 1


@inlined
def finish_line(text, state, starts, status, filled, after):
    """Move to the next line, unless Python has to compute numbers of this one; the status.

    `filled` is the number of values after the row, or -1 if the line holds no row.
    """
    if status == DONE and state[ASKED] > state[ANSWERED]:
        return ASK
    state[ANSWERED] = 0
    state[AT] = after if status == DONE else skip_line(text, state[AT])
    state[LINE] += 1
    if status == DONE and filled >= 0:
        state[ROW] += 1
        starts[state[ROW]] = filled
    return status


def blocks(source: Source, options: Options, start: Position, parser: Parser) -> Iterator[Block]:
    """The rows of the file from a position on."""
    place = {"offset": 0, "line": 0, "rows": 0, "skipped": 0, **start}
    chunks: Iterator[Parsed] = _parsed(source, options, parser)
    if options.read_ahead and source.pipe is None:
        chunks = prefetch(_parsed(source, options, parser))
    for chunk in chunks:
        begin = place
        values, new_names, unusable = parser.finish(chunk.data, chunk.arrays, chunk.rows)
        refused = [Bad(int(chunk.arrays.spans[row, 0]), None, None, SUM) for row in unusable]
        bad = [one._replace(line=one.line + begin["line"] + 1) for one in (*chunk.bad, *refused)]
        kept = np.ones(chunk.rows, dtype=bool)
        kept[unusable] = False
        place = {
            **begin,
            "offset": chunk.end,
            "line": begin["line"] + chunk.lines,
            "rows": begin["rows"] + chunk.rows - len(unusable),
            "skipped": allowed(bad, begin["skipped"], options.skip_bad, source.name),
            "columns": parser.columns,
        }
        yield _block(chunk, values, kept, new_names, begin, place)


def _parsed(source: Source, options: Options, parser: Parser) -> Generator[Parsed, None, None]:
    """The chunks of the file; the arrays of a chunk are used again four chunks later."""
    rooms = deque([_room(0, 0, parser.columns_are_named)] * 4)
    for chunk in source.chunks(options.block_bytes):
        data, bad = chunk.data, list[Bad]()
        if parser.columns_are_named:
            data, bad = _decodable(data)
        rooms.rotate()
        rooms[0] = _large_enough(rooms[0], data, parser.columns_are_named)
        lines, rows, more = _read(data, parser, rooms[0], options.skip_bad)
        yield Parsed(data, chunk.end, source.done(), rooms[0], lines, rows, [*bad, *more])


def _decodable(data: bytes) -> tuple[bytes, list[Bad]]:
    """The text with empty lines instead of those that are not UTF-8, and a list of these."""
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
            bad.append(Bad(number, None, decoded(line), NOT_UTF8))
            lines[number] = b""
    return b"\n".join(lines), bad


def _room(values: int, rows: int, named: bool) -> Arrays:
    names = values if named else 0
    return Arrays(
        np.empty(values),
        np.empty(values, dtype=np.int32),
        np.zeros(rows + 1, dtype=np.int64),
        np.empty((rows, 2)),
        np.empty((rows, 3), dtype=np.int64),
        np.empty((names, 2), dtype=np.uint64),
        np.empty((names, 5), dtype=np.int32),
    )


def _large_enough(room: Arrays, data: bytes, named: bool) -> Arrays:
    """Arrays for the chunk: the old ones if they suffice, because new memory is slow."""
    values = len(data) // 2 + 1  # a token and a blank have two bytes
    rows = int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == 10))
    if len(room.values) < values or len(room.spans) < rows:
        return _room(values + values // 4, rows + rows // 4, named)
    return room


def _read(data: bytes, parser: Parser, room: Arrays, most: int) -> tuple[int, int, list[Bad]]:
    """Parse a chunk into the arrays: (lines, rows, bad lines); stops at too many bad lines."""
    text = np.frombuffer(data, dtype=np.uint8)
    state = np.zeros(6, dtype=np.int64)
    hard = np.empty((HARD_NUMBERS, 3))
    bad: list[Bad] = []
    while len(bad) <= most:
        status = parser.parse(text, state, hard, tuple(room))
        if status == DONE:
            break
        if status == ASK:
            hard = _answered(data, state, hard)
        else:
            why = REASONS.get(status) or parser.reasons[status]
            bad.append(_bad(data, int(state[PLACE]), int(state[LINE]) - 1, why))
    return int(state[LINE]), int(state[ROW]), bad


def _answered(data: bytes, state: NDArray[np.int64], hard: NDArray[np.float64]) -> Any:
    """Compute the hard numbers of a line; returns a larger array if they do not fit."""
    asked = int(state[ASKED])
    if asked > len(hard):
        state[ANSWERED] = 0
        return np.empty((2 * asked, 3))
    for k in range(asked):
        hard[k, 2] = float(data[int(hard[k, 0]) : int(hard[k, 1])])
    state[ANSWERED] = asked
    return hard


def _bad(data: bytes, place: int, line: int, why: str) -> Bad:
    """The bad line, with the token at a place."""
    begin = data.rfind(b"\n", 0, place) + 1
    stop = place + (data[place] not in b"\n ")
    while data[stop] > 32:
        stop += 1
    column = len(decoded(data[begin:place])) + 1
    return Bad(line, column, decoded(data[place:stop]), why)


def _block(
    chunk: Parsed,
    values: int,
    kept: NDArray[np.bool_],
    new_names: list[str],
    begin: Position,
    end: Position,
) -> Block:
    """The rows that are kept, as copies: a later chunk overwrites the arrays.

    The other rows have no values.
    """
    arrays = chunk.arrays
    labels, weights = arrays.marks[: chunk.rows][kept].T.copy()
    lines, tag_from, tag_to = arrays.spans[: chunk.rows][kept].T
    rows = Rows(
        arrays.values[:values].copy(),
        arrays.indices[:values].copy(),
        arrays.starts[: chunk.rows + 1][np.concatenate([[True], kept])],
        end["columns"],
        labels,
        weights if (weights != 1).any() else None,
    )
    tags = None
    if (tag_from < tag_to).any():
        pairs = zip(tag_from.tolist(), tag_to.tolist(), strict=True)
        tags = [decoded(chunk.data[start:stop]) for start, stop in pairs]
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
        done=chunk.done,
    )
