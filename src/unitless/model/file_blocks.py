"""Convert blocks of a file to rows of a model: features, coded targets and sample weights."""

import math
import shlex
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import FrameEncoder
from unitless.labels import Label, WrongLabel, codes_of, distinct_labels, shown
from unitless.model.input_rows import features, rows_of, rows_of_frame
from unitless.readers.blocks import FileBlock, ReadError
from unitless.rows import Rows
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
            given = raw_targets(block, model.file.target)
            targets, new = codes_of(given, model.task, model.labels, missing=True)
        except WrongLabel as error:
            why = f"{error.why}; use {error.advice}"
            raise _wrong(why, block, error.row, model.file.target) from None
        weights = _weights(model, block)
    if block.frame is None and model.encoder is not None:
        raise ValueError("the model was made from a table, and this is svmlight or VW text")
    if block.rows is not None:
        if grow and block.new_names:
            model.learner.names.add(block.new_names)
            model.learner._reserve(len(model.learner.names.columns))
        return Prepared(replace(block.rows, targets=targets, weights=weights), new)
    if model.encoder is None:
        rows, commit = rows_of(model, block.frame, grow, weights)
    else:
        shape = len(block), block.first_rows
        rows, commit = rows_of_frame(model, block.frame, *shape, grow=grow, weights=weights)
    if grow or model.encoder is not None:
        commit()
    return Prepared(rows if targets is None else rows.with_targets(targets), new)


def task_and_labels(block: FileBlock, target: str | None, task: str) -> tuple[Any, list[Label]]:
    """The task and the classes of the first block.

    "auto" takes strings, booleans or two distinct values for classes, otherwise regression. It
    refuses strings that are numbers with a few exceptions: as classes they would be useless, and as
    numbers a rare class would vanish.
    """
    given = raw_targets(block, target)
    if task == "auto" and isinstance(given, list):
        _refuse_odd_labels(given, block, target)
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


def _refuse_odd_labels(given: list[Any], block: FileBlock, target: str | None) -> None:
    """Refuse text labels of which at least nine tenths are numbers, and more than two distinct."""
    from unitless.readers.number_cells import number_fit_of

    kind = (block.position.columns or {}).get(target or "")
    fit = number_fit_of(given) if kind == "string" else None
    if fit is None or fit.is_nearly_all_numbers or not fit.is_mostly_numbers:
        return
    odd = {*fit.spellings}
    numbers = {label for label in given if label is not None and label.strip() not in odd}
    if len(numbers) <= 2:  # two classes and rare others
        return
    text = fit.spellings[0]
    row = next(k for k, label in enumerate(given) if label is not None and label.strip() == text)
    several = listed(map(repr, fit.spellings), most=3)
    raise ReadError(
        f"{fit.odd:,} of {fit.present:,} labels are not numbers ({several}): if such a cell is a "
        f"missing label, use --na {shlex.quote(text)}; if it is a class, use --task multiclass",
        file=block.file or "the rows",
        line=int(block.lines[row]),
        column=target,
        text=text,
    )


def take_format(model: "Model", block: FileBlock, columns: FrameEncoder | None) -> None:
    """Prepare a fresh model for blocks of this format: a table, svmlight or VW text."""
    columns = FrameEncoder() if columns is None else columns  # an empty one is false
    file = model.file
    if block.frame is not None:
        model.encoder = columns
        if block.position.format != "jsonl":  # a column may appear later
            special = file.target, file.weight
            named = [name for name in (*file.ignore, *file.keep) if name not in special]
            pairs = filter(None, chain(*columns.interactions))
            for name in (*named, *columns.text, *pairs):
                column_of(block.frame, name)
    elif (
        model.file.weight
        or model.file.ignore
        or model.file.keep
        or columns.interactions
        or columns.text
    ):
        raise ValueError("weight, ignore, keep, interactions and text go by column: for tables")


def take_findings(model: "Model", block: FileBlock, identifier_as_feature: bool) -> Any:
    """What the first block shows about its columns, which the model then follows; None if sparse.

    Words of text are counted, identifiers are left out, and empty columns have no feature yet.
    """
    if block.frame is None or model.encoder is None:
        return None
    from unitless.model.column_findings import findings

    columns = model.encoder
    kinds = block.position.columns or {}
    asked = {*columns.text, *model.file.keep, *filter(None, chain(*columns.interactions))}
    asked |= {name for name, kind in kinds.items() if kind == "category"}
    found = findings(
        features(model, block.frame), asked, identifier_as_feature=identifier_as_feature
    )
    columns.text += found.text
    columns.empty = found.empty
    model.file.ignore += found.identifiers
    return found


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
