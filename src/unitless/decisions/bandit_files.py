"""A bandit as the header and the arrays of a model file, and back.

The header has the kind "bandit" and what the bandit counts; each regressor is a whole model file
of its own, as an array of bytes, and so is the model that encodes contexts. The rows of decisions
that wait for their reward are arrays. See docs/reference/model-format.md.
"""

import math
from dataclasses import replace
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from unitless.decisions.bandit import Kept, OnlineBandit
from unitless.decisions.contexts import new_model
from unitless.encoders import DictEncoder
from unitless.model import Model
from unitless.model.reservoir import KeptRow
from unitless.persistence.as_json import as_json, from_json
from unitless.persistence.container import Arrays
from unitless.persistence.saving import as_bytes, from_bytes
from unitless.rows import Rows
from unitless.state import need

KIND = "bandit"
Json = dict[str, object]
Name = object
"""A name as JSON (`unitless.persistence.as_json`)."""


class SavedBandit(msgspec.Struct, forbid_unknown_fields=True):
    """What a bandit counts, and its parameters."""

    actions: Name
    explore: bool
    deadline: int | None
    default_reward: float | None
    random_state: int
    has_features: bool | None
    names: list[Name]
    learned: list[Name]
    waiting: list[tuple[Name, int, Name, float, int]]
    decisions: int
    rewards: int
    total: float
    low: float | None
    high: float | None


class BanditHeader(msgspec.Struct, forbid_unknown_fields=True):
    """The header of the file of a bandit."""

    format: int
    package: str
    kind: Literal["bandit"]
    bandit: SavedBandit
    notes: dict[str, object]


def parts_of(bandit: OnlineBandit) -> tuple[Json, Arrays]:
    """The header and the arrays of a file."""
    names = bandit.encoding.learner.names.columns
    encoding = replace(bandit.encoding, learner=new_model().learner)  # it has no columns
    arrays: Arrays = {"encoding": _bytes_of(encoding)}
    for k, model in enumerate(bandit.models.values()):
        arrays[f"model.{k}"] = _bytes_of(model)
    for k, kept in enumerate(bandit.waiting.values()):
        arrays[f"row.{k}.indices"] = kept.row.indices
        arrays[f"row.{k}.values"] = kept.row.values
    own = SavedBandit(
        actions=None if bandit.actions is None else as_json(_plain(bandit.actions)),
        explore=bandit.explore,
        deadline=bandit.deadline,
        default_reward=bandit.default_reward,
        random_state=bandit.random_state,
        has_features=bandit.has_features,
        names=[as_json(name) for name in names],
        learned=[as_json(action) for action in bandit.models],
        waiting=[
            (as_json(id), kept.number, as_json(kept.action), kept.probability, kept.row.columns)
            for id, kept in bandit.waiting.items()
        ],
        decisions=bandit.decisions,
        rewards=bandit.rewards,
        total=bandit.total,
        low=bandit.low if bandit.rewards else None,
        high=bandit.high if bandit.rewards else None,
    )
    return {"kind": KIND, "bandit": msgspec.to_builtins(own)}, arrays


def _plain(actions: object) -> object:
    """The actions as names, or as a dict of dicts, for `as_json`."""
    if isinstance(actions, dict):
        return {action: dict(features) for action, features in actions.items()}
    return tuple(actions)  # type: ignore[arg-type]


def _bytes_of(model: Model) -> NDArray[np.uint8]:
    return np.frombuffer(as_bytes(model), dtype=np.uint8)


def bandit_of(header: Json, arrays: Arrays) -> OnlineBandit:
    """The bandit of a file; an inconsistent one is an error."""
    own = msgspec.convert(header, SavedBandit)
    made = OnlineBandit(
        None if own.actions is None else from_json(own.actions),
        explore=own.explore,
        deadline=own.deadline,
        default_reward=own.default_reward,
        random_state=own.random_state,
    )
    need(own.decisions >= 0 and own.rewards >= 0, "a count is negative")
    made.has_features, made.decisions, made.rewards = own.has_features, own.decisions, own.rewards
    if own.rewards:
        need(own.low is not None and own.high is not None, "the range of the rewards is missing")
        low, high = float(own.low or 0.0), float(own.high or 0.0)
        need(math.isfinite(own.total) and low <= high, "the rewards")
        made.total, made.low, made.high = own.total, low, high
    made.encoding = _model_of("encoding", arrays)
    names = {from_json(name): k for k, name in enumerate(own.names)}
    need(len(names) == len(own.names), "a feature has two names")
    made.encoding.learner.names = DictEncoder(names)
    for k, name in enumerate(own.learned):
        made.models[from_json(name)] = _model_of(f"model.{k}", arrays)
    need(len(made.models) == len(own.learned), "an action has two models")
    for k, (id, number, action, probability, columns) in enumerate(own.waiting):
        row = KeptRow(columns, arrays[f"row.{k}.indices"], arrays[f"row.{k}.values"])
        _check_row(row)
        made.waiting[from_json(id)] = Kept(number, from_json(action), probability, row)
    return made


def _model_of(name: str, arrays: Arrays) -> Model:
    need(arrays[name].dtype == np.uint8, f"{name} is not a model")
    found = from_bytes(name, arrays[name].tobytes())
    need(isinstance(found, Model) and found.task == "regression", f"{name} is no regression")
    return found


def _check_row(row: KeptRow) -> None:
    """Refuse a row through which compiled code would leave its bounds."""
    columns, indices, values = row
    types = [indices.dtype.name, values.dtype.name]
    need(types == ["int32", "float64"] and indices.ndim == values.ndim == 1, "a row's types")
    need(len(indices) == len(values) and 0 <= columns < 2**31, "a row's lengths")
    rises = bool((np.diff(indices) > 0).all())
    inside = not len(indices) or bool(indices[0] >= 0 and indices[-1] < columns)
    need(rises and inside, "a row that waits for its reward")
    Rows(values[None], None, None, len(values), None, None).refuse_infinity()
