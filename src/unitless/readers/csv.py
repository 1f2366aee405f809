"""CSV: fields separated by commas, tabs, semicolons, bars or spaces.

The first line is the header unless `header=False`; separator and quotes are detected on the
first lines unless given. A column is a number if every cell of the first block is one or missing,
otherwise a string; its type does not change later. Missing values are the empty cell and NA, N/A,
NaN, null (as written here, in capitals or in lower case). Empty lines are skipped. A line is bad if
it has too few or too many fields, a cell that does not fit its column, or an infinite number.

polars parses a whole block. A block with anything unusual in it is split here, cell by cell, and
polars parses its numbers, so that both ways give the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from unitless.readers import tables
from unitless.readers.blocks import NOT_UTF8, Bad, Block, Options, Position, ReadError, decoded
from unitless.readers.csv_scanner import AFTER_QUOTE, UNCLOSED, Records
from unitless.readers.dialect import Dialect, column_names, detect
from unitless.readers.source import BYTE_ORDER_MARK, Source, whole_lines
from unitless.readers.tables import REFUSED, TYPES, Int, Table, is_finite, without_wrong_cells
from unitless.suggestions import no_such_column

MISSING = ["NA", "na", "N/A", "n/a", "NaN", "NAN", "nan", "null", "NULL", "Null"]
NOT_NUMBERS = [text for text in MISSING if text.lower() != "nan"]
"""Those that polars does not parse as a number by itself."""

EATEN = b"\x1f\x8b", b"x\x01", b"x^", b"x\x9c", b"x\xda", b"\x28\xb5\x2f\xfd", BYTE_ORDER_MARK
"""Bytes at the beginning of a text that polars interprets as compressed data or a byte order mark,
even in `x^2`. `_polars` puts a record before them and removes it afterwards."""

SAMPLE_BYTES = 1 << 16
"""Bytes in which the header and the types of columns are looked for before the whole block."""


def blocks(source: Source, options: Options, start: Position) -> Iterator[Block]:
    """The rows of a file from a position on.

    >>> import io
    >>> source = Source(io.BytesIO(b"height,who\\n1.8,ann\\nNA,bob\\n"))
    >>> for block in blocks(source, Options(), {}):
    ...     print(block.frame.rows(), block.lines, block.position["columns"])
    [(1.8, 'ann'), (None, 'bob')] [2 3] {'height': 'number', 'who': 'string'}
    """
    place = {"offset": 0, "line": 0, "rows": 0, "skipped": 0, "coerced": 0, **start}
    reader = Reader(source.name, options, start)
    for chunk in source.chunks(options.block_bytes, reader.whole_records):
        data = reader.without_header(chunk.data, place["line"])
        line = place["line"] + chunk.data.count(b"\n") - data.count(b"\n")
        if not reader.dialect.columns:
            place = {**place, "offset": chunk.end, "line": line}
            continue
        table = reader.read(data, line + 1)
        end = {
            "offset": chunk.end,
            "line": line + data.count(b"\n"),
            "separator": reader.dialect.separator,
            "quote": reader.dialect.quote,
            "columns": dict(reader.dialect.columns),
        }
        block = tables.block(table, place, end, source, options)
        place = block.position
        yield block


class Reader:
    """Reads the records of a file; its dialect and the types of its columns are determined once."""

    def __init__(self, file: str, options: Options, start: Position) -> None:
        self.file = file
        self.options = options
        self.dialect = Dialect("", None)
        if "separator" in start:
            self.dialect = Dialect(start["separator"], start["quote"], start["columns"])
        self.words_are_missing = False
        """Whether a word like NA was found: looking for such words makes polars slower."""
        self._scanned: Records | None = None
        """The records of the next chunk, if they were scanned to find its end."""

    def whole_records(self, data: bytes) -> int:
        """How many bytes are whole records; see `Source.chunks`."""
        if not whole_lines(data) or data.isspace():
            return whole_lines(data)
        if not self.dialect.separator:
            self.dialect = detect(data, self.options)
        if not self.dialect.has_quotes(data):
            return whole_lines(data)
        self._scanned = self.dialect.records(data, final=False)
        return int(self._scanned.starts[-1])

    # The header

    def without_header(self, data: bytes, line: int) -> bytes:
        """The text after the header, if the header is not yet read; `line` lines came before."""
        if self.dialect.columns:
            return data
        at = 0
        while data.startswith((b"\n", b"\r\n"), at):
            at = data.index(b"\n", at) + 1
        line += data.count(b"\n", 0, at)
        if at == len(data):
            return b""
        if not self.dialect.separator:
            self.dialect = detect(data, self.options)
        record = self._first_record(data[at:])
        names = self._names(record, line + 1)
        for name in self.options.types:
            if name not in names:
                raise ReadError(no_such_column(name, names), file=self.file)
        columns = {name: self.options.types.get(name) for name in names}
        self.dialect = self.dialect._replace(columns=columns)
        if self.options.header:
            at += len(record)
        return data[at:]

    def _first_record(self, data: bytes) -> bytes:
        """The first record, from a sample if it is whole there: scanning a block takes long."""
        for size in (SAMPLE_BYTES, len(data)):
            starts = self.dialect.records(data[:size], final=size >= len(data)).starts
            if len(starts) > 1:
                break
        return data[: starts[1]]

    def _names(self, record: bytes, line: int) -> list[str]:
        try:
            fields = [field.decode() for field in self.dialect.split(record)]
            return column_names(fields, self.options.header)
        except ValueError as error:
            why = NOT_UTF8 if isinstance(error, UnicodeDecodeError) else str(error)
            why += "; if the first line is not a header, pass header=False" * self.options.header
            raise ReadError(why, file=self.file, line=line) from None

    # Records

    def read(self, data: bytes, line: int) -> Table:
        """The rows of a text whose first line has that number."""
        records = None
        if self._is_plain(data):
            rows = data.count(b"\n")
            lines = np.arange(line, line + rows)
        else:
            records = self._scanned
            if records is None or records.starts[-1] != len(data):
                records = self.dialect.records(data)
            lines = line + records.lines
        self._scanned = None
        frame = None
        if records is None or self._is_simple(data, records):
            attempt = self._quick if self._settled else self._guessed
            frame = attempt(data, len(lines))
        if frame is None:
            records = records or self.dialect.records(data)
            return self._careful(data, records, line)
        return Table(_with_missing(frame), lines, [], 0)

    @property
    def _settled(self) -> bool:
        return None not in self.dialect.columns.values()

    def _is_plain(self, data: bytes) -> bool:
        """Whether there are no quotes, and as many separators as whole lines have.

        polars refuses a line with too many separators, so no line has too few either.
        """
        width = len(self.dialect.columns)
        if width < 2 or self.dialect.has_quotes(data) or _has_lone_return(data):
            return False
        text = np.frombuffer(data, dtype=np.uint8)
        separators = np.count_nonzero(text == ord(self.dialect.separator))
        return bool(separators == (width - 1) * np.count_nonzero(text == 10))

    def _is_simple(self, data: bytes, records: Records) -> bool:
        """Whether each record has all fields, and no quote or carriage return is misplaced."""
        good = (records.fields == len(self.dialect.columns)) & (records.flags == 0)
        return bool(good.all()) and not _has_lone_return(data) and not _has_empty(data, records)

    def _polars(self, data: bytes) -> pl.DataFrame:
        """The frame as polars reads it; raises its errors."""
        columns = {name: TYPES[kind or "number"] for name, kind in self.dialect.columns.items()}
        if not data:
            return pl.DataFrame(schema=columns)
        shielded = data.startswith(EATEN)
        if shielded:
            data = ("0" + self.dialect.separator * (len(columns) - 1) + "\n").encode() + data
        frame = pl.read_csv(
            data,
            has_header=False,
            schema=columns,
            separator=self.dialect.separator,
            quote_char=self.dialect.quote if self.dialect.has_quotes(data) else None,
            null_values=NOT_NUMBERS if self.words_are_missing else None,
        )
        return frame[1:] if shielded else frame

    def _quick(self, data: bytes, rows: int) -> pl.DataFrame | None:
        """The frame if polars reads all rows and all numbers are finite, otherwise None."""
        try:
            frame = self._polars(data)
        except REFUSED:
            if self.words_are_missing:
                return None
            self.words_are_missing = True
            return self._quick(data, rows)
        return frame if frame.height == rows and is_finite(frame) else None

    def _guessed(self, data: bytes, rows: int) -> pl.DataFrame | None:
        """The frame if the types of the first records hold for the whole block, otherwise None.

        A column is numeric unless a cell is not: if polars can read every cell as a number, the
        whole block gives the same types.
        """
        if not rows:
            return None
        dialect = self.dialect
        sample = dialect.records(data[:SAMPLE_BYTES], final=len(data) <= SAMPLE_BYTES)
        self._careful(data[: sample.starts[-1]], sample, 0)
        if not self._settled:
            return None
        frame = self._quick(data, rows)
        if frame is None:
            self.dialect = dialect
        return frame

    def _careful(self, data: bytes, records: Records, line: int) -> Table:
        """The rows, cell by cell; determines the types of columns that have none yet."""
        width = len(self.dialect.columns)
        rows = []
        lines = []
        bad = []
        starts = records.starts.tolist()
        for k in range(len(records.lines)):
            record = data[starts[k] : starts[k + 1]]
            if record in (b"\n", b"\r\n"):
                continue
            number = line + int(records.lines[k])
            why = _why(int(records.flags[k]), int(records.fields[k]), width)
            if why is None:
                try:
                    rows.append([field.decode() for field in self.dialect.split(record)])
                    lines.append(number)
                    continue
                except UnicodeDecodeError:
                    why = NOT_UTF8
            shown = decoded(record).rstrip("\r\n")
            bad.append(Bad(number, None, shown, why))
        if not rows:
            return Table(self._polars(b""), np.empty(0, dtype=np.int64), bad, 0)
        schema = dict.fromkeys(self.dialect.columns, pl.String)
        text = _with_missing(pl.DataFrame(rows, schema=schema, orient="row"))
        table = self._typed(text, np.array(lines, dtype=np.int64))
        return table._replace(bad=[*bad, *table.bad])

    def _typed(self, text: pl.DataFrame, lines: Int) -> Table:
        """Numeric columns as numbers, without the rows that do not fit."""
        known = self.dialect.columns
        numbers = _numbers(text.select([name for name, kind in known.items() if kind != "string"]))
        for name, kind in known.items():
            if kind is None and (numbers[name].is_null() & text[name].is_not_null()).any():
                numbers = numbers.drop(name)
        kinds = {name: "number" if name in numbers.columns else "string" for name in known}
        self.dialect = self.dialect._replace(columns=kinds)
        wrong = [
            ((column.is_null() & text[column.name].is_not_null()) | column.is_infinite())
            .fill_null(False)
            .alias(column.name)
            for column in numbers
        ]
        frame = text.with_columns(numbers)
        return without_wrong_cells(frame, lines, pl.DataFrame(wrong), text, self.options.coerce)


def _has_lone_return(data: bytes) -> bool:
    """Whether there is a carriage return that is not part of a line end."""
    return b"\r" in data and data.count(b"\r") != data.count(b"\r\n")


def _has_empty(data: bytes, records: Records) -> bool:
    """Whether there are empty lines, which polars may read as records."""
    text = np.frombuffer(data, dtype=np.uint8)
    sizes = np.diff(records.starts)
    return bool(((sizes == 1) | ((sizes == 2) & (text[records.starts[:-1]] == 13))).any())


def _why(flags: int, fields: int, width: int) -> str | None:
    """Why a record is bad, if it is."""
    if flags & UNCLOSED:
        return "a quote is opened and not closed"
    if flags & AFTER_QUOTE:
        return "a separator was expected after a closing quote"
    return None if fields == width else f"{width} fields were expected, there are {fields}"


def _with_missing(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with null where a string means a missing value."""
    strings = pl.col(pl.String)
    return frame.with_columns(pl.when(~strings.is_in([*MISSING, ""])).then(strings))


def _numbers(text: pl.DataFrame) -> pl.DataFrame:
    """The cells as numbers, null where polars would not read one in a CSV file.

    >>> _numbers(pl.DataFrame({"a": ["1.5", " 2", "2 ", "x,y", None]})).to_series().to_list()
    [1.5, 2.0, None, None, None]
    """
    cells = pl.all().str.replace(r'(?s)^.*[",\r\n].*$', "x").fill_null("")
    written = text.select(pl.lit("0").alias(""), cells).write_csv(
        include_header=False, quote_style="never"
    )
    columns = {f"c{k}": pl.Float64 for k in range(text.width + 1)}
    frame = pl.read_csv(
        written.encode(), has_header=False, schema=columns, quote_char=None, ignore_errors=True
    )
    return frame.drop("c0").rename(dict(zip(list(columns)[1:], text.columns, strict=True)))
