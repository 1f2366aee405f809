"""Convert frames, arrays, sparse matrices and dicts to rows of a model."""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.encoders import DictEncoder, FrameEncoder
from unitless.encoders.dataframes import opened
from unitless.encoders.dict_encoder import rows_of_dicts
from unitless.rows import Rows, as_rows
from unitless.suggestions import listed, suggestion

if TYPE_CHECKING:
    from unitless.model import Model

Float = NDArray[np.float64]
Commit = Callable[[], None]
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


def is_frame(X: Any) -> bool:
    """Whether X is a data frame: a table whose columns have names.

    >>> import pandas
    >>> is_frame(pandas.DataFrame({"height": [1.8]})), is_frame(np.array([[1.8]]))
    (True, False)
    """
    return hasattr(type(X), "columns") or hasattr(type(X), "column_names")


def holds_strings(X: Any) -> bool:
    """Whether X is an array of objects with a string among them.

    >>> holds_strings(np.array([[1.5, "red"]], dtype=object)), holds_strings(np.array([[1.5]]))
    (True, False)
    """
    is_objects = isinstance(X, np.ndarray) and X.dtype == object and X.ndim > 0
    return is_objects and any(isinstance(value, str) for value in X.flat)


def is_dicts(X: Any) -> bool:
    """Whether X is a dict or a list of dicts; a sparse DOK array does not count."""
    first = X[0] if isinstance(X, list) and X else X
    return isinstance(first, Mapping) and not hasattr(X, "tocsr")


def rows_of(
    model: "Model",
    X: Any,
    grow: bool = False,
    weights: ArrayLike | None = None,
    unknown: Unknown = "error",
) -> tuple[Rows, Commit]:
    """The rows of X for the model's learner, and a function that keeps their new features.

    To a model of a table, an unknown name in a dict is an error unless `unknown` is "ignore";
    an unknown column of a frame is a warning. What is absent is missing.
    """
    if unknown not in ("error", "ignore"):
        raise ValueError(f"unknown = {unknown!r}: it is 'error' or 'ignore'")
    if isinstance(X, Rows):
        checked = as_rows(np.empty((len(X), 0)), None, weights)
        return Rows(*X.parts, None, checked.weights), _nothing
    if model.encoder is not None and hasattr(X, "to_frame") and np.ndim(X) == 1:
        X = X.to_frame().T  # a pandas Series is one row
    if holds_strings(X) or (_is_of_objects(model) and not (is_frame(X) or is_dicts(X))):
        X = frame_of_array(model, X)
    if is_frame(X) and model.encoder is None and model.inputs is None:
        X = opened(X).rows(named=True)
    if is_dicts(X):
        records = [X] if isinstance(X, Mapping) else X
        if model.encoder is None:
            rows, names = rows_of_dicts(records, known_names(model), weights)
            return rows, lambda: setattr(model.learner, "names", names)
        frame = _frame_of_dicts(model, records, unknown)
        return rows_of_frame(model, frame, len(records), grow=grow, weights=weights)
    if is_frame(X) and model.encoder is not None:
        table = opened(X)
        if unknown == "error":
            _warn_of_unknown(model, table.columns, grow)
        return rows_of_frame(model, table, len(table), grow=grow, weights=weights)
    if model.encoder is not None and not _is_like_an_array(model, model.encoder):
        raise ValueError(
            "the model was fitted on a data frame whose columns are not all numbers with values: "
            "give a data frame with the same columns"
        )
    if np.ndim(X) == 1 and not hasattr(X, "tocsr"):
        X = [X]
    rows = as_rows(X, None, weights)
    if model.inputs not in (None, rows.columns):
        raise ValueError(f"X has {rows.columns} features, and the model has {model.inputs}")
    return rows, _nothing


def rows_of_frame(
    model: "Model",
    frame: Any,
    rows: int,
    first_rows: Mapping[str, int] | None = None,
    *,
    grow: bool,
    weights: ArrayLike | None,
) -> tuple[Rows, Commit]:
    """The rows of a frame for a model of a table, and a function that keeps new features.

    `rows` is their number, which polars forgets if no column is a feature; `first_rows` are those
    of `FileBlock`.
    """
    columns = model.encoder
    assert columns is not None
    own = features(model, frame)
    encoded = columns.encode(own, grow=grow, rows=rows, first_rows=first_rows or {})
    return as_rows(encoded.X, None, weights), lambda: columns.commit(encoded)


def _is_like_an_array(model: "Model", columns: FrameEncoder) -> bool:
    """Whether the features are the columns of the frame, in their order."""
    has_numbers_only = not {*columns.kinds.values()} - {"number"}
    return has_numbers_only and not model.file.ignore and not columns.empty


def _is_of_objects(model: "Model") -> bool:
    """Whether the model was fitted on an array of objects, whose columns are x0, x1, ..."""
    return model.encoder is not None and model.inputs is not None and not model.file.keep


def frame_of_array(model: "Model", X: Any) -> Any:
    """An array of objects as a frame: by position, the columns of the model or x0, x1, ..."""
    if model.encoder is None:
        raise ValueError(
            "X holds strings, and the model was made from numbers: give numbers, or fit a new "
            "model on an array of objects or a data frame"
        )
    table = np.atleast_2d(np.asarray(X, dtype=object))
    width = table.shape[1]
    if model.inputs not in (None, width):
        raise ValueError(f"X has {width} features, and the model has {model.inputs}")
    names: Sequence[str] = model.file.keep or NumberedNames(width, "x")
    return frame_of_objects({name: table[:, j].tolist() for j, name in enumerate(names)})


def _nothing() -> None:
    """Nothing is new."""


def known_names(model: "Model") -> DictEncoder:
    """The names of a model's features, if none encodes frames; those of arrays are numbers."""
    columns = model.learner.columns
    if model.learner.names.columns or not columns:
        return model.learner.names
    return DictEncoder({name: j for j, name in enumerate(model.feature_names(columns))})


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
    """Those of the names that a model of a table does not know; none before it has learned."""
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


def _warn_of_unknown(model: "Model", names: Iterable[str], learned: bool) -> None:
    unknown = unknown_names(model, names)
    if unknown:
        note = unknown_columns_note(model, unknown, learned)
        warnings.warn(note, UnknownColumns, stacklevel=4)


def _frame_of_dicts(model: "Model", records: Sequence[Any], unknown: Unknown) -> Any:
    """Dicts as a frame; a name that the model does not have is an error or is left out."""
    names = {str(name): name for record in records for name in record}
    left_out = {*unknown_names(model, names)}
    if unknown == "error":
        for row, record in enumerate(records):
            for name in map(str, record):
                if name in left_out:
                    place = f"row {row}: " if len(records) > 1 else ""
                    why = no_such_feature(model, name)
                    raise ValueError(f"{place}{why} unknown='ignore' leaves such names out")
    return frame_of_objects(
        {
            text: [record.get(name) for record in records]
            for text, name in names.items()
            if text not in left_out
        }
    )


def frame_of_objects(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A frame of columns of Python objects, which keep their types where these are mixed.

    >>> frame_of_objects({"a": [1.5, None], "b": ["x", math.nan]}).schema
    Schema([('a', Float64), ('b', Object)])
    """
    import polars

    made = []
    for name, given in columns.items():
        values = [None if type(value).__name__ == "NAType" else value for value in given]
        types = {*map(type, values)} - {type(None)}
        # polars would turn all of them into strings
        is_mixed = len(types) > 1 and any(issubclass(kind, str) for kind in types)
        made.append(polars.Series(name, values, polars.Object if is_mixed else None, strict=False))
    return polars.DataFrame(made)


def factors_by_column(model: "Model", factors: Mapping[str, float]) -> Float:
    """The factor of each feature, interactions included; columns without a unit are an error."""
    width = len(model.learner.weights().features)
    kinds: dict[str, str] = {}
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
