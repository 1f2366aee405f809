"""A JSON array of objects, cut at the commas between them, so that it is read like JSON lines.

The opening bracket is only at the beginning of the first chunk; the closing one ends the array.
"""

from __future__ import annotations

import re

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[][{},]', re.DOTALL)
"""A string, or a character that opens, closes or separates."""


def is_array(data: bytes) -> bool:
    """Whether the text of a file begins with a bracket."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def without_bracket(data: bytes) -> bytes:
    """The text with a blank instead of the opening bracket."""
    return data.replace(b"[", b" ", 1)


def commas(data: bytes) -> tuple[list[int], int | None]:
    """The places of the commas between elements, and that of the closing bracket.

    >>> commas(b' {"a": [1, 2]}, {"b": ","}]')
    ([14], 26)
    """
    found: list[int] = []
    depth = 0
    for token in TOKEN.finditer(data):
        char = token[0]
        if char in (b"{", b"["):
            depth += 1
        elif char in (b"}", b"]"):
            depth -= 1
        if depth < 0:
            return found, token.start()
        if depth == 0 and char == b",":
            found.append(token.start())
    return found, None


def whole_elements(data: bytes) -> int:
    """How many bytes are elements with the comma after them."""
    found, _ = commas(data)
    return found[-1] + 1 if found else 0


def elements(data: bytes) -> tuple[list[bytes], bool]:
    """The text of each element, and whether the array ends; what follows its end is the last one.

    >>> elements(b' {"a": 1}, {"b": 2}] ')
    ([b' {"a": 1}', b' {"b": 2}'], True)
    """
    found, end = commas(data)
    texts = []
    begin = 0
    for comma in found:
        text = data[begin:comma]
        texts.append(text if text.strip() else b",")  # two commas: not an empty line
        begin = comma + 1
    texts.append(data[begin:end])
    if end is not None and data[end + 1 :].strip():
        texts.append(data[end:])
    return [text for text in texts if text.strip()], end is not None
