"""Decimal text -> float64, correctly rounded: `float(text)` to the bit, in compiled code.

Digits below 2**53 and powers of ten up to 10**22 are exact in float64, so that one product or
quotient rounds once (Clinger, PLDI 1990). Up to 19 digits are divided with twice the precision.
Where that leaves a doubt, and for all other numbers, Python computes the value.
"""

import numpy as np

from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint64_t

from unitless.core.pointers cimport memory_of, numbers_in, positions_in



cdef enum:
    MOST_DIGITS = 19        # decimal digits that a 64-bit integer holds, whichever they are
    LARGEST_POWER = 22

cdef double[23] TENS = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]


cdef struct Digits:
    uint64_t value
    Py_ssize_t end          # the place after them


cdef struct Exponent:
    int64_t value
    Py_ssize_t end


cdef Number read_number(const unsigned char* text, Py_ssize_t at) noexcept nogil:
    """Read the number that begins at a place; the text ends in a newline, which ends any number."""
    cdef Py_ssize_t begin = at
    cdef bint negative = text[at] == 45
    cdef Py_ssize_t first, size, point, last
    cdef int64_t power = 0
    cdef Digits digits
    cdef Exponent exponent
    cdef Number found
    if negative or text[at] == 43:
        at += 1
    first = at
    digits = read_digits(text, at, 0)
    at = digits.end
    size = at - first
    if text[at] == 46:
        point = at + 1
        digits = read_digits(text, point, digits.value)
        at = digits.end
        power = point - at
        size -= power
    if size == 0:
        return read_word(text, begin, first)
    last = at
    if text[at] | 32 == 101:
        exponent = read_exponent(text, at)
        power += exponent.value
        at = exponent.end
    found.value = NAN
    if size <= MOST_DIGITS or significant(text, first, last) <= MOST_DIGITS:
        found.value = scaled(digits.value, power)
    if found.value != found.value:
        found.value = in_python(text, first, at)
    found.status = NOT_FINITE if found.value == INFINITY else OK
    if negative:
        found.value = -found.value
    found.end = at
    return found


cdef inline Digits read_digits(
    const unsigned char* text, Py_ssize_t at, uint64_t value
) noexcept nogil:
    """Append digits to a number."""
    cdef Digits found
    while is_digit(text[at]):
        value = value * 10 + (text[at] - 48)
        at += 1
    found.value = value
    found.end = at
    return found


cdef Py_ssize_t significant(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t stop
) noexcept nogil:
    """The number of characters after leading zeros."""
    while at < stop and (text[at] == 48 or text[at] == 46):
        at += 1
    return stop - at


cdef Exponent read_exponent(const unsigned char* text, Py_ssize_t at) noexcept nogil:
    """Read e and a whole number; nothing if it has no digits."""
    cdef Exponent found
    cdef Py_ssize_t begin = at
    cdef Py_ssize_t first
    cdef bint negative
    at += 1
    negative = text[at] == 45
    if negative or text[at] == 43:
        at += 1
    first = at
    found.value = 0
    while is_digit(text[at]):
        found.value = min(found.value * 10 + (text[at] - 48), 1_000_000)
        at += 1
    found.end = at if at > first else begin
    if negative:
        found.value = -found.value
    return found


cdef inline bint is_word(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t size, const char* word, int letters
) noexcept nogil:
    """Whether letters in upper or lower case are a word."""
    cdef int k
    if size != letters:
        return False
    for k in range(letters):
        if text[at + k] | 32 != word[k]:
            return False
    return True


cdef Number read_word(
    const unsigned char* text, Py_ssize_t begin, Py_ssize_t at
) noexcept nogil:
    """Read nan, inf or infinity, in upper or lower case, after an optional sign."""
    cdef Number found
    cdef Py_ssize_t end = at
    while 97 <= text[end] | 32 <= 122 and end - at <= 8:
        end += 1
    found.end = end
    if is_word(text, at, end - at, b"nan", 3):
        found.status = OK
        found.value = NAN
    elif is_word(text, at, end - at, b"inf", 3) or is_word(text, at, end - at, b"infinity", 8):
        found.status = NOT_FINITE
        found.value = INFINITY
    else:
        found.status = NOT_NUMBER
        found.value = 0.0
        found.end = begin
    return found


cdef double in_python(
    const unsigned char* text, Py_ssize_t begin, Py_ssize_t end
) noexcept with gil:
    return float((<const char*>text)[begin:end])


cpdef double scaled(uint64_t digits, int64_t power) noexcept nogil:
    """digits * 10**power, rounded once; nan where that takes more than float64."""
    if digits == 0 or power == 0:
        return <double>digits
    if digits < <uint64_t>1 << 53 and -LARGEST_POWER <= power <= LARGEST_POWER:
        return <double>digits / TENS[-power] if power < 0 else <double>digits * TENS[power]
    if -LARGEST_POWER <= power < 0:
        return divided(digits, TENS[-power])
    return NAN


cdef double divided(uint64_t digits, double ten) noexcept nogil:
    """digits / ten, rounded once; nan if the quotient is too close to a tie."""
    cdef double high = <double>digits
    cdef double low = <double><int64_t>(digits - <uint64_t>high)
    cdef double quotient = high / ten
    cdef double product = quotient * ten
    cdef double q1 = upper_half(quotient)
    cdef double t1 = upper_half(ten)
    cdef double q0 = quotient - q1
    cdef double t0 = ten - t1
    # product + error is exact
    cdef double error = ((q1 * t1 - product) + q1 * t0 + q0 * t1) + q0 * t0
    cdef double rest = ((high - product) - error + low) / ten
    # The quotient is quotient + rest, and the relative error of the rest is below 2**-50.
    cdef double below = quotient + rest * (1 - 2.0**-50)
    cdef double above = quotient + rest * (1 + 2.0**-50)
    return below if below == above else NAN


cdef inline double upper_half(double x) noexcept nogil:
    """The upper of two numbers of at most 26 bits that add up to x (Dekker, 1971)."""
    cdef double scaled = 134217729.0 * x
    return scaled - (scaled - x)


def read_numbers(data, starts):
    """Read the numbers that begin at these places of a text: (kinds, values, the places after).

    >>> read_numbers(b"2.5 x" + bytes([10]), np.array([0, 4]))
    (array([0, 1]), array([2.5, 0. ]), array([3, 4]))
    """
    if not data.endswith(b"\n"):
        raise ValueError("the text does not end in a newline")
    kinds = np.empty(len(starts), dtype=np.int64)
    values = np.empty(len(starts))
    ends = np.empty(len(starts), dtype=np.int64)
    places = np.ascontiguousarray(starts, dtype=np.int64)
    if len(places) and not 0 <= places.min() <= places.max() < len(data):
        raise ValueError("a place is not in the text")
    cdef const unsigned char* text = <const unsigned char*>memory_of(data, 1)
    cdef const long long* at = positions_in(places)
    cdef long long* kind = positions_in(kinds)
    cdef double* value = numbers_in(values)
    cdef long long* end = positions_in(ends)
    cdef Py_ssize_t count = len(places)
    cdef Py_ssize_t k
    cdef Number found
    for k in range(count):
        found = read_number(text, at[k])
        kind[k] = found.status
        value[k] = found.value
        end[k] = found.end
    return kinds, values, ends
