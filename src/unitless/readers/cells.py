"""Records of a CSV file -> a frame, by polars; and where a record does not fit, the cell.

polars parses a block at once. If it refuses, or finds an infinite number, the block is read again
as text, and the cells that became numbers are compared with the text they came from.
"""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unitless.readers.blocks import FINITE, NUMBER, Bad, ReadError
from unitless.readers.bytes import PADDING, padded
from unitless.readers.frames import REFUSED, TYPES, finite
from unitless.readers.layout import Layout
from unitless.readers.tables import Table

MISSING = ["NA", "na", "N/A", "n/a", "NaN", "NAN", "nan", "null", "NULL", "Null"]
UNREAD = [text for text in MISSING if text.lower() != "nan"]
"""Those that polars does not take for a number by itself."""

Int = NDArray[np.int64]


class Cells:
    """The cells of a file with a layout, of which the columns' types are settled on first sight.

    >>> cells = Cells(Layout(",", '"', {"height": None, "who": None}), "x.csv")
    >>> frame, *_ = cells.read(b"1.8,ann\\nNA,bob\\n", np.array([2, 3]), [], coerce=False)
    >>> frame.rows(), cells.layout.columns
    ([(1.8, 'ann'), (None, 'bob')], {'height': 'number', 'who': 'string'})
    """

    def __init__(self, layout: Layout, file: str) -> None:
        self.layout, self.file = layout, file
        self.spelt = False
        """Whether numbers have shown NA and the like: looking for them costs polars time."""

    def read(self, data: bytes, lines: Int, bad: list[Bad], *, coerce: bool) -> Table:
        """The records that begin on these lines; bad lines are added to those given."""
        if None in self.layout.columns.values():
            data, lines, more = self._decodable(data, lines)
            bad = [*bad, *more]
            self._settle(data, lines)
        frame, coerced = self._quick(data, len(lines)), 0
        if frame is None:
            data, lines, more = self._decodable(data, lines)
            frame, lines, unfit, coerced = self._careful(data, lines, coerce)
            bad = [*bad, *more, *unfit]
        strings = pl.col(pl.String)
        frame = frame.with_columns(pl.when(~strings.is_in([*MISSING, ""])).then(strings))
        return Table(frame, lines, bad, coerced)

    def _polars(self, data: bytes, kind: str | None = None, *, lax: bool = False) -> pl.DataFrame:
        """The frame; all columns of one kind, if given; cells that do not fit are null if lax."""
        columns = {name: TYPES[kind or own or ""] for name, own in self.layout.columns.items()}
        quote = self.layout.quote
        return pl.read_csv(
            data,
            has_header=False,
            schema=columns,
            separator=self.layout.separator,
            quote_char=quote if quote and quote.encode() in data else None,
            null_values=UNREAD if self.spelt or lax else None,
            ignore_errors=lax,
        )

    def _quick(self, data: bytes, rows: int) -> pl.DataFrame | None:
        """The frame if all is well, None if not."""
        try:
            frame = self._polars(data)
        except REFUSED:
            if self.spelt:
                return None
            self.spelt = True
            return self._quick(data, rows)
        return frame if frame.height == rows and finite(frame) else None

    def _both(self, data: bytes, lines: Int, kind: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The cells as text, and as what they should be, where they can."""
        try:
            text, frame = self._polars(data, "string"), self._polars(data, kind, lax=True)
        except REFUSED as error:
            raise self._strange(lines, str(error)) from None
        if not text.height == frame.height == len(lines):
            raise self._strange(lines, f"{frame.height} rows instead of {len(lines)}")
        return text, frame

    def _strange(self, lines: Int, what: str) -> ReadError:
        first = int(lines[0]) if len(lines) else None
        why = f"polars cannot read the records from here on ({what})"
        return ReadError(why, file=self.file, line=first)

    def _settle(self, data: bytes, lines: Int) -> None:
        """Give a type to each column that has none."""
        text, numbers = self._both(data, lines, "number")
        columns = {
            name: kind or ("string" if _unfit(text[name], numbers[name]).any() else "number")
            for name, kind in self.layout.columns.items()
        }
        self.layout = self.layout._replace(columns=columns)

    def _careful(self, data: bytes, lines: Int, coerce: bool) -> Table:
        """The rows whose cells fit (all rows if coerced)."""
        text, frame = self._both(data, lines, None)
        numbers = [name for name, kind in self.layout.columns.items() if kind == "number"]
        masks = {name: _unfit(text[name], frame[name]) | _infinite(frame[name]) for name in numbers}
        if coerce:
            fitting = [pl.when(~mask).then(frame[name]).alias(name) for name, mask in masks.items()]
            count = sum(int(mask.sum()) for mask in masks.values())
            return Table(frame.with_columns(fitting), lines, [], count)
        bad: dict[int, Bad] = {}
        for name, mask in masks.items():
            for row in np.flatnonzero(mask.to_numpy()).tolist():
                why = NUMBER if frame[name][row] is None else FINITE
                bad.setdefault(row, Bad(int(lines[row]), name, text[name][row], why))
        kept = np.ones(len(lines), dtype=bool)
        kept[list(bad)] = False
        return Table(frame.filter(kept), lines[kept], list(bad.values()), 0)

    def _decodable(self, data: bytes, lines: Int) -> tuple[bytes, Int, list[Bad]]:
        """The records that are UTF-8, their lines, and the others."""
        try:
            data.decode()
            return data, lines, []
        except UnicodeDecodeError:
            text = padded(data)
        edges = self.layout.records(text, PADDING, PADDING + len(data)).starts - PADDING
        good, kept, bad = [], np.ones(len(lines), dtype=bool), []
        for row, (start, stop) in enumerate(itertools.pairwise(edges.tolist())):
            record = data[start:stop]
            try:
                record.decode()
                good.append(record)
            except UnicodeDecodeError:
                kept[row] = False
                shown = record.decode("utf-8", "backslashreplace").rstrip("\r\n")
                bad.append(Bad(int(lines[row]), None, shown, "its bytes are not UTF-8"))
        return b"".join(good), lines[kept], bad


def _infinite(numbers: pl.Series) -> pl.Series:
    return numbers.is_infinite().fill_null(False)


def _unfit(text: pl.Series, numbers: pl.Series) -> pl.Series:
    """Cells that hold something, and no number."""
    held = text.is_not_null() & ~text.is_in([*MISSING, ""]).fill_null(False)
    return numbers.is_null() & held
