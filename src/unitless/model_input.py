"""Data in any form to the rows of a model: frames, arrays, sparse matrices and dicts."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import DictEncoder
from unitless.encoders.dict_rows import rows_of_dicts, rows_of_frame
from unitless.readers.blocks import Block
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
    """Whether X is a dict or a list of dicts; a sparse DOK array is a dict, too, and is none."""
    first = X[0] if isinstance(X, list) and X else X
    return isinstance(first, Mapping) and not hasattr(X, "tocsr")


def rows_of(model: "Model", X: Any, grow: bool = False) -> tuple[Rows, Commit]:
    """The rows of X as the model's learner takes them, and what keeps their new features."""
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


def raw_targets(block: Block, target: str | None) -> Any:
    """The targets: an array of numbers with NaN, or a list of strings or booleans with None.

    They are the block's own, or those of a column that was read with the others.
    """
    if block.targets is not None:
        return block.targets if block.targets.dtype == np.float64 else block.targets.tolist()
    if block.frame is None:
        return np.full(len(block), np.nan)
    if target is None:
        raise ValueError(f"which column is the target? There are {_listed(block.frame)}")
    column = column_of(block.frame, target)
    return numbers_of(block.frame, target) if column.dtype.is_numeric() else column.to_list()


def column_of(frame: Any, name: str) -> Any:
    """A column of a frame; an error that lists the columns if there is none of that name."""
    if name not in frame.columns:
        raise ValueError(f"there is no column {name!r}; there are {_listed(frame)}")
    return frame.get_column(name)


def numbers_of(frame: Any, name: str) -> Float:
    """A column of numbers, NaN where a value is missing."""
    column = column_of(frame, name)
    if not column.dtype.is_numeric():
        raise ValueError(f"column {name!r}: numbers were expected, it holds {column.dtype}")
    return np.ascontiguousarray(column.fill_null(math.nan).to_numpy(), dtype=np.float64)


def _listed(frame: Any) -> str:
    names = [repr(name) for name in frame.columns]
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
