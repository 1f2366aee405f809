"""Views of a row from their definitions: each row with the sums over all rows so far, anew.

Rows are lists of floats; NaN is missing. Means and variances are exact fractions.
"""

import math
from fractions import Fraction

from naive.digits import as_decimal, precision


def _column(rows, i):
    """The values of a column that are there, exactly."""
    return [Fraction(row[i]) for row in rows if not math.isnan(row[i])]


def _each(rows, value):
    """value(rows so far, i) of every value, 0 where it is missing."""
    with precision(50):
        return [
            [0 if math.isnan(x) else value(rows[: t + 1], i) for i, x in enumerate(row)]
            for t, row in enumerate(rows)
        ]


def _moments(rows, i):
    """(c, var): the last value less the mean, and the mean square of all less the mean."""
    values = _column(rows, i)
    mean = sum(values) / len(values)
    return values[-1] - mean, sum((x - mean) ** 2 for x in values) / len(values)


def centred(rows):
    """x - mean."""
    return _each(rows, lambda so_far, i: as_decimal(_moments(so_far, i)[0]))


def squashed(rows):
    """c / sqrt(var + c^2)."""

    def value(so_far, i):
        c, var = _moments(so_far, i)
        return as_decimal(c) / as_decimal(var + c**2).sqrt() if c else 0

    return _each(rows, value)


def normalised(rows):
    """x over the length of the row in units of the largest values so far."""

    def value(so_far, i):
        row = so_far[-1]
        total = Fraction(0)
        for j, x in enumerate(row):
            if not math.isnan(x) and x != 0:
                total += (Fraction(x) / max(abs(other) for other in _column(so_far, j))) ** 2
        return as_decimal(Fraction(row[i])) / as_decimal(total).sqrt() if total else 0

    return _each(rows, value)


def presence(rows):
    """1 where x is not 0."""
    return _each(rows, lambda so_far, i: int(so_far[-1][i] != 0))


def raw(rows):
    """x."""
    return [row.copy() for row in rows]
