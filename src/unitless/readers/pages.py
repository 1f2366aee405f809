"""What a Parquet file promises, looked at before polars believes it.

polars asks for as much memory as a page says that its values need, and ends the process if there is
not so much. So the counts are checked first: those in the footer, and those in front of each page.
Both are written in Thrift's compact protocol. A field of another type than the format's is refused,
because polars would read it as what it should be; fields that are not in the tables are skipped.
"""

import os
from typing import Any

import numpy as np

from unitless.numerics import kernel

YES, NO, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, _, STRUCT = range(1, 13)
Fields = dict[int, Any]
COUNT, SIZE = 16, 32
"""Added to the type of a number of values, 0 to 2^31 - 1, and of one of bytes, 0 or more."""
INTEGER, BYTES, VALUES = I32 + SIZE, I64 + SIZE, I64 + COUNT

STATISTICS = {1: BINARY, 2: BINARY, 3: I64, 4: I64, 5: BINARY, 6: BINARY, 7: YES, 8: YES}
TIME = {1: YES, 2: Fields.fromkeys(range(1, 4), {})}
LOGICAL = {
    **Fields.fromkeys([1, 2, 3, 4, 6, 11, 12, 13, 14, 15], {}),
    5: {1: I32, 2: I32}, 7: TIME, 8: TIME, 10: {1: BYTE, 2: YES},
}  # fmt: skip
SCHEMA = {**Fields.fromkeys(range(1, 10), I32), 4: BINARY, 10: LOGICAL}
KEY_VALUE = {1: BINARY, 2: BINARY}
COLUMN = {
    1: I32, 2: [I32], 3: [BINARY], 4: I32, 5: VALUES, 6: BYTES, 7: BYTES, 8: [KEY_VALUE], 9: BYTES,
    10: BYTES, 11: BYTES, 12: STATISTICS, 13: [{1: I32, 2: I32, 3: I32}], 14: I64, 15: I32,
}  # fmt: skip
CHUNK = {1: BINARY, 2: I64, 3: COLUMN, 4: I64, 5: I32, 6: I64, 7: I32}
GROUP = {1: [CHUNK], 2: I64, 3: VALUES, 4: [{1: I32, 2: YES, 3: YES}], 5: I64, 6: I64, 7: I16}
FILE = {1: I32, 2: [SCHEMA], 3: BYTES, 4: [GROUP], 5: [KEY_VALUE], 6: BINARY, 7: [{1: {}}]}
PAGE: Fields = {
    1: I32, 2: INTEGER, 3: INTEGER, 4: I32,
    5: {1: INTEGER, 2: I32, 3: I32, 4: I32, 5: STATISTICS},
    7: {1: INTEGER, 2: I32, 3: YES},
    8: {1: INTEGER, 2: INTEGER, 3: INTEGER, 4: I32, 5: INTEGER, 6: INTEGER, 7: YES, 8: STATISTICS},
}  # fmt: skip
"""Fields by their numbers, as parquet.thrift has them."""

NUMBERS, DEEPEST = 20, 16
"""Numbers of fields that are in the tables, and levels of structs and lists."""


def _place(structs: list[Fields], wanted: Fields) -> int:
    return next(k for k, struct in enumerate(structs) if struct is wanted)


def _tables(*roots: Fields) -> tuple[Any, list[Fields]]:
    """What a field of each struct is, in numbers, and the structs; number 0 has no known field."""
    structs: list[Fields] = [{}]

    def coded(kind: Any) -> int:
        if isinstance(kind, list):
            return LIST + (coded(kind[0]) << 16)
        if not isinstance(kind, dict):
            return int(kind)
        if kind and not any(kind is known for known in structs):
            structs.append(kind)
        return STRUCT + (_place(structs, kind) << 6 if kind else 0)

    table = np.zeros((64, NUMBERS), dtype=np.int32)
    for root in roots:
        coded(root)
    for k, struct in enumerate(structs):  # which grow
        for number, kind in struct.items():
            table[k, number] = coded(kind)
    return table[: len(structs)], structs


_TABLE, _STRUCTS = _tables(FILE, PAGE)
_FILE, _PAGE, _COLUMN, _FIRST, _DICTIONARY, _SECOND = (
    _place(_STRUCTS, struct) for struct in (FILE, PAGE, COLUMN, PAGE[5], PAGE[7], PAGE[8])
)


class Damaged(ValueError):
    """The file cannot be what it says."""


def check(path: str) -> None:
    """Raise Damaged if a Parquet file has counts that cannot be true."""
    if os.path.getsize(path) < 12:
        raise Damaged("it has no footer")
    data = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    footer = len(data) - 8 - int(data[-8:-4].view(np.uint32)[0])
    if footer < 0 or bytes(data[-4:]) != b"PAR1":
        raise Damaged("it has no footer")
    where = _problem(data, footer, _TABLE)
    if where >= 0:
        raise Damaged(f"what its footer or a page says from byte {where} on cannot be")


@kernel
def _byte(data, at):
    """data[at], and 0 beyond the end, which ends any struct."""
    return np.uint64(data[at]) if at < data.size else np.uint64(0)


@kernel
def _number(data, at):
    """A number of seven bits a byte, and the place behind it."""
    number = np.uint64(0)
    for k in range(10):
        byte = _byte(data, at + k)
        number |= (byte & np.uint64(127)) << np.uint64(7 * k)
        if byte < 128:
            return np.int64(number), at + k + 1
    return 0, data.size + 1


@kernel
def _signed(data, at):
    number, at = _number(data, at)
    return np.int64(np.uint64(number) >> np.uint64(1)) ^ -(number & 1), at


@kernel
def _struct(data, at, root, table, found, stack, columns, n):
    """(The place behind a struct, or -1 if it is damaged; n), integers in found[struct, number].

    The stack holds of each struct -1, which it is and the number of its last field, and of a list
    how many elements are left, what they should be and of what type they are. Of each column its
    values, bytes and the place of its pages go to columns[n].
    """
    found[:] = -1
    stack[0, 0], stack[0, 1], stack[0, 2], depth = -1, root, 0, 0
    while depth >= 0:
        left, own = stack[depth, 0], stack[depth, 1]
        if left == 0:
            depth -= 1
            continue
        number, wanted = 0, own
        if left > 0:
            stack[depth, 0], kind = left - 1, stack[depth, 2]
        else:
            head = np.int64(_byte(data, at))
            at, kind = at + 1, head & 15
            if head == 0:
                if own == _COLUMN:
                    place = found[own, 11] if found[own, 11] >= 0 else found[own, 9]
                    columns[n] = found[own, 5], found[own, 7], place
                    if min(found[own, 5], found[own, 7], found[own, 9]) < 0:
                        return -1, n
                    n += 1
                depth -= 1
                continue
            number = stack[depth, 2] + (head >> 4)
            if head < 16:
                number, at = _signed(data, at)
            stack[depth, 2] = number
            wanted = table[own, number] if 0 <= number < table.shape[1] else 0
        kind = YES if kind == NO else kind
        if wanted != 0 and wanted & 15 != kind:
            return -1, n
        if I16 <= kind <= I64:
            value, at = _signed(data, at)
            if (kind == I32 or wanted & COUNT) and not -(2**31) <= value < 2**31:
                return -1, n
            if wanted & (COUNT | SIZE) and value < 0:
                return -1, n
            if left < 0 and 0 <= number < table.shape[1]:
                found[own, number] = value
        elif kind == BINARY:
            size, at = _number(data, at)
            at += size
        elif kind in (LIST, SET, STRUCT):
            depth += 1
            if depth == DEEPEST:
                return -1, n
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = -1, wanted >> 6, 0
            if kind == STRUCT:
                found[wanted >> 6] = -1
            else:
                head = np.int64(_byte(data, at))
                size, at = head >> 4, at + 1
                if size == 15:
                    size, at = _number(data, at)
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = size, wanted >> 16, head & 15
        elif kind == YES:
            at += left > 0  # the type of a field says it all
        elif kind == BYTE:
            at += 1
        elif kind == DOUBLE:
            at += 8
        else:
            return -1, n
        if not 0 <= at <= data.size or stack[depth, 0] > data.size - at:
            return -1, n
    return at, n


@kernel
def _problem(data, footer, table):
    """The place of a struct that is damaged, or of a page that promises too much; -1 if none."""
    found = np.empty(table.shape, dtype=np.int64)
    stack = np.empty((DEEPEST, 3), dtype=np.int64)
    columns = np.empty(((data.size - footer) // 6, 3), dtype=np.int64)  # of three fields at least
    last, n = _struct(data[:-8], footer, _FILE, table, found, stack, columns, 0)
    if last < 0:
        return footer
    for k in range(n):
        values, size, at = columns[k]
        end = at + size
        if not 0 <= at <= end <= data.size:
            return footer
        while at < end:
            head = at
            at, _ = _struct(data, at, _PAGE, table, found, stack, columns, n)
            count = max(found[_FIRST, 1], found[_SECOND, 1])
            room, stored = found[_PAGE, 2], found[_PAGE, 3]
            if at < 0 or min(room, stored) < 0 or count > values or found[_DICTIONARY, 1] > room:
                return head
            at += stored
    return -1
