"""What the first block of a file shows about the task, the format and the columns."""

import shlex
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import FrameEncoder
from unitless.labels import Label, distinct_labels, shown
from unitless.model.input_names import features
from unitless.model.intake import column_of, raw_targets, wrong_row
from unitless.readers.blocks import FileBlock, ReadError
from unitless.suggestions import listed

if TYPE_CHECKING:
    from unitless.encoders.column_findings import ColumnFindings
    from unitless.model import Model

Float = NDArray[np.float64]


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
        raise wrong_row(why, block, row, target)
    return task, labels


def _refuse_odd_labels(given: list[Any], block: FileBlock, target: str | None) -> None:
    """Refuse text labels of which at least nine tenths are numbers, and more than two distinct."""
    from unitless.encoders.number_spellings import number_fit_of

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


def take_findings(
    model: "Model", block: FileBlock, identifier_as_feature: bool
) -> "ColumnFindings | None":
    """What the first block shows about its columns, which the model then follows; None if sparse.

    Words of text are counted, identifiers are left out, and empty columns have no feature yet.
    """
    if block.frame is None or model.encoder is None:
        return None
    from unitless.encoders.column_findings import findings

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
