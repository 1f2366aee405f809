"""What a task does with a part: read its rows, learn them, name the place where it cannot."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from unitless.distributed.parts import Part, Source, blocks_of, format_named
from unitless.encoders import Columns
from unitless.learners.base import Learner
from unitless.model import StreamModel, started
from unitless.readers import Block, ReadError
from unitless.rows import Rows


class PartError(ValueError):
    """Rows that cannot be learned, with file, part and row.

    >>> print(PartError("a.csv, line 3: a number was expected (part 2 of 9)"))
    a.csv, line 3: a number was expected (part 2 of 9)
    """


class Start(NamedTuple):
    """What all tasks start from."""

    model: StreamModel
    """Fresh: task, classes, learner."""
    types: dict[str, str]
    """Of the columns of text files, settled by the first one."""


class Score(NamedTuple):
    """Rows learned, and their losses before they were."""

    rows: int = 0
    weight: float = 0.0
    loss: float = 0.0
    """Sum of weight times loss."""

    def plus(self, other: "Score") -> "Score":
        """Both."""
        return Score(self.rows + other.rows, self.weight + other.weight, self.loss + other.loss)

    @property
    def mean(self) -> float:
        """The average loss."""
        return self.loss / self.weight if self.weight else 0.0


@contextmanager
def naming(part: Part, block: Block | None = None) -> Iterator[None]:
    """Errors with the part they come from."""
    at = part.file
    if block is not None and len(block):
        at += f", lines {block.lines[0]} to {block.lines[-1]}"
    place = f"(part {part.number} of {part.of})"
    try:
        yield
    except PartError:
        raise
    except ReadError as error:
        here = error.of_file(part.file)
        raise PartError(f"{here} {place}") from None
    except ValueError as error:
        raise PartError(f"{at}: {error} {place}") from None
    except OSError as error:
        raise type(error)(f"{at}: {error.strerror or error} {place}") from None


def start_of(source: Source, learner: str | Learner, parts: list[Part], key: str = "") -> Start:
    """A fresh model for the source; its first block settles task, classes and types."""
    types = _wanted_types(source, parts, key)
    with naming(parts[0]):
        first = next(blocks_of(source, parts[0], types))
        columns = Columns() if source.columns is None else source.columns.settled()
        model = started(
            first, target=source.target, learner=learner, loss=source.loss, task=source.task,
            weight=source.weight, ignore=[*source.ignore, *([key] if key else [])],
            keep=source.keep, columns=columns,
        )  # fmt: skip
    model.source = source.name
    model.reading = {**source.reading, **({"types": types} if types else {})}
    found = first.position.get("columns")
    if isinstance(found, dict):
        types = {**{k: v for k, v in found.items() if v in ("number", "string")}, **types}
    return Start(model, types)


def _wanted_types(source: Source, parts: list[Part], key: str) -> dict[str, str]:
    """In text a class, a key and what is ignored may look like anything."""
    if format_named(source, [part.file for part in parts]) not in ("csv", "tsv"):
        return {}
    classes = [source.target] if source.target and source.task in ("binary", "multiclass") else []
    return dict.fromkeys([*classes, *source.ignore, *([key] if key else [])], "string")


def read(source: Source, part: Part, types: dict[str, str]) -> Iterator[Block]:
    """The blocks of a part."""
    with naming(part):
        yield from blocks_of(source, part, types)


def pieces(model: StreamModel, block: Block) -> Iterator[tuple[Rows, int]]:
    """Runs of rows that have a label, and how many classes the learner gets before each."""
    prepared = model.prepared(block)
    assert prepared.rows.targets is not None
    labelled = ~np.isnan(prepared.rows.targets)
    changes = np.flatnonzero(np.diff(labelled)) + 1
    cuts = {0, len(labelled), *changes.tolist(), *(row for row, _ in prepared.new)}
    for start, stop in pairwise(sorted(cuts)):
        before = model.learner.classes
        for row, label in prepared.new:
            if row == start:
                model.add_class(label)
        if labelled[start]:
            model.rows += stop - start
            yield prepared.rows[start:stop], model.learner.classes - before


def scored(learner: Learner, rows: Rows, scores: Any) -> Score:
    """What predictions were worth."""
    assert rows.targets is not None
    losses = learner.loss.value(rows.targets, scores)
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    with np.errstate(over="ignore"):
        return Score(len(rows), float(weights.sum()), float((weights * losses).sum()))


def learned(model: StreamModel, block: Block) -> Score:
    """Learn a block."""
    score = Score()
    for rows, _ in pieces(model, block):
        score = score.plus(scored(model.learner, rows, model.learner.learn(rows)))
    model.position = block.position
    return score
