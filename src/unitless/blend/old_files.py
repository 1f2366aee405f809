"""Convert Blends saved by version 0.1.0, which had other names and one unit per feature.

A Blend of 0.1.0 multiplied every feature by a power of two from its first value on, and so did some
of its experts. Now only `unitless.units` does, for values out of range.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.learners.base import EMPTY

RENAMED = {"panel": "ensemble", "mixer": "mixture", "counted": "target_scaler"}
FEATURES = {"panel.slots": "ids", "panel.totals": "totals"}
MAX_EXPONENT = 200
"""Units closer to 1 than 2 to this power are not needed."""


def _renamed(path: str) -> str:
    if path in FEATURES:
        return f"ensemble.features.{FEATURES[path]}"
    head, *rest = path.split(".")
    return ".".join([RENAMED.get(head, head), *rest])


def facts_of_0_1_0(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of a Blend under their current names."""
    return {_renamed(path): fact for path, fact in facts.items()}


def arrays_of_0_1_0(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of a Blend under their current names, with units by column."""
    made = {_renamed(path): array for path, array in arrays.items()}
    profile = made.pop("ensemble.profile")
    ids = made["ensemble.features.ids"]
    units = np.zeros(1 + len(ids))
    units[0] = 1.0
    units[1:][ids >= 0] = profile[ids[ids >= 0], 0]
    made["ensemble.features.statistics"] = np.ascontiguousarray(profile[:, 1:])
    made["_units"] = units
    return made


def leave_units(blend: Any) -> None:
    """Rescale the state to unscaled values, if all units are moderate."""
    units = blend._units[1:]
    columns = np.flatnonzero(units)
    exponents = np.frexp(units[columns])[1]
    if (np.abs(exponents) <= MAX_EXPONENT).all():
        blend._rescale(columns, 1 / units[columns])
        blend._units = EMPTY
