"""What readers return and raise, `FileBlock` and `ReadError`, and the options they share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from unitless.readers.encodings import canonical

if TYPE_CHECKING:
    import numpy as np
    import polars
    from numpy.typing import NDArray

    from unitless.rows import Rows

KIND = re.compile(
    r"number( 1[,. \']?234[.,]5( \S+)?)?|boolean|string|category|label|date(time)?|date .*%.*"
)
"""Kinds of columns, see `unitless.encoders.column_kinds`. Strings of a label are not parsed."""


class Why:
    """Reasons why a cell or a line cannot be used."""

    NUMBER = "a number was expected"
    BOOLEAN = "true or false was expected"
    DATE = "a date was expected"
    FINITE = "a finite number was expected"
    UTF8 = "its bytes are not UTF-8 (--encoding names another encoding)"
    WEIGHT = "an importance is a finite number of at least 0"
    PATTERN = "polars takes this name for a pattern of names: rename the column"


LONGEST_TEXT = 60
"""Characters of an offending text that an error shows."""


class ReadError(ValueError):
    """A file that cannot be read as it is, with the place: file, line, column and text.

    >>> error = ReadError("a number was expected", file="x.csv", line=3, column="age", text="old")
    >>> print(error)
    x.csv, line 3, column 'age': a number was expected: 'old'
    """

    def __init__(
        self,
        why: str,
        *,
        file: str,
        line: int | None = None,
        column: str | int | None = None,
        text: str | None = None,
    ) -> None:
        self.why = why
        self.file = file
        self.line = line
        self.column = column
        self.text = text
        place = file if line is None else f"{file}, line {line}"
        if column is not None:
            place += f", column {column!r}"
        super().__init__(f"{place}: {why}" + ("" if text is None else f": {shown(text)}"))

    def of_file(self, file: str) -> ReadError:
        """The same error with the name of another file."""
        return ReadError(**{**vars(self), "file": file})

    def __reduce__(self) -> tuple[object, ...]:
        return partial(ReadError, **vars(self)), ()


class OddCells(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Cells of a column that do not fit it, and are missing: their count, and the first one."""

    count: int
    line: int
    text: str
    file: str | None = None
    """The file of the first one, if there are several files."""


class Position(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A place in a file at which reading can continue, and what was found up to it.

    `as_json` makes plain JSON of it, and `of` reads this again.

    >>> Position(format="csv", line=3, rows=2, offset=20).as_json()
    {'format': 'csv', 'line': 3, 'rows': 2, 'offset': 20}
    >>> Position.of({"rows": "2"})
    Traceback (most recent call last):
    ValueError: not a position in a file: Expected `int`, got `str` - at `$.rows`
    """

    format: str | None = None
    line: int = 0
    """Lines before the next block (Parquet, Arrow: rows)."""
    rows: int = 0
    """Rows so far."""
    skipped: int = 0
    """Bad lines so far, which were skipped."""
    coerced: int = 0
    """Cells so far that did not fit their column and are missing."""
    offset: int = 0
    """Bytes of text before the next block."""
    skip: int = 0
    """Rows of the next block that were already used."""
    until: int | None = None
    """Parquet and Arrow: the row after which reading ends."""
    files: tuple[str, ...] = ()
    """Several files: those up to the present one."""
    columns: dict[str, str | None] | None = None
    """Tables: the kind of each column, None where it is not known; None before the first row."""
    features: int = 0
    """svmlight and VW text: the number of features so far."""
    types: dict[str, str] = {}
    """CSV: kinds of columns in the files before this one."""
    separator: str | None = None
    quote: str | None = None
    """CSV: the characters; the quote is None if there is none."""
    encoding: str | None = None
    """Of a table of text, if it is not UTF-8."""
    decimal: str | None = None
    """CSV: the usual decimal sign, if it is a comma."""
    renamed: dict[str, str] = {}
    """CSV: the name in the header of columns whose name comes several times."""
    odd_cells: dict[str, OddCells] = {}
    """Columns with cells that do not fit."""

    @classmethod
    def of(cls, found: object) -> Position:
        """The position of which this is the JSON; wrong and unknown entries are errors."""
        try:
            return found if isinstance(found, Position) else msgspec.convert(found, cls)
        except msgspec.ValidationError as error:
            raise ValueError(f"not a position in a file: {error}") from None

    def as_json(self) -> dict[str, Any]:
        """The position as plain JSON, without entries that have their default."""
        return dict(msgspec.to_builtins(self))

    @property
    def row(self) -> int:
        """How many rows were used."""
        return self.rows + self.skip


BEGINNING = Position()
"""The position at the beginning of a file of any format."""


def shown(text: str) -> str:
    """The text in quotes, shortened."""
    return repr(text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "...")


def decoded(data: bytes) -> str:
    """Bytes as text for a message, even if they are not UTF-8."""
    return data.decode("utf-8", "backslashreplace")


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to read a file; options that a format does not have are ignored."""

    target: str | None = None
    weight: str | None = None
    """Tables: the columns of labels and importances, which are then not in the frames."""
    absent_zero: bool = False
    """JSON lines: absent numbers are 0, as in sparse rows; by default they are missing."""
    boolean_numbers: bool = False
    """JSON lines: booleans are 1 and 0 in columns of numbers; by default they do not fit."""
    header: bool = True
    """CSV: whether the first line names the columns (otherwise c1, c2, ...)."""
    separator: str | None = None
    quote: str | None = "auto"
    """CSV: both are detected by default; a quote of None means none."""
    encoding: str | None = None
    """A codec of Python; by default UTF-8, that of a table of text is detected."""
    decimal: str | None = None
    thousands: str | None = None
    """Tables: the signs of all numbers in CSV files and in strings ("" for none); by default
    detected for each column."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Tables: kinds of columns that are not to be detected (`unitless.encoders.column_kinds`)."""
    na: Sequence[str] = ()
    """Tables: cells that are missing besides the usual ones; JSON, Parquet, Arrow: strings and
    numbers that are."""
    strict: bool = False
    """Tables: a cell that does not fit makes its line bad; by default it is missing and counted."""
    skip_bad: int = 0
    """How many bad lines are skipped and counted; one more is an error."""
    tell_bad: bool = False
    """Whether a block comes as soon as it has bad lines (`FileBlock.bad`), also without rows."""
    names: Sequence[str] = ()
    """VW text: names that already have columns, for instance those of a model."""
    block_bytes: Any = None
    """Approximate size of a block in the file (in memory for Parquet and Arrow)."""
    read_ahead: bool = True
    """Whether another thread reads the next block while the caller works on this one."""
    exact: bool = False
    """Tables: columns of whole numbers that float64 cannot hold stay integers in the frames."""

    def __post_init__(self) -> None:
        quote = None if self.quote == "auto" else self.quote
        for what, char in (("separator", self.separator), ("quote", quote)):
            if char is not None and (len(char) != 1 or not char.isascii() or char in "\r\n"):
                raise ValueError(f"{what} {char!r}: it is one character, and plain ASCII")
        if self.encoding is not None:
            canonical(self.encoding)
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal {self.decimal!r}: it is a point or a comma")
        if self.thousands not in (None, "", ",", ".", " ", "'"):
            raise ValueError(
                f"thousands {self.thousands!r}: it is a comma, a point, a space, ' or none"
            )
        if self.thousands and self.thousands == self.decimal:
            raise ValueError("the decimal sign and the thousands separator are the same")
        if self.skip_bad < 0:
            raise ValueError(f"skip_bad = {self.skip_bad}: a number of lines is at least 0")
        for name, kind in self.types.items():
            if not KIND.fullmatch(kind):
                one_of = "number, boolean, string, category, date, datetime or date FORMAT"
                raise ValueError(f"column {name!r}: a type is {one_of}, not {kind!r}")


@dataclass(frozen=True, slots=True)
class FileBlock:
    """Consecutive rows of a file."""

    frame: polars.DataFrame | None
    """Tables: the features, columns of Float64, String, Boolean, Date, Datetime, List(String)."""
    rows: Rows | None
    """svmlight, VW text: the features, with targets and weights."""
    lines: NDArray[np.int64]
    """The line of the file on which each row begins, from 1 (Parquet, Arrow: its row)."""
    start: Position = BEGINNING
    position: Position = BEGINNING
    """The places before and after the block, for `open_blocks(resume=...)`."""
    targets: NDArray[Any] | None = None
    """float64, NaN where missing; or strings or booleans, None where missing; None: not asked."""
    weights: NDArray[np.float64] | None = None
    """Importances; None: all 1."""
    new_names: Sequence[str] = field(default=())
    """VW text: names of the columns first seen in this block, the last ones of `rows.columns`."""
    first_rows: Mapping[str, int] = field(default_factory=dict)
    """JSON lines: columns new in this block, with the row of their first value.

    They are no features before it, so that it does not matter where blocks end.
    """
    bad: Sequence[Bad] = ()
    """The bad lines that were skipped in this block."""
    tags: Sequence[str] | None = None
    """VW text: the tag of each row, or None if none has one."""
    done: float | None = None
    """The share of the file (or files) read so far, or None if its size is not known."""
    file: str = ""

    def __len__(self) -> int:
        return len(self.lines)

    def position_at(self, row: int) -> Position:
        """The place after the first `row` rows of this block."""
        if row == len(self):
            return self.position
        return msgspec.structs.replace(self.start, skip=self.start.skip + row)

    def tail(self, row: int, names: Sequence[str] = ()) -> FileBlock:
        """The block without its first `row` rows, with these names before its own new ones."""
        new_names = [*names, *self.new_names]
        return replace(self._cut(row, None), new_names=new_names, start=self.position_at(row))

    def single(self, row: int) -> FileBlock:
        """One row as a block of its own, for a caller that does not go on from its position."""
        return self._cut(row, row + 1)

    def _cut(self, row: int, stop: int | None) -> FileBlock:
        cut: Any = {}
        for part in ("frame", "rows", "lines", "targets", "weights", "tags"):
            value = getattr(self, part)
            cut[part] = None if value is None else value[row:stop]
        cut["first_rows"] = {name: max(at - row, 0) for name, at in self.first_rows.items()}
        return replace(self, **cut)


class Bad(NamedTuple):
    """A line that cannot be used, and why."""

    line: int
    column: str | int | None
    text: str | None
    why: str

    def error(self, file: str) -> ReadError:
        """The error for this line of a file."""
        return ReadError(self.why, file=file, line=self.line, column=self.column, text=self.text)


line_of = attrgetter("line")
"""Sorts bad lines."""


def allowed(bad: Sequence[Bad], skipped: int, most: int, file: str) -> int:
    """The number of bad lines so far; an error if there are more than allowed."""
    if skipped + len(bad) > most:
        first = sorted(bad, key=line_of)[most - skipped]
        if most:
            lines = "line before it was" if most == 1 else "lines before it were"
            first = first._replace(why=f"{first.why} (and {most} bad {lines} passed over)")
        raise first.error(file)
    return skipped + len(bad)
