"""The loop of progressive evaluation: each row is predicted, and learned once its label is known.

`Evaluation`, training in several processes and the demo all run this loop.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.counter_hash import mixed
from unitless.model import Model
from unitless.readers.blocks import FileBlock
from unitless.rows import Rows

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
Pair = tuple[Float | Bool, Float | Bool]
Answers = tuple[Float, Float, Pair | None]
"""Scores and intervals, with the last label known and without recent labels."""


class Step(NamedTuple):
    """Consecutive rows with their scores."""

    rows: Rows
    scores: Float  # made before the labels were used
    labelled: Bool  # which rows have a label
    held: Bool  # which of these are held out
    done: float | None  # share of the file, if its size is known
    not_fresh: Float  # scores without recent labels
    intervals: Pair | None = None  # with the last label known, and without recent labels
    line: dict[str, Any] | None = None  # of the table, at rows 1, 2, 4, ... of an `Evaluation`

    def scored(self, chosen: Bool) -> tuple[Float, Float, Float]:
        """Targets, scores and weights of some of the rows."""
        assert self.rows.targets is not None
        weights = np.ones(len(chosen)) if self.rows.weights is None else self.rows.weights
        return self.rows.targets[chosen], self.scores[chosen], weights[chosen]


def progressive(
    model: Model,
    blocks: Iterable[FileBlock],
    *,
    first_row: int = 0,
    holdout: float = 0,
    delay: int = 0,
    cuts: Callable[[int, int], Iterable[int]] = lambda at, count: (),
    before: Callable[[int, Rows], None] = lambda at, rows: None,
    calibrate: bool = True,
) -> Iterator[Step]:
    """Predict all rows, and learn those with a label.

    `first_row` rows came before these blocks. Every `holdout`-th row, or a random share below 1, is
    predicted and not learned; labels arrive `delay` rows late. Blocks are split where a class
    appears for the first time, and at `cuts(rows so far, rows of the block)`, which changes no
    result. `before(rows so far, rows)` is called with the rows of each step before they are
    predicted. Declared intervals learn from the labels with `calibrate`.

    >>> from unitless.learners import Coordinate
    >>> from unitless.rows import as_rows
    >>> rows = as_rows([[1.0], [2.0], [3.0]])
    >>> block = FileBlock(None, rows, np.arange(3), targets=np.array([1.0, -1.0, 1.0]))
    >>> [step.scores.round(3).tolist() for step in progressive(Model.of(Coordinate()), [block])]
    [[0.0, 0.127, -0.024]]
    """
    at = first_row
    waiting: deque[Rows | None] = deque()
    learn = _predict_and_learn_late if delay else _predict_and_learn
    done_before = 0.0
    for block in blocks:
        count = len(block)
        if not count:  # bad lines at the end of a pipe
            model.file.position = block.position
            continue
        stop = 0
        prepared = model.prepared_block(block, grow=True)
        prepared.commit()
        for rows in model.pieces(prepared, cuts(at, count)):
            before(at, rows)
            assert rows.targets is not None
            labelled = ~np.isnan(rows.targets)
            held = labelled & is_held_out(at + np.arange(len(rows)), holdout)
            learns = labelled & ~held
            scores, not_fresh, pair = learn(model, rows, learns, delay, waiting, calibrate)
            at += len(rows)
            stop += len(rows)
            model.file.position = block.position_at(stop)
            done = None
            if block.done is not None:
                done = done_before + (block.done - done_before) * stop / count
            yield Step(rows, scores, labelled, held, done, not_fresh, pair)
        done_before = block.done or 0.0
    for row in filter(None, waiting):
        model.learn_rows(row, calibrate=calibrate)


def is_held_out(rows: NDArray[np.int64], holdout: float) -> Bool:
    """Which rows, by number from 0, are held out: every n-th, or the same random share each time.

    >>> is_held_out(np.arange(6), 3).tolist()
    [False, False, True, False, False, True]
    >>> float(is_held_out(np.arange(100_000), 0.2).mean().round(2))
    0.2
    """
    if holdout >= 1:
        return rows % int(holdout) == int(holdout) - 1
    if not holdout:
        return np.zeros(len(rows), dtype=bool)
    return mixed(rows) < np.uint64(holdout * 2**64)


def _predict_and_learn(
    model: Model, rows: Rows, learns: Bool, delay: int, waiting: object, calibrate: bool
) -> Answers:
    """Predict every row and learn those of `learns`, in runs of consecutive rows."""
    changes = np.flatnonzero(np.diff(learns)) + 1
    parts = []
    for start, stop in pairwise([0, *changes.tolist(), len(rows)]):
        piece = rows[start:stop]
        predicted = None
        if model.intervals is not None and not (learns[start] and calibrate):
            predicted = _predicted(model, piece)
        if not learns[start]:
            parts.append(predicted or _predicted(model, piece))
            continue
        fresh, not_fresh = model.learn_rows(piece, calibrate=calibrate)
        pair = None
        if model.intervals is not None:
            pair = model.intervals.last if calibrate or predicted is None else predicted[2]
        parts.append((fresh, not_fresh, pair))
    return _joined(parts)


def _predicted(model: Model, rows: Rows) -> Answers:
    """Both answers for rows that are not learned now."""
    fresh, not_fresh = model.predict_rows(rows, fresh=True), model.predict_rows(rows)
    if model.intervals is None:
        return fresh, not_fresh, None
    late = model.intervals.predict(rows, not_fresh, fresh=False)
    return fresh, not_fresh, (model.intervals.predict(rows, fresh, fresh=True), late)


def _predict_and_learn_late(
    model: Model,
    rows: Rows,
    learns: Bool,
    delay: int,
    waiting: deque[Rows | None],
    calibrate: bool,
) -> Answers:
    """Predict each row at once, and learn it when its label arrives."""
    parts = []
    for k, learn in enumerate(learns):
        row = rows[k : k + 1]
        parts.append(_predicted(model, row))
        waiting.append(row if learn else None)
        oldest = waiting.popleft() if len(waiting) > delay else None
        if oldest is not None:
            model.learn_rows(oldest, calibrate=calibrate)
    return _joined(parts)


def _joined(parts: list[Answers]) -> Answers:
    """The scores and the intervals with the last label known, and without recent labels."""
    fresh, not_fresh, pairs = zip(*parts, strict=True)
    pair = None
    if pairs[0] is not None:
        ours, late = zip(*filter(None, pairs), strict=True)
        pair = np.concatenate(ours), np.concatenate(late)
    return np.concatenate(fresh), np.concatenate(not_fresh), pair
