"""`fit_by_key`: one model per key, each learned from its rows in the order of the source.

A shuffle collects the rows of each key (see `shuffle`), then each partition is learned in one or
several batches of keys. Partitions and batches depend on the source only, and models are written
in their order, so the file is the same on any number of workers.
"""

import os
import tempfile
import weakref
from collections.abc import Iterator
from copy import deepcopy
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.distributed.executor import (
    Call,
    Executor,
    Progress,
    ProgressCallback,
    open_executor,
)
from unitless.distributed.learning import Score, Start, learn_block, naming, start_of
from unitless.distributed.shuffle import KeyedRows, Partition, partition_rows, rows_by_key, runs
from unitless.distributed.source import Part, Source, as_source, describe, split_parts
from unitless.learners.base import Learner
from unitless.model import Model
from unitless.persistence.many import Many, ManyWriter
from unitless.persistence.saving import as_bytes
from unitless.readers import Block

MIN_PARTITIONS = 16
MAX_PARTITIONS = 256
PARTITION_BYTES = 1 << 25
"""Approximate size of a partition, and of a batch of parts, in the files."""
KEYS_PER_BATCH = 1000
BLOCK_BYTES = 1 << 23
"""Approximate size of the blocks that are learned at once."""


class ModelsByKey(Many):
    """The models by key, in a file; each is loaded when it is accessed.

    Attributes
    ----------
    rows
        Number of rows learned.
    loss
        Their average loss; each row was predicted before it was learned.
    """

    rows: int
    loss: float


def fit_by_key(
    learner: str | Learner,
    source: Source | str | os.PathLike[str],
    key: str,
    *,
    address: str | None = None,
    retries: int = 3,
    save: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: ProgressCallback | None = None,
) -> ModelsByKey:
    """Learn one model for every key (customer, sensor, carrier).

    Each model is bit-for-bit what one process makes of the rows of that key alone; task and classes
    are decided by the first rows of the source.

    Parameters
    ----------
    learner
        Any learner, by name or a new instance.
    source
        A `Source` with a table format. The key is not a feature.
    key
        The column of keys: text, or numbers below 2^53.
    save
        The file for all models; by default a temporary file that is deleted with the result.
    address, retries, workers, progress
        As for `fit_sharded`.

    Raises
    ------
    ValueError
        For an invalid row, or one without a key; the message names file, part and row.
    OSError
        For a missing file; `WorkerLost` if a worker died more than `retries` times.

    Examples
    --------
    >>> fit_by_key("blend", Source("flights", target="carrier"), "carrier")
    Traceback (most recent call last):
    ...
    ValueError: column 'carrier' cannot be both key and target
    """
    source = as_source(source)
    if key == source.target:
        raise ValueError(f"column {key!r} cannot be both key and target")
    parts = source.parts()
    if source.format([parts[0].file]) == "svmlight":
        raise ValueError(f"{source.name}: svmlight files have no column {key!r}")
    start = start_of(source, learner, parts, key)
    path = save if save is not None else _temporary_file()
    with open_executor(address, workers, retries) as executor, ManyWriter(path) as writer:
        fit = _Fit(executor, source, parts, executor.share(start), progress)
        score = fit.learn(fit.shuffle(key), writer)
    models = ModelsByKey(path)
    models.rows = score.rows
    models.loss = score.mean
    if save is None:
        weakref.finalize(models, os.unlink, path)
    return models


def _temporary_file() -> str:
    handle, path = tempfile.mkstemp(suffix=".unitless")
    os.close(handle)
    return path


class Shuffled(NamedTuple):
    """What the shuffle leaves for the second stage."""

    outputs: list[list[Any]]
    """By batch of parts and partition: references to rows."""
    keys: NDArray[np.int64]
    """Keys per partition; a key is counted once for every batch of parts that has it."""
    rows: NDArray[np.int64]
    """Rows per partition."""

    def batches(self) -> list[tuple[int, int, int]]:
        """Return (partition, which batch of its keys, of how many), those with most rows first.

        The tasks that start last are then short, so that no worker is idle for long.
        """
        counts = [-(-int(keys) // KEYS_PER_BATCH) for keys in self.keys]
        made = [(partition, k, n) for partition, n in enumerate(counts) for k in range(n)]
        return sorted(made, key=lambda batch: -self.rows[batch[0]] / batch[2])


class _Fit(NamedTuple):
    executor: Executor
    source: Source
    parts: list[Part]
    start: Any
    progress: ProgressCallback | None

    def report(self, stage: str, done: int, total: int, rows: int, unit: str = "parts") -> None:
        if self.progress is not None:
            self.progress(Progress(stage, done, total, rows, unit))

    def shuffle(self, key: str) -> Shuffled:
        """Read all parts and split their rows into partitions."""
        size = sum(os.path.getsize(file) for file in {part.file for part in self.parts})
        wanted = max(MIN_PARTITIONS, size // PARTITION_BYTES)
        count = min(wanted, MAX_PARTITIONS)
        batches = split_parts(self.parts, min(wanted, len(self.parts)))
        calls = [
            Call(describe(batch), (self.source, batch, key, self.start, count)) for batch in batches
        ]
        shuffled = Shuffled([], np.zeros(count, np.int64), np.zeros(count, np.int64))
        done = 0
        self.report("reading", 0, len(self.parts), 0)
        results = self.executor.run(partition_rows, calls, outputs=count)
        for batch, (report, outputs) in zip(batches, results, strict=True):
            shuffled.outputs.append(outputs)
            shuffled.keys[:] += report.keys
            shuffled.rows[:] += report.rows
            done += len(batch)
            self.report("reading", done, len(self.parts), int(shuffled.rows.sum()))
        return shuffled

    def learn(self, shuffled: Shuffled, writer: ManyWriter) -> Score:
        """Learn all batches of keys, and write their models in this order."""
        batches = shuffled.batches()
        parts = self.executor.share(self.parts)
        calls = []
        for number, (partition, *which) in enumerate(batches, start=1):
            name = f"keys of {self.source.name}, batch {number} of {len(batches)}"
            rows = (outputs[partition] for outputs in shuffled.outputs)
            calls.append(Call(name, (self.start, parts, (len(shuffled.keys), *which), *rows)))
        score = Score()
        unit = "batches of keys"
        self.report("learning", 0, len(batches), 0, unit)
        for number, ((models, own), _) in enumerate(self.executor.run(learn_keys, calls), start=1):
            for name, model in models:
                writer.add(name, model)
            score = score.plus(own)
            self.report("learning", number, len(batches), score.rows, unit)
        return score


def learn_keys(
    start: Start, parts: list[Part], which: tuple[int, int, int], *partitions: list[Partition]
) -> tuple[list[tuple[str, bytes]], Score]:
    """Learn the models of a batch of keys; return them as file contents, and their score."""
    models = []
    score = Score()
    for name, pieces in rows_by_key(chain(*partitions), *which).items():
        model = deepcopy(start.model)
        try:
            for block in _blocks(pieces):
                score = score.plus(learn_block(model, block))
        except ValueError:
            _learn_by_part(deepcopy(start.model), parts, pieces)
            raise
        model.position = {}
        models.append((name, as_bytes(model)))
    return models, score


def _blocks(pieces: list[KeyedRows]) -> Iterator[Block]:
    """Yield blocks of many rows: learning a few rows at a time would be slow."""
    for piece in pieces:
        rows = max(1, BLOCK_BYTES // (8 * piece.frame.width))
        for first in range(0, len(piece.lines), rows):
            yield piece.take(slice(first, first + rows)).block()


def _learn_by_part(model: Model, parts: list[Part], pieces: list[KeyedRows]) -> None:
    """Learn rows with an error among them again, so that the message names the part."""
    for piece in pieces:
        for number, rows in runs(piece.parts):
            block = piece.take(rows).block()
            with naming(parts[number - 1], block):
                learn_block(model, block)
