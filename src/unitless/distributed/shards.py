"""`fit_sharded`: one model of all rows from shards that are learned at the same time.

This is exact for least squares (VAW), whose state is a sum over rows. The states of other learners
depend on the order of all rows and cannot be added.
"""

import os
import warnings
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from unitless import persistence
from unitless.distributed.executor import (
    Call,
    Executor,
    ProgressCallback,
    TaskProgress,
    open_executor,
)
from unitless.distributed.learning import (
    Score,
    Start,
    labelled_rows,
    learn_block,
    naming,
    read,
    start_of,
)
from unitless.distributed.merging import continued, merged, renumbered
from unitless.distributed.partitioned_data import (
    Part,
    PartitionedData,
    as_source,
    describe,
    split_parts,
)
from unitless.encoders import FrameEncoder
from unitless.encoders.column_assignment import ManyLevels
from unitless.learners import get
from unitless.learners.base import Learner
from unitless.learners.vaw import COUNT, Vaw
from unitless.model import Model

_EXPONENTIAL = (
    "its weights grow with the exponential of its state, so adding the states of shards multiplies "
    "their wealth, and the loss explodes"
)
REASONS = {
    "coordinate": _EXPONENTIAL,
    "full": _EXPONENTIAL,
    "scinol2": "each gradient depends on the weights at that time, so sums over shards are not "
    "those of any run (12 to 88 % more loss with 4 shards)",
    "nag": "its weights are the end of one trajectory, and the mean of several ends is not "
    "(1 to 60 % more loss)",
    "newton": "each step is taken around the weights and means at that time, so the matrices of "
    "shards belong to different coordinates",
}
OTHER_REASON = "its state depends on the order of all rows, so the states of shards cannot be added"


@dataclass
class Sharded:
    """A model learned from shards.

    Attributes
    ----------
    model
        A `Model` like any other; it can continue to learn.
    shards
        Number of shards.
    rows
        Number of rows learned.
    losses
        Average loss per shard; each row was predicted, from its shard alone, before it was learned.

    Examples
    --------
    >>> made = Sharded(Model("regression", Vaw()), 2, 9, {"shard 1": 0.5, "shard 2": 0.25})
    >>> made.shards, made.rows, made.losses["shard 2"]
    (2, 9, 0.25)
    """

    model: Model
    shards: int
    rows: int
    losses: dict[str, float]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model; shards, rows and losses are stored as notes."""
        notes = {"shards": self.shards, "rows": self.rows, "losses": self.losses}
        persistence.save(self.model, path, notes=notes)


def fit_sharded(
    learner: str | Learner,
    source: PartitionedData | str | os.PathLike[str],
    *,
    shards: int,
    address: str | None = None,
    retries: int = 3,
    workers: int | None = None,
    progress: ProgressCallback | None = None,
) -> Sharded:
    """Learn one model by least squares from shards that are learned at the same time.

    The result differs from one pass over all rows by rounding errors only.

    Parameters
    ----------
    learner
        "vaw", or a new instance of it.
    source
        A `PartitionedData`, or the path of a source that needs no target (svmlight).
    shards
        Number of runs of consecutive parts into which the source is split. It affects rounding:
        the same source, shards and version give the same bits on any number of workers.
    address
        A Ray cluster (`host:port` or "auto"); None runs the tasks in processes of this machine.
    retries
        How often a task is repeated after its worker died.
    workers
        Number of processes on this machine; by default one per core.
    progress
        Called with a `TaskProgress` whenever a task ends; an error that it raises ends the fit.

    Raises
    ------
    ValueError
        For a learner that cannot be learned in shards, and for an invalid row; the message names
        file and part.
    OSError
        For a missing file; `WorkerLost` if a worker died more than `retries` times.

    Examples
    --------
    >>> fit_sharded("coordinate", "clicks.svm", shards=2)
    Traceback (most recent call last):
    ...
    ValueError: coordinate cannot be learned in shards: its weights grow with the exponential of \
its state, so adding the states of shards multiplies their wealth, and the loss explodes; use vaw, \
or one model per key
    """
    source = as_source(source)
    _check_learner(learner)
    if source.task == "auto":
        source = replace(source, task="regression")
    parts = source.parts()
    groups = split_parts(parts, shards)
    start = start_of(source, learner, parts)
    with open_executor(address, workers, retries) as executor:
        found = _learn_and_merge(executor, source, groups, start, progress)
        columns = found.columns
        if columns is not None and columns.overfull() and shards > 1:
            # Which levels get a feature of their own is known only now.
            warnings.warn(
                f"a column has more than {columns.max_levels} levels: the others are hashed, and "
                "the shards are learned a second time",
                ManyLevels,
                stacklevel=2,
            )
            start = start._replace(model=replace(start.model, columns=columns.settled()))
            found = _learn_and_merge(executor, source, groups, start, progress)
    rows = sum(score.rows for score in found.scores)
    model = replace(start.model, columns=found.columns, position=found.position, rows=rows)
    model.learner = found.learner
    losses = {f"shard {k}": score.mean for k, score in enumerate(found.scores, start=1)}
    return Sharded(model, shards, rows, losses)


def _check_learner(learner: str | Learner) -> None:
    kind = get(learner) if isinstance(learner, str) else type(learner)
    if not issubclass(kind, Vaw):
        raise ValueError(
            f"{kind.name} cannot be learned in shards: {REASONS.get(kind.name, OTHER_REASON)}; "
            "use vaw, or one model per key"
        )
    if isinstance(learner, Vaw) and learner._targets[COUNT]:
        raise ValueError("this learner has learned rows before, and every shard would count them")


class Shard(NamedTuple):
    """A shard that was learned, or several that were merged."""

    learner: Vaw
    columns: FrameEncoder | None
    position: dict[str, Any]
    scores: list[Score]


def learn_shard(
    start: Start, source: PartitionedData, parts: list[Part], first: float | None
) -> Shard:
    """Learn the rows of a shard by themselves; `first` is the first target of the source."""
    model = deepcopy(start.model)
    score = Score()
    assert isinstance(model.learner, Vaw)
    if first is not None:
        model.learner = continued(model.learner, first)
    for part in parts:
        for block in read(source, part, start.types):
            with naming(part, block):
                score = score.plus(learn_block(model, block))
    return Shard(model.learner, model.columns, model.position, [score])


def _learn_and_merge(
    executor: Executor,
    source: PartitionedData,
    groups: list[list[Part]],
    start: Start,
    progress: ProgressCallback | None,
) -> Shard:
    """Learn the shards and merge them in order as they arrive."""
    shared = executor.share(start)
    first = _first_target(source, groups, start)
    calls = [
        Call(describe(group), (shared, source, group, first if k else None))
        for k, group in enumerate(groups)
    ]
    total = sum(map(len, groups))
    done = 0
    tree = MergeTree()
    columns: FrameEncoder | None = None
    scores: list[Score] = []
    if progress is not None:
        progress(TaskProgress("learning", 0, total, 0))
    for group, (shard, _) in zip(groups, executor.run(learn_shard, calls), strict=True):
        learner = shard.learner
        if columns is None:
            columns = shard.columns
        else:
            learner = renumbered(learner, columns.absorb(shard.columns), len(columns))
        tree.add(learner)
        scores += shard.scores
        done += len(group)
        if progress is not None:
            progress(TaskProgress("learning", done, total, sum(score.rows for score in scores)))
    return Shard(tree.result(), columns, shard.position, scores)


def _first_target(source: PartitionedData, groups: list[list[Part]], start: Start) -> float:
    """Return the first target with a positive weight; all shards measure targets from it."""
    model = deepcopy(start.model)
    for part in (part for group in groups for part in group):
        for block in read(source, part, start.types):
            for rows in labelled_rows(model, block):
                weights = np.ones(len(rows)) if rows.weights is None else rows.weights
                if weights.any() and rows.targets is not None:
                    return float(rows.targets[np.argmax(weights > 0)])
    return 0.0


class MergeTree:
    """Merges learners in a fixed order: neighbours first, then the results of these.

    Only about log2 of their number is in memory at a time.
    """

    def __init__(self) -> None:
        self._stack: list[tuple[int, Vaw]] = []
        """(number of shards, their learner): from left to right, sizes are powers of two."""

    def add(self, learner: Vaw) -> None:
        """Add the next learner."""
        size = 1
        while self._stack and self._stack[-1][0] == size:
            learner = merged(self._stack.pop()[1], learner)
            size *= 2
        self._stack.append((size, learner))

    def result(self) -> Vaw:
        """Return the learner of all rows."""
        _, learner = self._stack.pop()
        while self._stack:
            learner = merged(self._stack.pop()[1], learner)
        return learner
