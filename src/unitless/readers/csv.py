"""CSV and its kin: fields between commas, tabs, semicolons, bars or spaces.

The first line is the header unless `header=False`; separator and quotes are found on the first
lines unless given. A column is a number if every cell of the first block is one or missing,
otherwise a string; that is settled once. Missing are the empty cell and NA, N/A, NaN, null (as
written here, in capitals or in small letters). Empty lines are passed over. A line with too few or
too many fields, a cell that does not fit its column, an infinite number: each makes a bad line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.readers import tables
from unitless.readers.blocks import Bad, Block, Options, Position, ReadError
from unitless.readers.bytes import Chunk, Source, Text, last_line
from unitless.readers.cells import Cells
from unitless.readers.layout import Layout, column_names, detect, plain, raw_fields
from unitless.readers.records import BEHIND, STRAY, UNCLOSED, even_lines

HEADER_BYTES = 1 << 16

Int = NDArray[np.int64]


def blocks(source: Source, options: Options, start: Position) -> Iterator[Block]:
    """The rows of a file from a position on.

    >>> import io
    >>> source = Source(io.BytesIO(b"height,who\\n1.8,ann\\nNA,bob\\n"))
    >>> for block in blocks(source, Options(), {}):
    ...     print(block.frame.rows(), block.lines, block.position["columns"])
    [(1.8, 'ann'), (None, 'bob')] [2 3] {'height': 'number', 'who': 'string'}
    """
    place = {"offset": 0, "line": 0, "rows": 0, "skipped": 0, "coerced": 0, **start}
    layout, cells = _resumed(start), None

    def cut(text: Text, begin: int, stop: int) -> int:
        nonlocal layout
        if layout is None and last_line(text, begin, stop) > begin:
            layout = detect(text, begin, stop, options)
        return layout.cut(text, begin, stop) if layout else begin

    for chunk in source.chunks(options.block_bytes, cut):
        layout = layout or detect(chunk.text, chunk.start, chunk.stop, options)
        begin, line = place, place["line"]
        if not layout.columns:
            layout, chunk, line = _header(source.name, chunk, layout, options, line)
        cells = cells or Cells(layout, source.name)
        records = _whole_records(chunk, cells.layout, line + 1)
        table = cells.read(records.data, records.lines, records.bad, coerce=options.coerce)
        layout = cells.layout
        end = {
            "offset": chunk.end,
            "line": line + records.newlines,
            "separator": layout.separator,
            "quote": layout.quote,
            "columns": dict(layout.columns),
        }
        block = tables.block(table, begin, end, source, options)
        place = block.position
        yield block


def _resumed(position: Position) -> Layout | None:
    """The layout that a position remembers."""
    if "separator" not in position:
        return None
    return Layout(position["separator"], position["quote"], position["columns"])


def _header(
    file: str, chunk: Chunk, layout: Layout, options: Options, line: int
) -> tuple[Layout, Chunk, int]:
    """The layout with named columns, the chunk behind the header, and the lines before that."""
    for size in (HEADER_BYTES, chunk.stop):
        stop = min(chunk.stop, chunk.start + size)
        records = layout.records(chunk.text, chunk.start, stop, final=stop == chunk.stop)
        filled = np.flatnonzero(_filled(chunk.text, records.starts))
        if len(filled):
            break
    else:
        return layout, chunk._replace(start=chunk.stop), line + records.newlines
    first, behind = records.starts[filled[0] : filled[0] + 2].tolist()
    line += int(records.lines[filled[0]])
    record = chunk.text[first:behind].tobytes()
    try:
        fields = [plain(field, layout) for field in raw_fields(record, layout)]
        names = column_names(fields, options.header)
    except ValueError as error:
        why = "its bytes are not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        why += "; if the first line is no header, say so (header=False)" * options.header
        raise ReadError(why, file=file, line=line + 1) from None
    layout = layout._replace(columns=_typed(file, names, options))
    if not options.header:
        return layout, chunk._replace(start=first), line
    return layout, chunk._replace(start=behind), line + record.count(b"\n")


def _typed(file: str, names: list[str], options: Options) -> dict[str, str | None]:
    """The columns with the types that are given."""
    for name in options.types:
        if name not in names:
            raise ReadError(f"there is no column {name!r} among {names}", file=file)
    return {name: options.types.get(name) for name in names}


class _Whole(NamedTuple):
    """Records that have all their fields: their bytes and lines; all newlines; the bad lines."""

    data: bytes
    lines: Int
    newlines: int
    bad: list[Bad]


def _whole_records(chunk: Chunk, layout: Layout, line: int) -> _Whole:
    """What of a chunk, whose first line has that number, polars can be given."""
    text, start, stop, width = chunk.text, chunk.start, chunk.stop, len(layout.columns)
    if width > 1:
        chars = np.uint8(ord(layout.separator)), np.uint8(ord(layout.quote or "\n"))
        n, even = even_lines(text, start, stop, *chars, width)
        if even:
            return _Whole(text[start:stop].tobytes(), np.arange(line, line + n), n, [])
    records = layout.records(text, start, stop)
    filled = _filled(text, records.starts)
    wrong = (records.fields != width) | (records.flags & (BEHIND | UNCLOSED) > 0)
    good, starts = np.flatnonzero(~wrong & filled), records.starts
    bad = []
    for i in np.flatnonzero(wrong & filled).tolist():
        record = text[starts[i] : starts[i + 1]].tobytes().decode("utf-8", "backslashreplace")
        why = _why(int(records.flags[i]), int(records.fields[i]), width)
        bad.append(Bad(line + int(records.lines[i]), None, record.rstrip("\r\n"), why))
    if len(good) == len(wrong) and not (records.flags & STRAY).any():
        data = text[start:stop].tobytes()
    else:
        pieces = (text[starts[i] : starts[i + 1]].tobytes() for i in good)
        stray = records.flags[good] & STRAY
        data = b"".join(
            _requoted(piece, layout) if odd else piece
            for piece, odd in zip(pieces, stray, strict=True)
        )
    return _Whole(data, line + records.lines[good], records.newlines, bad)


def _filled(text: Text, starts: Int) -> NDArray[np.bool_]:
    """Whether each record is more than an empty line."""
    sizes = np.diff(starts)
    return (sizes > 2) | ((sizes == 2) & (text[starts[:-1]] != 13))


def _why(flags: int, fields: int, width: int) -> str:
    if flags & UNCLOSED:
        return "a quote is opened and not closed"
    if flags & BEHIND:
        return "a separator was expected behind a closing quote"
    return f"{width} fields were expected, there are {fields}"


def _requoted(record: bytes, layout: Layout) -> bytes:
    """A record with quotes around the plain fields that hold some: polars needs them there."""
    quote = (layout.quote or "").encode()
    fields = [
        field
        if field.startswith(quote) or quote not in field
        else quote + field.replace(quote, 2 * quote) + quote
        for field in raw_fields(record, layout)
    ]
    return layout.separator.encode().join(fields) + b"\n"
