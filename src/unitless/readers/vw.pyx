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

import numpy as np

cimport cython
from libc.math cimport NAN, isinf

from unitless.core.arithmetic cimport prefetch
from unitless.core.array cimport Array, records
from unitless.readers.numbers cimport NOT_FINITE, NOT_NUMBER, OK, Number, is_digit, read_number
from unitless.readers.sparse_text cimport (
    NOT_WEIGHT,
    OWN,
    Chunk,
    Mark,
    Span,
    State,
    chunk_of,
    finish_line,
    skip_blanks,
    start_row,
)
from unitless.readers.vocabulary cimport (
    Fingerprint,
    Vocabulary,
    extended,
    first_place,
    has_room,
    merge_equal,
)

from unitless.readers import sparse_text

cdef enum:
    NO_BAR = OWN
    BAD_HEAD = OWN + 1
    BAD_SPACE = OWN + 2
    BAD_FEATURE = OWN + 3
    INFINITE_SUM = OWN + 4
    FULL = OWN + 5          # the vocabulary needs more slots
    NO_MEMORY = OWN + 6
    TAB = 9
    NEWLINE = 10
    BLANK = 32
    QUOTE = 39
    PLUS = 43
    MINUS = 45
    POINT = 46
    COLON = 58
    CARET = 94
    BAR = 124

REASONS = {
    NO_BAR: "a line has a | before its features",
    BAD_HEAD: "label, importance and 'tag were expected before the |",
    BAD_SPACE: "|namespace or |namespace:number was expected",
    BAD_FEATURE: "name, name:number or name:text was expected",
    INFINITE_SUM: "the values of a name that comes more than once add up to no finite number",
}


cdef struct Token:
    int space               # where the namespace of a feature begins
    int space_to            # and ends
    int name                # the same for its name
    int name_to


cdef struct Line:
    int status
    Py_ssize_t filled       # values so far, or -1 for no row
    Py_ssize_t at           # a place in the line


cdef struct Name:
    Py_ssize_t end          # at a blank, a bar or a colon
    Fingerprint print


cdef struct Value:
    int status
    double value
    Py_ssize_t end
    bint is_text


TOKEN = np.dtype([(name, np.int32) for name in ("space", "space_to", "name", "name_to")])
PRINT = np.dtype([("first", np.uint64), ("second", np.uint64)])


def blocks(source, options, start):
    """The rows of a file from a position on."""
    parser = Parser(options.names)
    known = sparse_text.SparseFormat(parser.parse, parser.new_columns, REASONS, named=True)
    return sparse_text.blocks(source, options, start, known)


def _spelled(data, tokens):
    """The names of features. There may be very many: NumPy copies all letters at once."""
    begins = np.stack([tokens["space"], tokens["name"]], axis=1)
    sizes = np.stack([tokens["space_to"], tokens["name_to"]], axis=1) - begins
    sizes += 1  # for ^ and for a newline
    sizes[tokens["space"] == tokens["space_to"], 0] = 0
    stops = np.cumsum(sizes).reshape(-1, 2)
    shifts = (begins - (stops - sizes)).ravel()
    places = np.arange(sizes.sum()) + np.repeat(shifts, sizes.ravel())
    letters = np.frombuffer(data, dtype=np.uint8)[places]
    letters[stops[sizes[:, 0] > 0, 0] - 1] = CARET
    letters[stops[:, 1] - 1] = NEWLINE
    names = letters.tobytes().decode().split("\n")[:-1]
    if COLON not in letters:
        return names
    return [name.replace(":", "^", 1) for name in names]  # name:text; a namespace has no colon


@cython.final
cdef class Parser:
    """Reads chunks of text; it keeps the vocabulary from one to the next."""

    cdef Vocabulary vocabulary
    cdef Py_ssize_t known       # names before the present chunk
    cdef Array prints           # the fingerprints of the names of a row
    cdef Array tokens           # their places in the text
    cdef Array new              # those of the names that appear first in this chunk

    def __init__(self, names):
        self.vocabulary = Vocabulary(names)
        self.known = len(names)
        self.prints = records(PRINT, 0)
        self.tokens = records(TOKEN, 0)
        self.new = records(TOKEN, 0)

    def parse(self, text, state, arrays):
        """Read rows until the end of the text or after a bad line."""
        cdef Chunk chunk = chunk_of(text, state, arrays)
        cdef int status = FULL
        self.prints.resize(len(arrays[0]))
        self.tokens.resize(len(arrays[0]))
        self.new.resize(len(arrays[0]))
        while status == FULL:
            with nogil:
                status = self.read_lines(&chunk)
            if status == FULL:
                self.vocabulary.grow()
        if status == NO_MEMORY:
            raise MemoryError("no memory to sort a row")
        return status

    def new_columns(self, data, _):
        """The number of columns so far, and the names of new ones."""
        cdef Py_ssize_t count = self.vocabulary.count
        new = np.asarray(self.new)[: count - self.known].copy()
        self.known = count
        return count, _spelled(data, new)

    cdef int read_lines(self, const Chunk* chunk) noexcept nogil:
        """The same, or until more slots are needed."""
        cdef Py_ssize_t begin
        cdef Line line
        while chunk.state.at < chunk.size:
            begin = chunk.starts[chunk.state.row]
            line = self.read_line(chunk)
            if line.status == OK and line.filled > begin:
                if not has_room(self.vocabulary.table, self.vocabulary.count + line.filled - begin):
                    return FULL
                line.filled = self.place(chunk, begin, line.filled)
                if line.filled == -2:
                    return NO_MEMORY
                if line.filled < 0:
                    line.status = INFINITE_SUM
                    chunk.state.place = -1
            finish_line(chunk, line.at, line.status, line.filled)
            if line.status != OK:
                return line.status
        return OK

    cdef Py_ssize_t place(
        self, const Chunk* chunk, Py_ssize_t begin, Py_ssize_t end
    ) noexcept nogil:
        """Put the values of a row into the columns of their names; see `merge_equal`."""
        cdef const Fingerprint* prints = <const Fingerprint*>self.prints.at
        cdef const Token* tokens = <const Token*>self.tokens.at
        cdef Token* new = <Token*>self.new.at
        cdef Py_ssize_t k, column
        for k in range(end - begin):
            column = self.vocabulary.column_of(prints[k])
            chunk.indices[begin + k] = <int>column
            if column == self.vocabulary.count:
                new[column - self.known] = tokens[k]
                self.vocabulary.count += 1
        return merge_equal(chunk.values, chunk.indices, begin, end)

    cdef Line read_line(self, const Chunk* chunk) noexcept nogil:
        """Read one line."""
        cdef const unsigned char* text = chunk.text
        cdef State* state = chunk.state
        cdef Py_ssize_t bar = state.at
        cdef Line line
        line.filled = -1
        while text[bar] != BAR and text[bar] != NEWLINE:
            bar += 1
        line.at = bar
        if text[bar] == NEWLINE:
            state.place = skip_blanks(text, state.at)
            line.status = OK if state.place == bar else NO_BAR
            return line
        line.status = read_head(chunk, state.at, bar)
        return self.read_features(chunk, bar) if line.status == OK else line

    cdef Line read_features(self, const Chunk* chunk, Py_ssize_t at) noexcept nogil:
        """Read namespaces and features from the first bar on.

        The fingerprint of each name goes to `prints`; the places of name and namespace to `tokens`.
        """
        cdef const unsigned char* text = chunk.text
        cdef State* state = chunk.state
        cdef Fingerprint* prints = <Fingerprint*>self.prints.at
        cdef Token* tokens = <Token*>self.tokens.at
        cdef Py_ssize_t begin = chunk.starts[state.row]
        cdef Fingerprint space_print = self.vocabulary.key
        cdef Py_ssize_t space = at
        cdef Py_ssize_t space_to = at
        cdef double weight = 1.0
        cdef Py_ssize_t k
        cdef Name name
        cdef Value value
        cdef Line line
        line.filled = begin
        while True:
            at = skip_blanks(text, at)
            state.place = at
            line.at = at
            if text[at] == NEWLINE:
                line.status = OK
                return line
            if text[at] < BLANK:
                line.status = BAD_FEATURE
                return line
            if text[at] == BAR:
                space = at + 1
                name = read_name(text, space, self.vocabulary.key)
                space_to = name.end
                space_print = extended(name.print, CARET) if space < space_to else name.print
                value = read_weight(text, space, space_to)
                line.status = value.status
                line.at = value.end
                if value.status != OK:
                    return line
                weight = value.value
                at = value.end
                continue
            name = read_name(text, at, space_print)
            value = read_value(text, name.end, weight, state)
            line.status = BAD_FEATURE if value.status == OK and name.end == at else value.status
            if line.status != OK:
                return line
            if value.is_text:
                name.print = extended(name.print, CARET)
                for k in range(name.end + 1, value.end):
                    name.print = extended(name.print, text[k])
                name.end = value.end
            k = line.filled - begin
            prints[k] = name.print
            tokens[k].space = <int>space
            tokens[k].space_to = <int>space_to
            tokens[k].name = <int>at
            tokens[k].name_to = <int>name.end
            chunk.values[line.filled] = value.value
            prefetch(  # looked up by `place`
                self.vocabulary.table.slot + first_place(self.vocabulary.table, name.print)
            )
            line.filled += 1
            at = value.end


cdef int read_head(const Chunk* chunk, Py_ssize_t at, Py_ssize_t bar) noexcept nogil:
    """Read label, importance and tag.

    As in VW, the last word is a tag if it touches the bar or begins with ', and everything
    before the first tab is dropped.
    """
    cdef const unsigned char* text = chunk.text
    cdef State* state = chunk.state
    cdef Mark* mark = chunk.marks + state.row
    cdef Span* span = chunk.spans + state.row
    cdef Py_ssize_t begin = at
    cdef Py_ssize_t place, end, after
    cdef int count = 0
    cdef Number number
    start_row(chunk, NAN)
    for place in range(begin, bar):
        if text[place] == TAB and at == begin:
            at = place + 1
        elif text[place] < BLANK and text[place] != TAB:
            state.place = place
            return BAD_HEAD
    while True:
        while text[at] == BLANK:
            at += 1
        if at == bar:
            return OK
        end = at
        while end < bar and text[end] != BLANK:
            end += 1
        after = end
        while text[after] == BLANK:
            after += 1
        if after == bar and (end == bar or text[at] == QUOTE):
            span.tag = at + (text[at] == QUOTE)
            span.tag_end = end
            return OK
        state.place = at
        number = read_number(text, at)
        if count == 2 or number.status == NOT_NUMBER or number.end != end:
            return BAD_HEAD
        if number.status != OK:
            return number.status
        if count == 1 and not number.value >= 0:
            return NOT_WEIGHT
        if count == 0:
            mark.label = number.value
        else:
            mark.importance = number.value
        count += 1
        at = end


cdef inline Name read_name(
    const unsigned char* text, Py_ssize_t at, Fingerprint print
) noexcept nogil:
    """Read a name, by which a fingerprint is extended."""
    cdef Name name
    while text[at] > BLANK and text[at] != BAR and text[at] != COLON:
        print = extended(print, text[at])
        at += 1
    name.end = at
    name.print = print
    return name


cdef inline bint is_end(const unsigned char* text, Py_ssize_t at) noexcept nogil:
    """Whether a blank, a bar or the end of the line is there."""
    return text[at] <= BLANK or text[at] == BAR


cdef Value read_weight(
    const unsigned char* text, Py_ssize_t space, Py_ssize_t space_to
) noexcept nogil:
    """Read the weight of a namespace after its name."""
    cdef Value found
    cdef Number number
    cdef unsigned char last
    found.status = OK
    found.value = 1.0
    found.end = space_to
    found.is_text = False
    if text[space_to] != COLON:
        return found
    number = read_number(text, space_to + 1)
    last = text[number.end - 1]
    found.value = number.value
    found.end = number.end
    if (
        number.status == NOT_NUMBER
        or not (is_digit(last) or last == POINT)  # not nan or inf
        or not is_end(text, number.end)
        or space_to == space
    ):
        found.status = BAD_SPACE
    return found  # an infinite weight is bad only if a feature uses it


cdef inline Value read_value(
    const unsigned char* text, Py_ssize_t at, double weight, State* state
) noexcept nogil:
    """Read what follows a name: :number, :text or nothing."""
    cdef Value found
    cdef Number number
    found.status = OK
    found.value = 1.0
    found.end = at
    found.is_text = False
    if text[at] == COLON:
        number = read_number(text, at + 1)
        if number.status == NOT_NUMBER or not is_end(text, number.end):
            return read_text(text, at + 1)
        found.value = number.value
        found.end = number.end
        if number.status != OK:
            state.place = at + 1
            found.status = number.status
            return found
    found.value *= weight
    if isinf(found.value) or isinf(weight):
        found.status = NOT_FINITE
    return found


cdef Value read_text(const unsigned char* text, Py_ssize_t begin) noexcept nogil:
    """Read the text after a colon, which must not look like a number."""
    cdef Value found
    cdef Py_ssize_t first = begin
    cdef Py_ssize_t end
    while text[first] == PLUS or text[first] == MINUS or text[first] == POINT:
        first += 1
    end = first
    while text[end] > BLANK:
        end += 1
    found.status = OK
    found.value = 1.0
    found.end = end
    found.is_text = True
    if is_digit(text[first]) or begin == end or text[begin] == COLON or text[begin] == BAR:
        found.status = BAD_FEATURE
    return found
