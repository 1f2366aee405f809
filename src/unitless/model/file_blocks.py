"""Convert blocks of a file to rows of a model: features, coded targets and sample weights."""

import math
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import FrameEncoder
from unitless.labels import Label, WrongLabel, codes_of, distinct_labels, shown
from unitless.model.input_rows import features, rows_of
from unitless.readers.blocks import FileBlock, ReadError
from unitless.rows import Rows, as_rows
from unitless.suggestions import listed, no_such_column

if TYPE_CHECKING:
    from unitless.model import Model

Float = NDArray[np.float64]


class Prepared(NamedTuple):
    """Rows of a block with coded targets, ready to be predicted or learned."""

    rows: Rows
    """Targets are NaN for rows without a label."""
    new: list[tuple[int, Label]]
    """Classes that appear for the first time, and in which row."""


def prepared(model: "Model", block: FileBlock, grow: bool, labelled: bool) -> Prepared:
    """The block's rows for the model's learner; see `Model.prepared`."""
    if model.task in ("multilabel", "multioutput"):
        raise ValueError("the model has several targets, and files have one: use it in Python")
    targets: Float | None = None
    weights: Float | None = None
    new: list[tuple[int, Label]] = []
    if labelled:
        try:
            given = raw_targets(block, model.target)
            targets, new = codes_of(given, model.task, model.labels, missing=True)
        except WrongLabel as error:
            why = f"{error.why}; use {error.advice}"
            raise _wrong(why, block, error.row, model.target) from None
        weights = _weights(model, block)
    if block.frame is None and model.columns is not None:
        raise ValueError("the model was made from a table, and this is svmlight or VW text")
    if block.rows is not None:
        if grow and block.new_names:
            model.learner.names.add(block.new_names)
            model.learner._reserve(len(model.learner.names.columns))
        return Prepared(replace(block.rows, targets=targets, weights=weights), new)
    if not features(model, block.frame).columns:  # polars then forgets how many rows there are
        return Prepared(as_rows(np.empty((len(block), 0)), targets, weights), new)
    rows, commit = rows_of(model, block.frame, grow, weights)
    if grow or model.columns is not None:
        commit()
    return Prepared(rows if targets is None else rows.with_targets(targets), new)


def task_and_labels(block: FileBlock, target: str | None, task: str) -> tuple[Any, list[Label]]:
    """The task and the classes of the first block.

    "auto" takes strings, booleans or two distinct values for classes, otherwise regression.
    """
    given = raw_targets(block, target)
    _, first = distinct_labels(given)
    labels = sorted(first.values())
    if task == "auto":
        task = "multiclass" if len(labels) > 2 else "binary"
        if isinstance(given, np.ndarray) and len(labels) != 2:
            task = "regression"
    if task == "regression":
        return task, []
    if task == "binary" and len(labels) > 2:
        rows = {label: row for row, label in first.items()}
        row = rows[labels[2]]
        several = ", ".join(map(shown, labels[:3]))
        why = f"there are more than two classes ({several}, ...): use --task multiclass"
        raise _wrong(why, block, row, target)
    return task, labels


def take_format(model: "Model", block: FileBlock, columns: FrameEncoder | None) -> None:
    """Prepare a fresh model for blocks of this format: a table, svmlight or VW text."""
    columns = FrameEncoder() if columns is None else columns  # an empty one is false
    if block.frame is not None:
        model.columns = columns
        if block.position.get("format") != "jsonl":  # a column may appear later
            special = model.target, model.weight
            named = [name for name in (*model.ignore, *model.keep) if name not in special]
            pairs = filter(None, chain(*columns.interactions))
            for name in (*named, *columns.text, *pairs):
                column_of(block.frame, name)
    elif model.weight or model.ignore or model.keep or columns.interactions or columns.text:
        raise ValueError("weight, ignore, keep, interactions and text go by column: for tables")


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
    return _numbers(column, target) if column.dtype.is_numeric() else column.to_list()


def _weights(model: "Model", block: FileBlock) -> Float | None:
    name = model.weight
    if block.frame is None or name is None or name not in block.frame.columns:
        return block.weights
    weights = _numbers(block.frame.get_column(name), name)
    missing = np.isnan(weights)
    if missing.any():
        why = "the weight is missing; use 0 to leave a row out"
        raise _wrong(why, block, int(np.argmax(missing)), name)
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


def _wrong(why: str, block: FileBlock, row: int, column: str | None) -> ReadError:
    """The error for a row that was read and cannot be used."""
    line = int(block.lines[row])
    return ReadError(why, file=block.file or "the rows", line=line, column=column)
