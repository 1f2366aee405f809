"""What readers return and raise, `Block` and `ReadError`, and the options they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import polars
    from numpy.typing import NDArray

    from unitless.rows import Rows

NUMBER = "a number was expected"
FINITE = "a finite number was expected"
NOT_UTF8 = "its bytes are not UTF-8"
WEIGHT = "an importance is a finite number of at least 0"

LONGEST_TEXT = 60
"""Characters of an offending text that an error shows."""

Position = dict[str, Any]
"""A place in a file at which reading can continue: plain JSON, see `Block.position`."""


class ReadError(ValueError):
    """A file that cannot be read as it is, with the place: file, line, column and text.

    >>> error = ReadError("a number was expected", file="x.csv", line=3, column="age", text="old")
    >>> print(error)
    x.csv, line 3, column 'age': a number was expected: 'old'
    >>> error.line, error.column, error.text
    (3, 'age', 'old')
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
        self.why, self.file, self.line, self.column, self.text = why, file, line, column, text
        place = file if line is None else f"{file}, line {line}"
        if column is not None:
            place += f", column {column!r}"
        super().__init__(f"{place}: {why}" + ("" if text is None else f": {shown(text)}"))

    def of_file(self, file: str) -> ReadError:
        """The same error with the name of another file."""
        return ReadError(self.why, file=file, line=self.line, column=self.column, text=self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        place = {k: getattr(self, k) for k in ("file", "line", "column", "text")}
        return partial(ReadError, self.why, **place), ()


def shown(text: str) -> str:
    """The text in quotes, shortened."""
    return repr(text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "...")


def decoded(data: bytes) -> str:
    """Bytes as text for a message, even if they are not UTF-8."""
    return data.decode("utf-8", "backslashreplace")


PATTERN = "polars takes this name for a pattern of names: rename the column"


def is_pattern(name: str) -> bool:
    """Whether polars would interpret the name of a column as a pattern.

    >>> is_pattern("*"), is_pattern("^a.*$"), is_pattern("a*")
    (True, True, False)
    """
    return name == "*" or (name.startswith("^") and name.endswith("$"))


class Options(NamedTuple):
    """How to read; `open_blocks` explains each."""

    target: str | None = None
    weight: str | None = None
    header: bool = True
    separator: str | None = None
    quote: str | None = "auto"
    types: Mapping[str, str] = {}
    coerce: bool = False
    skip_bad: int = 0
    names: Sequence[str] = ()
    block_bytes: int = 1 << 23
    labels: Sequence[str] = ()
    read_ahead: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive rows of a file.

    ========= ==========================================================================
    field     meaning
    ========= ==========================================================================
    frame     tables: the features, a polars DataFrame of Float64, String and Boolean
              columns, where null and NaN are missing; None for svmlight and VW text
    rows      svmlight, VW text: the features, sparse `Rows`, with targets and weights;
              None for tables
    targets   label of each row: float64, NaN where it is missing; or strings or booleans,
              None where it is missing; None for tables read without a target
    weights   importance of each row, float64, or None: all 1
    new_names VW text: names of the columns first seen in this block, the last ones of
              `rows.columns`; column j of svmlight is the index j of the file
    tags      VW text: the tag of each row, or None if none has one
    lines     line of the file on which each row begins, from 1 (Parquet, Arrow: its row)
    start     the place where the block begins, as in `position`
    position  the place after the block: JSON, for `open_blocks(resume=...)`;
              its counts `rows`, `skipped` and `coerced` are those of the file so far
    done      share of the file read so far, or None if its size is not known
    ========= ==========================================================================
    """

    frame: polars.DataFrame | None
    rows: Rows | None
    lines: NDArray[np.int64]
    start: Position
    position: Position
    targets: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None
    new_names: Sequence[str] = field(default=())
    tags: Sequence[str] | None = None
    done: float | None = None

    def __len__(self) -> int:
        return len(self.lines)

    def position_at(self, row: int) -> Position:
        """The place after the first `row` rows of this block."""
        if row == len(self):
            return self.position
        return {**self.start, "skip": self.start.get("skip", 0) + row}

    def tail(self, row: int, names: Sequence[str] = ()) -> Block:
        """The block without its first `row` rows, with these names before its own new ones."""
        return replace(
            self,
            frame=None if self.frame is None else self.frame.slice(row),
            rows=None if self.rows is None else self.rows[row:],
            lines=self.lines[row:],
            targets=None if self.targets is None else self.targets[row:],
            weights=None if self.weights is None else self.weights[row:],
            tags=None if self.tags is None else self.tags[row:],
            new_names=[*names, *self.new_names],
            start=self.position_at(row),
        )


class NumberedNames(Sequence[str]):
    """The names "0", "1", ... of columns without names, each created on access.

    >>> names = NumberedNames(1_000_000)
    >>> names[7], len(names), list(names[:2])
    ('7', 1000000, ['0', '1'])
    """

    def __init__(self, count: int) -> None:
        self.numbers = range(count)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, which: Any) -> Any:
        found = self.numbers[which]
        return str(found) if isinstance(found, int) else list(map(str, found))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)


class Bad(NamedTuple):
    """A line that cannot be used, and why."""

    line: int
    column: str | int | None
    text: str | None
    why: str


def allowed(bad: Sequence[Bad], skipped: int, most: int, file: str) -> int:
    """The number of bad lines so far; an error if there are more than allowed."""
    if skipped + len(bad) > most:
        line, column, text, why = sorted(bad, key=lambda one: one.line)[most - skipped]
        if most:
            lines = "line before it was" if most == 1 else "lines before it were"
            why += f" (and {most} bad {lines} passed over)"
        raise ReadError(why, file=file, line=line, column=column, text=text)
    return skipped + len(bad)
