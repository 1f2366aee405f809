"""Records of a CSV file -> a frame, by polars; and where a record does not fit, the cell.

polars parses a block at once. If it refuses, or finds an infinite number, the block is read again
as text, and the cells that became numbers are compared with the text they came from.
"""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from unitless.readers.blocks import FINITE, NUMBER, Bad, ReadError
from unitless.readers.bytes import PADDING, padded
from unitless.readers.frames import REFUSED, TYPES, finite
from unitless.readers.layout import Layout
from unitless.readers.tables import Table

MISSING = ["NA", "na", "N/A", "n/a", "NaN", "NAN", "nan", "null", "NULL", "Null"]
UNREAD = [text for text in MISSING if text.lower() != "nan"]
"""Those that polars does not take for a number by itself."""

COMPRESSED = b"\x1f\x8b", b"x\x01", b"x^", b"x\x9c", b"x\xda", b"\x28\xb5\x2f\xfd"
"""What polars takes for the beginning of compressed data: x^2 is text here. A record in front of
it, which is then left out, keeps polars from it."""

FIRST = 200
"""Records whose cells are looked at before the rest of the first block."""

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
        """The records that begin on these lines; bad lines are added to those given.

        No records settle no types.
        """
        settled, coerced = None not in self.layout.columns.values(), 0
        frame = self._quick(data, len(lines)) if settled else self._guessed(data, lines)
        if frame is None:
            data, lines, undecodable = self._decodable(data, lines)
            bad = [*bad, *undecodable]
            if not len(lines):
                return Table(self._polars(b""), lines, bad, 0)
            self.layout = self.layout._replace(columns=self._types(data, lines))
            frame, lines, unfit, coerced = self._careful(data, lines, coerce)
            bad = [*bad, *unfit]
        strings = pl.col(pl.String)
        frame = frame.with_columns(pl.when(~strings.is_in([*MISSING, ""])).then(strings))
        return Table(frame, lines, bad, coerced)

    def _polars(
        self, data: bytes, rows: int | None = None, kind: str | None = None, *, lax: bool = False
    ) -> pl.DataFrame:
        """The frame; all columns of one kind, if given; cells that do not fit are null if lax."""
        known = self.layout.columns
        columns = {name: TYPES[kind or own or "number"] for name, own in known.items()}
        if not data:  # which polars before 2 refuses
            return pl.DataFrame(schema=columns)
        quote = self.layout.quote
        shielded = data.startswith(COMPRESSED)
        if shielded:
            data = ("0" + self.layout.separator * (len(columns) - 1) + "\n").encode() + data
            rows = rows and rows + 1
        frame = pl.read_csv(
            data,
            has_header=False,
            schema=columns,
            separator=self.layout.separator,
            quote_char=quote if quote and quote.encode() in data else None,
            null_values=UNREAD if self.spelt or lax else None,
            ignore_errors=lax,
            n_rows=rows,
        )
        return frame[1:] if shielded else frame

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
            text = self._polars(data, len(lines), "string")
            frame = self._polars(data, len(lines), kind, lax=True)
        except REFUSED as error:
            raise self._strange(lines, str(error)) from None
        if not text.height == frame.height == len(lines):
            raise self._strange(lines, f"{frame.height} rows instead of {len(lines)}")
        return text, frame

    def _strange(self, lines: Int, what: str) -> ReadError:
        first = int(lines[0]) if len(lines) else None
        why = f"polars cannot read the records from here on ({what})"
        return ReadError(why, file=self.file, line=first)

    def _guessed(self, data: bytes, lines: Int) -> pl.DataFrame | None:
        """The frame if types that the first records tell are right for all, and so are settled.

        A column is a number unless a cell tells otherwise: if polars can read every cell so, none
        had more to tell.
        """
        if not len(lines):
            return None
        layout = self.layout
        try:
            self.layout = layout._replace(columns=self._types(data, lines[:FIRST]))
            frame = self._quick(data, len(lines))
        except ReadError:
            frame = None
        if frame is None:
            self.layout = layout
        return frame

    def _types(self, data: bytes, lines: Int) -> dict[str, str | None]:
        """The columns' types as the cells of the first records tell, one for each of the lines."""
        if None not in self.layout.columns.values():
            return dict(self.layout.columns)
        unfit = _unfit(*self._both(data, lines, "number"))
        return {
            name: kind or ("string" if unfit[:, k].any() else "number")
            for k, (name, kind) in enumerate(self.layout.columns.items())
        }

    def _careful(self, data: bytes, lines: Int, coerce: bool) -> Table:
        """The rows whose cells fit (all rows if coerced)."""
        text, frame = self._both(data, lines, None)
        numbers = frame.select(selectors.float())
        if not numbers.width:
            return Table(frame, lines, [], 0)
        wrong = _unfit(text.select(numbers.columns), numbers) | np.isinf(numbers.to_numpy())
        if coerce:
            fitting = [
                pl.when(pl.Series(~wrong[:, k])).then(pl.col(name)).alias(name)
                for k, name in enumerate(numbers.columns)
            ]
            return Table(frame.with_columns(fitting), lines, [], int(wrong.sum()))
        bad, kept = [], ~wrong.any(axis=1)
        for row in np.flatnonzero(~kept).tolist():
            name = numbers.columns[int(wrong[row].argmax())]
            why = NUMBER if frame[name][row] is None else FINITE
            bad.append(Bad(int(lines[row]), name, text[name][row], why))
        return Table(frame.filter(kept), lines[kept], bad, 0)

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


def _unfit(text: pl.DataFrame, numbers: pl.DataFrame) -> NDArray[np.bool_]:
    """The cells that hold something, and no number."""
    cells = pl.all()
    held = text.select(cells.is_not_null() & ~cells.is_in([*MISSING, ""]))
    nulls = numbers.select(cells.is_null())
    return np.asarray(held.to_numpy() & nulls.to_numpy(), dtype=bool)
