"""Decimal text -> float64, correctly rounded: `float(text)` to the bit, inside kernels.

Digits below 2**53 and powers of ten up to 10**22 are exact in float64, so that one product or
quotient rounds once (Clinger, PLDI 1990). Up to 19 digits are divided with twice the precision.
Where that leaves a doubt, and for all other numbers, Python computes the value.
"""

import numpy as np
from numba import njit, objmode

from unitless.kernels.decorators import inlined, kernel

OK, NOT_NUMBER, NOT_FINITE = range(3)
"""A number or nan; other text; a number that float64 cannot hold."""

U = np.uint64
MOST_DIGITS = 19
"""Decimal digits that a 64-bit integer holds, whichever they are."""

LARGEST_POWER = 22
_TENS = 10.0 ** np.arange(LARGEST_POWER + 1)


def _letters(word: str) -> int:
    """The letters of a word as an integer, five bits each."""
    return sum((ord(char) & 31) << 5 * k for k, char in enumerate(reversed(word)))


NAN, INF, INFINITY = (_letters(word) for word in ("nan", "inf", "infinity"))


@inlined
def is_digit(char):
    """Whether a byte is 0 to 9."""
    return 48 <= char <= 57


@inlined
def read_number(text, at):
    """Read the number that begins at a place: (status, value, the place after it).

    The text ends in a newline, which ends any number.
    """
    begin = at
    negative = text[at] == 45
    if negative or text[at] == 43:
        at += 1
    first = at
    digits, at = _read_digits(text, at, U(0))
    size = at - first
    power = 0
    if text[at] == 46:
        point = at + 1
        digits, at = _read_digits(text, point, digits)
        power = point - at
        size -= power
    if size == 0:
        return _read_word(text, begin, first)
    last = at
    if text[at] | 32 == 101:
        exponent, at = _read_exponent(text, at)
        power += exponent
    is_exact = size <= MOST_DIGITS or _significant(text, first, last) <= MOST_DIGITS
    value = _scaled(digits, power) if is_exact else np.nan
    if np.isnan(value):
        value = _in_python(text, first, at)
    return NOT_FINITE if value == np.inf else OK, -value if negative else value, at


@inlined
def _read_digits(text, at, digits):
    """Append digits to a number: (the number, the place after them)."""
    while is_digit(text[at]):
        digits = digits * U(10) + U(text[at] - 48)
        at += 1
    return digits, at


@kernel
def _significant(text, at, stop):
    """The number of characters after leading zeros."""
    while at < stop and (text[at] == 48 or text[at] == 46):
        at += 1
    return stop - at


@inlined
def _read_exponent(text, at):
    """Read e and a whole number: (its value, the place after it); nothing if it has no digits."""
    begin = at
    at += 1
    negative = text[at] == 45
    if negative or text[at] == 43:
        at += 1
    first = at
    exponent = 0
    while is_digit(text[at]):
        exponent = min(exponent * 10 + (np.int64(text[at]) - 48), 1_000_000)
        at += 1
    if at == first:
        return 0, begin
    return -exponent if negative else exponent, at


@kernel
def _read_word(text, begin, at):
    """Read nan, inf or infinity, in upper or lower case, after an optional sign."""
    word = 0
    while 97 <= text[at] | 32 <= 122 and word <= INFINITY:
        word = 32 * word + (text[at] & 31)
        at += 1
    if word == NAN:
        return OK, np.nan, at
    if word in (INF, INFINITY):
        return NOT_FINITE, np.inf, at
    return NOT_NUMBER, 0.0, begin


@njit
def _in_python(text, begin, end):
    with objmode(value="float64"):
        value = float(text[begin:end].tobytes())
    return value  # noqa: RET504


@inlined
def _scaled(digits, power):
    """digits * 10**power, rounded once; nan where that takes more than float64."""
    if digits == U(0) or power == 0:
        return np.float64(digits)
    if digits < U(1 << 53) and abs(power) <= LARGEST_POWER:
        if power < 0:
            return np.float64(digits) / _TENS[-power]
        return np.float64(digits) * _TENS[power]
    if -LARGEST_POWER <= power < 0:
        return _divided(digits, _TENS[-power])
    return np.nan


@kernel
def _divided(digits, ten):
    """digits / ten, rounded once; nan if the quotient is too close to a tie."""
    high = np.float64(digits)
    low = np.float64(np.int64(digits - U(high)))
    quotient = high / ten
    product = quotient * ten
    q1, q0 = _halves(quotient)
    t1, t0 = _halves(ten)
    error = ((q1 * t1 - product) + q1 * t0 + q0 * t1) + q0 * t0  # product + error is exact
    rest = ((high - product) - error + low) / ten
    # The quotient is quotient + rest, and the relative error of the rest is below 2**-50.
    below = quotient + rest * (1 - 2.0**-50)
    above = quotient + rest * (1 + 2.0**-50)
    return below if below == above else np.nan


@inlined
def _halves(x):
    """Two numbers of at most 26 bits that add up to x (Dekker, 1971)."""
    scaled = 134217729.0 * x
    high = scaled - (scaled - x)
    return high, x - high
