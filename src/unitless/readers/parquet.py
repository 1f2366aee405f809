"""Parquet and Arrow IPC (Feather): columns as they are stored, in batches.

Numbers of any width become Float64; strings, categories, dates and times become String; booleans
stay; members of structs become columns `outer.inner`. A row with an infinite number is bad; errors
give its number as the line. Columns of lists, bytes or objects, and dates outside of the years 1 to
9999, are refused. One row group (Parquet) or a few batches (Arrow) are in memory at a time. A
stream or a compressed file is copied to a temporary file.

A position to start from may contain `until`: the row after which reading ends.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import numpy as np
import polars as pl
from polars import selectors

from unitless.readers import tables
from unitless.readers.blocks import PATTERN, Block, Options, Position, ReadError, is_pattern
from unitless.readers.source import Source
from unitless.readers.tables import (
    REFUSED,
    TYPES,
    Table,
    flat,
    is_finite,
    kind_of,
    without_wrong_cells,
)

EPOCH = date(1970, 1, 1)
FIRST_DAY = (date.min - EPOCH).days
LAST_DAY = (date.max - EPOCH).days
OUT_OF_RANGE = "its dates are not all in the years 1 to 9999"
DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
"""One day in each unit of time."""


def blocks(source: Source, options: Options, start: Position) -> Iterator[Block]:
    """The rows of a file from a position on.

    >>> import io
    >>> file = io.BytesIO()
    >>> pl.DataFrame({"height": [1, 2], "who": ["ann", "bob"]}).write_parquet(file)
    >>> file.seek(0)
    0
    >>> for block in blocks(Source(file), Options(), {}):
    ...     print(block.frame.rows(), block.lines)
    [(1.0, 'ann'), (2.0, 'bob')] [1 2]
    """
    place = {"line": 0, "rows": 0, "skipped": 0, "coerced": 0, **start}
    with _on_disk(source) as path:
        until = place.pop("until", None)
        total, batches = _scanned(source.name, path, place["line"], until, options)
        for batch in batches:
            frame = plain_frame(batch, source.name)
            lines = np.arange(place["line"] + 1, place["line"] + 1 + frame.height)
            table = Table(frame, lines, [], 0)
            if not is_finite(frame):
                infinite = frame.select(selectors.float().is_infinite().fill_null(False))
                table = without_wrong_cells(frame, lines, infinite, frame, options.coerce)
            end = {"line": place["line"] + frame.height}
            block = tables.block(table, place, end, source, options)
            place = block.position
            yield replace(block, done=place["line"] / total)
        if place["line"] != total:  # polars may end a damaged file without an error
            why = f"the file is damaged: {total} rows are promised, {place['line']} can be read"
            raise ReadError(why, file=source.name)


@contextlib.contextmanager
def _on_disk(source: Source) -> Iterator[str]:
    """The path of the uncompressed file."""
    if source.plain and source.path is not None and source.seekable:
        yield os.path.abspath(source.path)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        with open(path, "wb") as copy:
            while piece := source.read(1 << 20):
                copy.write(piece)
        yield path


def _scanned(
    file: str, path: str, rows: int, until: int | None, options: Options
) -> tuple[int, Iterator[pl.DataFrame]]:
    """The number of rows up to `until`, and batches of them from row `rows` on."""
    with open(path, "rb") as opened:
        arrow = opened.read(6) == b"ARROW1"
    scan = pl.scan_ipc if arrow else pl.scan_parquet
    try:
        table = scan(path, glob=False, hive_partitioning=False)
        width = len(table.collect_schema())
        total = table.select(pl.len()).collect().item()
        total = total if until is None else min(total, until)
        wanted = table.slice(rows, None if until is None else max(0, total - rows))
        size = max(1, options.block_bytes // (8 * max(1, width)))
        return total, _batches(file, wanted.collect_batches(chunk_size=size))
    except (*REFUSED, OSError) as error:
        why = f"polars cannot read it as Parquet or Arrow IPC ({error})"
        raise ReadError(why, file=file) from None


def _batches(file: str, batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    try:
        yield from batches
    except (*REFUSED, OSError) as error:
        raise ReadError(f"the file is damaged ({error})", file=file) from None


def plain_frame(batch: pl.DataFrame, file: str) -> pl.DataFrame:
    """The batch with columns of numbers, strings and booleans, or a ReadError with the column."""
    return pl.DataFrame({column.name: _plain(column, file) for column in flat(batch, file)})


def _plain(column: pl.Series, file: str) -> pl.Series:
    name = column.name
    if is_pattern(name):
        raise ReadError(PATTERN, file=file, column=name)
    kind = kind_of(column.dtype)
    if kind == "other":
        why = f"columns of {column.dtype} cannot be read: leave it out of the file"
        raise ReadError(why, file=file, column=name)
    if not _has_calendar_days(column):
        raise ReadError(OUT_OF_RANGE, file=file, column=name)
    try:
        return column.cast(TYPES.get(kind, pl.Float64))
    except REFUSED as error:
        raise ReadError(f"polars cannot read it ({error})", file=file, column=name) from None


def _has_calendar_days(column: pl.Series) -> bool:
    """Whether dates are in the years 1 to 9999; polars fails on others or writes wrong text."""
    if column.dtype not in (pl.Date, pl.Datetime) or column.null_count() == column.len():
        return True
    day = 1 if column.dtype == pl.Date else DAY[column.dtype.time_unit]  # type: ignore[attr-defined]
    numbers = column.to_physical()
    low, high = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]
    return FIRST_DAY * day <= low and high < (LAST_DAY + 1) * day
