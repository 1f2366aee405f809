"""JSON lines: one object per line; the members of inner objects become columns `outer.inner`.

A name is a column of numbers, strings or booleans. Its kind is determined on the first block in
which it appears (strings if one of its values is a string) and does not change later. An absent
number is 0, an absent boolean false; a null is missing, and so is an absent target or weight.
Lists, infinite numbers, keys that occur twice and values that do not fit their column make a line
bad; a number or boolean fits a column of strings.

polars parses a whole block, several times faster than `json`. The tokens of the text are counted as
well; if the frame does not have as many of each kind, or anything else is unusual, the block is
read line by line with `json`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl

from unitless.readers import tables
from unitless.readers.blocks import (
    FINITE,
    NOT_UTF8,
    PATTERN,
    Bad,
    Block,
    Options,
    Position,
    ReadError,
    decoded,
    is_pattern,
)
from unitless.readers.json_tokens import Tokens, count_tokens
from unitless.readers.source import Source
from unitless.readers.tables import REFUSED, TYPES, Int, Table, flat, is_finite, kind_of

DEEPEST = 64
"""Most levels of nested objects; polars overflows its stack at a few hundred."""

UNUSUAL = re.compile(rb'\\u[dD][89a-fA-F]|""\s*:')
"""Escaped surrogates, and keys without a name."""

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
        kinds = {**options.types, **place["columns"]}
        labels = options.target, options.weight, *options.labels
        lines = _Lines(chunk.data, place["line"] + 1, kinds, labels)
        table = lines.quick() or lines.careful(options.coerce)
        end = {
            "offset": chunk.end,
            "line": place["line"] + chunk.data.count(b"\n"),
            "columns": lines.kinds,
        }
        block = tables.block(table, place, end, source, options)
        place = block.position
        yield block


def _has_brace(frame: pl.DataFrame) -> bool:
    """Whether a string begins with a brace.

    Where a column has both strings and objects, polars makes strings of the objects.
    """
    begins = pl.col(pl.String).str.starts_with("{").any()
    return any(frame.select(begins).row(0)) if pl.String in frame.dtypes else False


class _Lines:
    """Turns a block of lines into a table; adds the kinds of new names to `kinds`."""

    def __init__(
        self, data: bytes, first: int, kinds: dict[str, str], labels: tuple[str | None, ...]
    ) -> None:
        self.data = data
        self.kinds = kinds
        self.labels = labels
        texts = data.split(b"\n")[:-1]
        filled = [k for k, text in enumerate(texts) if text.strip()]
        self.texts = [texts[k] for k in filled]
        self.lines: Int = np.array(filled, dtype=np.int64) + first
        self.bad: list[Bad] = []
        self.coerced = 0

    # All lines at once

    def quick(self) -> Table | None:
        """The table as polars reads it, or None if `json` might read it differently."""
        tokens = Tokens(*count_tokens(np.frombuffer(self.data, dtype=np.uint8)))
        if not self.texts or tokens.depth > DEEPEST or tokens.lists or UNUSUAL.search(self.data):
            return None
        try:
            frame = flat(pl.read_ndjson(self.data, infer_schema_length=None), "a block")
        except (*REFUSED, ReadError):
            return None
        if not self._agrees(frame, tokens) or not self._settles(frame):
            return None
        columns = [
            (pl.col(name) if name in frame.columns else pl.lit(None)).cast(TYPES[kind]).alias(name)
            for name, kind in self.kinds.items()
        ]
        frame = frame.select(columns)
        if not tokens.nulls:  # so every null of the frame is absent
            zeros = ((name, self._zero(name)) for name in self.kinds)
            frame = frame.with_columns(
                pl.col(name).fill_null(zero) for name, zero in zeros if zero is not None
            )
        return Table(frame, self.lines, [], 0)

    def _agrees(self, frame: pl.DataFrame, tokens: Tokens) -> bool:
        """Whether the frame has all values of the text, and nulls are all written or all absent.

        Each key has a value: a cell, a null or an object.
        """
        cells = dict.fromkeys(("number", "string", "boolean", "null", "other"), 0)
        for column in frame:
            cells[kind_of(column.dtype)] += column.len() - column.null_count()
        nulls = sum(frame.null_count().row(0)) if frame.width else 0
        rows = len(self.texts)
        held = sum(cells.values())
        return (
            frame.height == rows
            and cells["string"] == tokens.strings - tokens.keys
            and cells["boolean"] == tokens.booleans
            and tokens.keys == held + tokens.nulls + (tokens.objects - rows)
            and (tokens.nulls == 0 or self._writes_all(frame, tokens, nulls))
            and not any(map(is_pattern, frame.columns))
            and not frame.select(pl.all_horizontal(pl.all().is_null()).any()).item()
            and not (tokens.objects > rows and _has_brace(frame))
            and is_finite(frame)
        )

    def _writes_all(self, frame: pl.DataFrame, tokens: Tokens, nulls: int) -> bool:
        """Whether each line has all names and no inner objects: then every null is missing."""
        flat_lines = tokens.objects == len(self.texts)
        return flat_lines and tokens.nulls == nulls and {*frame.columns} >= {*self.kinds}

    def _settles(self, frame: pl.DataFrame) -> bool:
        """Whether all columns fit their kinds; gives new columns a kind. A null fits any kind."""
        kinds = {name: kind_of(dtype) for name, dtype in frame.schema.items()}
        for name, kind in kinds.items():
            if kind == "other" or (kind != "null" and self.kinds.get(name, kind) != kind):
                return False
        for name in self._in_order_of_appearance(frame):
            self.kinds[name] = "number" if kinds[name] == "null" else kinds[name]
        return True

    def _in_order_of_appearance(self, frame: pl.DataFrame) -> list[str]:
        """The new names; polars does not keep their order."""
        new = [name for name in frame.columns if name not in self.kinds]
        rows = {int(frame[name].is_not_null().arg_max() or 0) for name in new}
        found = [name for row in sorted(rows) for name in _parsed(self.texts[row])]
        return [name for name in dict.fromkeys(found) if name in new]

    def _zero(self, name: str) -> float | bool | None:
        """The value of an absent name."""
        return None if name in self.labels else ZEROS[self.kinds[name]]

    # Line by line

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
        columns = {}
        for name, kind in self.kinds.items():
            cells = [row.get(name, self._zero(name)) for row in rows.values()]
            columns[name] = pl.Series(cells, dtype=TYPES[kind])
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
            if kinds or name not in outer:  # otherwise a null instead of an object
                self.kinds[name] = "string" if "string" in kinds else [*kinds, "number"][0]

    def _fitted(self, row: Row, coerce: bool) -> Row:
        """The row's members as their columns hold them."""
        fitted: Row = {}
        for name, value in row.items():
            if name not in self.kinds:
                continue
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


class _Twice(ValueError):
    """The key that comes twice."""


def _parsed(text: bytes) -> Row:
    """The members of the object on a line."""
    shown = decoded(text).strip()
    try:
        found = json.loads(text.decode(), object_pairs_hook=_unique)
    except _Twice as twice:
        raise _Problem(str(twice), shown, "the key comes twice in an object") from None
    except UnicodeDecodeError:
        raise _Problem(None, shown, NOT_UTF8) from None
    except RecursionError:
        raise _Problem(None, shown, f"nested more than {DEEPEST} deep") from None
    except ValueError as error:
        raise _Problem(None, shown, f"no JSON object ({error})") from None
    if not isinstance(found, dict):
        raise _Problem(None, shown, "an object with members was expected")
    row: Row = {}
    for name, value in _members(found):
        if name in row:
            raise _Problem(name, shown, "the name comes twice")
        if is_pattern(name):
            raise _Problem(name, shown, PATTERN)
        if isinstance(value, list) or (isinstance(value, str) and not _is_unicode(value)):
            why = "a number, string, boolean or object was expected"
            raise _Problem(name, json.dumps(value), why)
        row[name] = value
    if not row:
        raise _Problem(None, shown, "an object with members was expected")
    return row


def _unique(pairs: list[tuple[str, Any]]) -> Row:
    """The members of an object whose keys are different."""
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Twice(next(key for key in keys if keys.count(key) > 1))
    return row


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


def _is_unicode(value: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in value)
