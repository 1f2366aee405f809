"""JSON lines, one object per line, or a JSON array of objects.

Members of inner objects become columns `outer.inner`, numbers of a list columns `name.0`, `name.1`,
...; a list of strings stays a list. Lists and objects in lists make a line bad, unless its column
is declared a string: then its JSON is the string. A number or boolean fits a column of strings, and
a string a column of lists. The kind of a column is determined on the first block in which it has a
value (list or string if one of its values is, but strings may be dates, or numbers as people write
them) and does not change later. An absent value is missing, as a null is, unless `absent_zero` is
set. Infinite numbers and values that do not fit their column are missing and counted or, with
`strict`, make a line bad, as keys that occur twice do.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterator
from types import NoneType
from typing import Any

import msgspec
import numpy as np
import polars as pl

from unitless.encoders import column_kinds, number_spellings
from unitless.readers import tables
from unitless.readers.blocks import Bad, FileBlock, Options, Position, Why, decoded
from unitless.readers.missing_cells import MISSING, MissingCells
from unitless.readers.source import Source
from unitless.readers.tables import REFUSED, FileTable, OddCell, too_large

DEEPEST = 64
"""Most levels of nested objects."""

KINDS = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    list: "list",
    NoneType: "null",
}
TYPES: dict[str, Any] = {
    "number": pl.Float64,
    "string": pl.String,
    "boolean": pl.Boolean,
    "list": pl.List(pl.String),
}
ZEROS = {"number": 0, "boolean": False}
"""What an absent value of each kind is with `absent_zero`; others are missing."""
NESTED = {dict, list}
GAPS = [*MISSING, *number_spellings.MISSING_NUMBERS]
"""Texts that are missing in a column of numbers."""
TOO_DEEP = f"objects are nested more than {DEEPEST} deep"
NO_MEMBERS = "an object with members was expected"
NOT_UNICODE = "its text is not Unicode: half of a surrogate pair is alone"
DEEP_LIST = (
    "a list may hold strings or numbers, and no lists or objects; to leave it out, use --ignore, "
    "or types={'%s': 'string'}"
)

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[][{},]', re.DOTALL)
"""A string, or a character that opens, closes or separates."""
DEPTH = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}

Row = dict[str, object]


class _Problem(ValueError):
    """What is wrong with a line (column, text, why), a member (column, why), a cell (text, why)."""


def blocks(source: Source, options: Options, place: Position) -> Iterator[FileBlock]:
    """The rows of a file from a position on."""
    for data, offset in source.chunks(options.block_bytes):
        before = place.columns or {}
        kinds = {**tables.settled_types(options), **before}
        texts = data.split(b"\n")[:-1]
        table = _table(texts, place.line + 1, kinds, {*options.types} - {*before}, options)
        line = place.line + len(texts)
        end = msgspec.structs.replace(place, offset=offset, line=line, columns=kinds)
        block = tables.block(table, place, end, source, options)
        place = block.position
        yield block


def _table(
    texts: list[bytes],
    first: int,
    kinds: dict[str, str | None],
    declared: Collection[str],
    options: Options,
) -> FileTable:
    """The table of the objects from line `first` on; new names get a kind.

    The kinds of the columns `declared` were given, and not yet compared with cells.
    """
    rows: list[Row] = []
    lines: list[int] = []
    bad: list[Bad] = []
    as_text = {name for name, kind in options.types.items() if kind in ("string", "category")}
    for line, text in enumerate(texts, start=first):
        if text.strip():
            try:
                rows.append(_parsed(text, as_text))
                lines.append(line)
            except _Problem as problem:
                bad.append(Bad(line, *problem.args))
    known = {name for name, kind in kinds.items() if kind is not None}
    labels = {options.target, options.weight}
    _add_kinds(kinds, rows, labels, options)
    missing = MissingCells(options.na, usual=())
    columns: list[pl.Series] = []
    odd: list[OddCell] = []
    for name, own in kinds.items():
        spelling = own or "number"
        kind = spelling if spelling.partition(" ")[0] in TYPES else "string"
        zero = ZEROS.get(kind.partition(" ")[0])
        absent = zero if options.absent_zero and name not in labels else None
        values = [row.get(name, absent) for row in rows]
        if missing.tokens:
            values = [None if _is_in(value, missing.tokens) else value for value in values]
        if options.boolean_numbers and kind.startswith("number"):
            values = [float(value) if type(value) is bool else value for value in values]
        column, odd_values = _column(name, values, kind)
        odd += odd_values
        if options.exact and kind == "number" and too_large(column.to_frame()):
            column = _integers(values, column)
        if own == "string" and name not in known | labels:
            kinds[name] = column_kinds.string_kind(column)
        columns.append(column)
    given = pl.DataFrame({each.name: each for each in columns})
    kinds |= tables.with_times(given, kinds, declared)
    frame, odd_dates = tables.typed(given, {name: kind or "number" for name, kind in kinds.items()})
    frame = missing.without_values(frame)
    new = [name for name in kinds if name not in known]
    return FileTable(frame, np.array(lines, dtype=np.int64), bad, [*odd, *odd_dates], new)


def _is_in(value: object, tokens: list[str]) -> bool:
    return isinstance(value, str) and value.strip(" ") in tokens


def _add_kinds(
    kinds: dict[str, str | None], rows: list[Row], labels: set[str | None], options: Options
) -> None:
    """Give a kind to each name that has none, None if it has no value: a label is never a list."""
    names = dict.fromkeys(itertools.chain.from_iterable(rows))
    outer = {name[:at] for name in (*kinds, *names) for at in _dots(name)}
    found: dict[str, list[str]] = {}
    for name in names:
        if kinds.get(name) is None:
            kinds_of_values = dict.fromkeys(KINDS[type(row[name])] for row in rows if name in row)
            found[name] = [kind for kind in kinds_of_values if kind != "null"]
    numbers = _spelled_numbers(found, rows, options)
    for name, own in found.items():
        if name in numbers or options.types.get(name) == "number":
            kinds[name] = numbers.get(name, "number")
        elif "list" in own and name not in labels:
            kinds[name] = "list"
        elif "string" in own or "list" in own:
            kinds[name] = "string"
        elif own or name not in outer:  # otherwise a null instead of an object
            kinds[name] = own[0] if own else None
        is_open = name not in labels and name not in options.types
        if kinds.get(name) == "number" and is_open:
            values = _column(name, [row[name] for row in rows if name in row], "number")[0]
            kinds[name] = column_kinds.epoch_kind(name, values) or "number"


def _spelled_numbers(
    found: dict[str, list[str]], rows: list[Row], options: Options
) -> dict[str, str]:
    """The spelling of new columns of strings, or strings and numbers, that are numbers."""
    names = [name for name in found if "string" in found[name]]
    names = [name for name in names if {*found[name]} <= {"number", "string"}]
    texts = {}
    for name in names:
        values = (row.get(name) for row in rows)
        texts[name] = [value if isinstance(value, str | None) else str(value) for value in values]
    text = pl.DataFrame(texts, schema=dict.fromkeys(names, pl.String))
    mixed = [name for name in names if "number" in found[name]]
    return tables.spelled_numbers(text, options, mixed)


def _dots(name: str) -> Iterator[int]:
    return (at for at, char in enumerate(name) if char == ".")


def _column(name: str, values: list[object], kind: str) -> tuple[pl.Series, list[OddCell]]:
    """The values as a column of that kind, and those that do not fit."""
    fitting = []
    odd: list[OddCell] = []
    if kind.startswith("number"):
        values, odd = _with_numbers(name, values, kind)
        kind = "number"
    for row, value in enumerate(values):
        try:
            fitting.append(_fit(value, kind))
        except _Problem as problem:
            fitting.append(None)
            odd.append(OddCell(row, name, *problem.args))
    return pl.Series(name, fitting, dtype=TYPES[kind]), sorted(odd)


def _with_numbers(name: str, values: list[object], kind: str) -> tuple[list[object], list[OddCell]]:
    """The values with the numbers that strings mean, None for other strings; and the odd ones."""
    rows = [row for row, value in enumerate(values) if isinstance(value, str)]
    if not rows:
        return values, []
    cells = pl.Series([values[row] for row in rows])
    numbers, is_odd = number_spellings.numbers_of(
        cells.set(cells.str.strip_chars(" ").is_in(GAPS), None), kind
    )
    values = [*values]
    for row, number in zip(rows, numbers, strict=True):
        values[row] = number
    places = is_odd.arg_true()
    return values, [OddCell(rows[k], name, cells[k], Why.NUMBER) for k in places]


def _integers(values: list[object], column: pl.Series) -> pl.Series:
    """The column as integers, if all of its values are and are not too large for that."""
    if not {*map(type, values)} <= {int, NoneType}:
        return column
    try:
        return pl.Series(column.name, values, dtype=pl.Int64)
    except (OverflowError, TypeError, *REFUSED):
        return column


def _parsed(text: bytes, as_text: set[str]) -> Row:
    """The members of the object on a line."""
    try:
        return _members(text, as_text)
    except _Problem as problem:
        column, why = problem.args
    except UnicodeDecodeError:
        column, why = None, Why.UTF8
    except RecursionError:
        column, why = None, TOO_DEEP
    except ValueError as error:
        column, why = None, f"no JSON object ({error})"
    raise _Problem(column, decoded(text).strip(), why)


def _members(text: bytes, as_text: set[str]) -> Row:
    """Names and values, those of inner objects as outer.inner."""
    found = DECODER.decode(text.decode())
    if not isinstance(found, dict):
        raise _Problem(None, NO_MEMBERS)
    unusual = b"*" in text or b"^" in text or b"\\u" in text
    row = found
    if unusual or not NESTED.isdisjoint(map(type, found.values())):
        row = {}
        _flatten(found, row, as_text)
    if not row:
        raise _Problem(None, NO_MEMBERS)
    return row


def _unique(pairs: list[tuple[str, object]]) -> Row:
    """The members of an object whose keys are different."""
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Problem(twice, "the key comes twice in an object")
    return row


DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def _flatten(found: Row, row: Row, as_text: set[str], outer: str = "", depth: int = 1) -> None:
    """Add the members of an object to the row, if a table can hold them."""
    if depth > DEEPEST:
        raise _Problem(None, TOO_DEEP)
    for key, value in found.items():
        name = outer + key
        if name in as_text and type(value) in NESTED:
            value = json.dumps(value, ensure_ascii=False)
        if isinstance(value, dict):
            _flatten(value, row, as_text, f"{name}.", depth + 1)
        elif isinstance(value, list):
            for part, each in _listed(name, value).items():
                _add(row, part, each)
        else:
            _add(row, name, value)


def _listed(name: str, values: list[object]) -> Row:
    """A list with a string as a list of strings, another one as columns name.0, name.1, ..."""
    kinds = {*map(type, values)}
    if not NESTED.isdisjoint(kinds):
        raise _Problem(name, DEEP_LIST % name)
    if str in kinds:
        return {name: [_fit(value, "string") for value in values if value is not None]}
    return {f"{name}.{k}": value for k, value in enumerate(values)}


def _add(row: Row, name: str, value: object) -> None:
    if name in row:
        raise _Problem(name, "the name comes twice")
    if tables.is_pattern(name):
        raise _Problem(name, Why.PATTERN)
    try:
        json.dumps([name, value], ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _Problem(name, NOT_UNICODE) from None
    row[name] = value


def _fit(value: Any, kind: str) -> object:
    """The value as a column of that kind holds it; `tables.typed` refuses infinite numbers."""
    own = KINDS[type(value)]
    if own == "null":
        return None
    if own == "number":
        try:
            value = float(value)
        except OverflowError:
            value = math.inf
        if kind != "number" and math.isinf(value):  # text of it would be no JSON
            raise _Problem(str(value), Why.FINITE)
    if own == kind:
        return value
    if kind == "list" and own == "string":
        return [value]
    if kind != "string" or own == "list":
        shown = value if own == "string" else json.dumps(value)
        raise _Problem(shown, f"a {kind} was expected")
    if own == "number" and value.is_integer():
        return str(int(value))
    return None if value != value else json.dumps(value)


def open_array(source: Source) -> None:
    """Let a source give JSON lines also if its text is an array."""
    if source.encoding is None and source.peek().startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        source.transcode("utf-16")
    if source.peek().removeprefix(BOM_UTF8).lstrip().startswith(b"["):
        source.change(as_lines)


def as_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The elements of an array, each on a line of its own; an EOFError if the array has no end.

    An empty element, and what follows the array, are lines that are no objects, and so bad.

    >>> list(as_lines(iter([b'[{"a": [1,\\n 2]}, {"b"', b': 2}] '])))
    [b'{"a": [1,  2]}\\n', b'{"b": 2}\\n']
    """
    text = next(pieces)
    while b"[" not in text:
        text += next(pieces)
    text = text[text.index(b"[") + 1 :]
    is_first = True
    has_ended = False
    while not has_ended:
        ends, has_ended = _ends(text)
        begin = 0
        for end in ends:
            element = text[begin:end].replace(b"\n", b" ").strip()
            is_only = is_first and has_ended and end == ends[-1]
            if element or not is_only:
                yield (element or b",") + b"\n"
            begin = end + 1
            is_first = False
        text = text[begin:]
        if not has_ended:
            piece = next(pieces, b"")
            if not piece:
                raise EOFError("the array does not end")
            text += piece
    rest = text + b"".join(pieces)
    if rest.strip():
        yield b"]" + rest.replace(b"\n", b" ").strip() + b"\n"


def _ends(text: bytes) -> tuple[list[int], bool]:
    """The places after the elements, and whether the last one is the closing bracket."""
    found: list[int] = []
    depth = 0
    for token in TOKEN.finditer(text):
        depth += DEPTH.get(token[0], 0)
        if depth < 0 or (depth == 0 and token[0] == b","):
            found.append(token.start())
        if depth < 0:
            return found, True
    return found, False
