"""What the parsers of sparse text share in compiled code; sparse_text.py explains it."""

from unitless.core.pointers cimport integers_in, memory_of, numbers_in, positions_in
from unitless.readers.numbers cimport OK


cdef enum:
    NOT_WEIGHT = 3          # reasons after those of numbers.pxd
    OWN = 4


cdef struct State:
    long long at            # the place in the text
    long long line          # lines read
    long long row           # rows read
    long long place         # the place of a bad token; -1: the line as a whole


cdef struct Mark:
    double label
    double importance


cdef struct Span:
    long long line
    long long tag           # where the tag starts
    long long tag_end


cdef struct Chunk:
    const unsigned char* text
    Py_ssize_t size
    State* state
    double* values          # the arrays of sparse_text.Arrays
    int* indices
    long long* starts
    Mark* marks
    Span* spans


cdef inline Chunk chunk_of(text, state, arrays) except *:
    """The memory of a text and of the arrays that are filled from it."""
    cdef Chunk chunk
    values, indices, starts, marks, spans = arrays
    chunk.text = <const unsigned char*>memory_of(text, 1)
    chunk.size = len(text)
    chunk.state = <State*>positions_in(state)
    chunk.values = numbers_in(values)
    chunk.indices = integers_in(indices)
    chunk.starts = positions_in(starts)
    chunk.marks = <Mark*>numbers_in(marks)
    chunk.spans = <Span*>positions_in(spans)
    return chunk


cdef inline Py_ssize_t skip_blanks(const unsigned char* text, Py_ssize_t at) noexcept nogil:
    """The place after blanks, tabs and the carriage return of a line end."""
    while text[at] == 32 or text[at] == 9 or (text[at] == 13 and text[at + 1] == 10):
        at += 1
    return at


cdef inline void start_row(const Chunk* chunk, double label) noexcept nogil:
    """Begin a row without tag, of importance 1."""
    cdef Mark* mark = chunk.marks + chunk.state.row
    cdef Span* span = chunk.spans + chunk.state.row
    mark.label = label
    mark.importance = 1.0
    span.line = chunk.state.line
    span.tag = 0
    span.tag_end = 0


cdef inline void finish_line(
    const Chunk* chunk, Py_ssize_t at, int status, Py_ssize_t filled
) noexcept nogil:
    """Move to the next line.

    `at` is a place in the line, `filled` the number of values after the row, or -1 for no row.
    """
    cdef State* state = chunk.state
    while chunk.text[at] != 10:
        at += 1
    state.at = at + 1
    state.line += 1
    if status == OK and filled >= 0:
        state.row += 1
        chunk.starts[state.row] = filled
