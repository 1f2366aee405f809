"""Convert frames, arrays, sparse matrices and dicts to rows of a model."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import DictEncoder
from unitless.encoders.dict_rows import rows_of_dicts, rows_of_frame
from unitless.labels import Label, coded
from unitless.rows import Rows, as_rows

if TYPE_CHECKING:
    from unitless.model import Model

Float = NDArray[np.float64]
Commit = Callable[[], None]


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


def rows_of(model: "Model", X: Any, grow: bool = False) -> tuple[Rows, Commit]:
    """The rows of X for the model's learner, and a function that keeps their new features."""
    if isinstance(X, Rows):
        return X, _nothing
    if is_dicts(X):
        return _rows_of_dicts(model, [X] if isinstance(X, Mapping) else X, grow)
    if is_frame(X):
        return _rows_of_frame(model, X, grow)
    if model.columns is not None and not _are_numbers(model):
        raise ValueError(
            "the model was fitted on a data frame whose columns are not all numbers: give a data "
            "frame with the same columns"
        )
    return as_rows(
        X if np.ndim(X) != 1 or hasattr(X, "tocsr") else np.reshape(X, (1, -1))
    ), _nothing


def _nothing() -> None:
    """Nothing is new."""


def _are_numbers(model: "Model") -> bool:
    assert model.columns is not None
    return all(kind == "number" for kind in model.columns.kinds.values())


def _rows_of_frame(model: "Model", frame: Any, grow: bool) -> tuple[Rows, Commit]:
    if model.columns is None:
        return _by_name(model, grow, lambda encoder: rows_of_frame(frame, encoder))
    excluded = {model.target, model.weight, *model.ignore}
    if any(name in excluded for name in map(str, _names(frame))):
        import narwhals.stable.v2 as nw

        frame = model.features(nw.from_native(frame, eager_only=True)).to_native()
    encoded = model.columns.encode(frame, grow=grow)
    columns = model.columns
    return as_rows(encoded.X), lambda: columns.commit(encoded)


def _names(frame: Any) -> list[Any]:
    return list(getattr(frame, "column_names", frame.columns))


def _rows_of_dicts(model: "Model", records: list[Any], grow: bool) -> tuple[Rows, Commit]:
    if model.columns is None:
        return _by_name(model, grow, lambda encoder: rows_of_dicts(records, encoder))
    import polars

    names = dict.fromkeys(name for record in records for name in record)
    frame = polars.DataFrame(
        {str(name): [record.get(name) for record in records] for name in names}, strict=False
    )
    return _rows_of_frame(model, frame, grow)


def _by_name(model: "Model", grow: bool, encode: Callable[[DictEncoder], Any]) -> Any:
    """Rows of named features for a model without an encoder of frames."""
    learner = model.learner
    if model.names is not None and not learner.names.columns:
        known = DictEncoder({name: j for j, name in enumerate(model.names)})
    else:
        known = learner.names
    rows, encoder = encode(known)
    if not grow:
        return rows, _nothing

    def commit() -> None:
        if model.names is not None and not learner.names.columns:
            model.names = list(map(str, encoder.columns))
        else:
            model.learner.names = encoder

    return rows, commit


def codes_of(model: "Model", y: Any) -> tuple[Float, list[tuple[int, Label]]]:
    """The codes of labels, or numbers; and (row, label) of classes that are new."""
    given = y.to_list() if hasattr(y, "to_list") else y
    if not isinstance(given, list | tuple | np.ndarray):
        given = [given]
    if model.task == "regression":
        return np.asarray(given, dtype=np.float64), []
    labels = given.tolist() if isinstance(given, np.ndarray) else list(given)
    codes, new = coded(labels, model.labels, model.task == "binary")
    if model.task == "binary" and len(model.labels) + len(new) > 2:
        row, label = new[2 - len(model.labels)]
        raise ValueError(f"row {row}: {label!r} is a third class, and the model has two")
    return codes, new


def factors_by_column(model: "Model", factors: Mapping[str, float]) -> Float:
    """The factor of each feature, interactions included; columns without a unit are an error."""
    width = len(model.learner.weights().features)
    kinds: dict[str, str] = {}
    if model.columns is None:
        sources: list[tuple[str, ...]] = [(name,) for name in model.feature_names(width)]
    else:
        sources = model.columns.sources
        kinds = model.columns.kinds
    known = {*kinds, *(name for source in sources for name in source)}
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
