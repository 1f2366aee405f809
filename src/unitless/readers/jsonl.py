"""JSON lines: an object a line; the members of inner objects become columns `outer.inner`.

A name is a column of numbers, strings or booleans, settled on the first block in which it appears
(strings, if there is one among its values). A number that is absent is 0, a boolean false; a null
is missing, and so is an absent target or weight. Lists, infinite numbers and values that do not fit
their column make a bad line; a number or a boolean fits a column of strings.

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
from polars import selectors

from unitless.numerics import kernel
from unitless.readers import tables
from unitless.readers.blocks import (
    FINITE,
    PATTERN,
    Bad,
    Block,
    Options,
    Position,
    is_pattern,
)
from unitless.readers.bytes import Chunk, Source
from unitless.readers.frames import REFUSED, TYPES, flat, kind_of
from unitless.readers.tables import Int, Table
from unitless.readers.words import byte

DEEPEST = 64
"""Objects within objects; polars overflows its stack at some hundred."""

HIGH, LOW = re.compile(rb"\\u[dD][89abAB]"), re.compile(rb"\\u[dD][c-fC-F]")
PAIR = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]")
"""Halves of an escaped character beyond 16 bits, and both of them."""

ZEROS = {"number": 0.0, "boolean": False, "string": None}

Row = dict[str, Any]


def blocks(source: Source, options: Options, start: Position) -> Iterator[Block]:
    """The rows of a file from a position on.

    >>> import io
    >>> lines = b'{"size": {"h": 1.8}, "who": "ann"}\\n{"who": "bob"}\\n'
    >>> for block in blocks(Source(io.BytesIO(lines)), Options(), {}):
    ...     print(block.frame.columns, block.frame.rows())
    ['size.h', 'who'] [(1.8, 'ann'), (0.0, 'bob')]
    """
    place = {"offset": 0, "line": 0, "rows": 0, "skipped": 0, "coerced": 0, "columns": {}, **start}
    for chunk in source.chunks(options.block_bytes):
        texts = chunk.text[chunk.start : chunk.stop].tobytes().split(b"\n")[:-1]
        filled = [i for i, text in enumerate(texts) if text.strip()]
        lines = np.array(filled, dtype=np.int64) + (place["line"] + 1)
        kinds = {**options.types, **place["columns"]}
        labels = options.target, options.weight, *options.labels
        found = _Lines([texts[i] for i in filled], lines, kinds, labels)
        end = {
            "offset": chunk.end,
            "line": place["line"] + len(texts),
            "columns": found.kinds,
        }
        table = found.quick(chunk) or found.careful(options.coerce)
        block = tables.block(table, place, end, source, options)
        place = block.position
        yield block


class _Lines:
    """A block of lines on its way to a frame; `kinds` grows by the names that it settles."""

    def __init__(
        self, texts: list[bytes], lines: Int, kinds: dict[str, str], labels: tuple[str | None, ...]
    ) -> None:
        self.texts, self.lines, self.kinds, self.labels = texts, lines, kinds, labels
        self.bad: list[Bad] = []
        self.coerced = 0

    def quick(self, chunk: Chunk) -> Table | None:
        """The table as polars reads it, if that is beyond doubt."""
        if not self.texts or _depth(chunk.text, chunk.start, chunk.stop) > DEEPEST:
            return None
        try:
            data = chunk.text[chunk.start : chunk.stop].tobytes()
            frame = pl.read_ndjson(data, infer_schema_length=None)
            if any(map(_hollow, frame.dtypes)):
                return None
            frame = flat(frame)
        except REFUSED:
            return None
        if frame.height != len(self.texts) or any(map(is_pattern, frame.columns)):
            return None
        if _doubtful(frame, data) or not self._agree(frame):
            return None
        columns = [
            (pl.col(name) if name in frame.columns else pl.lit(None)).cast(TYPES[kind]).alias(name)
            for name, kind in self.kinds.items()
        ]
        return Table(self._absent_is_zero(frame.select(columns)), self.lines, [], 0)

    def _agree(self, frame: pl.DataFrame) -> bool:
        """Whether the columns are of kinds we know, and settled if new; a null fits any kind."""
        kinds = {name: kind_of(dtype) for name, dtype in frame.schema.items()}
        for name, kind in kinds.items():
            if kind == "other" or (kind != "null" and self.kinds.get(name, kind) != kind):
                return False
        for name, kind in kinds.items():
            self.kinds.setdefault(name, "number" if kind == "null" else kind)
        return True

    def _zero(self, name: str) -> float | bool | None:
        """What stands in a column for a name that is absent."""
        return None if name in self.labels else ZEROS[self.kinds[name]]

    def _absent_is_zero(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Tell a name that is absent, which becomes zero, from a null, which is missing."""
        nulls: dict[str, list[int]] = {}
        for row, text in enumerate(self.texts):
            if b"null" in text:
                for name, value in _members(json.loads(text, object_pairs_hook=_first_wins)):
                    if value is None and name in self.kinds:
                        nulls.setdefault(name, []).append(row)
        zeros = {name: zero for name in self.kinds if (zero := self._zero(name)) is not None}
        frame = frame.with_columns(pl.col(name).fill_null(zero) for name, zero in zeros.items())
        return frame.with_columns(frame[name].scatter(where, None) for name, where in nulls.items())

    def careful(self, coerce: bool) -> Table:
        """The table, line by line; bad lines are left out and listed."""
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
        columns = [
            pl.Series(name, [row.get(name, self._zero(name)) for row in rows.values()], TYPES[kind])
            for name, kind in self.kinds.items()
        ]
        lines = np.array(list(rows), dtype=np.int64)
        return Table(pl.DataFrame(columns), lines, self.bad, self.coerced)

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
        fitted: Row = {}
        for name, value in row.items():
            if name in self.kinds:  # otherwise a null in the place of an object
                try:
                    fitted[name] = _fit(value, self.kinds[name], name)
                except _Problem:
                    if not coerce:
                        raise
                    fitted[name] = None
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


def _hollow(dtype: Any) -> bool:
    """Whether an object has no members: polars before 2.0 drops the numbers in its place."""
    if not isinstance(dtype, pl.Struct):
        return False
    return not dtype.fields or any(_hollow(field.dtype) for field in dtype.fields)


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
        if is_pattern(name):
            raise _Problem(name, _shown(text), PATTERN)
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
    if own == "null":
        return None
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
