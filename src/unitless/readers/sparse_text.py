"""What the readers of sparse text (svmlight, VW) share: chunks -> parsers -> blocks.

A parser, in compiled code, reads a chunk line by line into arrays. At a bad line it returns the
reason; `_read` notes the line and calls the parser again, which goes on with the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from unitless.readers.blocks import (
    Bad,
    FileBlock,
    Options,
    Position,
    Why,
    allowed,
    decoded,
    line_of,
)
from unitless.readers.source import Source
from unitless.rows import Rows

AT, LINE, ROW, PLACE = range(4)
"""State of a parser: its place in the text, lines and rows read, the place of a bad token
(-1: the line as a whole)."""

OK, NOT_NUMBER, NOT_FINITE, NOT_WEIGHT, OWN = range(5)
"""A parser returns OK at the end of the text, and otherwise the reason why a line is bad, from OWN
on a reason of the format. The same codes are in numbers.pxd and sparse_text.pxd."""

REASONS = {NOT_NUMBER: Why.NUMBER, NOT_FINITE: Why.FINITE, NOT_WEIGHT: Why.WEIGHT}
CONTROL = "control characters are not allowed"


class Arrays(NamedTuple):
    """The arrays that a parser fills.

    ======= ===========================================================================
    values  of all rows, one row after another
    indices their columns
    starts  row i owns values[starts[i] : starts[i + 1]]
    marks   label and importance of each row
    spans   of each row: its line; where its tag starts, ends
    ======= ===========================================================================
    """

    values: NDArray[np.float64]
    indices: NDArray[np.int32]
    starts: NDArray[np.int64]
    marks: NDArray[np.float64]
    spans: NDArray[np.int64]


class SparseFormat(NamedTuple):
    """A format: its parser, and what to do with its columns."""

    parse: Callable[..., int]
    """(text, state, arrays) -> status; reads from state[AT] on."""
    columns: Callable[[bytes, NDArray[np.int32]], tuple[int, list[str]]]
    """(text, columns of its values) -> the number of columns so far, and the names of new ones."""
    reasons: Mapping[int, str]
    """Why a line is bad, from `OWN` on."""
    named: bool
    """Whether columns have names instead of numbers."""


def blocks(
    source: Source, options: Options, place: Position, parser: SparseFormat
) -> Iterator[FileBlock]:
    """The rows of the file from a position on."""
    for text, offset in source.chunks(options.block_bytes):
        line = place.line + 1
        data, bad = _decodable(text, line) if parser.named else (text, [])
        arrays = _room(len(data) // 2 + 1)
        state = np.array([0, line, 0, 0])
        bad += _read(data, parser, state, arrays, options.skip_bad)
        count = int(state[ROW])
        filled = arrays.starts[count]
        indices = arrays.indices[:filled]
        columns, new_names = parser.columns(data, indices)
        labels, weights = arrays.marks[:count].T.copy()
        rows = Rows(
            arrays.values[:filled],
            indices,
            arrays.starts[: count + 1],
            columns,
            labels,
            weights if (weights != 1).any() else None,
        )
        end = msgspec.structs.replace(
            place,
            offset=offset,
            line=int(state[LINE]) - 1,
            rows=place.rows + count,
            skipped=allowed(bad, place.skipped, options.skip_bad, source.name),
            features=columns,
        )
        yield FileBlock(
            frame=None,
            rows=rows,
            lines=arrays.spans[:count, 0].copy(),
            start=place,
            position=end,
            targets=labels,
            weights=rows.weights,
            new_names=new_names,
            bad=sorted(bad, key=line_of),
            tags=_tags(data, arrays.spans[:count, 1:]),
            done=source.done(),
        )
        place = end


def _tags(data: bytes, spans: NDArray[np.int64]) -> list[str] | None:
    if (spans[:, 0] == spans[:, 1]).all():
        return None
    return [decoded(data[start:stop]) for start, stop in spans.tolist()]


def _decodable(data: bytes, first: int) -> tuple[bytes, list[Bad]]:
    """The text with empty lines instead of those that are not UTF-8, and a list of these."""
    if data.isascii():
        return data, []
    lines = data.split(b"\n")
    bad = []
    for k, line in enumerate(lines):
        try:
            line.decode()
        except UnicodeDecodeError:
            bad.append(Bad(first + k, None, decoded(line), Why.UTF8))
            lines[k] = b""
    return b"\n".join(lines), bad


def _room(size: int) -> Arrays:
    """Arrays for a text of twice that many bytes: a value and a blank have two."""
    return Arrays(
        np.empty(size),
        np.empty(size, dtype=np.int32),
        np.zeros(size + 1, dtype=np.int64),
        np.empty((size, 2)),
        np.empty((size, 3), dtype=np.int64),
    )


def _read(
    data: bytes, parser: SparseFormat, state: NDArray[np.int64], arrays: Arrays, most: int
) -> list[Bad]:
    """Parse a chunk into the arrays; returns bad lines, and stops at too many."""
    text = np.frombuffer(data, dtype=np.uint8)
    bad: list[Bad] = []
    while len(bad) <= most:
        status = parser.parse(text, state, arrays)
        if status == OK:
            break
        why = REASONS.get(status) or parser.reasons[status]
        bad.append(_bad(data, int(state[PLACE]), int(state[LINE]) - 1, why))
    return bad


def _bad(data: bytes, place: int, line: int, why: str) -> Bad:
    """The bad line, with the token at a place."""
    if place < 0:
        return Bad(line, None, None, why)
    if data[place] < 32 and data[place] != 10:
        why = CONTROL
    begin = data.rfind(b"\n", 0, place) + 1
    stop = place + (data[place] not in b"\n ")
    while data[stop] > 32:
        stop += 1
    column = len(decoded(data[begin:place])) + 1
    return Bad(line, column, decoded(data[place:stop]), why)
