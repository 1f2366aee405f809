"""Vowpal Wabbit text: `label importance 'tag |namespace:weight name:value name ... |...`.

Lines are read as VW reads them, in float64. A feature is named as VW's audit names it: `name` in
the namespace without a name, `namespace^name` otherwise, `namespace^name^text` for `name:text`.
Columns are in the order in which names appear. Values of equal names in a row are added; zeros are
dropped.

Where VW warns and drops the rest of a line, or guesses, the line is bad: no `|` at all, a label or
importance weight that is not a number, a base prediction (third number), a feature without a name
(`:3.5`), `name:` without a value, `name:12ab`. Strings like `e5` or `-`, which VW reads as 0, are
strings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import prefetch
from unitless.readers import sparse_text
from unitless.readers.blocks import FileBlock, Options, Position
from unitless.readers.numbers import NOT_FINITE, NOT_NUMBER, OK, is_digit, read_number
from unitless.readers.source import Source
from unitless.readers.sparse_text import (
    AT,
    NOT_WEIGHT,
    OWN,
    PLACE,
    ROW,
    finish_line,
    skip_blanks,
    start_row,
)
from unitless.readers.vocabulary import (
    Vocabulary,
    column_of,
    extended,
    first_place,
    has_room,
    merge_equal,
)

NO_BAR, BAD_HEAD, BAD_SPACE, BAD_FEATURE, INFINITE_SUM, FULL = range(OWN, OWN + 6)
"""FULL: the vocabulary needs more slots."""

CARET = ord("^")
COLON = ord(":")

REASONS = {
    NO_BAR: "a line has a | before its features",
    BAD_HEAD: "label, importance and 'tag were expected before the |",
    BAD_SPACE: "|namespace or |namespace:number was expected",
    BAD_FEATURE: "name, name:number or name:text was expected",
    INFINITE_SUM: "the values of a name that comes more than once add up to no finite number",
}


def blocks(source: Source, options: Options, start: Position) -> Iterator[FileBlock]:
    """The rows of a file from a position on."""
    vocabulary = Vocabulary(options.names)
    tokens = np.empty((2, 0, 4), dtype=np.int32)
    prints = np.empty((0, 2), dtype=np.uint64)
    known = len(options.names)

    def parse(text: Any, state: Any, arrays: Any) -> int:
        nonlocal tokens, prints
        if tokens.shape[1] < len(arrays[0]):
            tokens = np.empty((2, len(arrays[0]), 4), dtype=np.int32)
            prints = np.empty((len(arrays[0]), 2), dtype=np.uint64)
        while True:
            names = vocabulary.key, vocabulary.slots, vocabulary.count, prints, tokens
            status = int(_parse(text, state, arrays, names, known))
            if status != FULL:
                return status
            vocabulary.grow()

    def columns(data: bytes, _: Any) -> tuple[int, list[str]]:
        nonlocal known
        count = int(vocabulary.count[0])
        new = tokens[1, : count - known]
        known = count
        return count, _spelled(data, new)

    parser = sparse_text.SparseFormat(parse, columns, REASONS, named=True)
    return sparse_text.blocks(source, options, start, parser)


def _spelled(data: bytes, tokens: NDArray[np.int32]) -> list[str]:
    """The names of features. There may be very many: NumPy copies all letters at once."""
    begins = tokens[:, [0, 2]]
    sizes = tokens[:, [1, 3]] - begins + 1  # one more for ^ and for a newline
    sizes[tokens[:, 0] == tokens[:, 1], 0] = 0
    stops = np.cumsum(sizes).reshape(-1, 2)
    shifts = (begins - (stops - sizes)).ravel()
    places = np.arange(sizes.sum()) + np.repeat(shifts, sizes.ravel())
    letters = np.frombuffer(data, dtype=np.uint8)[places]
    letters[stops[sizes[:, 0] > 0, 0] - 1] = CARET
    letters[stops[:, 1] - 1] = 10
    names = letters.tobytes().decode().split("\n")[:-1]
    if COLON not in letters:
        return names
    return [name.replace(":", "^", 1) for name in names]  # name:text; a namespace has no colon


@kernel
def _parse(text, state, arrays, names, known):
    """Read rows until the end of the text or after a bad line, or until more slots are needed.

    `names` has the vocabulary (key, slots, count of names), the fingerprints of the names of a
    row, and the places of names in the text: [0] of a row, [1] of names beyond the known ones.
    """
    while state[AT] < len(text):
        begin = arrays[2][state[ROW]]
        status, filled, at = _read_line(text, state, arrays, names)
        if status == OK and filled > begin:
            if not has_room(names[1], names[2][0] + filled - begin):
                return FULL
            filled = _place(arrays[0], arrays[1], begin, filled, names, known)
            if filled < 0:
                status = INFINITE_SUM
                state[PLACE] = -1
        finish_line(text, at, state, arrays[2], status, filled)
        if status != OK:
            return status
    return OK


@inlined
def _place(values, indices, begin, end, names, known):
    """Put the values of a row into the columns of their names: its end, -1 for an infinite sum."""
    _, slots, count, prints, tokens = names
    for k in range(end - begin):
        column = column_of(slots, prints[k, 0], prints[k, 1], count[0])
        indices[begin + k] = column
        if column == count[0]:
            tokens[1, column - known] = tokens[0, k]
            count[0] += 1
    return merge_equal(values, indices, begin, end)


@inlined
def _read_line(text, state, arrays, names):
    """Read one line: (status, values so far or -1 for no row, a place in the line)."""
    bar = state[AT]
    while text[bar] != 124 and text[bar] != 10:
        bar += 1
    if text[bar] == 10:
        state[PLACE] = skip_blanks(text, state[AT])
        return (OK if state[PLACE] == bar else NO_BAR), -1, bar
    status = _read_head(text, state[AT], bar, state, arrays)
    if status != OK:
        return status, -1, bar
    return _read_features(text, bar, state, arrays, names)


@inlined
def _read_head(text, at, bar, state, arrays):
    """Read label, importance and tag.

    As in VW, the last word is a tag if it touches the bar or begins with ', and everything
    before the first tab is dropped.
    """
    _, _, _, marks, spans = arrays
    row = state[ROW]
    start_row(state, arrays, np.nan)
    begin = at
    for place in range(begin, bar):
        if text[place] == 9 and at == begin:
            at = place + 1
        elif text[place] < 32 and text[place] != 9:
            state[PLACE] = place
            return BAD_HEAD
    number = 0
    while True:
        while text[at] == 32:
            at += 1
        if at == bar:
            return OK
        end = at
        while end < bar and text[end] != 32:
            end += 1
        after = end
        while text[after] == 32:
            after += 1
        if after == bar and (end == bar or text[at] == 39):
            spans[row, 1] = at + (text[at] == 39)
            spans[row, 2] = end
            return OK
        state[PLACE] = at
        status, value, stop = read_number(text, at)
        if number == 2 or status == NOT_NUMBER or stop != end:
            return BAD_HEAD
        if status != OK:
            return status
        if number == 1 and not value >= 0:
            return NOT_WEIGHT
        marks[row, number] = value
        number += 1
        at = end


@inlined
def _read_features(text, at, state, arrays, names):
    """Read namespaces and features from the first bar on: (status, values so far, the place after).

    The fingerprint of each name goes to `prints`; the places of name and namespace to `tokens`.
    """
    values, _, starts, _, _ = arrays
    key, slots, _, prints, tokens = names
    begin = starts[state[ROW]]
    filled = begin
    space = at
    space_to = at
    space_print = (key[0], key[1])
    weight = 1.0
    while True:
        at = skip_blanks(text, at)
        state[PLACE] = at
        if text[at] == 10:
            return OK, filled, at
        if text[at] < 32:
            return BAD_FEATURE, filled, at
        if text[at] == 124:
            space = at + 1
            space_to, first, second = _read_name(text, space, key[0], key[1])
            if space < space_to:
                first, second = extended(first, second, CARET)
            space_print = (first, second)
            status, weight, at = _read_weight(text, space, space_to)
            if status != OK:
                return status, filled, at
        else:
            name_to, first, second = _read_name(text, at, space_print[0], space_print[1])
            status, value, after, is_text = _read_value(text, name_to, weight, state)
            if status != OK:
                return status, filled, at
            if name_to == at:
                return BAD_FEATURE, filled, at
            if is_text:
                first, second = extended(first, second, CARET)
                for k in range(name_to + 1, after):
                    first, second = extended(first, second, text[k])
                name_to = after
            k = filled - begin
            prints[k, 0] = first
            prints[k, 1] = second
            tokens[0, k, 0] = space
            tokens[0, k, 1] = space_to
            tokens[0, k, 2] = at
            tokens[0, k, 3] = name_to
            values[filled] = value
            prefetch(slots.reshape(-1), 2 * first_place(slots, first))  # looked up by `_place`
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
def _is_end(text, at):
    """Whether a blank, a bar or the end of the line is there."""
    return text[at] <= 32 or text[at] == 124


@inlined
def _read_weight(text, space, space_to):
    """Read the weight of a namespace after its name: (status, weight, the place after)."""
    if text[space_to] != 58:
        return OK, 1.0, space_to
    status, weight, after = read_number(text, space_to + 1)
    digits = is_digit(text[after - 1]) or text[after - 1] == 46  # not nan or inf
    if status == NOT_NUMBER or not digits or not _is_end(text, after) or space_to == space:
        return BAD_SPACE, weight, after
    return OK, weight, after  # an infinite weight is bad only if a feature uses it


@inlined
def _read_value(text, at, weight, state):
    """Read what follows a name, :number, :text or nothing: (status, value, after, is it text)."""
    value = 1.0
    after = at
    if text[at] == 58:
        status, value, after = read_number(text, at + 1)
        if status == NOT_NUMBER or not _is_end(text, after):
            status, after = _read_text(text, at + 1)
            return status, 1.0, after, True
        if status != OK:
            state[PLACE] = at + 1
            return status, value, after, False
    value *= weight
    if np.isinf(value) or np.isinf(weight):
        return NOT_FINITE, value, after, False
    return OK, value, after, False


@inlined
def _read_text(text, begin):
    """Read the text after a colon, which does not look like a number: (status, after)."""
    first = begin
    while text[first] == 43 or text[first] == 45 or text[first] == 46:
        first += 1
    end = first
    while text[end] > 32:
        end += 1
    is_bad = is_digit(text[first]) or begin == end or text[begin] == 58 or text[begin] == 124
    return (BAD_FEATURE if is_bad else OK), end
