"""A bandit as the header and the arrays of a model file, and back.

The header has the kind "bandit" and what the bandit counts; each regressor is a whole model file
of its own, as an array of bytes, and so is the model that encodes contexts. The rows of decisions
that wait for their reward are arrays. See docs/reference/model-format.md.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from unitless.decisions.bandit import Kept, OnlineBandit
from unitless.decisions.contexts import new_model
from unitless.encoders import DictEncoder
from unitless.model import Model
from unitless.model.reservoir import KeptRow
from unitless.persistence.as_json import as_json, from_json
from unitless.persistence.container import Arrays
from unitless.persistence.saving import as_bytes, from_bytes
from unitless.state import need

KIND = "bandit"
COUNTS = ("decisions", "rewards")
NUMBERS = ("total", "low", "high")
Header = dict[str, Any]


def parts_of(bandit: OnlineBandit) -> tuple[Header, Arrays]:
    """The header and the arrays of a file."""
    names = bandit.encoding.learner.names.columns
    encoding = replace(bandit.encoding, learner=new_model().learner)  # it has no columns
    arrays: Arrays = {"encoding": _bytes_of(encoding)}
    for k, model in enumerate(bandit.models.values()):
        arrays[f"model.{k}"] = _bytes_of(model)
    for k, kept in enumerate(bandit.waiting.values()):
        arrays[f"row.{k}.indices"] = kept.row.indices
        arrays[f"row.{k}.values"] = kept.row.values
    features = isinstance(bandit.actions, dict)
    own: Header = {
        "actions": None if bandit.actions is None else as_json(_plain(bandit.actions)),
        "actions_have_features": features,
        "explore": bandit.explore,
        "deadline": bandit.deadline,
        "default_reward": bandit.default_reward,
        "random_state": bandit.random_state,
        "has_features": bandit.has_features,
        "names": [as_json(name) for name in names],
        "learned": [as_json(action) for action in bandit.models],
        "waiting": [
            [as_json(id), kept.number, as_json(kept.action), kept.probability, kept.row.columns]
            for id, kept in bandit.waiting.items()
        ],
        **{name: getattr(bandit, name) for name in COUNTS},
        **{name: getattr(bandit, name) if bandit.rewards else None for name in NUMBERS},
    }
    return {"kind": KIND, "bandit": own}, arrays


def _plain(actions: object) -> object:
    """The actions as names, or as a dict of dicts, for `as_json`."""
    if isinstance(actions, dict):
        return {action: dict(features) for action, features in actions.items()}
    return tuple(actions)  # type: ignore[arg-type]


def _bytes_of(model: Model) -> Any:
    return np.frombuffer(as_bytes(model), dtype=np.uint8)


def bandit_of(header: Header, arrays: Arrays) -> OnlineBandit:
    """The bandit of a file; an inconsistent one is an error."""
    own = header["bandit"]
    actions = None if own["actions"] is None else from_json(own["actions"])
    made = OnlineBandit(
        actions,
        explore=own["explore"],
        deadline=own["deadline"],
        default_reward=own["default_reward"],
        random_state=own["random_state"],
    )
    made.has_features = own["has_features"]
    for name in COUNTS:
        value = own[name]
        need(isinstance(value, int) and value >= 0, f"{name} is not a count")
        setattr(made, name, value)
    if made.rewards:
        for name in NUMBERS:
            value = float(own[name])
            need(math.isfinite(value), f"{name} is not finite")
            setattr(made, name, value)
        need(made.low <= made.high, "the lowest reward is above the highest")
    made.encoding = _model_of("encoding", arrays)
    names = {from_json(name): k for k, name in enumerate(own["names"])}
    need(len(names) == len(own["names"]), "a feature has two names")
    made.encoding.learner.names = DictEncoder(names)
    for k, name in enumerate(own["learned"]):
        made.models[from_json(name)] = _model_of(f"model.{k}", arrays)
    need(len(made.models) == len(own["learned"]), "an action has two models")
    for k, (id, number, action, probability, columns) in enumerate(own["waiting"]):
        indices, values = arrays[f"row.{k}.indices"], arrays[f"row.{k}.values"]
        _check_row(indices, values, columns)
        row = KeptRow(columns, indices, values)
        made.waiting[from_json(id)] = Kept(number, from_json(action), float(probability), row)
    return made


def _model_of(name: str, arrays: Arrays) -> Model:
    need(arrays[name].dtype == np.uint8, f"{name} is not a model")
    found = from_bytes(name, arrays[name].tobytes())
    need(isinstance(found, Model) and found.task == "regression", f"{name} is no regression")
    return found


def _check_row(indices: Any, values: Any, columns: int) -> None:
    """Refuse a row through which compiled code would leave its bounds."""
    types = [indices.dtype.name, values.dtype.name]
    need(types == ["int32", "float64"] and indices.ndim == values.ndim == 1, "a row's types")
    need(len(indices) == len(values), "a row's lengths")
    need(isinstance(columns, int) and 0 <= columns < 2**31, "a row's columns")
    rises = bool((np.diff(indices) > 0).all())
    inside = not len(indices) or (indices[0] >= 0 and indices[-1] < columns)
    need(rises and inside and not np.isinf(values).any(), "a row that waits for its reward")
