"""Convert learners saved by version 0.1.0.

Algorithm 1 had all its numbers in one array: 8 settings, 3 totals from place 8 on, and from place
16 on h and s2 of every coordinate, followed by 8 empty records. Parts of other learners had units
of their own. Full and VAW had a unit per position, and VAW kept a whole Full; the length of
Newton's units was the number of its columns.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.learners.base import EMPTY
from unitless.learners.triangular_factor import ACTIVE, FactorState

SETTINGS, TOTALS, RECORDS, SPARE = 8, slice(8, 11), 16, 8
MAX_EXPONENT = 256
"""Units closer to 1 than 2 to this power are not needed."""


def upgrade_arrays(arrays: dict[str, NDArray[Any]], path: str) -> None:
    """Replace the single array of Algorithm 1, if present, by the current ones."""
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
    """Rescale a part of another learner to unscaled values: parts have no units now."""
    units = part._units[1:]
    columns = np.flatnonzero(units)
    if len(columns):
        part._rescale(columns, 1 / units[columns])
    part._units = EMPTY


def upgrade_factor(path: str, arrays: dict[str, Any]) -> None:
    """Convert the arrays of Full or VAW to the current layout."""
    prefix = f"{path}_full."
    for name in list(arrays):
        if name.startswith(prefix):
            arrays[path + name.removeprefix(prefix)] = arrays.pop(name)
    if f"{path}state.units" in arrays:
        _take_units(path, arrays)


def _take_units(path: str, arrays: dict[str, Any]) -> None:
    """Move units into the state, exactly; those beyond MAX_EXPONENT become units of the columns."""
    units = arrays.pop(f"{path}state.units")
    old = FactorState(*(arrays[f"{path}state.{name}"] for name in FactorState._fields))
    state = old._replace(U=np.ascontiguousarray(old.U[:, : len(old.D)]))
    active = int(state.totals[ACTIVE])
    coordinates = state.coordinates[:active]
    by_coordinate = np.zeros(len(state.places))
    by_coordinate[coordinates] = units[:active]
    by_coordinate[0] = 1.0
    _, exponents = np.frexp(units)
    if np.abs(exponents).max() <= MAX_EXPONENT:
        features = coordinates[coordinates > 0]
        state.rescale(features - 1, 1 / by_coordinate[features])
        by_coordinate = EMPTY
    arrays[f"{path}_units"] = by_coordinate
    arrays[f"{path}state.U"] = state.U


def upgrade_newton(path: str, arrays: dict[str, Any], facts: dict[str, Any]) -> None:
    """Find out the number of columns, which 0.1.0 did not save."""
    if f"{path}_columns" in facts:
        return
    units = arrays[f"{path}_units"]
    facts[f"{path}_columns"] = len(units) - 1
    if not units[1:].any():  # a member of a Blend, which had units for it
        arrays[f"{path}_units"] = EMPTY
