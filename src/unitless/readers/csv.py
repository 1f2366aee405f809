"""CSV: fields separated by commas, tabs, semicolons, bars or spaces.

The first line is the header unless `header=False`; separator and quotes are detected on the
first lines unless given. The cells of the first block decide whether a column holds numbers,
dates, booleans or strings; `unitless.readers.cells` says how, and which cells are missing. A later
cell that does not fit is missing and counted. Empty lines are skipped. A line is bad if it has too
few or too many fields or, with `strict`, a cell that does not fit.

polars parses a whole block. A block with anything unusual in it is split here, record by record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from unitless.readers import cells, tables
from unitless.readers.blocks import Bad, FileBlock, Options, Position, ReadError, Why, decoded
from unitless.readers.csv_records import Dialect, detect, records, regular_lines, whole_records
from unitless.readers.source import Source, whole_lines
from unitless.readers.tables import REFUSED, FileTable, Int, OddCell, is_finite, too_large
from unitless.suggestions import no_such_column

SAMPLE_BYTES = 1 << 16
"""Bytes in which the kinds of columns are guessed, before the whole block is read by the guess."""

NEWLINE = 10
BLANK = re.compile(rb"(?:\r?\n)*")
"""Empty lines; one of blanks or tabs has fields."""


def blocks(source: Source, options: Options, place: Position) -> Iterator[FileBlock]:
    """The rows of a file from a position on."""
    reader = Reader(source.name, options, place)
    for text, offset in source.chunks(options.block_bytes, reader.cut):
        data = reader.without_header(text, place["line"])
        line = place["line"] + text[: len(text) - len(data)].count(b"\n")
        if reader.dialect is None or not reader.columns:
            place = {**place, "offset": offset, "line": line}
            continue
        table = reader.read(data, line + 1)
        end = {
            "offset": offset,
            "line": line + int(np.count_nonzero(np.frombuffer(data, np.uint8) == NEWLINE)),
            "separator": reader.dialect.separator,
            "quote": reader.dialect.quote,
            "columns": reader.columns,
        }
        block = tables.block(table, place, end, source, options)
        place = block.position
        yield block


class Reader:
    """Reads the records of a file; its dialect and the types of its columns are determined once."""

    def __init__(self, file: str, options: Options, start: Position) -> None:
        self.file = file
        self.options = options
        self.dialect: Dialect | None = None
        self.columns: Mapping[str, str | None] = start.get("columns", {})
        """Their kinds, None if not yet known."""
        if "separator" in start:
            self.dialect = Dialect(start["separator"], start["quote"])
        self.number_kinds: list[str] = []
        self.missing = cells.MissingCells(options.na)
        self.words_are_missing = False
        """Whether a word like NA was found: looking for such words makes polars slower."""

    def _dialect(self, data: bytes) -> Dialect:
        if self.dialect is None:
            self.dialect = detect(data, self.options.separator, self.options.quote)
        return self.dialect

    def cut(self, data: bytes) -> int:
        """How many bytes are whole records; see `Source.chunks`."""
        if not whole_lines(data) or BLANK.fullmatch(data):
            return whole_lines(data)
        return whole_records(data, self._dialect(data))

    def without_header(self, data: bytes, line: int) -> bytes:
        """The text after the header, if the header is not yet read; `line` lines came before."""
        if self.columns:
            return data
        if BLANK.fullmatch(data):
            return b""
        header = self.options.header
        found = (each for each in records(data, self._dialect(data)) if not each.is_blank)
        first = next(found)
        typical = first
        if first.why and not header:
            typical = next((each for each in found if not each.why), first)
        try:
            if typical.why:
                raise ValueError(typical.why)
            names = _names([field.decode() for field in typical.fields], header)
        except ValueError as error:
            why = Why.UTF8 if isinstance(error, UnicodeDecodeError) else str(error)
            why += "; if the first line is not a header, pass header=False" * header
            raise ReadError(why, file=self.file, line=line + first.line + 1) from None
        for name in self.options.types:
            if name not in names:
                raise ReadError(no_such_column(name, names), file=self.file)
        self.columns = dict.fromkeys(names)
        return data[first.end if header else first.begin :]

    def read(self, data: bytes, line: int) -> FileTable:
        """The rows of a text whose first line has that number."""
        lines = regular_lines(data, self._dialect(data), len(self.columns))
        text = None
        bad: list[Bad] = []
        if lines is not None and len(lines):
            text = self._parsed(data, () if self.options.exact else self._guessed(data))
            if text is None or not is_finite(text):
                text = self._parsed(data, ())
        if lines is None or text is None or text.height != len(lines):
            text, lines, bad = self._split(data, line)
        if not len(lines):
            kinds = {name: kind or "number" for name, kind in self.columns.items()}
            return FileTable(tables.typed(text, kinds)[0], lines, bad)
        frame, odd = self._typed(self.missing.without_tokens(text))
        return FileTable(frame, lines + line, bad, odd)

    def _guessed(self, data: bytes) -> list[str]:
        """The columns of plain numbers; new ones are guessed by their first cells."""
        if None not in self.columns.values():
            return [name for name, kind in self.columns.items() if kind == "number"]
        sample = self._parsed(data[: whole_lines(data[:SAMPLE_BYTES])], ())
        if sample is None:
            return []
        sample = self.missing.without_tokens(sample)
        self._find_signs(sample)
        if self.number_kinds[0] != "number":
            return []
        odd = sample.select(cells.plain_numbers(pl.all()).null_count() - pl.all().null_count())
        types = self.options.types
        plain = [name for name in self.columns if types.get(name, "number") == "number"]
        return [name for name in plain if odd[name][0] == 0]

    def _find_signs(self, text: pl.DataFrame) -> None:
        """Find out how numbers are spelled in this file."""
        options = self.options
        usual = options.decimal or cells.decimal_sign(text, self._dialect(b"").separator)
        self.number_kinds = cells.number_kinds(usual, options.decimal, options.thousands)

    def _kinds(self, text: pl.DataFrame) -> Mapping[str, str]:
        """The kinds of the columns; those of new ones are detected."""
        if not self.number_kinds and None in self.columns.values():
            self._find_signs(text)
        return {name: kind or self._kind(text[name]) for name, kind in self.columns.items()}

    def _kind(self, column: pl.Series) -> str:
        """The kind of a new column, whose cells polars may have read as numbers already."""
        if column.dtype != pl.String:
            return "number"
        given = self.options.types.get(column.name)
        if given is None:
            kind = cells.kind_of_cells(column, self.number_kinds)
            # Classes keep the spelling of the file.
            is_label = column.name == self.options.target and not kind.startswith("number")
            return "string" if is_label else kind
        if given.startswith("number") and not cells.fits(column, given):
            return cells.number_kind(column, self.number_kinds) or given  # spelled otherwise
        return cells.date_kind(column) if given == "date" else given

    def _parsed(self, data: bytes, numbers: Sequence[str]) -> pl.DataFrame | None:
        """The frame as polars reads it, with text in all other columns; None if it cannot."""
        dialect = self._dialect(data)
        schema = {name: pl.Float64 if name in numbers else pl.String for name in self.columns}
        # A record before it, left out again: polars takes some first bytes, even of x^2, for
        # compressed data or a byte order mark.
        first = "0" + dialect.separator * (len(schema) - 1) + "\n"
        try:
            frame = pl.read_csv(
                first.encode() + data,
                has_header=False,
                schema=schema,
                separator=dialect.separator,
                quote_char=dialect.quote if dialect.has_quotes(data) else None,
                null_values=self.missing.words if self.words_are_missing else None,
            )
            return frame[1:]
        except REFUSED:
            if self.words_are_missing or not numbers:
                return None
        self.words_are_missing = True
        return self._parsed(data, numbers)

    def _split(self, data: bytes, line: int) -> tuple[pl.DataFrame, Int, list[Bad]]:
        """The cells as text, the line of each row from 0 on, and bad lines."""
        width = len(self.columns)
        rows = []
        lines = []
        bad = []
        for record in records(data, self._dialect(data)):
            if record.is_blank:
                continue
            why = record.why
            if why is None and len(record.fields) != width:
                why = f"{width} fields were expected, there are {len(record.fields)}"
            if why is None:
                try:
                    rows.append([field.decode() for field in record.fields])
                    lines.append(record.line)
                    continue
                except UnicodeDecodeError:
                    why = Why.UTF8
            shown = decoded(data[record.begin : record.end]).rstrip("\r\n")
            bad.append(Bad(line + record.line, None, shown, why))
        schema = dict.fromkeys(self.columns, pl.String)
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        return frame, np.array(lines, dtype=np.int64), bad

    def _typed(self, text: pl.DataFrame) -> tuple[pl.DataFrame, list[OddCell]]:
        """Columns of their kinds, and the cells that do not fit; settles new kinds."""
        kinds = self._kinds(text)
        frame, odd = tables.typed(text, kinds)
        for name, form in self.options.types.items():
            is_new = self.columns[name] is None and form.startswith("date")
            if is_new and frame[name].null_count() == len(frame):
                for cell in odd:
                    if cell.column == name:
                        why = f"no cell is a date of the form {form[5:] or 'YYYY-MM-DD'}"
                        raise ReadError(why, file=self.file, column=name, text=cell.text)
        self.columns = kinds
        frame = self.missing.without_values(frame)
        for name in too_large(frame) if self.options.exact else ():
            whole = text[name].str.strip_chars().cast(pl.Int64, strict=False)
            if whole.null_count() == frame[name].null_count():
                frame = frame.with_columns(whole)
        return frame, odd


def _names(fields: list[str], header: bool) -> list[str]:
    """The names of the columns; c1, c2, ... where the file gives none."""
    names = [name.strip() if header else "" for name in fields]
    names = [name or f"c{k}" for k, name in enumerate(names, start=1)]
    for name in names:
        if tables.is_pattern(name):
            raise ValueError(f"{name!r}: {Why.PATTERN}")
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the header names {twice!r} more than once")
    return names
