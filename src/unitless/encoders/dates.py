"""Encode dates as a number and categories, in local time: time zones are not converted.

The number is the days since 1970-01-01, with the time of day as a fraction. Periodic parts
are categories: the hour (of a date that has a time), the weekday and the month.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

DAY = 86_400_000_000
"""Microseconds."""
HOURS = [str(hour) for hour in range(24)]
WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
MONTHS = [str(month) for month in range(1, 13)]

Stamps = NDArray[np.datetime64]
"""datetime64[us]"""


def days(stamps: Stamps) -> NDArray[np.float64]:
    """Days since the epoch, NaN where the date is missing.

    >>> days(np.array(["1970-01-02T12:00", "1969-12-31", "NaT"], dtype="datetime64[us]"))
    array([ 1.5, -1. ,  nan])
    """
    since = stamps.view(np.int64) / DAY
    return np.where(np.isnat(stamps), np.nan, since)


def cycles(stamps: Stamps, timed: Any) -> Iterator[tuple[str, Any, list[str]]]:
    """(what, code of each row, label of each code) of hour, weekday and month; -1 is none.

    >>> when = np.array(["1969-12-31T23:59"], dtype="datetime64[us]")
    >>> [(what, labels[codes[0]]) for what, codes, labels in cycles(when, np.array([True]))]
    [('hour', '23'), ('weekday', 'Wed'), ('month', '12')]
    """
    there = ~np.isnat(stamps)
    hours, days, months = (stamps.astype(f"datetime64[{unit}]").view(np.int64) for unit in "hDM")
    if timed is not None and timed.any():
        yield "hour", np.where(there & timed, hours % 24, -1), HOURS
    # Day 0 was a Thursday.
    yield "weekday", np.where(there, (days + 3) % 7, -1), WEEKDAYS
    yield "month", np.where(there, months % 12, -1), MONTHS
