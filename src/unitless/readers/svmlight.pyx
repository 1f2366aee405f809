"""svmlight (libsvm) text: `label index:value index:value ... # comment`, one row per line.

The index is the column: index 7 is column 7, whether a file counts from 0 or from 1 (which
a stream cannot know; if it counts from 1, column 0 stays empty and costs nothing). Indices must
increase within a row, as the format requires. `qid:` is ignored; rows with several labels
(`1,2 3:4`) are refused.
"""

from libc.stdint cimport int64_t

from unitless.readers.numbers cimport NOT_FINITE, NOT_NUMBER, OK, Number, is_digit, read_number
from unitless.readers.sparse_text cimport (
    OWN,
    Chunk,
    State,
    chunk_of,
    finish_line,
    skip_blanks,
    start_row,
)

from unitless.readers import sparse_text

cdef enum:
    LARGEST_INDEX = 2147483646
    LONGEST_INDEX = 18      # digits of an index, leading zeros included
    NO_LABEL = OWN
    NO_PAIR = OWN + 1

REASONS = {
    NO_LABEL: "a row begins with its label, one number",
    NO_PAIR: f"index:value was expected, with whole indices that rise, at most {LARGEST_INDEX}",
}


cdef struct Line:
    int status
    Py_ssize_t filled       # values so far, or -1 for no row
    Py_ssize_t at           # a place in the line


def blocks(source, options, start):
    """The rows of a file from a position on."""
    columns = start.features

    def known(_, indices):
        nonlocal columns
        columns = max(columns, int(indices.max(initial=-1)) + 1)
        return columns, []

    parser = sparse_text.SparseFormat(_parse, known, REASONS, named=False)
    return sparse_text.blocks(source, options, start, parser)


def _parse(text, state, arrays):
    """Read rows until the end of the text or after a bad line."""
    cdef Chunk chunk = chunk_of(text, state, arrays)
    cdef int status = OK
    cdef Line line
    with nogil:
        while status == OK and chunk.state.at < chunk.size:
            line = read_line(&chunk)
            finish_line(&chunk, line.at, line.status, line.filled)
            status = line.status
    return status


cdef inline Line ended(int status, Py_ssize_t filled, Py_ssize_t at) noexcept nogil:
    cdef Line line
    line.status = status
    line.filled = filled
    line.at = at
    return line


cdef Line read_line(const Chunk* chunk) noexcept nogil:
    """Read one line."""
    cdef const unsigned char* text = chunk.text
    cdef State* state = chunk.state
    cdef Py_ssize_t filled = chunk.starts[state.row]
    cdef int64_t previous = -1
    cdef Py_ssize_t at = skip_blanks(text, state.at)
    cdef Py_ssize_t colon, after
    cdef int64_t index
    cdef bint is_index
    cdef Number number
    if ends_line(text, at):
        return ended(OK, -1, at)
    state.place = at
    number = read_number(text, at)
    if number.status != OK or not ends_field(text, number.end):
        return ended(NOT_FINITE if number.status == NOT_FINITE else NO_LABEL, filled, at)
    start_row(chunk, number.value)
    at = skip_blanks(text, number.end)
    while not ends_line(text, at):
        state.place = at
        index = 0
        colon = at
        while is_digit(text[colon]):
            if colon < at + LONGEST_INDEX:
                index = index * 10 + (text[colon] - 48)
            colon += 1
        is_index = text[colon] == 58 and at < colon <= at + LONGEST_INDEX
        if not is_index or not previous < index <= LARGEST_INDEX:
            after = skip_query(text, at)
            if after == at:
                return ended(NO_PAIR, filled, at)
            at = skip_blanks(text, after)
            continue
        number = read_number(text, colon + 1)
        if text[number.end] == 58:
            return ended(NO_PAIR, filled, at)
        if number.status != OK or not ends_field(text, number.end):
            state.place = colon + 1
            return ended(max(number.status, <int>NOT_NUMBER), filled, at)
        chunk.values[filled] = number.value
        chunk.indices[filled] = <int>index
        filled += 1
        previous = index
        at = skip_blanks(text, number.end)
    return ended(OK, filled, at)


cdef inline bint ends_line(const unsigned char* text, Py_ssize_t at) noexcept nogil:
    """Whether the line ends here, or a comment begins."""
    return text[at] == 10 or text[at] == 35


cdef inline bint ends_field(const unsigned char* text, Py_ssize_t at) noexcept nogil:
    return text[at] <= 32 or text[at] == 35


cdef Py_ssize_t skip_query(const unsigned char* text, Py_ssize_t at) noexcept nogil:
    """The place after `qid:` and a whole number; the same place if that is not there."""
    cdef Py_ssize_t end = at + 4
    if text[at] != 113 or text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
        return at
    while is_digit(text[end]):
        end += 1
    return end if 5 <= end - at <= 4 + LONGEST_INDEX and ends_field(text, end) else at
