"""`fit_sharded`: one model of all rows from shards that are learned at the same time.

This is exact for least squares (VAW), whose state is a sum over rows. The states of other learners
depend on the order of all rows and cannot be added.
"""

import os
import warnings
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unitless import persistence
from unitless.distributed.executor import (
    Executor,
    Progress,
    TaskProgress,
    no_progress,
    open_executor,
)
from unitless.distributed.learning import learn_block, mean_loss, start_of
from unitless.distributed.merging import continued, merged, renumbered
from unitless.distributed.partitioned_data import Part, PartitionedData, split_parts
from unitless.encoders import ManyLevels
from unitless.learners import get
from unitless.learners.base import Learner
from unitless.learners.vaw import COUNT, Vaw
from unitless.model import Model

EXPONENTIAL = (
    "its weights grow with the exponential of its state, so adding the states of shards multiplies "
    "their wealth, and the loss explodes"
)
OTHER_REASON = "its state depends on the order of all rows, so it is not a sum over shards"


@dataclass
class Sharded:
    """A model of all rows, learned in shards.

    >>> made = Sharded(Model("regression", Vaw()), 2, 9, {"shard 1": 0.5, "shard 2": 0.25})
    >>> made.shards, made.rows, made.losses["shard 2"]
    (2, 9, 0.25)
    """

    model: Model
    """A model like any other; it can continue to learn."""
    shards: int
    rows: int
    losses: dict[str, float]
    """Average loss per shard, of rows predicted by their shard alone before they were learned."""

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
    progress: Progress = no_progress,
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
        Number of processes on this machine; by default one per core. With 1, tasks run in this
        process.
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
    source = PartitionedData.of(source)
    _check_learner(learner)
    if source.task == "auto":
        source = replace(source, task="regression")
    parts = source.parts()
    groups = split_parts(parts, shards)
    start, source = start_of(source, learner, parts)
    first = _first_target(source, parts, start)
    with open_executor(address, workers, retries) as run:
        made = _learn_and_merge(run, source, groups, start, first, progress)
        columns = made.model.columns
        if columns is not None and columns.overfull() and shards > 1:
            # Which levels get a feature of their own is known only now.
            warnings.warn(
                f"a column has more than {columns.max_levels} levels: the others are hashed, and "
                "the shards are learned a second time",
                ManyLevels,
                stacklevel=2,
            )
            start = replace(start, columns=columns.settled())
            made = _learn_and_merge(run, source, groups, start, first, progress)
    return made


def _check_learner(learner: str | Learner) -> None:
    kind = get(learner) if isinstance(learner, str) else type(learner)
    if not issubclass(kind, Vaw):
        reason = EXPONENTIAL if kind.name in ("coordinate", "full") else OTHER_REASON
        raise ValueError(
            f"{kind.name} cannot be learned in shards: {reason}; use vaw, or one model per key"
        )
    if isinstance(learner, Vaw) and learner._targets[COUNT]:
        raise ValueError("this learner has learned rows before, and every shard would count them")


def learn_shard(
    start: Model, source: PartitionedData, parts: list[Part], first: float | None
) -> tuple[Model, float]:
    """Learn a shard by itself, and return its average loss.

    `first` is the first target of the source, unless the shard begins with it.
    """
    model = deepcopy(start)
    score = np.zeros(3)
    assert isinstance(model.learner, Vaw)
    if first is not None:
        model.learner = continued(model.learner, first)
    for part in parts:
        for block in source.blocks(part):
            with part.naming(block):
                score += learn_block(model, block)
    return model, mean_loss(score)


def _learn_and_merge(
    run: Executor,
    source: PartitionedData,
    groups: list[list[Part]],
    start: Model,
    first: float,
    progress: Progress,
) -> Sharded:
    """Learn the shards, and merge them in the order of the source as they arrive."""
    calls: dict[str, tuple[Any, ...]] = {}
    for group in groups:
        name = str(group[0])
        if len(group) > 1:
            name += f" and the next {len(group) - 1}"
        calls[name] = (start, source, group, first if calls else None)
    total = groups[-1][-1].number
    whole: Any = None
    losses: dict[str, float] = {}
    progress(TaskProgress("learning", 0, total, 0))
    for group, (model, loss) in zip(groups, run(learn_shard, calls), strict=True):
        losses[f"shard {len(losses) + 1}"] = loss
        if whole is None:
            whole = model
        else:
            if whole.columns is not None:
                columns = whole.columns.absorb(model.columns)
                model.learner = renumbered(model.learner, columns, len(whole.columns))
            whole.learner = merged(whole.learner, model.learner)
            whole.rows += model.rows
            whole.position = model.position
        progress(TaskProgress("learning", group[-1].number, total, whole.rows))
    return Sharded(whole, len(groups), whole.rows, losses)


def _first_target(source: PartitionedData, parts: list[Part], start: Model) -> float:
    """Return the first target with a positive weight; all shards measure targets from it."""
    model = deepcopy(start)
    for part in parts:
        for block in source.blocks(part):
            rows = model.prepared(block).rows
            targets = np.asarray(rows.targets)
            counts = ~np.isnan(targets)
            if rows.weights is not None:
                counts &= rows.weights > 0
            if counts.any():
                return float(targets[np.argmax(counts)])
    return 0.0
