"""Durations are numbers: seconds, whatever the unit in which a table stores them."""

import numpy as np
from numpy.typing import NDArray

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def seconds(durations: NDArray[np.timedelta64]) -> NDArray[np.float64]:
    """Seconds, NaN where a duration is missing; the same bits from every unit.

    >>> seconds(np.array([1500, -250, "NaT"], dtype="timedelta64[ms]"))
    array([ 1.5 , -0.25,   nan])
    """
    unit, multiple = np.datetime_data(durations.dtype)
    if unit not in PER_SECOND or multiple != 1:
        durations = durations.astype("timedelta64[us]")
        unit = "us"
    whole, rest = np.divmod(durations.astype(np.int64), PER_SECOND[unit])
    return np.where(np.isnat(durations), np.nan, whole + rest / PER_SECOND[unit])
