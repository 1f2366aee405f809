"""The work of a task: read the rows of a part, learn them, and report where errors occurred."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from unitless.distributed.partitioned_data import Part, PartitionedData
from unitless.encoders import FrameEncoder
from unitless.learners.base import Learner
from unitless.model import Model
from unitless.readers import Block, ReadError
from unitless.rows import Rows


class PartError(ValueError):
    """Rows that cannot be learned; the message names file, part and row.

    >>> print(PartError("a.csv, line 3: a number was expected (part 2 of 9)"))
    a.csv, line 3: a number was expected (part 2 of 9)
    """


class Start(NamedTuple):
    """What all tasks start from."""

    model: Model
    """A new model, with task, classes and learner."""
    types: dict[str, str]
    """Types of the columns of text files, decided by the first file."""


class Score(NamedTuple):
    """Number of rows learned, and the losses of their predictions."""

    rows: int = 0
    weight: float = 0.0
    loss: float = 0.0
    """Sum of weight times loss."""

    def plus(self, other: "Score") -> "Score":
        """Return the score over the rows of both."""
        return Score(self.rows + other.rows, self.weight + other.weight, self.loss + other.loss)

    @property
    def mean(self) -> float:
        """The average loss."""
        return self.loss / self.weight if self.weight else 0.0


@contextmanager
def naming(part: Part, block: Block | None = None) -> Iterator[None]:
    """Add the part to the message of errors."""
    place = part.file
    if block is not None and len(block):
        place += f", lines {block.lines[0]} to {block.lines[-1]}"
    suffix = f"(part {part.number} of {part.of})"
    try:
        yield
    except PartError:
        raise
    except ReadError as error:
        raise PartError(f"{error.of_file(part.file)} {suffix}") from None
    except ValueError as error:
        raise PartError(f"{place}: {error} {suffix}") from None
    except OSError as error:
        raise type(error)(f"{place}: {error.strerror or error} {suffix}") from None


def start_of(
    source: PartitionedData, learner: str | Learner, parts: list[Part], key: str = ""
) -> Start:
    """Make a new model; the first block decides task, classes and column types."""
    ignore = [*source.ignore, *([key] if key else [])]
    types = _text_columns(source, parts, ignore)
    with naming(parts[0]):
        first = next(source.blocks(parts[0], types))
        model = Model.from_first_block(
            first,
            target=source.target,
            learner=learner,
            loss=source.loss,
            task=source.task,
            weight=source.weight,
            ignore=ignore,
            keep=source.keep,
            columns=FrameEncoder() if source.columns is None else source.columns.settled(),
        )
    model.source = source.name
    model.reading = {**source.reading, **({"types": types} if types else {})}
    found = first.position.get("columns")
    if isinstance(found, dict):
        known = {name: kind for name, kind in found.items() if kind in ("number", "string")}
        types = {**known, **types}
    return Start(model, types)


def _text_columns(source: PartitionedData, parts: list[Part], ignore: list[str]) -> dict[str, str]:
    """Read classes, keys and ignored columns of CSV as text, so that any cell is valid."""
    if source.format([part.file for part in parts]) not in ("csv", "tsv"):
        return {}
    has_classes = source.target and source.task in ("binary", "multiclass")
    classes = [source.target] if source.target and has_classes else []
    return dict.fromkeys([*classes, *ignore], "string")


def read(source: PartitionedData, part: Part, types: dict[str, str]) -> Iterator[Block]:
    """Read the blocks of a part; errors name the part."""
    with naming(part):
        yield from source.blocks(part, types)


def labelled_rows(model: Model, block: Block) -> Iterator[Rows]:
    """Yield runs of rows that have a label; classes are added where they first appear."""
    prepared = model.prepared(block)
    assert prepared.rows.targets is not None
    labelled = ~np.isnan(prepared.rows.targets)
    changes = np.flatnonzero(np.diff(labelled)) + 1
    cuts = {0, len(labelled), *changes.tolist(), *(row for row, _ in prepared.new)}
    for start, stop in pairwise(sorted(cuts)):
        for row, label in prepared.new:
            if row == start:
                model.add_class(label)
        if labelled[start]:
            model.rows += stop - start
            yield prepared.rows[start:stop]


def learn_block(model: Model, block: Block) -> Score:
    """Learn a block; the score is that of predictions made before each row was learned."""
    score = Score()
    for rows in labelled_rows(model, block):
        assert rows.targets is not None
        predictions = model.learner.learn(rows)
        losses = model.learner.loss.value(rows.targets, predictions)
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        with np.errstate(over="ignore"):
            score = score.plus(
                Score(len(rows), float(weights.sum()), float((weights * losses).sum()))
            )
    model.position = block.position
    return score
