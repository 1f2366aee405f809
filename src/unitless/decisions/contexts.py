"""Contexts as rows: dicts, arrays and data frames, for models that share their features."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from unitless import learners
from unitless.encoders import FrameEncoder
from unitless.encoders.dataframes import opened
from unitless.encoders.dict_encoder import NUMBERS
from unitless.model import Model
from unitless.model.intake import Prepared, holds_strings, is_dicts, is_frame
from unitless.model.learner_choice import make_learner
from unitless.model.reservoir import Reservoir
from unitless.rows import Rows

Contexts = Any
"""A dict, a row of an array or of a frame; or many of them: a frame, a list of dicts, an array."""
Features = Mapping[Hashable, object]


def is_one(contexts: Contexts) -> bool:
    """Whether this is one context: a dict, a series or an array of one dimension.

    >>> is_one({"age": 31}), is_one([{"age": 31}]), is_one([31.0, 2.0]), is_one([[31.0, 2.0]])
    (True, False, True, False)
    """
    if isinstance(contexts, Mapping):
        return True
    if is_frame(contexts) or is_dicts(contexts) or isinstance(contexts, Rows):
        return False
    return np.ndim(contexts) == 1 and not hasattr(contexts, "tocsr")


MEGABYTES_PER_ACTION = 32.0
"""Of the rows that each regressor may store: a bandit can have many actions."""


def new_model() -> Model:
    """A regression of rewards by the Blend, without a sample of its rows."""
    learner = learners.get("blend")("squared", max_memory=MEGABYTES_PER_ACTION)
    return Model("regression", learner, reservoir=Reservoir(0))


def prepare(encoding: Model, contexts: Contexts) -> None:
    """Decide, from the first contexts, whether features have types of their own, as in tables."""
    if encoding.encoder is not None or encoding.learner.names.columns:
        return
    if encoding.inputs is not None:
        return
    if is_frame(contexts) or holds_strings(contexts) or _has_other_types(contexts):
        encoding.encoder = FrameEncoder()


def _has_other_types(contexts: Contexts) -> bool:
    """Whether dicts hold values beside numbers and strings: dates, lists, categories."""
    if not is_dicts(contexts):
        return hasattr(contexts, "to_frame")  # a pandas Series
    records: Sequence[Features] = [contexts] if isinstance(contexts, Mapping) else contexts
    simple = {*NUMBERS, str}
    values = (value for record in records for value in record.values())
    return any(type(v) not in simple and not isinstance(v, np.number | np.bool_) for v in values)


def rows_of_contexts(encoding: Model, contexts: Contexts, grow: bool) -> Prepared:
    """The rows of contexts, and a function that keeps their new features."""
    prepared = encoding.prepared(contexts, grow=grow, unknown="ignore")
    by_position = encoding.encoder is None and not (is_dicts(contexts) or is_frame(contexts))
    if not by_position:
        return prepared
    columns = prepared.rows.columns
    return prepared._replace(commit=lambda: setattr(encoding, "inputs", columns))


def with_features(context: Contexts, offered: Features) -> Features:
    """One context together with the features of an action, whose names must be different.

    >>> with_features({"age": 31}, {"price": 3.5})
    {'age': 31, 'price': 3.5}
    """
    if not isinstance(context, Mapping):
        raise TypeError(
            "actions with features need contexts that are dicts, so that all features have names: "
            "dict(zip(names, x)) makes one of a list"
        )
    both = [name for name in offered if name in context]
    if both:
        raise ValueError(
            f"{both[0]!r} is a feature of the context and of an action: rename one of them"
        )
    return {**context, **offered}


def records_of(contexts: Contexts) -> list[Features]:
    """Many contexts as dicts."""
    if is_frame(contexts):
        return list(opened(contexts).rows(named=True))
    return list(contexts)


def new_classifier(classes: Sequence[Hashable]) -> Model:
    """A classifier that learns rows of contexts, beside a bandit."""
    several = make_learner("blend", "softmax", len(classes))
    return Model("multiclass", several, [*classes], reservoir=Reservoir(0))
