"""Parquet files that lie: any number of the footer, or in front of a page, replaced by another.

A plain reader of Thrift's compact protocol, which believes the types that it finds, lists where the
numbers are.
"""

import struct

FOOTER, PAGE = "footer", "page"
ODD = [-1, -50, -64, 63, 8191, -8192, 2**31 - 1, -(2**31), 2**32 - 50, 2**60, -(2**60), -(2**63)]


def varint(value):
    """The bytes of a signed number."""
    value = (value << 1 ^ value >> 63) & (2**64 - 1)
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])


class Thrift:
    """A struct as a dict; `seen` lists each number: its fields' numbers, start, stop and value."""

    def __init__(self, data, at):
        self.data, self.at, self.seen, self.fields = data, at, [], ()

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        byte = self.byte()
        return byte if byte < 128 else byte & 127 | self.number() << 7

    def signed(self):
        start, number = self.at, self.number()
        value = number >> 1 ^ -(number & 1)
        self.seen.append((self.fields, start, self.at, value))
        return value

    def struct(self):
        found, number, outer = {}, 0, self.fields
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.signed()
            self.fields = *outer, number
            found[number] = self.value(head & 15)
        self.fields = outer
        return found

    def value(self, kind):
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 9:
            head = self.byte()
            length = head >> 4 if head < 0xF0 else self.number()
            return [self.value(head & 15) for _ in range(length)]
        if kind == 12:
            return self.struct()
        length = self.number() if kind == 8 else {1: 0, 2: 0, 3: 1, 7: 8}[kind]
        self.at += length
        return None


def numbers(data):
    """(where, fields, start, stop, value) of each number of the footer and of the pages' heads."""
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = Thrift(data, start)
    columns = [chunk[3] for group in footer.struct()[4] for chunk in group[1]]
    found = [(FOOTER, *seen) for seen in footer.seen]
    for column in columns:
        head = Thrift(data, column.get(11, column[9]))
        end = head.at + column[7]
        while head.at < end:
            size = head.struct()[3]
            head.at += size
        found += [(PAGE, *seen) for seen in head.seen]
    return found


def forged(data, number, value):
    """The file with another value there, or None: in front of a page there is no room for more."""
    where, _, start, stop, _ = number
    digits = varint(value)
    if where == FOOTER:
        body = data[:start] + digits + data[stop:-8]
        length = int.from_bytes(data[-8:-4], "little") + len(digits) - (stop - start)
        return body + struct.pack("<I", length) + b"PAR1"
    if len(digits) > stop - start:
        return None
    more = stop - start - len(digits)  # zeros that are written out
    digits = digits[:-1] + bytes([digits[-1] | 128 * (more > 0)]) + b"\x80" * (more - 1)
    return data[:start] + digits + b"\x00" * (more > 0) + data[stop:]
