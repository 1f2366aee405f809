"""What the readers of sparse text (svmlight, VW) share: chunks -> pieces -> kernels -> blocks.

Every core parses a chunk of the file with a kernel (kernels release the GIL). What it leaves over
is done here, in the order of the file: numbers of more than eight digits, bad lines, names that
are new, line numbers, positions.
"""

from __future__ import annotations

import math
import os
import re
import weakref
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from unitless.lanes import LANES
from unitless.numerics import inner, kernel
from unitless.readers.blocks import (
    FINITE,
    NUMBER,
    Bad,
    Block,
    Options,
    Position,
    ReadError,
    allowed,
)
from unitless.readers.bytes import PADDING, Chunk, Source, Text
from unitless.readers.decimals import NO, YES, decimal
from unitless.readers.order import SPARE
from unitless.readers.words import byte, find_breaks
from unitless.rows import Rows

Int = NDArray[np.int64]
Float = NDArray[np.float64]

AT, BREAK, ROW, VALUE, LATE, LINE, BAD, FOUND, MIDDLE, HALF, UNKNOWN, DOUBT = range(12)
"""A kernel's counts: its place, what it has written, lines it has read, the bad token; of VW, which
values' names are looked up and which wait in either half of the ring, unknown ones, doubts."""

BATCH = 64
"""Names are looked up so many at a time, as many behind: by then the memory has answered."""
ROOM = BATCH + LANES
"""Names in each half of the ring, at most."""
RING = 4 * 2 * ROOM + ROOM
"""Words of the ring: four fields of two halves, and a list of those to be looked up again."""

WORKERS = 4
"""Chunks that are parsed at the same time, at most; and no more than there are cores."""


class Piece(NamedTuple):
    """The arrays that a kernel fills.

    ======= ==========================================================================
    breaks  the places of all blanks, colons and the format's own character in the text
    values  of all rows, one row after another
    indices their columns; -1 for names that have none yet
    starts  row i owns values[starts[i] : starts[i + 1]]
    marks   label and importance of row i, at 2 i and 2 i + 1
    lines   line of each row, counted from the beginning of the piece
    late    (from, to, where): text[from:to] is a number to be read later, and multiplied
            into values[where], or marks[-1 - where] if where < 0; two a value at most
    tags    (from, to) of each row's tag (VW)
    unknown (from, to, where, space from, space to): the name of values[where], without a
            column; unknown_prints: its fingerprint (VW)
    ring    the last names, to be looked up: fields of two halves each (VW)
    ======= ==========================================================================
    """

    breaks: NDArray[np.int32]
    values: Float
    indices: NDArray[np.int32]
    starts: Int
    marks: Float
    lines: Int
    late: Int
    tags: Int
    unknown: NDArray[np.int32]
    unknown_prints: NDArray[np.uint64]
    ring: NDArray[np.uint64]


class Scratch:
    """Arrays that serve one part after another: memory that is new is slow."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}

    def room(self, name: str, size: int, width: int, dtype: type) -> NDArray[Any]:
        """An array of at least `size` rows, whatever is in it."""
        if len(self.arrays.get(name, ())) < size:
            size += size // 4  # the next part may be a little larger
            shape = (size,) if width == 1 else (size, width)
            self.arrays[name] = np.empty(shape, dtype=dtype)
        return self.arrays[name]


class Memory:
    """Arrays that are given away; when nobody has one any more, its memory serves the next.

    >>> memory = Memory()
    >>> numbers = memory.array(1000, np.float64)
    >>> del numbers
    >>> len(memory.free[np.float64]), len(memory.array(900, np.float64))
    (1, 900)
    """

    def __init__(self) -> None:
        self.free: defaultdict[type, deque[memoryview]] = defaultdict(deque)

    def array(self, size: int, dtype: type) -> NDArray[Any]:
        """An array of that size, whatever is in it."""
        needed, free = size * np.dtype(dtype).itemsize, self.free[dtype]
        try:
            memory = free.pop()
        except IndexError:
            memory = memoryview(b"")
        if len(memory) < needed:
            memory = np.empty(needed + needed // 8, dtype=np.uint8).data
        # Views of this array keep it alive: it does not own its memory, and has no array for base.
        made: NDArray[Any] = np.frombuffer(memory, dtype=dtype, count=size)
        weakref.finalize(made, free.append, memory).atexit = False
        return made


@dataclass
class Part:
    """A chunk on its way to a block."""

    chunk: Chunk
    done: float | None
    scratch: Scratch
    memory: Memory
    piece: Piece = field(init=False)
    counts: Int = field(init=False)
    bad: list[Bad] = field(default_factory=list)
    dropped: set[int] = field(default_factory=set)
    """Rows that were read but belong to bad lines."""
    new_names: Sequence[str] = ()
    columns: int = 0
    tidy: bool = False

    @property
    def text(self) -> Text:
        """The text that the chunk is a part of."""
        return self.chunk.text

    def refuse(self, row: int, why: str, text: str, column: int | None = None) -> None:
        """The row belongs to a bad line."""
        if row not in self.dropped:
            self.dropped.add(row)
            self.bad.append(Bad(int(self.piece.lines[row]), column, text, why))


class Format(Protocol):
    """What a format has to say."""

    name: str
    extra: np.uint8
    """The character that separates, beside blanks and colons."""

    def parse(self, text: Text, stop: int, piece: Piece, counts: Int) -> None:
        """Read rows until `stop` or a bad line: counts[BAD] is then its token, otherwise -1."""

    def why(self, token: str, before: str, behind: str) -> str:
        """Why a token is bad, which stands between these in its line."""

    def alone(self, part: Part) -> bool:
        """Whether no other part may be parsed while names of this one that are new get columns."""

    def finish(self, part: Part) -> None:
        """Name what is unknown and count the columns, in the order of the file."""

    def tidy(self, part: Part) -> None:
        """Bring rows into the order that `Rows` asks for; refuse rows that cannot be used."""


class Task:
    """Work on a part for whoever has time first: a thread of the pool, or the one that needs it."""

    def __init__(self, pool: ThreadPoolExecutor, work: Callable[[], Part]) -> None:
        self._work, self._future = work, pool.submit(work)

    def help(self) -> bool:
        """Do it here, unless somebody has begun it."""
        if not self._future.cancel():
            return False
        self._future = Future()
        self._future.set_result(self._work())
        return True

    @property
    def done(self) -> bool:
        """Whether nobody needs to wait for it."""
        return self._future.done()

    def result(self) -> Part:
        """The part."""
        self.help()
        return self._future.result()


def blocks(source: Source, options: Options, start: Position, form: Format) -> Iterator[Block]:
    """The rows of the file from a position on.

    There is a thread a core, this one among them: it parses, too, when it would have to wait.
    """
    place = {"offset": 0, "line": 0, "rows": 0, "skipped": 0, **start}
    threads = min(os.cpu_count() or 1, WORKERS)
    parsed, tidied = deque[Task](), deque[Task | Part]()
    spare, memory = list[Scratch](), Memory()
    with ThreadPoolExecutor(max(1, threads - 1)) as pool:
        for chunk, error in _and_error(source.chunks(options.block_bytes, keep=threads + 3)):
            if chunk is not None:
                scratch = spare.pop() if spare else Scratch()
                part = Part(chunk, source.done(), scratch, memory)
                parsed.append(Task(pool, partial(_parsed, part, form, options)))
            waiting = 0 if chunk is None or source.pauses else threads + 1
            while len(parsed) > waiting or (tidied and not waiting):
                if parsed:
                    part = _named(parsed, form)
                    tidied.append(part if part.tidy else Task(pool, partial(_tidied, part, form)))
                if parsed and len(tidied) == 1 and not part.tidy:
                    continue  # it is put in order while the next one is named
                done = tidied.popleft()
                part = done if isinstance(done, Part) else done.result()
                place, begin = _behind(part, place, source, options), place
                block = _block(part, begin, place)
                spare.append(part.scratch)
                yield block
            if error is not None:
                raise error


def _and_error(chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk | None, ReadError | None]]:
    """The chunks, then None, with the error that has ended them: what was read before comes first.

    >>> list(_and_error(iter(())))
    [(None, None)]
    """
    try:
        for chunk in chunks:
            yield chunk, None
    except ReadError as error:
        yield None, error
    else:
        yield None, None


def _parsed(part: Part, form: Format, options: Options) -> Part:
    """The part, as far as it goes while others are parsed at the same time."""
    _parse(part, form, options)
    return part if part.counts[UNKNOWN] else _tidied(part, form)


def _named(parsed: deque[Task], form: Format) -> Part:
    """The next part, with columns for names that are new."""
    while not parsed[0].done and any(task.help() for task in parsed):
        pass
    part = parsed.popleft().result()
    if part.counts[UNKNOWN] and form.alone(part):
        for task in parsed:
            task.result()
    form.finish(part)
    return part


def _tidied(part: Part, form: Format) -> Part:
    """The part, its rows in order."""
    if not part.tidy:
        form.tidy(part)
        part.tidy = True
    return part


# Kernels' helpers


@inner
def later(piece, counts, start, stop, where):
    """Leave a number to `_read_late`."""
    late = counts[LATE]
    piece.late[late, 0], piece.late[late, 1], piece.late[late, 2] = start, stop, where
    counts[LATE] = late + 1


@inner
def refuse(counts, at):
    """The line is bad because of the token there, unless it was bad before."""
    if counts[BAD] < 0:
        counts[BAD] = at


@inner
def refuse_control(text, at, counts):
    """A control character is bad, unless it is a tab or stands in front of a newline."""
    char = byte(text, at)
    if char != 9 and not (char == 13 and byte(text, at + 1) == 10):
        refuse(counts, at)


@kernel
def _read_late(text, late, values, marks):
    """Read numbers that were left over; the kind of each."""
    kinds = np.empty(len(late), dtype=np.int64)
    for i in range(len(late)):
        kind, value = decimal(text, late[i, 0], late[i, 1])
        kinds[i], where = kind, late[i, 2]
        if kind == YES and where >= 0:
            values[where] *= value
        elif kind == YES:
            marks[-1 - where] *= value
    return kinds


def _room(part: Part, extra: np.uint8) -> tuple[Piece, Int]:
    """The breaks of a part, and arrays that are large enough for what stands between them."""
    (text, start, stop, *_), room = part.chunk, part.scratch.room
    places = room("breaks", stop - start + PADDING, 1, np.int32)
    breaks, lines = find_breaks(text, start, stop, extra, places)
    counts, tags = np.zeros(12, dtype=np.int64), room("tags", lines, 2, np.int64)
    tags[:lines] = 0
    counts[AT] = start
    piece = Piece(
        breaks=places,
        values=part.memory.array(breaks + SPARE, np.float64),
        indices=part.memory.array(breaks + SPARE, np.int32),
        starts=np.zeros(lines + 1, dtype=np.int64),
        marks=room("marks", 2 * lines, 1, np.float64),
        lines=room("lines", lines, 1, np.int64),
        late=room("late", 2 * (breaks + lines), 3, np.int64),
        tags=tags,
        unknown=room("unknown", breaks + 1, 5, np.int32),
        unknown_prints=room("unknown_prints", breaks + 1, 2, np.uint64),
        ring=room("ring", RING, 1, np.uint64),
    )
    return piece, counts


def _parse(part: Part, form: Format, options: Options) -> None:
    """Run the kernel over the part, going on behind bad lines as long as they are allowed."""
    part.piece, part.counts = _room(part, form.extra)
    counts = part.counts
    while len(part.bad) <= options.skip_bad:
        form.parse(part.text, part.chunk.stop, part.piece, counts)
        if counts[BAD] < 0:
            break
        before, token, behind = _around(part, int(counts[BAD]))
        why = "a control character" if token < " " else form.why(token, before, behind)
        part.bad.append(Bad(int(counts[LINE]) - 1, len(before) + 1, token, why))
    _late_numbers(part, form)


def _late_numbers(part: Part, form: Format) -> None:
    """Read the numbers that the kernel has left over; refuse rows with what is no number."""
    if not part.counts[LATE]:
        return
    piece, late = part.piece, part.piece.late[: part.counts[LATE]]
    starts = piece.starts[: part.counts[ROW] + 1]
    kinds = _read_late(part.text, late, piece.values, piece.marks)
    for i in np.flatnonzero(kinds != YES):
        start, stop, where = (int(k) for k in late[i])
        token, mark = _shown(part.text[start:stop]), where < 0
        value = math.inf if kinds[i] == NO else float(token)
        if not math.isinf(value):
            numbers, place = (piece.marks, -1 - where) if mark else (piece.values, where)
            numbers[place] = float(numbers[place]) * value  # of Python: its overflow is no warning
            continue
        row = (-1 - where) // 2 if mark else np.searchsorted(starts, where, "right") - 1
        before, word, behind = _around(part, start)
        why = FINITE if kinds[i] != NO else NUMBER
        if kinds[i] == NO and mark:
            why = form.why(word, before, behind)
        part.refuse(int(row), why, token, len(before) + 1)


def _around(part: Part, at: int) -> tuple[str, str, str]:
    """The line around a place (as much as errors need): before the token there, it, behind it."""
    before = _shown(part.text[max(part.chunk.start, at - 65536) : at]).rpartition("\n")[2]
    token, *behind = re.split(r"(?<=.)(?=[\0- ])", _shown(part.text[at : at + 4096]), maxsplit=1)
    return before, token, "".join(behind).partition("\n")[0]


def _shown(text: Text) -> str:
    return text.tobytes().decode("utf-8", "backslashreplace")


def _behind(part: Part, place: Position, source: Source, options: Options) -> Position:
    """The position behind the part, unless more lines are bad than may be."""
    bad = [one._replace(line=one.line + place["line"] + 1) for one in part.bad]
    skipped = allowed(bad, place["skipped"], options.skip_bad, source.name)
    return {
        **place,
        "offset": part.chunk.end,
        "line": place["line"] + int(part.counts[LINE]),
        "rows": place["rows"] + int(part.counts[ROW]) - len(part.dropped),
        "skipped": skipped,
        "columns": part.columns,
    }


@kernel
def _marks(piece, line, labels, weights, lines):
    """Fill in what is kept of each row: (whether a weight is not 1, whether a row has a tag)."""
    weighted = tagged = False
    for i in range(len(labels)):
        labels[i], weights[i] = piece.marks[2 * i], piece.marks[2 * i + 1]
        lines[i] = piece.lines[i] + line
        weighted |= weights[i] != 1
        tagged |= piece.tags[i, 0] < piece.tags[i, 1]
    return weighted, tagged


def _block(part: Part, begin: Position, end: Position) -> Block:
    piece, n = part.piece, int(part.counts[ROW])
    labels, weights, lines = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    weighted, tagged = _marks(piece, begin["line"] + 1, labels, weights, lines)
    values, indices, starts, tags = *_stored(piece, n), piece.tags[:n]
    if part.dropped:
        kept = np.ones(n, dtype=bool)
        kept[list(part.dropped)] = False
        labels, weights, lines, tags = labels[kept], weights[kept], lines[kept], tags[kept]
        values, indices, starts = _kept(values, indices, starts, kept)
        weighted, tagged = (weights != 1).any(), (tags[:, 0] < tags[:, 1]).any()
    rows = Rows(values, indices, starts, part.columns, labels, weights if weighted else None)
    return Block(
        frame=None,
        rows=rows,
        lines=lines,
        start=begin,
        position=end,
        targets=rows.targets,
        weights=rows.weights,
        new_names=part.new_names,
        tags=[_shown(part.text[start:stop]) for start, stop in tags] if tagged else None,
        done=part.done,
    )


def _stored(piece: Piece, n: int) -> tuple[Float, NDArray[np.int32], Int]:
    """Values, indices and starts of the first n rows."""
    end = piece.starts[n]
    return piece.values[:end], piece.indices[:end], piece.starts[: n + 1]


def _kept(
    values: Float, indices: NDArray[np.int32], starts: Int, kept: NDArray[np.bool_]
) -> tuple[Float, NDArray[np.int32], Int]:
    """Those of the rows that are kept."""
    sizes = np.diff(starts)
    stay = np.repeat(kept, sizes)
    return values[stay], indices[stay], np.concatenate([[0], np.cumsum(sizes[kept])])
