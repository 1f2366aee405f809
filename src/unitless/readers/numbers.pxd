"""Decimal text -> float64 in compiled code; numbers.pyx explains it."""


cdef enum Status:
    OK = 0                  # a number or nan
    NOT_NUMBER = 1          # other text
    NOT_FINITE = 2          # a number that float64 cannot hold


cdef struct Number:
    int status
    double value
    Py_ssize_t end          # the place after it


cdef inline bint is_digit(unsigned char char) noexcept nogil:
    """Whether a byte is 0 to 9."""
    return 48 <= char <= 57


cdef Number read_number(const unsigned char* text, Py_ssize_t at) noexcept nogil
