"""JSON lines: an object a line; the members of inner objects become columns `outer.inner`.

A name is a column of numbers, strings or booleans, settled on the first block in which it has a
value (strings, if there is one among them), and columns appear when they are first seen. In a
column of numbers a name that is absent is null, and counts as zero; a null is NaN, and missing.
Lists, infinite numbers and values that do not fit their column make a bad line; a number or a
boolean fits a column of strings.

polars parses a block at once. What it refuses or might bend is read line by line with `json`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from unitless.numerics import kernel
from unitless.readers.blocks import FINITE, Bad, Block, Options, Position, allowed
from unitless.readers.bytes import Chunk, Source
from unitless.readers.frames import REFUSED, TYPES, flat, kind_of
from unitless.readers.words import byte

DEEPEST = 64
"""Objects within objects; polars overflows its stack at some hundred."""

HIGH, LOW = re.compile(rb"\\u[dD][89abAB]"), re.compile(rb"\\u[dD][c-fC-F]")
PAIR = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]")
"""Halves of an escaped character beyond 16 bits, and both of them."""

Int = NDArray[np.int64]
Row = dict[str, Any]


def blocks(source: Source, options: Options, start: Position) -> Iterator[Block]:
    """The rows of a file from a position on.

    >>> import io
    >>> lines = b'{"size": {"h": 1.8}, "who": "ann"}\\n{"who": "bob"}\\n'
    >>> for block in blocks(Source(io.BytesIO(lines)), Options(), {}):
    ...     print(block.frame.columns, block.frame.rows())
    ['size.h', 'who'] [(1.8, 'ann'), (None, 'bob')]
    """
    place = {"offset": 0, "line": 0, "rows": 0, "skipped": 0, "coerced": 0, "columns": {}, **start}
    for chunk in source.chunks(options.block_bytes):
        texts = chunk.text[chunk.start : chunk.stop].tobytes().split(b"\n")[:-1]
        filled = [i for i, text in enumerate(texts) if text.strip()]
        lines = np.array(filled, dtype=np.int64) + (place["line"] + 1)
        table = _Table({**options.types, **place["columns"]}, [texts[i] for i in filled], lines)
        frame = table.quick(chunk)
        if frame is None:
            frame = table.careful(options.coerce)
        begin = place
        place = {
            **place,
            "offset": chunk.end,
            "line": place["line"] + len(texts),
            "rows": place["rows"] + len(table.lines),
            "skipped": allowed(table.bad, place["skipped"], options.skip_bad, source.name),
            "coerced": place["coerced"] + table.coerced,
            "columns": table.kinds,
        }
        yield Block(frame, None, table.lines, begin, place, done=source.done())


class _Table:
    """A block of lines on its way to a frame; `kinds` grows by the names that it settles."""

    def __init__(self, kinds: dict[str, str], texts: list[bytes], lines: Int) -> None:
        self.kinds, self.texts, self.lines = kinds, texts, lines
        self.bad: list[Bad] = []
        self.coerced = 0

    def quick(self, chunk: Chunk) -> pl.DataFrame | None:
        """The frame as polars reads it, if that is beyond doubt."""
        if not self.texts or _depth(chunk.text, chunk.start, chunk.stop) > DEEPEST:
            return None
        try:
            data = chunk.text[chunk.start : chunk.stop].tobytes()
            frame = flat(pl.read_ndjson(data, infer_schema_length=None))
        except REFUSED:
            return None
        if frame.height != len(self.texts) or _doubtful(frame, data) or not self._agree(frame):
            return None
        columns = [
            (pl.col(name) if name in frame.columns else pl.lit(None)).cast(TYPES[kind]).alias(name)
            for name, kind in self.kinds.items()
        ]
        return self._nulls_are_nan(frame.select(columns))

    def _agree(self, frame: pl.DataFrame) -> bool:
        """Whether the columns are of kinds we know, and settled if new; a null fits any kind."""
        kinds = {name: kind_of(dtype) for name, dtype in frame.schema.items()}
        for name, kind in kinds.items():
            if kind == "other" or (kind != "null" and self.kinds.get(name, kind) != kind):
                return False
        for name, kind in kinds.items():
            self.kinds.setdefault(name, "number" if kind == "null" else kind)
        return True

    def _nulls_are_nan(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Tell a null, which becomes NaN, from a name that is absent, in columns of numbers."""
        rows: dict[str, list[int]] = {}
        for row, text in enumerate(self.texts):
            if b"null" in text:
                for name, value in _members(json.loads(text)):
                    if value is None and self.kinds.get(name) == "number":
                        rows.setdefault(name, []).append(row)
        return frame.with_columns(
            frame[name].scatter(where, math.nan) for name, where in rows.items()
        )

    def careful(self, coerce: bool) -> pl.DataFrame:
        """The frame, line by line; bad lines are left out and listed."""
        rows: dict[int, Row] = {}
        for line, text in zip(self.lines.tolist(), self.texts, strict=True):
            try:
                rows[line] = _parsed(text)
            except _Problem as problem:
                self.bad.append(Bad(line, *problem.args))
        self._settle(rows.values())
        for line, row in list(rows.items()):
            try:
                rows[line] = self._fitted(row, coerce)
            except _Problem as problem:
                del rows[line]
                self.bad.append(Bad(line, *problem.args))
        self.lines = np.array(list(rows), dtype=np.int64)
        return pl.DataFrame(
            [
                pl.Series(name, [row.get(name) for row in rows.values()], TYPES[kind])
                for name, kind in self.kinds.items()
            ]
        )

    def _settle(self, rows: Iterable[Row]) -> None:
        """Give a kind to each name that has none: strings if one of its values is a string."""
        new: dict[str, dict[str, None]] = {}
        for row in rows:
            for name, value in row.items():
                if name not in self.kinds:
                    new.setdefault(name, {})[_value_kind(value)] = None
        outer = {name[:at] for name in (*self.kinds, *new) for at in _dots(name)}
        for name, found in new.items():
            kinds = [kind for kind in found if kind != "null"]
            if kinds or name not in outer:
                self.kinds[name] = "string" if "string" in kinds else [*kinds, "number"][0]

    def _fitted(self, row: Row, coerce: bool) -> Row:
        """The row's members as their columns hold them."""
        fitted = {}
        for name, value in row.items():
            if name in self.kinds:  # otherwise a null in the place of an object
                kind = self.kinds[name]
                fitted[name] = missing = math.nan if kind == "number" else None
                try:
                    fitted[name] = missing if value is None else _fit(value, kind, name)
                except _Problem:
                    if not coerce:
                        raise
                    self.coerced += 1
        return fitted


class _Problem(ValueError):
    """Column, text, why."""


@kernel
def _depth(text, start, stop):
    """How deep objects and lists are nested."""
    depth, deepest, inside, at = 0, 0, False, start
    while at < stop:
        char = byte(text, at)
        if inside:
            at += char == 92
            inside = char != 34
        elif char == 34:
            inside = True
        elif char == 123 or char == 91:
            depth += 1
            deepest = max(deepest, depth)
        elif char == 125 or char == 93:
            depth -= 1
        elif char == 10:
            depth = 0
        at += 1
    return deepest


def _doubtful(frame: pl.DataFrame, data: bytes) -> bool:
    """Whether a string may have been an object, a list or no Unicode, or a row without members."""
    if len(HIGH.findall(data)) != len(PAIR.findall(data)) or len(LOW.findall(data)) != len(
        PAIR.findall(data)
    ):
        return True
    strings = frame.select(selectors.string().str.contains(r"^[\[{]").any())
    empty = frame.select(pl.all_horizontal(pl.all().is_null()).any())
    return any(strings.row(0) if strings.width else ()) or bool(empty.item())


def _parsed(text: bytes) -> Row:
    """The members of the object on a line."""
    try:
        found = json.loads(text.decode(), object_pairs_hook=_first_wins)
    except UnicodeDecodeError:
        raise _Problem(None, _shown(text), "its bytes are not UTF-8") from None
    except RecursionError:
        raise _Problem(None, _shown(text), f"more than {DEEPEST} levels") from None
    except ValueError as error:
        raise _Problem(None, _shown(text), f"no JSON object ({error})") from None
    if not isinstance(found, dict):
        raise _Problem(None, _shown(text), "an object with members was expected")
    row: Row = {}
    for name, value in _members(found):
        if name in row:
            raise _Problem(name, _shown(text), "the name comes twice")
        if isinstance(value, list) or (isinstance(value, str) and not _unicode(value)):
            why = "a number, string, boolean or object was expected"
            raise _Problem(name, json.dumps(value), why)
        row[name] = value
    if not row:
        raise _Problem(None, _shown(text), "an object with members was expected")
    return row


def _first_wins(pairs: list[tuple[str, Any]]) -> Row:
    """As polars has it."""
    return dict(reversed(pairs)) if len(dict(pairs)) < len(pairs) else dict(pairs)


def _members(found: Row, outer: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
    """Names and values, those of inner objects as outer.inner."""
    if depth > DEEPEST:
        raise _Problem(None, outer, f"objects are nested more than {DEEPEST} deep")
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _members(value, f"{outer}{name}.", depth + 1)
        else:
            yield outer + name, value


def _value_kind(value: Any) -> str:
    return {bool: "boolean", str: "string", type(None): "null"}.get(type(value), "number")


def _fit(value: Any, kind: str, name: str) -> Any:
    """The value as a column of that kind holds it."""
    own = _value_kind(value)
    if own == "number":
        try:
            value = float(value)
        except OverflowError:
            value = math.inf
        if math.isinf(value):
            raise _Problem(name, str(value), FINITE)
    if own == kind:
        return value
    if kind != "string":
        raise _Problem(name, json.dumps(value), f"a {kind} was expected")
    if own == "number" and value.is_integer():
        return str(int(value))
    return None if value != value else json.dumps(value)


def _dots(name: str) -> Iterator[int]:
    return (at for at, char in enumerate(name) if char == ".")


def _unicode(value: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in value)


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace").strip()
