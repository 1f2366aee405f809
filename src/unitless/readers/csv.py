"""CSV: fields separated by commas, tabs, semicolons, bars or spaces.

The first line is the header unless `header=False`; separator and quotes are detected on the
first lines unless given. The cells of the first block decide whether a column holds numbers,
dates, booleans or strings, see `unitless.encoders.column_kinds`. A later cell that does not fit is
missing and counted. Empty lines are skipped. A line is bad if it has too
few or too many fields or, with `strict`, a cell that does not fit.

polars parses a whole block. A block with anything unusual in it is split here, record by record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
import polars as pl

from unitless.encoders import column_kinds, number_spellings
from unitless.encoders.date_formats import is_named_like_a_time
from unitless.readers import tables
from unitless.readers.blocks import Bad, FileBlock, Options, Position, ReadError, Why, decoded
from unitless.readers.csv_records import Dialect, detect, records, regular_lines, whole_records
from unitless.readers.missing_cells import MissingCells
from unitless.readers.source import Source, whole_lines
from unitless.readers.tables import REFUSED, FileTable, Int, OddCell, is_finite, too_large
from unitless.suggestions import no_such_column

GUESS_BYTES = 1 << 16
"""Bytes in which the kinds of columns are guessed, before the whole block is read by the guess."""

NEWLINE = 10
BLANK = re.compile(rb"(?:\r?\n)*")
"""Empty lines; one of blanks or tabs has fields."""


def blocks(source: Source, options: Options, place: Position) -> Iterator[FileBlock]:
    """The rows of a file from a position on."""
    reader = Reader(source.name, options, place)
    for text, offset in source.chunks(options.block_bytes, reader.cut):
        data = reader.without_header(text, place.line)
        line = place.line + text[: len(text) - len(data)].count(b"\n")
        if reader.dialect is None or not reader.columns:
            place = msgspec.structs.replace(place, offset=offset, line=line)
            continue
        table = reader.read(data, line + 1)
        end = msgspec.structs.replace(
            place,
            offset=offset,
            line=line + int(np.count_nonzero(np.frombuffer(data, np.uint8) == NEWLINE)),
            separator=reader.dialect.separator,
            quote=reader.dialect.quote,
            columns=dict(reader.columns),
            decimal="," if reader.decimal == "," else place.decimal,
            renamed=reader.renamed or place.renamed,
        )
        block = tables.block(table, place, end, source, options)
        place = block.position
        yield block


class Reader:
    """Reads the records of a file; its dialect and the types of its columns are determined once."""

    def __init__(self, file: str, options: Options, start: Position) -> None:
        self.file = file
        self.options = options
        self.dialect: Dialect | None = None
        self.columns: Mapping[str, str | None] = start.columns or {}
        """Their kinds, None if not yet known."""
        if start.separator is not None:
            self.dialect = Dialect(start.separator, start.quote)
        self.renamed: dict[str, str] = {}
        """The name in the header of columns whose name comes several times."""
        self.decimal: str | None = start.decimal
        """The usual decimal sign of this file, None if not yet known."""
        self.missing = MissingCells(options.na)
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
            given = _names([field.decode() for field in typical.fields], header)
            names = distinct_names(given)
        except ValueError as error:
            why = Why.UTF8 if isinstance(error, UnicodeDecodeError) else str(error)
            why += "; if the first line is not a header, pass header=False" * header
            raise ReadError(why, file=self.file, line=line + first.line + 1) from None
        for name in self.options.types:
            if name not in names:
                raise ReadError(no_such_column(name, names), file=self.file)
        self.columns = dict.fromkeys(names)
        pairs = zip(names, given, strict=True)
        self.renamed = {name: before for name, before in pairs if name != before}
        return data[first.end if header else first.begin :]

    def read(self, data: bytes, line: int) -> FileTable:
        """The rows of a text whose first line has that number."""
        lines = regular_lines(data, self._dialect(data), len(self.columns))
        text = None
        bad: list[Bad] = []
        if lines is not None and len(lines):
            text = self._parsed(data, () if self.options.exact else self._guessed(data))
            if text is None or not _are_finite(text) or self._shows_commas(text):
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
        sample = self._parsed(data[: whole_lines(data[:GUESS_BYTES])], ())
        if sample is None:
            return []
        sample = self.missing.without_tokens(sample)
        if self._decimal_sign(sample) == ",":
            return []
        odd = sample.select(
            number_spellings.plain_numbers(pl.all()).null_count() - pl.all().null_count()
        )
        types = self.options.types
        plain = [name for name in self.columns if types.get(name, "number") == "number"]
        # Numbers in a column that is named like a time may be dates.
        plain = [name for name in plain if not is_named_like_a_time(name) and odd[name][0] == 0]
        if not _may_have_leading_zeros(data, self._dialect(data)):
            return plain
        text = self._parsed(data, ())
        open_ones = [name for name in plain if name not in types]
        columns = () if text is None else text.select(open_ones)
        codes = {column.name for column in columns if number_spellings.has_leading_zeros(column)}
        return [name for name in plain if name not in codes]

    def _shows_commas(self, text: pl.DataFrame) -> bool:
        """Whether a new file has decimal commas, but some columns were read with points."""
        if None not in self.columns.values() or {*text.dtypes} == {pl.String}:
            return False
        strings = self.missing.without_tokens(text.select(pl.col(pl.String)))
        return self._decimal_sign(strings) == ","

    def _decimal_sign(self, text: pl.DataFrame) -> str:
        """The usual decimal sign of a file with these cells."""
        separator = self._dialect(b"").separator
        is_expected = any(map(number_spellings.has_decimal_comma, self.options.types.values()))
        found = number_spellings.decimal_sign(text, separator, "," if is_expected else ".")
        return self.options.decimal or found

    def _spelling(self, kind: str) -> str:
        """How cells of that kind may be written in this file.

        A column of a file with decimal commas whose first numbers are below 1000 may have points
        between thousands later.
        """
        return number_spellings.with_groups(kind) if self._may_have_groups() else kind

    def _may_have_groups(self) -> bool:
        """Whether numbers may have points between thousands, although the first ones have none."""
        return self.decimal == "," and self.options.thousands is None

    def _number_kinds(self) -> list[str]:
        """How numbers may be spelled in this file."""
        signs = self.options.decimal, self.options.thousands
        return number_spellings.number_kinds(self.decimal or ".", *signs)

    def _kinds(self, text: pl.DataFrame) -> Mapping[str, str]:
        """The kinds of the columns; those of new ones are detected."""
        if self.decimal is None and None in self.columns.values():
            self.decimal = self._decimal_sign(text.select(pl.col(pl.String)))
        return {name: kind or self._kind(text[name]) for name, kind in self.columns.items()}

    def _kind(self, column: pl.Series) -> str:
        """The kind of a new column, whose cells polars may have read as numbers already."""
        if column.dtype != pl.String:
            return "number"
        kinds = self._number_kinds()
        given = self.options.types.get(column.name)
        if given is None:
            is_label = column.name in (self.options.target, self.options.weight)
            return column_kinds.kind_of_cells(column, kinds, is_label=is_label)
        return column_kinds.declared_kind(
            column,
            given,
            kinds,
            is_target=column.name == self.options.target,
            has_groups=self._may_have_groups(),
        )

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
        spelled = {name: self._spelling(kind) for name, kind in kinds.items()}
        frame, odd = tables.typed(text, spelled, numbers_are_finite=True)
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


def _are_finite(text: pl.DataFrame) -> bool:
    """Whether the columns that polars parsed as numbers are finite; if not, cells show why."""
    return all(is_finite(column) for column in text if column.dtype == pl.Float64)


def _names(fields: list[str], header: bool) -> list[str]:
    """The names of the columns; c1, c2, ... where the file gives none."""
    names = [name.strip() if header else "" for name in fields]
    names = [name or f"c{k}" for k, name in enumerate(names, start=1)]
    for name in names:
        if tables.is_pattern(name):
            raise ValueError(f"{name!r}: {Why.PATTERN}")
    return names


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names with the suffixes that pandas gives to those that come several times.

    >>> distinct_names(["a", "b", "a", "a.1", "a"])
    ['a', 'b', 'a.2', 'a.1', 'a.3']
    """
    counts: dict[str, int] = {}
    found = []
    for name in names:
        number = counts.get(name, 0)
        made = name
        while number:
            counts[name] = number + 1
            made = f"{name}.{number}"
            number = number + 1 if made in names else counts.get(made, 0)
        counts[made] = number + 1
        found.append(made)
    return found


def _may_have_leading_zeros(data: bytes, dialect: Dialect) -> bool:
    """Whether a field may be a code such as 02139: numbers would lose its zeros.

    >>> [_may_have_leading_zeros(text, Dialect(",", None)) for text in (b"1,02139\\n", b"1,0.5\\n")]
    [True, False]
    """
    text = np.frombuffer(b"\n" + data, dtype=np.uint8)
    separator, quote = ord(dialect.separator), ord(dialect.quote or "\n")
    before, first, second = text[:-2], text[1:-1], text[2:]
    is_zero = (first == ord("0")) & (second >= ord("0")) & (second <= ord("9"))
    places = np.flatnonzero(is_zero)
    places = places[np.isin(before[places], [separator, quote, NEWLINE, ord(" ")])]
    signs = re.escape((dialect.quote or "\n").encode()), re.escape(dialect.separator.encode())
    end = re.compile(rb"\d+ *%b? *[%b\r\n]" % signs)
    return any(end.match(data, place) for place in places.tolist())
