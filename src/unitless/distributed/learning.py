"""A new model for the tasks of a fit, and learning a block."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unitless.core.learner import Learner
from unitless.distributed.partitioned_data import Part, PartitionedData
from unitless.evaluation.metrics import LOSS, WEIGHT
from unitless.evaluation.progressive import progressive
from unitless.model import Model
from unitless.model.column_types import known_types
from unitless.readers import FileBlock
from unitless.readers.blocks import KIND, ReadError

Float = NDArray[np.float64]


def start_of(
    source: PartitionedData, learner: str | Learner, parts: list[Part], key: str = ""
) -> tuple[Model, PartitionedData]:
    """Make a new model; the first block decides task, classes and column types.

    Returns the model and the source with these types.
    """
    format = source.format([part.file for part in parts])
    types = known_types(format, source.reading, source.target, source.task, source.ignore)
    if key and format in ("csv", "tsv"):
        types[key] = "string"
    reading = {**source.reading, "types": types}
    first = next(replace(source, reading=reading).blocks(parts[0]))
    with parts[0].naming():
        model = Model.from_first_block(
            first,
            target=source.target,
            learner=learner,
            loss=source.loss,
            task=source.task,
            weight=source.weight,
            ignore=[*source.ignore, key] if key else source.ignore,
            keep=source.keep,
            identifier_as_feature=source.identifier_as_feature,
            columns=None if source.columns is None else source.columns.settled(),
            source=source.name,
        )
    model.file.reading = reading
    found = first.position.columns or {}
    known = {name: kind for name, kind in found.items() if kind and KIND.fullmatch(kind)}
    types = known | types
    return model, replace(source, reading=reading | {"types": types})


def learn_block(model: Model, block: FileBlock) -> Float:
    """Learn a block, and return the score of predictions made before each row was learned.

    The score has the rows, their weight, and the sum of weight times loss.
    The first row of a model counts as learned, and not in the loss: no label was known before it.
    """
    score = np.zeros(3)
    is_first = model.rows == 0
    for step in progressive(model, [block]):
        targets, scores, weights = step.scored(step.labelled)
        if is_first and len(weights):
            weights = np.append(0.0, weights[1:])
            is_first = False
        losses = model.learner.loss.value(targets, scores)
        with np.errstate(over="ignore"):
            score += [len(losses), weights.sum(), (weights * losses).sum()]
    return score


def require_labels(source: PartitionedData, rows: int) -> None:
    """Raise an error if no row of a table was learned, because none had a label."""
    if source.target is not None and not rows:
        text = "not a single row has a label, its cells are missing or not numbers"
        raise ReadError(f"{text}; check the target", file=source.name, column=source.target)


def mean_loss(score: Float) -> float:
    """Return the average loss of a score."""
    return float(score[LOSS] / score[WEIGHT]) if score[WEIGHT] else 0.0
