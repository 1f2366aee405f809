"""Text of data on a terminal and in spreadsheets, where some characters are commands.

Names, labels and cells come from files that somebody else may have written. A terminal obeys escape
sequences in what it shows, and a spreadsheet computes cells that begin like a formula.
"""

import json
import sys
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of cells that a spreadsheet takes for a formula."""


def escaped(text: str, keep: str = "") -> str:
    r"""Return the text with characters that cannot be seen spelt out, except those in `keep`.

    >>> print(escaped("a\x1b[31m\nb", keep="\n"))
    a\x1b[31m
    b
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in keep else each.encode("unicode_escape").decode()
        for each in text
    )


def json_line(value: object) -> str:
    r"""Return JSON in one line; characters that cannot be seen are escaped.

    >>> print(json_line({"a": "é\x9b"}))
    {"a": "é\u009b"}
    """
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _json_escape(each) for each in text)


def _json_escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 2**16 else json.dumps(character)[1:-1]


class _ToTerminal:
    """Standard output that a person reads: what is not printable is escaped."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream

    def write(self, data: Any) -> int:
        """Write bytes; returns their number before escaping."""
        text = escaped(bytes(data).decode("utf-8", "backslashreplace"), keep="\n\t")
        self.stream.write(text.encode())
        return len(data)

    def flush(self) -> None:
        """Pass everything written so far to the terminal."""
        self.stream.flush()


def standard_output() -> Any:
    """Return standard output for bytes; on a terminal, text is escaped, in a pipe it is exact."""
    stream: Any = getattr(sys.stdout, "buffer", sys.stdout)
    return _ToTerminal(stream) if sys.stdout.isatty() else stream


def without_formulas(text: str) -> str:
    """Return text for a cell that no spreadsheet computes: an apostrophe comes first.

    >>> without_formulas("=1+1"), without_formulas("-1.5"), without_formulas("a=b")
    ("'=1+1", '-1.5', 'a=b')
    """
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def frame_without_formulas(frame: "polars.DataFrame") -> "polars.DataFrame":
    """Return a frame for CSV in which no name and no cell of text is a formula."""
    import polars as pl

    is_text = pl.selectors.by_dtype(pl.String, pl.Categorical, pl.Enum)
    for column in frame.select(is_text):
        cells = [None if cell is None else without_formulas(cell) for cell in column.to_list()]
        frame = frame.with_columns(pl.Series(column.name, cells, dtype=pl.String))
    return frame.rename(without_formulas)
