"""Decimal text -> float64, correctly rounded: `float(text)` to the bit, inside kernels.

Digits below 2**53 and powers of ten up to 10**22 are exact in float64, so that one product or
quotient rounds once (Clinger, PLDI 1990). Otherwise the product of the digits and a 128-bit power
of five decides (Lemire, "Number parsing at a gigabyte per second", 2021). The rare rest (more than
19 digits, denormals, overflow, ties that 128 bits cannot settle) is left to Python: `ODD`.
"""

import numpy as np

from unitless.numerics import inner, kernel
from unitless.readers.words import (
    bits_of_float,
    byte,
    float_of_bits,
    high_product,
    leading_zeros,
    load8,
    trailing_zeros,
)

NO, YES, ODD = 0, 1, 2
"""Not a number; a number; a number, nan or inf, whose value Python has to find."""

U = np.uint64
ZEROS = U(0x3030303030303030)
_SIXES = U(0x7676767676767676)  # added to a byte above 9, it sets the byte's top bit
_TOPS = U(0x8080808080808080)
DOT = U(0x2E ^ 0x30)
_TENS = 10.0 ** np.arange(23)
_FURTHEST = 300


def _power_of_five(q: int) -> tuple[int, int]:
    """The leading 128 bits of 5**q, cut off; for q < 0 one more than the cut, as the proof asks."""
    if q >= 0:
        scaled = 5**q << 1024
    else:
        bits = (5**-q - 1).bit_length()
        scaled = (1 << (bits + 127 if q >= -27 else 2 * bits + 128)) // 5**-q + 1
    scaled >>= max(0, scaled.bit_length() - 128)
    return scaled >> 64, scaled & (2**64 - 1)


_FIVES = np.array(
    [_power_of_five(q) for q in range(-_FURTHEST, _FURTHEST + 1)], dtype=np.uint64
).reshape(-1)


@inner
def eight_digits(word):
    """The number that eight bytes of values 0 to 9 write, its first digit in the lowest byte."""
    word = word * U(10) + (word >> U(8))
    low = (word & U(0x000000FF000000FF)) * U(0x000F424000000064)
    high = ((word >> U(16)) & U(0x000000FF000000FF)) * U(0x0000271000000001)
    return (low + high) >> U(32)


@inner
def not_digits(word):
    """Top bits of the bytes above 9; exact up to and including the first of them."""
    return ((word + _SIXES) | word) & _TOPS


@inner
def _tail(text, start, stop):
    """text[start:stop], one to eight characters, less '0' each, behind zeros."""
    spare = U(8 * (8 - (stop - start)))
    return ((load8(text, stop - 8) ^ ZEROS) >> spare) << spare


@inner
def integer(text, start, stop):
    """The value of text[start:stop], one to 18 digits and nothing else; otherwise -1."""
    size = stop - start
    if size < 1 or size > 18:
        return np.int64(-1)
    total = np.int64(0)
    if size > 8:
        while stop - start > 8:
            digit = byte(text, start) - 48
            if digit < 0 or digit > 9:
                return np.int64(-1)
            total = total * 10 + digit
            start += 1
        total *= 100_000_000
    word = _tail(text, start, stop)
    return total + np.int64(eight_digits(word)) if not_digits(word) == U(0) else np.int64(-1)


@inner
def short_decimal(text, start, stop):
    """(True, value) of a sign, at most eight digits and a point; (False, 0) for other text."""
    # Without a branch that depends on the sign, which nobody can foresee.
    first = byte(text, start)
    size = stop - start - np.int64(((first - 43) & -3) == 0)
    if size < 1 or size > 8:
        return False, 0.0
    word = _tail(text, stop - size, stop)
    strange, places = not_digits(word), U(0)
    if strange != U(0):  # squeeze the point out
        point = U(trailing_zeros(strange) & 56)
        more = strange & (strange - U(1)) != U(0)
        if more or (word >> point) & U(255) != DOT or size == 1:
            return False, 0.0
        word ^= DOT << point
        word += (word & ((U(1) << point) - U(1))) * U(255)  # what stood before it moves up
        places = U(7) - (point >> U(3))
    value = np.float64(np.int64(eight_digits(word))) / _TENS[places]
    return True, float_of_bits(bits_of_float(value) ^ (U(first == 45) << U(63)))


@kernel
def decimal(text, start, stop):
    """(kind, value) of text[start:stop], of any form; see `NO`, `YES`, `ODD`."""
    if start == stop:
        return NO, 0.0
    first = byte(text, start)
    kind, value = _unsigned(text, start + (first == 45 or first == 43), stop)
    return kind, -value if first == 45 else value


@inner
def _unsigned(text, start, stop):
    at, digits, power = start, U(0), 0
    at, digits, significant = _run(text, at, stop, digits, 0)
    found = at - start
    if at < stop and byte(text, at) == 46:
        point = at + 1
        at, digits, significant = _run(text, point, stop, digits, significant)
        found += at - point
        power = point - at
    if found == 0:
        return number_word(text, start, stop), 0.0
    if at < stop and (byte(text, at) | 32) == 101:
        at, exponent = _exponent(text, at + 1, stop)
        power += exponent
    if at != stop:
        return NO, 0.0
    if significant > 19:
        return ODD, 0.0
    return _scaled(digits, power)


@inner
def _run(text, at, stop, digits, significant):
    """Read digits from `at` on: where they end, their value after `digits`, how many count."""
    while stop - at >= 8:
        word = load8(text, at) ^ ZEROS
        if not_digits(word) != U(0):
            break
        leading = (trailing_zeros(word) >> 3) if digits == U(0) else 0
        significant += 8 - leading
        digits = digits * U(100_000_000) + eight_digits(word)
        at += 8
    while at < stop and 48 <= byte(text, at) <= 57:
        digits = digits * U(10) + U(byte(text, at) - 48)
        significant += digits != U(0) or significant > 0
        at += 1
    return at, digits, significant


@inner
def _exponent(text, at, stop):
    """The exponent from `at` on, and where it ends; -1 if it has no digits."""
    negative = at < stop and byte(text, at) == 45
    at += at < stop and (byte(text, at) == 45 or byte(text, at) == 43)
    first, exponent = at, 0
    while at < stop and 48 <= byte(text, at) <= 57:
        exponent = min(exponent * 10 + (byte(text, at) - 48), 1_000_000)
        at += 1
    return at if at > first else -1, -exponent if negative else exponent


@inner
def number_word(text, start, stop):
    """ODD for nan, inf and infinity in any capitals."""
    size = stop - start
    if size != 3 and size != 8:
        return NO
    word = load8(text, start) | U(0x2020202020202020)
    if size == 8:
        return ODD if word == U(0x7974696E69666E69) else NO
    word &= U(0xFFFFFF)
    return ODD if word == U(0x6E616E) or word == U(0x666E69) else NO


@inner
def _scaled(digits, power):
    """digits * 10**power, rounded once."""
    if digits == U(0):
        return YES, 0.0
    if digits < U(1 << 53) and -22 <= power <= 22:
        if power < 0:
            return YES, np.float64(digits) / _TENS[-power]
        return YES, np.float64(digits) * _TENS[power]
    if power < -_FURTHEST or power > _FURTHEST:
        return ODD, 0.0
    shift = leading_zeros(digits)
    digits <<= U(shift)
    where = 2 * (power + _FURTHEST)
    high, low = high_product(digits, _FIVES[where]), digits * _FIVES[where]
    if high & U(0x1FF) == U(0x1FF):
        more = high_product(digits, _FIVES[where + 1])
        low += more
        high += U(low < more)
    top = high >> U(63)
    mantissa = high >> (top + U(9))
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - shift + 1023
    unsure = low == U(0xFFFFFFFFFFFFFFFF) and (power < -27 or power > 55)
    if unsure or exponent < 1 or exponent > 2045:
        return ODD, 0.0
    tie = low <= U(1) and -4 <= power <= 23 and mantissa & U(3) == U(1)
    if tie and mantissa << (top + U(9)) == high:
        mantissa &= ~U(1)
    mantissa = (mantissa + (mantissa & U(1))) >> U(1)
    # A mantissa that rounded up to 2**53 carries into the exponent by itself.
    return YES, float_of_bits((U(exponent - 1) << U(52)) + mantissa)
