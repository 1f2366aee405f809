"""Vowpal Wabbit text: `label importance 'tag |namespace:weight name:value name ... |...`.

What VW reads is read as VW reads it, in float64. A feature is named as VW's audit names it:
`name` in the namespace without a name, `namespace^name` otherwise, `namespace^name^text` for
`name:text`; features without a name, `:3.5`, are `namespace^[0]`, `namespace^[1]`, ... Columns
come in the order in which names appear. Equal names of a row are added up, zeros left out.

Where VW warns and drops the rest of a line, and where it guesses, a line is bad: no `|` at all, a
label or importance that is no number, a base prediction (third number), `name:` without a value,
`name:12ab`. Strings like `e5` or `-`, which VW takes for 0, are strings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from unitless.numerics import inner, kernel
from unitless.readers import sparse_text
from unitless.readers.blocks import Block, Options, Position
from unitless.readers.numbers import is_digit
from unitless.readers.source import Source
from unitless.readers.sparse_text import (
    ANSWERED,
    ASK,
    ASKED,
    AT,
    CONTROL,
    DONE,
    GROW,
    LINE,
    NOT_FINITE,
    NOT_NUMBER,
    NOT_WEIGHT,
    OWN,
    PLACE,
    ROW,
    Arrays,
    number_at,
    skip_line,
)
from unitless.readers.vocabulary import Vocabulary, column_of, forget, has_room

NO_BAR, BAD_HEAD, BAD_SPACE, BAD_FEATURE, BAD_SUM = range(OWN, OWN + 5)

SPARE = 24
"""Letters of a name that are not in the file: ^, and the number of a feature without a name."""


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

    columns_are_named = True
    reasons: ClassVar[dict[int, str]] = {
        NO_BAR: "a line has a | before its features",
        BAD_HEAD: "label, importance and 'tag were expected before the |",
        BAD_SPACE: "|namespace or |namespace:number was expected",
        BAD_FEATURE: "name, name:number or name:text was expected",
        BAD_SUM: "the values of a name that comes more than once add up to no finite number",
    }

    def __init__(self, known: Sequence[str]) -> None:
        self.vocabulary = Vocabulary(known)
        self.columns = len(known)
        self.count = np.array([len(known)], dtype=np.int64)

    def parse(self, text: Any, state: Any, hard: Any, arrays: Any) -> int:
        return int(_parse(text, state, hard, arrays, self.vocabulary.words, self.count))

    def grow(self) -> None:
        self.vocabulary.grow(int(self.count[0]))

    def finish(self, arrays: Arrays) -> list[str]:
        known = self.columns
        self.columns = int(self.count[0])
        return self.vocabulary.names(known, self.columns)


@kernel
def _parse(text, state, hard, arrays, words, count):
    """Read rows until the end of the text or a line that cannot be finished; see `sparse_text`.

    `count` holds the number of names so far.
    """
    starts = arrays[2]
    while state[AT] < len(text):
        row = state[ROW]
        known = count[0]
        state[ASKED] = 0
        status, filled, behind = _read_line(text, state, hard, arrays, words, count)
        if status == DONE and state[ASKED] > state[ANSWERED]:
            status = ASK
        if status == DONE and filled >= 0:
            filled = _in_order(arrays, starts[row], filled)
            if filled < 0:
                status = BAD_SUM
                state[PLACE] = -1
        if status != DONE:
            forget(words, known, count[0])
            count[0] = known
        if status in (ASK, GROW):
            return status
        state[ANSWERED] = 0
        state[AT] = behind if status == DONE else skip_line(text, state[AT])
        state[LINE] += 1
        if status != DONE:
            return status
        if filled >= 0:
            starts[row + 1] = filled
            state[ROW] = row + 1
    return DONE


@inner
def _read_line(text, state, hard, arrays, words, count):
    """Read one line: (status, values so far or -1 for no row, the place behind the line)."""
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
    status, filled, behind = _read_features(text, bar, state, hard, arrays, words, count)
    return status, filled, behind


@inner
def _read_head(text, at, bar, state, hard, arrays):
    """Read label, importance and tag.

    As in VW, the last word is a tag if it touches the bar or begins with ', and what stands before
    the first tab is dropped.
    """
    marks, spans = arrays[3], arrays[4]
    row = state[ROW]
    marks[row, 0] = np.nan
    marks[row, 1] = 1.0
    spans[row, 0] = state[LINE]
    spans[row, 1] = bar
    spans[row, 2] = bar
    for tab in range(at, bar):
        if text[tab] == 9:
            at = tab + 1
            break
    number = 0
    while True:
        while at < bar and text[at] == 32:
            at += 1
        if at == bar:
            return DONE
        end = at
        while end < bar and text[end] != 32:
            if text[end] < 32 and text[end] != 9:
                state[PLACE] = end
                return CONTROL
            end += 1
        behind = end
        while behind < bar and text[behind] == 32:
            behind += 1
        if behind == bar and (end == bar or text[at] == 39):
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


@inner
def _read_features(text, at, state, hard, arrays, words, count):
    """Read namespaces and features from the first bar on: (status, values so far, place behind)."""
    values, indices, starts = arrays[0], arrays[1], arrays[2]
    filled = starts[state[ROW]]
    space = at
    space_to = at
    weight = 1.0
    nameless = 0
    while True:
        char = text[at]
        state[PLACE] = at
        if char == 10 or (char == 13 and text[at + 1] == 10):
            return DONE, filled, skip_line(text, at)
        if char == 32 or char == 9:
            at += 1
            continue
        if char == 124:
            space = at + 1
            nameless = 0
            status, space_to, weight, at = _read_space(text, space, state, hard)
            if status != DONE:
                return status, filled, at
            continue
        status, value, name_to, behind = _read_feature(text, at, weight, state, hard)
        if status != DONE:
            return status, filled, at
        if not has_room(words, count[0], name_to - at + space_to - space + SPARE):
            return GROW, filled, at
        size = _spell(text, space, space_to, at, name_to, nameless, words, count[0])
        nameless += at == name_to
        column = column_of(words, count[0], size)
        count[0] += column == count[0]
        values[filled] = value
        indices[filled] = column
        filled += 1
        at = behind


@inner
def _word_end(text, at, bar, colon):
    """Where a word ends: at a blank, a control character, and at a bar or a colon if asked."""
    while text[at] > 32 and text[at] != bar and text[at] != colon:
        at += 1
    return at


@inner
def _is_end(text, at):
    """Whether a blank, a bar or the end of the line is there, and no other control character."""
    char = text[at]
    return char in (32, 9, 10, 124) or (char == 13 and text[at + 1] == 10)


@inner
def _read_space(text, at, state, hard):
    """Read a namespace behind its bar: (status, where its name ends, weight, the place behind)."""
    name_to = _word_end(text, at, 124, 58)
    if text[name_to] != 58:
        if not _is_end(text, name_to):
            state[PLACE] = name_to
            return CONTROL, name_to, 1.0, name_to
        return DONE, name_to, 1.0, name_to
    status, weight, behind = number_at(text, name_to + 1, state, hard)
    digits = is_digit(text[behind - 1]) or text[behind - 1] == 46  # not nan or inf
    if status == NOT_NUMBER or not digits or not _is_end(text, behind) or name_to == at:
        return BAD_SPACE, name_to, weight, behind
    return DONE, name_to, weight, behind  # an infinite weight is bad where it is used


@inner
def _read_feature(text, at, weight, state, hard):
    """Read name, name:number or name:text: (status, value, where its name ends, place behind)."""
    name_to = _word_end(text, at, 124, 58)
    value = 1.0
    behind = name_to
    if text[name_to] == 58:
        begin = name_to + 1
        status, value, behind = number_at(text, begin, state, hard)
        if status == NOT_NUMBER or not _is_end(text, behind):
            return _read_text(text, at, begin, behind, state)
        if status != DONE:
            state[PLACE] = begin
            return status, value, name_to, behind
    elif not _is_end(text, name_to):
        state[PLACE] = name_to
        return CONTROL, value, name_to, behind
    value *= weight
    if np.isinf(value) or np.isinf(weight):
        return NOT_FINITE, value, name_to, behind
    return DONE, value, name_to, behind


@inner
def _read_text(text, at, begin, number_to, state):
    """Read the text behind a colon, which is part of the name and has the value 1."""
    end = _word_end(text, begin, 32, 32)
    first = begin
    if text[first] == 43 or text[first] == 45:
        first += 1
    if text[first] == 46:
        first += 1
    if not _is_end(text, end):
        state[PLACE] = end
        return CONTROL, 1.0, end, end
    if is_digit(text[first]) and text[number_to] != 58:
        state[PLACE] = begin
        return NOT_NUMBER, 1.0, end, end
    if is_digit(text[first]) or begin == end or text[begin] == 58 or text[begin] == 124:
        return BAD_FEATURE, 1.0, end, end
    return DONE, 1.0, end, end


@inner
def _spell(text, space, space_to, at, name_to, nameless, words, count):
    """Write the name of a feature behind the last one of the vocabulary; its size."""
    letters = words[2]
    begin = words[1][count]
    end = begin
    if space < space_to:
        for k in range(space, space_to):
            letters[end] = text[k]
            end += 1
        letters[end] = 94
        end += 1
    if at == name_to:
        return _spell_number(letters, end, nameless) - begin
    colon = False
    for k in range(at, name_to):
        letters[end] = text[k]
        if text[k] == 58 and not colon:
            letters[end] = 94
            colon = True
        end += 1
    return end - begin


@inner
def _spell_number(letters, end, number):
    """Write [number]; where it ends."""
    digits = 1
    while number >= 10**digits:
        digits += 1
    letters[end] = 91
    letters[end + digits + 1] = 93
    for k in range(digits):
        letters[end + digits - k] = 48 + number % 10
        number //= 10
    return end + digits + 2


@kernel
def _in_order(arrays, start, stop):
    """Sort a row by column, add up equal columns, leave out zeros: its end, -1 if not finite.

    Equal columns are added in the order in which they stand.
    """
    values, indices = arrays[0], arrays[1]
    sorted_already = True
    for k in range(start, stop):
        rising = k == start or indices[k - 1] < indices[k]
        sorted_already &= rising and values[k] != 0.0
    if sorted_already:
        return stop
    order = np.argsort(indices[start:stop], kind="mergesort")
    row_values = values[start:stop][order]
    row_indices = indices[start:stop][order]
    filled = start
    k = 0
    while k < len(order):
        column = row_indices[k]
        total = row_values[k]
        k += 1
        while k < len(order) and row_indices[k] == column:
            total += row_values[k]
            k += 1
        if np.isinf(total):
            return -1
        values[filled] = total
        indices[filled] = column
        filled += total != 0.0
    return filled
