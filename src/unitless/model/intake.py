"""One intake: what a user has becomes one prepared record, whatever it is.

Arrays, sparse matrices, data frames, dicts, `Rows` and blocks of a file become rows of the model's
learner, with coded targets and weights. Estimators, River's models, the command line and training
in several processes all use it. Preparing changes nothing: `commit` keeps what is new. An infinite
value is refused here, by the name that it has in the input.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.encoders import DictEncoder, Encoded, FrameEncoder
from unitless.encoders.dataframes import opened
from unitless.encoders.dict_encoder import rows_of_dicts
from unitless.labels import New, WrongLabel, codes_of
from unitless.model.input_names import (
    NumberedNames,
    Unknown,
    UnknownColumns,
    features,
    no_such_feature,
    unknown_columns_note,
    unknown_names,
)
from unitless.readers.blocks import FileBlock, ReadError
from unitless.rows import InfiniteValue, Rows, as_rows
from unitless.suggestions import listed, no_such_column

if TYPE_CHECKING:
    from unitless.model import Model

Float = NDArray[np.float64]


def _nothing() -> None:
    """Nothing is new."""


class WrongValue(NamedTuple):
    """An infinite value in the words of the input: the name of its column, and why it is wrong."""

    noun: str
    name: str | int
    why: str


Named = Callable[[InfiniteValue], WrongValue]
"""Names an infinite value of some rows."""


class Converted(NamedTuple):
    """Rows that were made of an input, without targets."""

    rows: Rows
    named: Named
    commit: Callable[[], None] = _nothing
    """Keeps new features."""


class Prepared(NamedTuple):
    """Rows for the learner of a model, ready to be predicted or learned."""

    rows: Rows
    """With coded targets, if there are targets; those of a file are NaN for rows without one."""
    new: New = ()
    """Classes that appear for the first time, and in which row."""
    commit: Callable[[], None] = _nothing
    """Keeps new features; call it when the learner has taken the rows."""


def prepared(
    model: "Model",
    X: object,
    y: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    *,
    grow: bool = False,
    unknown: Unknown = "error",
) -> Prepared:
    """The record of X, which has targets if y is given; see `Model.prepared`."""
    if unknown not in ("error", "ignore"):
        raise ValueError(f"unknown = {unknown!r}: it is 'error' or 'ignore'")
    codes, new = (None, ()) if y is None else codes_of(y, model.task, model.labels)
    rows, named, commit = _rows_of(model, X, grow, weights, unknown)
    try:
        rows.refuse_infinity()
    except InfiniteValue as error:
        noun, name, why = named(error)
        raise ValueError(f"row {error.row}, {noun} {name!r}: {why}") from None
    return Prepared(rows if codes is None else rows.with_targets(codes), new, commit)


def prepared_block(model: "Model", block: FileBlock, *, grow: bool, labelled: bool) -> Prepared:
    """The record of a block of a file, whose targets are known if `labelled`."""
    if model.task in ("multilabel", "multioutput"):
        raise ValueError("the model has several targets, and files have one: use it in Python")
    targets: Float | None = None
    weights: Float | None = None
    new: New = ()
    if labelled:
        try:
            given = raw_targets(block, model.file.target)
            targets, new = codes_of(given, model.task, model.labels, missing=True)
        except WrongLabel as error:
            why = f"{error.why}; use {error.advice}"
            raise wrong_row(why, block, error.row, model.file.target) from None
        weights = _weights(model, block)
    if block.rows is not None:
        if model.encoder is not None:
            raise ValueError("the model was made from a table, and this is svmlight or VW text")
        commit = partial(_add_names, model, block.new_names) if block.new_names else _nothing
        return Prepared(replace(block.rows, targets=targets, weights=weights), new, commit)
    if model.encoder is None:
        rows, named, commit = _rows_of(model, block.frame, grow, weights)
    else:
        shape = len(block), block.first_rows
        rows, named, commit = _rows_of_frame(model, block.frame, *shape, grow=grow, weights=weights)
    try:
        rows.refuse_infinity()
    except InfiniteValue as error:
        _, name, why = named(error)
        raise wrong_row(why, block, error.row, str(name)) from None
    return Prepared(rows if targets is None else rows.with_targets(targets), new, commit)


def _add_names(model: "Model", names: Sequence[str]) -> None:
    """Give new features of VW text their columns."""
    model.learner.names.add(names)
    model.learner._reserve(len(model.learner.names.columns))


def _rows_of(
    model: "Model",
    X: Any,
    grow: bool = False,
    weights: ArrayLike | None = None,
    unknown: Unknown = "error",
) -> Converted:
    """The rows of X for the model's learner.

    To a model of a table, an unknown name in a dict is an error unless `unknown` is "ignore";
    an unknown column of a frame is a warning. What is absent is missing.
    """
    if isinstance(X, Rows):
        checked = as_rows(np.empty((len(X), 0)), None, weights)
        return Converted(Rows(*X.parts, None, checked.weights), _in_array)
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
            named = partial(_in_dicts, names)
            return Converted(rows, named, lambda: setattr(model.learner, "names", names))
        frame = _frame_of_dicts(model, records, unknown)
        return _rows_of_frame(model, frame, len(records), grow=grow, weights=weights)
    if is_frame(X) and model.encoder is not None:
        table = opened(X)
        if unknown == "error":
            _warn_of_unknown(model, table.columns, grow)
        return _rows_of_frame(model, table, len(table), grow=grow, weights=weights)
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
    return Converted(rows, _in_array)


def _rows_of_frame(
    model: "Model",
    frame: object,
    rows: int,
    first_rows: Mapping[str, int] | None = None,
    *,
    grow: bool,
    weights: ArrayLike | None,
) -> Converted:
    """The rows of a frame for a model of a table.

    `rows` is their number, which polars forgets if no column is a feature; `first_rows` are those
    of `FileBlock`.
    """
    columns = model.encoder
    assert columns is not None
    own = features(model, frame)
    encoded = columns.encode(own, grow=grow, rows=rows, first_rows=first_rows or {})
    made = as_rows(encoded.X, None, weights)
    named = partial(_in_frame, columns, encoded)
    return Converted(made, named, lambda: columns.commit(encoded))


def _in_array(error: InfiniteValue) -> WrongValue:
    return WrongValue("column", error.columns[0], f"{error.why}; drop the row, or use NaN")


def _in_dicts(names: DictEncoder, error: InfiniteValue) -> WrongValue:
    advice = "leave it out, or use None for a missing value"
    name = [*names.columns][error.columns[0]]
    return WrongValue("feature", str(name), f"{error.why}; {advice}")


def _in_frame(columns: FrameEncoder, encoded: Encoded, error: InfiniteValue) -> WrongValue:
    """A value of a column, or a product of two columns that are finite."""
    features = [columns.origin(encoded, column) for column in error.columns]
    for _, sources in features:
        if len(sources) == 1:
            advice = "drop the row, or use None for a missing value"
            return WrongValue("column", sources[0], f"{error.why}; {advice}")
    why = "the product is beyond float64; give one of the two columns in a larger unit"
    return WrongValue("column", features[0][0], why)


def is_frame(X: object) -> bool:
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


def is_dicts(X: object) -> bool:
    """Whether X is a dict or a list of dicts; a sparse DOK array does not count."""
    first = X[0] if isinstance(X, list) and X else X
    return isinstance(first, Mapping) and not hasattr(X, "tocsr")


def _is_like_an_array(model: "Model", columns: FrameEncoder) -> bool:
    """Whether the features are the columns of the frame, in their order."""
    has_numbers_only = not {*columns.kinds.values()} - {"number"}
    return has_numbers_only and not model.file.ignore and not columns.empty


def _is_of_objects(model: "Model") -> bool:
    """Whether the model was fitted on an array of objects, whose columns are x0, x1, ..."""
    return model.encoder is not None and model.inputs is not None and not model.file.keep


def frame_of_array(model: "Model", X: object) -> Any:
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


def known_names(model: "Model") -> DictEncoder:
    """The names of a model's features, if none encodes frames; those of arrays are numbers."""
    columns = model.learner.columns
    if model.learner.names.columns or not columns:
        return model.learner.names
    return DictEncoder({name: j for j, name in enumerate(model.feature_names(columns))})


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


def frame_of_objects(columns: Mapping[str, Sequence[object]]) -> Any:
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


def raw_targets(block: FileBlock, target: str | None) -> Any:
    """The targets: an array of numbers with NaN, or a list of strings or booleans with None.

    They are the block's own, or those of a column that was read with the others.
    """
    if block.targets is not None:
        return block.targets if block.targets.dtype == np.float64 else block.targets.tolist()
    if block.frame is None:
        return np.full(len(block), np.nan)
    if target is None:
        names = listed(map(repr, block.frame.columns))
        raise ValueError(f"which column is the target? There are {names}")
    column = column_of(block.frame, target)
    if column.dtype.is_nested():
        raise ValueError(f"column {target!r}: it holds lists or objects, which are no targets")
    return _numbers(column, target) if column.dtype.is_numeric() else column.to_list()


def _weights(model: "Model", block: FileBlock) -> Float | None:
    name = model.file.weight
    if block.frame is None or name is None or name not in block.frame.columns:
        return block.weights
    weights = _numbers(block.frame.get_column(name), name)
    missing = np.isnan(weights)
    if missing.any():
        why = "the weight is missing; use 0 to leave a row out"
        raise wrong_row(why, block, int(np.argmax(missing)), name)
    return weights


def column_of(frame: Any, name: str) -> Any:
    """A column of a frame; if it does not exist, an error that lists the columns."""
    if name not in frame.columns:
        raise ValueError(no_such_column(name, frame.columns))
    return frame.get_column(name)


def _numbers(column: Any, name: str) -> Float:
    """A column of numbers, NaN where a value is missing."""
    if not column.dtype.is_numeric():
        raise ValueError(f"column {name!r}: numbers were expected, it holds {column.dtype}")
    return np.ascontiguousarray(column.fill_null(math.nan).to_numpy(), dtype=np.float64)


def wrong_row(why: str, block: FileBlock, row: int, column: str | None) -> ReadError:
    """The error for a row that was read and cannot be used."""
    line = int(block.lines[row])
    return ReadError(why, file=block.file or "the rows", line=line, column=column)
