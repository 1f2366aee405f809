"""The names of a model's columns and features, and what it does with names that it lacks."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from unitless.suggestions import listed, suggestion

if TYPE_CHECKING:
    from unitless.model import Model

Float = NDArray[np.float64]
Unknown = Literal["error", "ignore"]
"""What to do with names that a model of a table does not have."""


class UnknownColumns(UserWarning):
    """A frame has columns that the model does not have."""


class NumberedNames(Sequence[str]):
    """The names "0", "1", ... of columns without names, each created on access.

    >>> names = NumberedNames(1_000_000)
    >>> names[7], len(names), list(names[:2])
    ('7', 1000000, ['0', '1'])
    """

    def __init__(self, count: int, prefix: str = "") -> None:
        self.numbers = range(count)
        self.prefix = prefix

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, which: Any) -> Any:
        found = self.numbers[which]
        if isinstance(found, int):
            return f"{self.prefix}{found}"
        return [f"{self.prefix}{number}" for number in found]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)


def features(model: "Model", frame: Any) -> Any:
    """The columns of a frame that are features."""
    excluded = {model.file.target, model.file.weight, *model.file.ignore}
    known = {*frame.columns} - excluded
    names = [name for name in model.file.keep or frame.columns if name in known]
    return frame if names == [*frame.columns] else frame.select(names)


def table_columns(model: "Model") -> list[str]:
    """The columns that a model of a table knows: features, target, weight and ignored ones."""
    if model.encoder is None:
        return []
    read = model.file.position.columns or ()
    known = [*model.encoder.columns, *model.file.keep]
    if not known:  # nothing has been learned, and any column may become a feature
        return []
    others = [model.file.target, model.file.weight, *model.file.ignore, *model.encoder.empty]
    return list(dict.fromkeys([*known, *read, *filter(None, others)]))


def unknown_names(model: "Model", names: Iterable[str]) -> list[str]:
    """The names that a model of a table does not know; none before it has learned."""
    known = {*table_columns(model)}
    return [name for name in names if name not in known] if known else []


def no_such_feature(model: "Model", name: str) -> str:
    """The message that a model has no column, or feature, of this name."""
    known = table_columns(model) or list(model.feature_names(model.learner.columns))
    hint = suggestion(name, known) or f"; it has {listed(map(repr, known))}."
    return f"the model has no column {name!r}{hint}"


def unknown_columns_note(model: "Model", names: Sequence[str], learned: bool) -> str:
    """What happens to the columns of a table that a model does not have."""
    is_one = len(names) == 1
    fate = "is ignored" if is_one else "are ignored"
    if learned and not model.file.keep:
        fate = "becomes a feature" if is_one else "become features"
    columns, are = ("column", "is") if is_one else ("columns", "are")
    hint = suggestion(names[0], table_columns(model))
    return f"{columns} {listed(map(repr, names))} {are} not in the model and {fate}{hint}"


def factors_by_column(model: "Model", factors: Mapping[str, float]) -> Float:
    """The factor of each feature, interactions included; columns without a unit are an error."""
    width = len(model.learner.weights().features)
    kinds: Mapping[str, str] = {}
    sources: Any = [(name,) for name in model.feature_names(width)]
    if model.encoder is not None:
        sources = model.encoder.sources
        kinds = model.encoder.kinds
    known = {*kinds, *chain(*sources)}
    for name, factor in factors.items():
        if name not in known:
            raise ValueError(f"there is no feature {name!r} to rescale")
        if kinds.get(name, "number") != "number":
            raise ValueError(f"feature {name!r} is a {kinds[name]}, which has no unit")
        if not math.isfinite(factor) or factor == 0:
            raise ValueError(f"feature {name!r}: a unit cannot change by a factor of {factor:g}")
    by_column = np.ones(width)
    for j, source in enumerate(sources[:width]):
        by_column[j] = math.prod(factors.get(name, 1.0) for name in source)
    return by_column
