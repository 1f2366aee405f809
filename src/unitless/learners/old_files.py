"""Coordinate-wise learners saved by 0.1.0: Algorithm 1 had all its numbers in one array.

That array held 8 settings, 3 totals from place 8 on, and from place 16 on h and s2 of every
coordinate, followed by 8 empty records. Parts of other learners had units of their own.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.learners.base import EMPTY

SETTINGS, TOTALS, RECORDS, SPARE = 8, slice(8, 11), 16, 8


def upgrade_arrays(arrays: dict[str, NDArray[Any]], path: str) -> None:
    """Replace the one array of Algorithm 1, if it is there, by those of today."""
    memory = arrays.pop(f"{path}_memory", None)
    if memory is None or memory.ndim != 1 or len(memory) < RECORDS + 2 * (1 + SPARE):
        return
    records = memory[RECORDS : len(memory) - 2 * SPARE]
    arrays[f"{path}_totals"] = memory[TOTALS].copy()
    arrays[f"{path}_records"] = records.copy()
    units = arrays.get(f"{path}_units", EMPTY)
    if len(units):
        units = np.where(records[1::2] > 0, units[: len(records) // 2], 0.0)
        units[0] = 1.0
        arrays[f"{path}_units"] = units


def leave_units(part: Any) -> None:
    """Bring a part of another learner back to values as they are: it has no units of its own."""
    units = part._units[1:]
    columns = np.flatnonzero(units)
    if len(columns):
        part._rescale(columns, 1 / units[columns])
    part._units = EMPTY
