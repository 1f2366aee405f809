"""Convert frames, arrays, sparse matrices and dicts to rows of a model."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.encoders import DictEncoder
from unitless.encoders.dataframes import opened
from unitless.encoders.dict_encoder import rows_of_dicts
from unitless.rows import Rows, as_rows

if TYPE_CHECKING:
    from unitless.model import Model

Float = NDArray[np.float64]
Commit = Callable[[], None]


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


def is_frame(X: Any) -> bool:
    """Whether X is a data frame: a table whose columns have names.

    >>> import pandas
    >>> is_frame(pandas.DataFrame({"height": [1.8]})), is_frame(np.array([[1.8]]))
    (True, False)
    """
    return hasattr(type(X), "columns") or hasattr(type(X), "column_names")


def is_dicts(X: Any) -> bool:
    """Whether X is a dict or a list of dicts; a sparse DOK array does not count."""
    first = X[0] if isinstance(X, list) and X else X
    return isinstance(first, Mapping) and not hasattr(X, "tocsr")


def rows_of(
    model: "Model",
    X: Any,
    grow: bool = False,
    weights: ArrayLike | None = None,
) -> tuple[Rows, Commit]:
    """The rows of X for the model's learner, and a function that keeps their new features."""
    if isinstance(X, Rows):
        checked = as_rows(np.empty((len(X), 0)), None, weights)
        return Rows(*X.parts, None, checked.weights), _nothing
    if model.columns is not None and hasattr(X, "to_frame") and np.ndim(X) == 1:
        X = X.to_frame().T  # a pandas Series is one row
    if is_frame(X) and model.columns is None and model.inputs is None:
        X = opened(X).rows(named=True)
    if is_dicts(X):
        records = [X] if isinstance(X, Mapping) else X
        if model.columns is None:
            rows, names = rows_of_dicts(records, known_names(model), weights)
            return rows, lambda: setattr(model.learner, "names", names)
        X = _frame_of_dicts(records)
    if is_frame(X) and model.columns is not None:
        columns = model.columns
        encoded = columns.encode(features(model, opened(X)), grow=grow)
        return as_rows(encoded.X, None, weights), lambda: columns.commit(encoded)
    if model.columns is not None and {*model.columns.kinds.values()} - {"number"}:
        raise ValueError(
            "the model was fitted on a data frame whose columns are not all numbers: give a data "
            "frame with the same columns"
        )
    if np.ndim(X) == 1 and not hasattr(X, "tocsr"):
        X = [X]
    rows = as_rows(X, None, weights)
    if model.inputs not in (None, rows.columns):
        raise ValueError(f"X has {rows.columns} features, and the model has {model.inputs}")
    return rows, _nothing


def _nothing() -> None:
    """Nothing is new."""


def known_names(model: "Model") -> DictEncoder:
    """The names of a model's features, if none encodes frames; those of arrays are numbers."""
    columns = model.learner._columns
    if model.learner.names.columns or not columns:
        return model.learner.names
    return DictEncoder({name: j for j, name in enumerate(model.feature_names(columns))})


def features(model: "Model", frame: Any) -> Any:
    """The columns of a frame that are features."""
    excluded = {model.target, model.weight, *model.ignore}
    known = {*frame.columns} - excluded
    names = [name for name in model.keep or frame.columns if name in known]
    return frame if names == [*frame.columns] else frame.select(names)


def _frame_of_dicts(records: list[Any]) -> Any:
    import polars

    names = dict.fromkeys(name for record in records for name in record)
    columns = {str(name): [record.get(name) for record in records] for name in names}
    return polars.DataFrame(columns, strict=False)


def factors_by_column(model: "Model", factors: Mapping[str, float]) -> Float:
    """The factor of each feature, interactions included; columns without a unit are an error."""
    width = len(model.learner.weights().features)
    kinds: dict[str, str] = {}
    sources: Any = [(name,) for name in model.feature_names(width)]
    if model.columns is not None:
        sources = model.columns.sources
        kinds = model.columns.kinds
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
