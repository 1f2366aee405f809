"""More digits and a wider range than float64: decimals, and how floats become decimals."""

import decimal
import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

INTERCEPT = "the constant 1"


def precision(digits):
    """Compute with that many decimal digits, without overflow or underflow."""
    return decimal.localcontext(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def as_decimal(number):
    """A float or an integer exactly, a fraction to the digits in force."""
    if isinstance(number, Fraction):
        return Decimal(number.numerator) / number.denominator
    return Decimal(number)


def instance(row, intercept):
    """{coordinate: value}: zero and missing (NaN, None) values left out, the constant 1 added."""
    items = row.items() if isinstance(row, Mapping) else enumerate(row)
    x = {INTERCEPT: Decimal(1)} if intercept else {}
    for i, value in items:
        if value is not None and not math.isnan(value) and value != 0:
            x[i] = Decimal(float(value))
    return x
