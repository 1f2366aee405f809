"""Parquet and Arrow IPC (Feather): columns as they are stored, in batches.

Numbers of any width become Float64, and so do durations, in seconds; strings and categories become
String, except for strings that are numbers as people write them, which the first batch shows;
booleans, dates and timestamps (without their time zone) stay; members of structs become columns
`outer.inner`. An infinite number is missing and counted or, with `strict`, makes its row bad;
errors give the number of the row as the line. Columns of lists, bytes, objects or times of day, and
dates outside of the years 1 to 9999, are refused. One row group (Parquet) or a few batches (Arrow)
are in memory at a time. A stream or a compressed file is copied to a temporary file.

A position to start from may contain `until`: the row after which reading ends.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import msgspec
import numpy as np
import polars as pl

from unitless.durations import seconds
from unitless.readers import tables
from unitless.readers.blocks import FileBlock, Options, Position, ReadError, Why
from unitless.readers.missing_cells import MissingCells
from unitless.readers.source import Source
from unitless.readers.tables import REFUSED, FileTable, is_pattern

EPOCH = date(1970, 1, 1)
FIRST_DAY = (date.min - EPOCH).days
LAST_DAY = (date.max - EPOCH).days
LAST_ZONED_DAY = (date(2099, 12, 30) - EPOCH).days
"""polars knows no summer time after 2099; times of a zone are up to a day away."""
LAST_SECOND = 2**63 // 1000
OUT_OF_RANGE = "its dates are not all in the years 1 to 9999, or 1 to 2099 with a time zone"
LEAVE_OUT = "; to leave it out, use --ignore, or types={'%s': 'string'}"
DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
"""One day in each unit of time."""


def blocks(source: Source, options: Options, place: Position) -> Iterator[FileBlock]:
    """The rows of a file from a position on."""
    with _on_disk(source) as path:
        until = place.until
        place = msgspec.structs.replace(place, until=None)
        total, batches = _scanned(source.name, path, place.line, until, options)
        missing = MissingCells(options.na, usual=())
        for batch in batches:
            text = plain_frame(batch, source.name, options)
            lines = place.line + 1 + np.arange(text.height)
            kinds = _kinds(text, batch, source.name, options, place)
            frame, odd = tables.typed(_without_gaps(missing.without_tokens(text), kinds), kinds)
            frame = missing.without_values(frame)
            line = place.line + frame.height
            end = msgspec.structs.replace(place, line=line, columns=kinds)
            table = FileTable(frame, lines, [], odd)
            block = tables.block(table, place, end, source, options)
            place = block.position
            yield replace(block, done=place.line / total)
        if place.line != total:  # polars may end a damaged file without an error
            why = f"the file is damaged: {total} rows are promised, {place.line} can be read"
            raise ReadError(why, file=source.name)


def _kinds(
    text: pl.DataFrame, batch: pl.DataFrame, file: str, options: Options, place: Position
) -> dict[str, str]:
    """The kinds of columns that are not those of the file; the first batch shows them."""
    if place.columns is not None:
        return {name: kind for name, kind in place.columns.items() if kind is not None}
    stored = flat(batch, file).schema
    strings = [name for name, dtype in stored.items() if dtype == pl.String]
    types = tables.settled_types(options)
    new = [name for name in strings if name not in types]
    found = tables.spelled_numbers(text.select(new), options)
    return tables.with_times(text, {**dict.fromkeys(new, "string"), **found, **types}, types)


def _without_gaps(text: pl.DataFrame, kinds: Mapping[str, str]) -> pl.DataFrame:
    """The frame with null for the words that mean a missing number, in columns of numbers."""
    strings = [name for name, dtype in text.schema.items() if dtype == pl.String]
    names = [name for name in strings if kinds.get(name, "").startswith("number")]
    if not names:
        return text
    return text.with_columns(MissingCells().without_tokens(text.select(names)))


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
        schema = table.collect_schema()
        width = len(schema)
        if arrow and "time_unit='ms'" in str(schema):
            _refuse_distant_seconds(file, path, _unread(options))
        total = table.select(pl.len()).collect().item()
        total = total if until is None else min(total, until)
        wanted = table.slice(rows, None if until is None else max(0, total - rows))
        size = max(1, options.block_bytes // (8 * max(1, width)))
        return total, _batches(file, wanted.collect_batches(chunk_size=size))
    except ReadError:
        raise
    except (*REFUSED, OSError, ValueError) as error:  # ValueError: pyarrow's
        why = f"polars cannot read it as Parquet or Arrow IPC ({error})"
        raise ReadError(why, file=file) from None


def _refuse_distant_seconds(file: str, path: str, unread: list[str]) -> None:
    """Refuse timestamps in seconds that polars, which has milliseconds, turns into others.

    Only pyarrow shows them: without it, dates beyond 292 million years are not noticed.
    """
    try:
        import pyarrow
        from pyarrow import compute, ipc
    except ImportError:
        return
    with pyarrow.memory_map(path) as opened, ipc.open_file(opened) as reader:
        for k in range(reader.num_record_batches):
            table = pyarrow.table(reader.get_batch(k))
            while any(pyarrow.types.is_struct(field.type) for field in table.schema):
                table = table.flatten()
            for name, column in zip(table.column_names, table.columns, strict=True):
                if str(column.type).startswith("timestamp[s") and name not in unread:
                    bounds = compute.min_max(column.cast(pyarrow.int64())).values()
                    if any(abs(each.as_py() or 0) > LAST_SECOND for each in bounds):
                        why = OUT_OF_RANGE + LEAVE_OUT % name
                        raise ReadError(why, file=file, column=name)


def _batches(file: str, batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    try:
        yield from batches
    except (*REFUSED, OSError) as error:
        raise ReadError(f"the file is damaged ({error})", file=file) from None


def _unread(options: Options) -> list[str]:
    """Columns that are declared strings, and missing if they cannot be read."""
    return [name for name, kind in options.types.items() if kind == "string"]


def plain_frame(batch: pl.DataFrame, file: str, options: Options) -> pl.DataFrame:
    """The batch with columns of numbers, strings, booleans and dates, or a ReadError.

    With `exact`, integers stay integers. A column that cannot be read and is declared a string is
    missing.
    """
    unread = _unread(options)
    columns = {}
    for column in flat(batch, file):
        name = column.name
        try:
            columns[name] = _plain(column, options)
        except (ValueError, *REFUSED) as error:
            if name not in unread:
                why = str(error) + LEAVE_OUT % name
                raise ReadError(why, file=file, column=name) from None
            columns[name] = pl.repeat(None, len(column), dtype=pl.String, eager=True)
    return pl.DataFrame(columns)  # of a list, polars would rename a column without a name


def flat(frame: pl.DataFrame, file: str) -> pl.DataFrame:
    """The frame with the members of structs as columns of their own; a ReadError if names clash.

    >>> flat(pl.DataFrame({"a": [{"b": 1, "c": {"d": 2}}]}), "x.parquet").columns
    ['a.b', 'a.c.d']
    """
    while structs := {name: kind for name, kind in frame.schema.items() if kind == pl.Struct}:
        names = [name for name in frame.columns if name not in structs]
        for name, kind in structs.items():
            if is_pattern(name):
                raise ReadError(Why.PATTERN, file=file, column=name)
            names += [f"{name}.{field.name}" for field in kind.fields]  # type: ignore[attr-defined]
        for name in names:
            if names.count(name) > 1:
                why = f"two columns would be called {name!r}: rename one"
                raise ReadError(why, file=file, column=name)
        frame = frame.unnest(*structs, separator=".")
    return frame


def _plain(column: pl.Series, options: Options) -> pl.Series:
    """The column as Float64, String, Boolean, Date or Datetime; a ValueError if it cannot be."""
    if is_pattern(column.name):
        raise ValueError(Why.PATTERN)
    dtype = column.dtype
    is_date = dtype in (pl.Date, pl.Datetime)
    is_text = dtype in (pl.String, pl.Categorical, pl.Enum)
    is_other = not dtype.is_numeric() and dtype not in (pl.Boolean, pl.Null, pl.Duration)
    # polars reads times of day that are not between 0 and 24 h as missing, or as other times.
    if is_other and not is_date and not is_text:
        raise ValueError(f"columns of {dtype} cannot be read")
    if not _has_calendar_days(column):
        raise ValueError(OUT_OF_RANGE)
    is_label = is_date and column.name == options.target
    if is_label or is_text or options.types.get(column.name) in ("string", "category"):
        return column.cast(pl.String)
    if dtype in (pl.Boolean, pl.Date) or (options.exact and dtype.is_integer()):
        return column
    if dtype == pl.Duration:
        return pl.Series(column.name, seconds(column.to_numpy())).fill_nan(None)
    if is_date:  # in the local time of its time zone
        return column.dt.replace_time_zone(None).cast(pl.Datetime("us"))
    return column.cast(pl.Float64)


def _has_calendar_days(column: pl.Series) -> bool:
    """Whether dates are in the years 1 to 9999; polars fails on others or writes wrong text."""
    dtype: Any = column.dtype
    if dtype not in (pl.Date, pl.Datetime) or column.null_count() == column.len():
        return True
    day = 1 if dtype == pl.Date else DAY[dtype.time_unit]
    first, last = FIRST_DAY, LAST_DAY
    if getattr(dtype, "time_zone", None) is not None:
        first, last = FIRST_DAY + 1, LAST_ZONED_DAY
    numbers: Any = column.to_physical()
    return bool(first * day <= numbers.min() and numbers.max() < (last + 1) * day)
