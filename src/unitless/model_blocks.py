"""Convert blocks of a reader to rows of a model: features, coded targets and sample weights."""

import math
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless import model_building
from unitless.encoders import FrameEncoder
from unitless.labels import Label, coded, distinct_labels, shown
from unitless.readers.blocks import Block, ReadError
from unitless.rows import Rows, as_rows
from unitless.suggestions import no_such_column

if TYPE_CHECKING:
    from unitless.model import Model

Float = NDArray[np.float64]


class Prepared(NamedTuple):
    """Rows of a block with coded targets, ready to be predicted or learned."""

    rows: Rows
    """Targets are NaN for rows without a label."""
    new: list[tuple[int, Label]]
    """Classes that appear for the first time, and in which row."""


def prepared(model: "Model", block: Block, grow: bool, labelled: bool) -> Prepared:
    """The block's rows for the model's learner; see `Model.prepared`."""
    targets, new = _targets(model, block) if labelled else (None, [])
    weights = _weights(model, block) if labelled else None
    if block.frame is None:
        return Prepared(_sparse(model, block, targets, weights, grow), new)
    if model.columns is None:
        raise ValueError("the model was made from svmlight or VW text, and this is a table")
    frame = features(model, block.frame)
    if not frame.columns:  # polars then forgets how many rows there are
        return Prepared(as_rows(np.empty((len(block), 0)), targets, weights), new)
    encoded = model.columns.encode(frame, grow=grow)
    rows = as_rows(encoded.X, targets, weights)
    model.columns.commit(encoded)
    return Prepared(rows, new)


def _sparse(
    model: "Model", block: Block, targets: Float | None, weights: Float | None, grow: bool
) -> Rows:
    if model.columns is not None:
        raise ValueError("the model was made from a table, and this is svmlight or VW text")
    assert block.rows is not None
    if model.names is not None and grow:
        model.names += block.new_names
    return replace(block.rows, targets=targets, weights=weights)


def features(model: "Model", frame: Any) -> Any:
    """The columns of a frame that are features."""
    excluded = {model.target, model.weight, *model.ignore}
    for name in model.keep:
        column_of(frame, name)
    kept = model.keep or frame.columns
    if fixed := _columns_of_estimator(model):
        kept = [name for name in kept if name in fixed]
    return frame.select([name for name in kept if name not in excluded])


def _columns_of_estimator(model: "Model") -> set[str]:
    """The columns that an estimator was fitted on; it takes no others."""
    fitted = (model.estimator or {}).get("fitted", {})
    return {str(name) for name in fitted.get("feature_names_in_", ())}


# The first block


def task_and_labels(
    block: Block, target: str | None, task: str, source: str
) -> tuple[Any, list[Label]]:
    """The task, which "auto" finds by the targets of the first block, and its classes."""
    given = raw_targets(block, target)
    found = distinct_labels(given)
    kind = model_building.task_of_targets(given, found.labels) if task == "auto" else task
    labels = [] if kind == "regression" else sorted(found.labels)
    if kind == "binary" and len(labels) > 2:
        row = next(row for row, label in found.first.items() if label == labels[2])
        several = ", ".join(map(shown, labels[:3]))
        why = f"there are more than two classes ({several}, ...): use --task multiclass"
        raise _wrong(why, source, block.lines[row], target)
    return kind, labels


def take_format(model: "Model", block: Block, columns: FrameEncoder | None) -> None:
    """Prepare a fresh model for blocks of this format: a table, svmlight or VW text."""
    columns = FrameEncoder() if columns is None else columns  # an empty one is false
    if block.frame is not None:
        model.columns = columns
        _refuse_unknown_columns(model, columns, block)
    elif model.weight or model.ignore or model.keep or columns.interactions or columns.text:
        raise ValueError("weight, ignore, keep, interactions and text go by column: for tables")
    elif block.position.get("format") == "vw":
        model.names = []


def _refuse_unknown_columns(model: "Model", columns: FrameEncoder, block: Block) -> None:
    """An error for a column that an option names and the table lacks."""
    if block.position.get("format") == "jsonl":  # it may appear later
        return
    special = {model.target, model.weight}
    named = [name for name in (*model.ignore, *model.keep) if name not in special]
    pairs = filter(None, chain(*columns.interactions))
    for name in (*named, *columns.text, *pairs):
        column_of(block.frame, name)


# Targets and weights


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
    return _numbers(column, target) if column.dtype.is_numeric() else column.to_list()


def _targets(model: "Model", block: Block) -> tuple[Float, list[tuple[int, Label]]]:
    given = raw_targets(block, model.target)
    if model.task == "regression":
        if isinstance(given, np.ndarray):
            return given, []
        row = next(k for k, label in enumerate(given) if label is not None)
        why = (
            f"{given[row]!r} is a class, and the task is regression: use --task binary or "
            "--task multiclass"
        )
        raise _wrong(why, model.source, block.lines[row], model.target)
    codes, new = coded(given, model.labels, model.task == "binary")
    if model.task == "binary" and len(model.labels) + len(new) > 2:
        row, label = new[2 - len(model.labels)]
        one, two = map(shown, [*model.labels, *(label for _, label in new)][:2])
        why = (
            f"{shown(label)} is a third class after {one} and {two}; give --task multiclass, or "
            "--task regression if the target is a number"
        )
        raise _wrong(why, model.source, block.lines[row], model.target)
    return codes, new


def _weights(model: "Model", block: Block) -> Float | None:
    if block.frame is None or model.weight is None or model.weight not in block.frame.columns:
        return block.weights
    weights = _numbers(column_of(block.frame, model.weight), model.weight)
    if np.isnan(weights).any():
        line = block.lines[np.argmax(np.isnan(weights))]
        why = "the weight is missing; use 0 to leave a row out"
        raise _wrong(why, model.source, line, model.weight)
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


def _listed(frame: Any) -> str:
    names = [repr(name) for name in frame.columns]
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _wrong(why: str, source: str, line: int, column: str | None) -> ReadError:
    """The error for a row that was read and cannot be used."""
    return ReadError(why, file=source or "the rows", line=int(line), column=column)
