"""Vowpal Wabbit text: `label importance 'tag |namespace:weight name:value name ... |...`.

Lines are read as VW reads them, in float64. A feature is named as VW's audit names it:
`name` in the namespace without a name, `namespace^name` otherwise, `namespace^name^text` for
`name:text`; features without a name, `:3.5`, are `namespace^[0]`, `namespace^[1]`, ... Columns
are in the order in which names appear. Values of equal names in a row are added; zeros are dropped.

Where VW warns and drops the rest of a line, or guesses, the line is bad: no `|` at all, a label or
importance weight that is not a number, a base prediction (third number), `name:` without a value,
`name:12ab`. Strings like `e5` or `-`, which VW reads as 0, are strings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from unitless.kernels.decorators import inlined, kernel
from unitless.readers import sparse_text
from unitless.readers.blocks import Block, Options, Position
from unitless.readers.numbers import is_digit
from unitless.readers.source import Source
from unitless.readers.sparse_text import (
    ASKED,
    AT,
    CONTROL,
    DONE,
    LINE,
    NOT_FINITE,
    NOT_NUMBER,
    NOT_WEIGHT,
    OWN,
    PLACE,
    ROW,
    Arrays,
    finish_line,
    number_at,
    skip_line,
)
from unitless.readers.vocabulary import CARET, CLOSING, OPENING, Vocabulary, extended

NO_BAR, BAD_HEAD, BAD_SPACE, BAD_FEATURE = range(OWN, OWN + 4)


def blocks(source: Source, options: Options, start: Position) -> Iterator[Block]:
    """The rows of a file from a position on.

    >>> import io
    >>> source = Source(io.BytesIO(b"1 2.5 |size:10 h:1.8 |c red\\n-1 'b |c blue red:2\\n"))
    >>> for block in blocks(source, Options(), {}):
    ...     print(block.new_names, block.rows.values, block.rows.weights, block.tags)
    ['size^h', 'c^red', 'c^blue'] [18.  1.  2.  1.] [2.5 1. ] ['', 'b']
    """
    return sparse_text.blocks(source, options, start, VowpalWabbit(options.names))


class VowpalWabbit:
    """The format, with the columns of its names."""

    columns_are_named: ClassVar[bool] = True
    reasons: ClassVar[dict[int, str]] = {
        NO_BAR: "a line has a | before its features",
        BAD_HEAD: "label, importance and 'tag were expected before the |",
        BAD_SPACE: "|namespace or |namespace:number was expected",
        BAD_FEATURE: "name, name:number or name:text was expected",
    }

    def __init__(self, known: Sequence[str]) -> None:
        self.vocabulary = Vocabulary(known)

    @property
    def columns(self) -> int:
        return self.vocabulary.count

    def parse(self, text: Any, state: Any, hard: Any, arrays: Any) -> int:
        return int(_parse(text, state, hard, arrays, self.vocabulary.key))

    def finish(self, data: bytes, arrays: Arrays, rows: int) -> tuple[int, list[str], list[int]]:
        known = self.columns
        values, bad = self.vocabulary.assign(data, arrays, rows)
        return values, self.vocabulary.names(known), bad


@kernel
def _parse(text, state, hard, arrays, key):
    """Read rows until the end of the text or a line that cannot be finished; see `sparse_text`."""
    while state[AT] < len(text):
        state[ASKED] = 0
        status, filled, after = _read_line(text, state, hard, arrays, key)
        status = finish_line(text, state, arrays[2], status, filled, after)
        if status != DONE:
            return status
    return DONE


@inlined
def _read_line(text, state, hard, arrays, key):
    """Read one line: (status, values so far or -1 for no row, the place after the line)."""
    begin = state[AT]
    bar = begin
    while text[bar] != 124 and text[bar] != 10:
        bar += 1
    if text[bar] == 10:
        state[PLACE] = begin
        while text[state[PLACE]] == 32 or text[state[PLACE]] == 9 or text[state[PLACE]] == 13:
            state[PLACE] += 1
        status = DONE if state[PLACE] == bar else NO_BAR
        return status, -1, bar + 1
    status = _read_head(text, begin, bar, state, hard, arrays)
    if status != DONE:
        return status, -1, bar
    status, filled, after = _read_features(text, bar, state, hard, arrays, key)
    return status, filled, after


@inlined
def _read_head(text, at, bar, state, hard, arrays):
    """Read label, importance and tag.

    As in VW, the last word is a tag if it touches the bar or begins with ', and everything
    before the first tab is dropped.
    """
    marks, spans = arrays[3], arrays[4]
    row = state[ROW]
    marks[row, 0] = np.nan
    marks[row, 1] = 1.0
    spans[row, 0] = state[LINE]
    spans[row, 1] = bar
    spans[row, 2] = bar
    begin = at
    for place in range(begin, bar):
        if text[place] == 9 and at == begin:
            at = place + 1
        elif text[place] < 32 and text[place] != 9:
            state[PLACE] = place
            return CONTROL
    number = 0
    while True:
        while at < bar and text[at] == 32:
            at += 1
        if at == bar:
            return DONE
        end = at
        while end < bar and text[end] != 32:
            end += 1
        after = end
        while after < bar and text[after] == 32:
            after += 1
        if after == bar and (end == bar or text[at] == 39):
            spans[row, 1] = at + (text[at] == 39)
            spans[row, 2] = end
            return DONE
        state[PLACE] = at
        if number == 2:
            return BAD_HEAD
        status, value, stop = number_at(text, at, state, hard)
        if status == NOT_NUMBER or stop != end:
            return BAD_HEAD
        if status != DONE:
            return status
        if number == 1 and not value >= 0:
            return NOT_WEIGHT
        marks[row, number] = value
        number += 1
        at = end


@inlined
def _read_features(text, at, state, hard, arrays, key):
    """Read namespaces and features from the first bar on: (status, values so far, place after).

    The fingerprint of each feature's name goes to `prints`, the places of its name and namespace
    in the text go to `tokens`; columns are looked up later (`vocabulary`).
    """
    values, prints, tokens = arrays[0], arrays[5], arrays[6]
    filled = arrays[2][state[ROW]]
    space = at
    space_to = at
    space_print = (key[0], key[1])
    weight = 1.0
    nameless = 0
    while True:
        char = text[at]
        state[PLACE] = at
        if char == 10 or (char == 13 and text[at + 1] == 10):
            return DONE, filled, skip_line(text, at)
        if char == 32 or char == 9:
            at += 1
        elif char == 124:
            space = at + 1
            nameless = 0
            space_to, first, second = _read_name(text, space, key[0], key[1])
            if space < space_to:
                first, second = extended(first, second, CARET)
            space_print = (first, second)
            status, weight, at = _read_weight(text, space, space_to, state, hard)
            if status != DONE:
                return status, filled, at
        else:
            name_to, first, second = _read_name(text, at, space_print[0], space_print[1])
            status, value, after, is_text = _read_value(text, name_to, weight, state, hard)
            if status != DONE:
                return status, filled, at
            if at == name_to and not is_text:
                first, second = _print_of_number(nameless, first, second)
            if is_text:
                first, second = extended(first, second, CARET)
                for k in range(name_to + 1, after):
                    first, second = extended(first, second, text[k])
                name_to = after
            prints[filled, 0] = first
            prints[filled, 1] = second
            tokens[filled, 0] = space
            tokens[filled, 1] = space_to
            tokens[filled, 2] = at
            tokens[filled, 3] = name_to
            tokens[filled, 4] = nameless
            nameless += at == name_to
            values[filled] = value
            filled += 1
            at = after


@inlined
def _read_name(text, at, first, second):
    """Read a name: (its end, at a blank, a bar or a colon; the extended fingerprint)."""
    char = text[at]
    while char > 32 and char != 124 and char != 58:
        first, second = extended(first, second, char)
        at += 1
        char = text[at]
    return at, first, second


@inlined
def _print_of_number(number, first, second):
    """A fingerprint, extended by [number]."""
    first, second = extended(first, second, OPENING)
    power = 1
    while number >= 10 * power:
        power *= 10
    while power > 0:
        first, second = extended(first, second, number // power % 10 + 48)
        power //= 10
    return extended(first, second, CLOSING)


@inlined
def _is_end(text, at):
    """Whether a blank, a bar or the end of the line is there, and no other control character."""
    char = text[at]
    return char in (32, 9, 10, 124) or (char == 13 and text[at + 1] == 10)


@inlined
def _read_weight(text, space, space_to, state, hard):
    """Read the weight of a namespace after its name: (status, weight, the place after)."""
    if text[space_to] != 58:
        if not _is_end(text, space_to):
            state[PLACE] = space_to
            return CONTROL, 1.0, space_to
        return DONE, 1.0, space_to
    status, weight, after = number_at(text, space_to + 1, state, hard)
    digits = is_digit(text[after - 1]) or text[after - 1] == 46  # not nan or inf
    if status == NOT_NUMBER or not digits or not _is_end(text, after) or space_to == space:
        return BAD_SPACE, weight, after
    return DONE, weight, after  # an infinite weight is bad only if a feature uses it


@inlined
def _read_value(text, at, weight, state, hard):
    """Read what follows a name, :number, :text or nothing: (status, value, after, is it text)."""
    value = 1.0
    after = at
    if text[at] == 58:
        status, value, after = number_at(text, at + 1, state, hard)
        if status == NOT_NUMBER or not _is_end(text, after):
            status, after = _read_text(text, at + 1, after, state)
            return status, 1.0, after, True
        if status != DONE:
            state[PLACE] = at + 1
            return status, value, after, False
    elif not _is_end(text, at):
        state[PLACE] = at
        return CONTROL, value, after, False
    value *= weight
    if np.isinf(value) or np.isinf(weight):
        return NOT_FINITE, value, after, False
    return DONE, value, after, False


@inlined
def _read_text(text, begin, number_to, state):
    """Read the text after a colon, which is part of the name: (status, the place after)."""
    end = begin
    while text[end] > 32:
        end += 1
    first = begin
    if text[first] == 43 or text[first] == 45:
        first += 1
    if text[first] == 46:
        first += 1
    if not _is_end(text, end):
        state[PLACE] = end
        return CONTROL, end
    if is_digit(text[first]) and text[number_to] != 58:
        state[PLACE] = begin
        return NOT_NUMBER, end
    if is_digit(text[first]) or begin == end or text[begin] == 58 or text[begin] == 124:
        return BAD_FEATURE, end
    return DONE, end
