"""Decimal text -> float64, correctly rounded: `float(text)` to the bit, inside kernels.

Digits below 2**53 and powers of ten up to 10**22 are exact in float64, so that one product or
quotient rounds once (Clinger, PLDI 1990). Otherwise the product of the digits and a 128-bit power
of five decides (Lemire, "Number parsing at a gigabyte per second", 2021). The remaining
cases (denormals, ties that 128 bits do not decide) are rare and are computed by Python: `HARD`.
"""

import math

import numpy as np

from unitless.kernels.decorators import inlined, kernel

NO, YES, INFINITE, HARD = 0, 1, 2, 3
"""Not a number; a number or nan; inf or an overflow; a number that Python has to compute."""

U = np.uint64
MOST_DIGITS = 19
"""Decimal digits that a 64-bit integer holds, whichever they are."""

LARGEST_POWER = 300
"""The table of powers of five goes from minus this to this."""

NAN = (110, 97, 110)
INFINITY = (105, 110, 102, 105, 110, 105, 116, 121)

_TENS = 10.0 ** np.arange(23)


def _power_of_five(q: int) -> tuple[int, int]:
    """The leading 128 bits of 5**q, truncated; for q < 0 plus one, as the proof requires."""
    if q >= 0:
        scaled = 5**q << 1024
    else:
        bits = (5**-q - 1).bit_length()
        scaled = (1 << (bits + 127 if q >= -27 else 2 * bits + 128)) // 5**-q + 1
    scaled >>= max(0, scaled.bit_length() - 128)
    return scaled >> 64, scaled & (2**64 - 1)


_FIVES = np.array(
    [_power_of_five(q) for q in range(-LARGEST_POWER, LARGEST_POWER + 1)], dtype=np.uint64
)


@inlined
def is_digit(char):
    """Whether a byte is 0 to 9."""
    return 48 <= char <= 57


@inlined
def read_number(text, at):
    """Read the number that begins at a place: (kind, value, the place after it).

    The text ends in a newline, which ends any number.
    """
    char = text[at]
    negative = char == 45
    begin = at
    if negative or char == 43:
        at += 1
        char = text[at]
    first = at
    digits = U(0)
    while is_digit(char):
        digits = digits * U(10) + U(char - 48)
        at += 1
        char = text[at]
    size = at - first
    power = 0
    if char == 46:
        at += 1
        char = text[at]
        point = at
        while is_digit(char):
            digits = digits * U(10) + U(char - 48)
            at += 1
            char = text[at]
        power = point - at
        size -= power
    if size == 0:
        return _read_word(text, begin, first)
    last = at
    if char == 101 or char == 69:
        at, exponent = _exponent(text, at)
        power += exponent
    if size <= MOST_DIGITS:
        kind, value = _scaled(digits, power)
    else:
        kind, value = _many_digits(text, first, last, power)
    return kind, -value if negative else value, at


@inlined
def _exponent(text, at):
    """Read e and a whole number: (the place after it, its value); nothing if it has no digits."""
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
        return begin, 0
    return at, -exponent if negative else exponent


@kernel
def _read_word(text, begin, at):
    """Read nan, inf or infinity, in upper or lower case, after an optional sign."""
    if _spells(text, at, NAN):
        return YES, np.nan, at + 3
    if _spells(text, at, INFINITY):
        return INFINITE, np.inf, at + 8
    if _spells(text, at, INFINITY[:3]):
        return INFINITE, np.inf, at + 3
    return NO, 0.0, begin


@inlined
def _spells(text, at, letters):
    """Whether the text has these letters there, in upper or lower case."""
    for k in range(len(letters)):  # noqa: SIM110  (a loop is what Numba compiles)
        if text[at + k] | 32 != letters[k]:
            return False
    return True


@kernel
def _many_digits(text, at, stop, power):
    """The value of more than 19 digits: that of the first 19, if the others cannot change it."""
    digits = U(0)
    size = 0
    for k in range(at, stop):
        if text[k] == 46:
            continue
        if size < MOST_DIGITS:
            digits = digits * U(10) + U(text[k] - 48)
            size += digits > U(0)
        else:
            size += 1
    power += max(0, size - MOST_DIGITS)
    kind, value = _scaled(digits, power)
    if size > MOST_DIGITS and kind == YES:
        above_kind, above = _scaled(digits + U(1), power)
        if above_kind != YES or above != value:
            return HARD, 0.0
    return kind, value


@inlined
def _high_product(a, b):
    """The upper half of the 128-bit product of two 64-bit integers."""
    half = U(32)
    low = U(0xFFFFFFFF)
    middle = (a >> half) * (b & low) + ((a & low) * (b & low) >> half)
    other = (a & low) * (b >> half) + (middle & low)
    return (a >> half) * (b >> half) + (middle >> half) + (other >> half)


@inlined
def _scaled(digits, power):
    """(kind, digits * 10**power, rounded once)."""
    if digits == U(0):
        return YES, 0.0
    if digits < U(1 << 53) and -22 <= power <= 22:
        if power < 0:
            return YES, np.float64(digits) / _TENS[-power]
        return YES, np.float64(digits) * _TENS[power]
    if power > 310:
        return INFINITE, np.inf
    if power < -345:
        return YES, 0.0
    if abs(power) > LARGEST_POWER:
        return HARD, 0.0
    return _product(digits, power)


@kernel
def _product(digits, power):
    """The same with integers of 128 bits; the steps are those of Lemire's algorithm."""
    shift = 0
    while digits < U(1 << 63):
        digits <<= U(1)
        shift += 1
    five = _FIVES[power + LARGEST_POWER, 0]
    high = _high_product(digits, five)
    low = digits * five
    if high & U(0x1FF) == U(0x1FF):
        more = _high_product(digits, _FIVES[power + LARGEST_POWER, 1])
        low += more
        high += U(low < more)
    top = high >> U(63)
    mantissa = high >> (top + U(9))
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - shift + 1023
    unsure = low == U(0xFFFFFFFFFFFFFFFF) and (power < -27 or power > 55)
    if unsure or exponent < 1 or exponent > 2045:
        return HARD, 0.0
    tie = low <= U(1) and -4 <= power <= 23 and mantissa & U(3) == U(1)
    if tie and mantissa << (top + U(9)) == high:
        mantissa &= ~U(1)
    mantissa = (mantissa + (mantissa & U(1))) >> U(1)
    return YES, math.ldexp(np.float64(mantissa), exponent - 1075)
