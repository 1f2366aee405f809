"""Convert the arrays of models saved by version 0.1.0 to the current layout.

Then, Algorithm 1 had all its numbers in one array: 8 settings, 3 totals from place 8 on, and from
place 16 on h and s2 of every coordinate, followed by 8 empty records. Full and VAW had a unit per
position, and VAW kept a whole Full; the length of Newton's units was the number of its columns. A
Blend had other names for its parts, and two more sums per expert in its mixture. It multiplied
every feature by a power of two from its first value on, and so did some of its experts; now only
`unitless.units` does, for values out of range.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.blend.mixture import EXCESS, V
from unitless.learners.base import EMPTY
from unitless.learners.linear_map import rescale
from unitless.learners.slopes import no_slopes
from unitless.learners.triangular_factor import ACTIVE, FactorState

Arrays = dict[str, NDArray[Any]]
TOTALS, RECORDS, SPARE = slice(8, 11), 16, 8
MAX_EXPONENT = 256
MAX_EXPONENT_OF_BLEND = 200
"""Units closer to 1 than 2 to this power are not needed."""
RENAMED = {"panel": "ensemble", "mixer": "mixture", "counted": "target_scaler"}
ESTIMATORS = ("OnlineClassifier", "OnlineRegressor")
"""Kinds of files that a `Model` replaced."""
FEATURES = {
    "panel.slots": "ensemble.features.ids",
    "panel.totals": "ensemble.features.totals",
}


def upgrade(arrays: Arrays, facts: dict[str, Any]) -> bool:
    """Convert arrays and facts in place; whether they are those of a Blend of 0.1.0."""
    is_blend = "panel.slots" in arrays
    if is_blend:
        _rename(arrays)
        _rename(facts)
        _collect_units(arrays)
        _convert_mixture(arrays)
    for name in list(arrays):
        if "_full." in name:  # the Full of a VAW
            arrays[name.replace("_full.", "")] = arrays.pop(name)
    for name in list(arrays):
        if name.endswith("_memory"):
            _split_memory(name.removesuffix("_memory"), arrays)
        elif name.endswith("state.units"):
            _take_units(name.removesuffix("state.units"), arrays)
        elif name.endswith("_woke"):
            _count_columns(name.removesuffix("_woke"), arrays, facts)
    return is_blend


def _rename(things: dict[str, Any]) -> None:
    """Give the parts of a Blend their current names."""
    for path in list(things):
        head, *rest = path.split(".")
        renamed = ".".join([RENAMED.get(head, head), *rest])
        renamed = renamed.replace(".moments.state.", ".views.")
        renamed = renamed.replace(".normalised.state", ".views.M")
        things[FEATURES.get(path, renamed)] = things.pop(path)


def _collect_units(arrays: Arrays) -> None:
    """Separate the units of a Blend's features from their statistics."""
    profile = arrays.pop("ensemble.profile")
    ids = arrays["ensemble.features.ids"]
    units = np.zeros(1 + len(ids))
    units[0] = 1.0
    units[1:][ids >= 0] = profile[ids[ids >= 0], 0]
    arrays["ensemble.features.statistics"] = np.ascontiguousarray(profile[:, 1:])
    arrays["_units"] = units
    arrays["ensemble.features.turned"] = np.zeros(len(ids), dtype=np.int32)


def _convert_mixture(arrays: Arrays) -> None:
    """Replace the sums of the mixture's bound; what growth of its scale has cost stays paid."""
    if "mixture.state.books" not in arrays:  # hedged
        return
    books = arrays.pop("mixture.state.books")
    lost, _, grown = books.T
    totals = arrays["mixture.state.totals"]
    scale = totals[V]
    totals[EXCESS] *= scale  # it was in nats
    arrays["mixture.state.lost"] = lost.copy()
    if scale > 0:
        arrays["mixture.state.spent"] += np.maximum(grown, 0) / scale


def _split_memory(path: str, arrays: Arrays) -> None:
    """Replace the single array of Algorithm 1."""
    memory = arrays.pop(f"{path}_memory")
    if memory.ndim != 1 or len(memory) < RECORDS + 2 * (1 + SPARE):
        raise ValueError("the array is too short")
    records = memory[RECORDS : len(memory) - 2 * SPARE]
    arrays[f"{path}_totals"] = memory[TOTALS].copy()
    arrays[f"{path}_records"] = records.copy()
    units = arrays.get(f"{path}_units", EMPTY)
    if len(units):
        units = np.where(records[1::2] > 0, units[: len(records) // 2], 0.0)
        units[0] = 1.0
        arrays[f"{path}_units"] = units


def _take_units(path: str, arrays: Arrays) -> None:
    """Move units of Full into its state, exactly; those too large become units of the columns."""
    units = arrays.pop(f"{path}state.units")
    arrays[f"{path}state.totals"] = np.append(arrays[f"{path}state.totals"], 1.0)  # its rank rule
    for name in ("noise", "lost"):
        arrays[f"{path}state.{name}"] = np.zeros(len(units))
    arrays[f"{path}state.slopes"] = no_slopes()
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
        rescale(state, features - 1, 1 / by_coordinate[features])
        by_coordinate = EMPTY
    arrays[f"{path}_units"] = by_coordinate
    arrays[f"{path}state.U"] = state.U


def _count_columns(path: str, arrays: Arrays, facts: dict[str, Any]) -> None:
    """Find out the number of Newton's columns, which was not saved."""
    if f"{path}_columns" in facts:
        return
    units = arrays[f"{path}_units"]
    facts[f"{path}_columns"] = len(units) - 1
    if not units[1:].any():  # a member of a Blend, which had units for it
        arrays[f"{path}_units"] = EMPTY


def leave_units(part: Any) -> None:
    """Rescale a part of another learner to unscaled values: parts have no units now."""
    units = part._units[1:]
    columns = np.flatnonzero(units)
    if len(columns):
        part._rescale(columns, 1 / units[columns])
    part._units = EMPTY


def leave_units_of_blend(blend: Any) -> None:
    """The same for a whole Blend, if all its units are moderate."""
    units = blend._units[1:]
    exponents = np.frexp(units[units > 0])[1]
    if (np.abs(exponents) <= MAX_EXPONENT_OF_BLEND).all():
        leave_units(blend)


def fields_of_estimator(own: dict[str, Any], learner: Any) -> dict[str, Any]:
    """The fields of the `Model` of an estimator, which had a form of its own."""
    labels = own.get("classes", {}).get("labels", [])
    task = "multiclass" if len(labels) > 2 else "binary"
    if len(labels) == 1:  # it was coded as +1
        labels = [["None", None], *labels]
    return {
        "task": task if labels else "regression",
        "labels": labels,
        "keep": own.get("feature_names_in", []),
        "columns": own.get("columns"),
        "inputs": int(own["n_features_in"]),
        "rows": int(learner.trials),
        "parameters": own["parameters"],
    }
