"""What the readers of sparse text (svmlight, VW) share: chunks -> kernels -> blocks.

A kernel parses a chunk line by line into arrays. It returns at a line that it cannot finish: a bad
line, or one with numbers that Python has to compute (see `numbers`). `_read` notes the bad line or
computes the numbers and calls the kernel again, which overwrites what the unfinished line wrote.
Names get their columns afterwards, while another thread parses the next chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined
from unitless.readers.blocks import (
    FINITE,
    NOT_UTF8,
    NUMBER,
    WEIGHT,
    Bad,
    FileBlock,
    Options,
    Position,
    allowed,
    decoded,
)
from unitless.readers.numbers import HARD, NOT_FINITE, NOT_NUMBER, OK, read_number
from unitless.readers.prefetch import prefetch
from unitless.readers.source import Source
from unitless.rows import Rows

AT, LINE, ROW, PLACE, ASKED, ANSWERED = range(6)
"""State of a kernel: its place in the text, lines and rows read, the place of a bad token, how many
hard numbers the line has, and how many of them Python has computed."""

NOT_WEIGHT, OWN = HARD + 1, HARD + 2
"""A kernel returns OK at the end of the text, HARD at a line with hard numbers, and otherwise the
reason why a line is bad, from OWN on a reason of the format."""

REASONS = {NOT_NUMBER: NUMBER, NOT_FINITE: FINITE, NOT_WEIGHT: WEIGHT}
SUM = "the values of a name that comes more than once add up to no finite number"
CONTROL = "control characters are not allowed"


class Arrays(NamedTuple):
    """The arrays that a kernel fills; it takes them as a plain tuple.

    ======= ===========================================================================
    values  of all rows, one row after another
    indices their columns
    starts  row i owns values[starts[i] : starts[i + 1]]
    marks   label and importance of each row
    spans   of each row: its line, counted from 0 in the chunk; where its tag starts, ends
    hard    of each hard number of a line: where it starts and ends, its value
    prints  VW text: the fingerprint of each value's name
    tokens  VW text: where namespace and name start and end, the number if it has no name
    ======= ===========================================================================
    """

    values: NDArray[np.float64]
    indices: NDArray[np.int32]
    starts: NDArray[np.int64]
    marks: NDArray[np.float64]
    spans: NDArray[np.int64]
    hard: NDArray[np.float64]
    prints: NDArray[np.uint64]
    tokens: NDArray[np.int32]


class SparseFormat(NamedTuple):
    """A format: its kernel, and what to do with its columns."""

    parse: Callable[..., int]
    """(text, state, arrays) -> status; runs the kernel from state[AT] on."""
    finish: Callable[[bytes, Arrays, int], tuple[int, list[str]]]
    """(text, arrays, rows) -> the number of columns so far, and the names that are new."""
    reasons: Mapping[int, str]
    """Why a line is bad, from `OWN` on."""
    named: bool
    """Whether columns have names instead of numbers."""


@inlined
def number_at(text, at, state, hard):
    """Read a number: (status, value, the place after it).

    A hard number is listed in `hard` for Python, or taken from there once Python has computed it.
    """
    status, value, after = read_number(text, at)
    if status != HARD:
        return status, value, after
    k = state[ASKED]
    state[ASKED] = k + 1
    hard[k, 0] = at
    hard[k, 1] = after
    if k < state[ANSWERED]:
        value = hard[k, 2]
    return (NOT_FINITE if np.isinf(value) else OK), value, after


@inlined
def skip_blanks(text, at):
    """The place after blanks, tabs and the carriage return of a line end."""
    while text[at] == 32 or text[at] == 9 or (text[at] == 13 and text[at + 1] == 10):
        at += 1
    return at


@inlined
def start_row(state, arrays, label):
    """Begin a row without tag, of importance 1."""
    row = state[ROW]
    marks, spans = arrays[3], arrays[4]
    marks[row, 0] = label
    marks[row, 1] = 1.0
    spans[row, 0] = state[LINE]
    spans[row, 1] = 0
    spans[row, 2] = 0


@inlined
def finish_line(text, at, state, starts, status, filled):
    """Move to the next line, unless Python has to compute numbers of this one; the status.

    `at` is a place in the line, `filled` the number of values after the row, or -1 for no row.
    """
    if status == OK and state[ASKED] > state[ANSWERED]:
        return HARD
    state[ASKED] = 0
    state[ANSWERED] = 0
    while text[at] != 10:
        at += 1
    state[AT] = at + 1
    state[LINE] += 1
    if status == OK and filled >= 0:
        state[ROW] += 1
        starts[state[ROW]] = filled
    return status


class Parsed(NamedTuple):
    """A parsed chunk: its text and place, the arrays, the number of lines and rows, bad lines."""

    data: bytes
    end: int
    done: float | None
    arrays: Arrays
    lines: int
    rows: int
    bad: list[Bad]


def blocks(
    source: Source, options: Options, start: Position, parser: SparseFormat
) -> Iterator[FileBlock]:
    """The rows of the file from a position on."""
    place = {"offset": 0, "line": 0, "rows": 0, "skipped": 0, **start}
    chunks: Iterator[Parsed] = _parsed(source, options, parser)
    if options.read_ahead and source.pipe is None:
        chunks = prefetch(_parsed(source, options, parser))
    for chunk in chunks:
        columns, new_names = parser.finish(chunk.data, chunk.arrays, chunk.rows)
        block = _block(chunk, columns, new_names)
        infinite = chunk.arrays.marks[: chunk.rows, 1] < 0
        sums = chunk.arrays.spans[: chunk.rows, 0][infinite].tolist()
        bad = [*chunk.bad, *(Bad(line, None, None, SUM) for line in sums)]
        bad = [one._replace(line=one.line + place["line"] + 1) for one in bad]
        end = {
            **place,
            "offset": chunk.end,
            "line": place["line"] + chunk.lines,
            "rows": place["rows"] + len(block),
            "skipped": allowed(bad, place["skipped"], options.skip_bad, source.name),
            "columns": columns,
        }
        yield replace(block, lines=block.lines + (place["line"] + 1), start=place, position=end)
        place = end


def _parsed(
    source: Source, options: Options, parser: SparseFormat
) -> Generator[Parsed, None, None]:
    """The chunks of the file."""
    for chunk in source.chunks(options.block_bytes):
        data = chunk.data
        bad: list[Bad] = []
        if parser.named:
            data, bad = _decodable(data)
        arrays = _room(len(data) // 2 + 1, parser.named)
        lines, rows, more = _read(data, parser, arrays, options.skip_bad)
        yield Parsed(data, chunk.end, source.done(), arrays, lines, rows, [*bad, *more])


def _block(chunk: Parsed, columns: int, new_names: list[str]) -> FileBlock:
    """The rows without infinite sums."""
    arrays = chunk.arrays
    kept = arrays.marks[: chunk.rows, 1] >= 0  # the other rows have no values
    values = arrays.starts[chunk.rows]
    labels, weights = arrays.marks[: chunk.rows][kept].T.copy()
    lines, tag_from, tag_to = arrays.spans[: chunk.rows][kept].T
    rows = Rows(
        arrays.values[:values],
        arrays.indices[:values],
        arrays.starts[: chunk.rows + 1][np.concatenate([[True], kept])],
        columns,
        labels,
        weights if (weights != 1).any() else None,
    )
    tags = None
    if (tag_from < tag_to).any():
        pairs = zip(tag_from.tolist(), tag_to.tolist(), strict=True)
        tags = [decoded(chunk.data[start:stop]) for start, stop in pairs]
    return FileBlock(
        None, rows, lines, {}, {}, rows.targets, rows.weights, new_names, tags, chunk.done
    )


def _decodable(data: bytes) -> tuple[bytes, list[Bad]]:
    """The text with empty lines instead of those that are not UTF-8, and a list of these."""
    if data.isascii():
        return data, []
    lines = data.split(b"\n")
    bad = []
    for number, line in enumerate(lines):
        try:
            line.decode()
        except UnicodeDecodeError:
            bad.append(Bad(number, None, decoded(line), NOT_UTF8))
            lines[number] = b""
    return b"\n".join(lines), bad


def _room(size: int, named: bool) -> Arrays:
    """Arrays for a text of twice that many bytes: a value and a blank have two."""
    names = size if named else 0
    return Arrays(
        np.empty(size),
        np.empty(size, dtype=np.int32),
        np.zeros(size + 1, dtype=np.int64),
        np.empty((size, 2)),
        np.empty((size, 3), dtype=np.int64),
        np.empty((size, 3)),
        np.empty((names, 2), dtype=np.uint64),
        np.empty((names, 5), dtype=np.int32),
    )


def _read(
    data: bytes, parser: SparseFormat, arrays: Arrays, most: int
) -> tuple[int, int, list[Bad]]:
    """Parse a chunk into the arrays: (lines, rows, bad lines); stops at too many bad lines."""
    text = np.frombuffer(data, dtype=np.uint8)
    state = np.zeros(6, dtype=np.int64)
    hard = arrays.hard
    bad: list[Bad] = []
    while len(bad) <= most:
        status = parser.parse(text, state, tuple(arrays))
        if status == OK:
            break
        if status == HARD:
            for k in range(state[ASKED]):
                begin, end = hard[k, :2].astype(int)
                hard[k, 2] = float(data[begin:end])
            state[ANSWERED] = state[ASKED]
            state[ASKED] = 0
        else:
            why = REASONS.get(status) or parser.reasons[status]
            line = int(state[LINE]) - 1
            bad.append(_bad(data, int(state[PLACE]), line, why))
    return int(state[LINE]), int(state[ROW]), bad


def _bad(data: bytes, place: int, line: int, why: str) -> Bad:
    """The bad line, with the token at a place."""
    if data[place] < 32 and data[place] != 10:
        why = CONTROL
    begin = data.rfind(b"\n", 0, place) + 1
    stop = place + (data[place] not in b"\n ")
    while data[stop] > 32:
        stop += 1
    column = len(decoded(data[begin:place])) + 1
    return Bad(line, column, decoded(data[place:stop]), why)
