"""`fit_by_key`: one model per key, each learned from its rows in the order of the source.

A shuffle collects the rows of each key (see `shuffle`), then partitions are learned key by key.
Partitions depend on the source only, and models are written in their order, so the file is the same
on any number of workers.
"""

import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import chain
from typing import Any

import numpy as np

from unitless.distributed.executor import (
    Call,
    Executor,
    ProgressCallback,
    TaskProgress,
    open_executor,
)
from unitless.distributed.learning import Score, Start, learn_block, naming, start_of
from unitless.distributed.partitioned_data import (
    Part,
    PartitionedData,
    as_source,
    describe,
    split_parts,
)
from unitless.distributed.shuffle import KeyedRows, Partition, partition_rows, rows_by_key, runs
from unitless.learners.base import Learner
from unitless.model import Model
from unitless.persistence.archive import Many, ManyWriter
from unitless.persistence.saving import as_bytes
from unitless.readers import Block

MIN_PARTITIONS = 16
MAX_PARTITIONS = 256
PARTITION_BYTES = 1 << 25
"""Approximate size of a partition, and of a batch of parts, in the files."""
BLOCK_BYTES = 1 << 23
"""Approximate size of the blocks that are learned at once."""
Report = Callable[[TaskProgress], None]


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
    source: PartitionedData | str | os.PathLike[str],
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
        A `PartitionedData` with a table format. The key is not a feature.
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
    >>> fit_by_key("blend", PartitionedData("flights", target="carrier"), "carrier")
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
        report = progress if progress is not None else _ignore
        shared = executor.share(start)
        partitions = _shuffle(executor, source, parts, key, shared, report)
        every = executor.share(parts)
        score = _learn(executor, source.name, every, shared, partitions, writer, report)
    models = ModelsByKey(path)
    models.rows = score.rows
    models.loss = score.mean
    if save is None:
        weakref.finalize(models, os.unlink, path)
    return models


def _ignore(progress: TaskProgress) -> None:
    """Do nothing."""


def _temporary_file() -> str:
    handle, path = tempfile.mkstemp(suffix=".unitless")
    os.close(handle)
    return path


def _shuffle(
    executor: Executor,
    source: PartitionedData,
    parts: list[Part],
    key: str,
    start: Any,
    report: Report,
) -> list[tuple[int, list[Any]]]:
    """Read all parts and split their rows by key into partitions.

    Returns for each partition its number of rows and references to them, by batch of parts.
    """
    size = sum(os.path.getsize(file) for file in {part.file for part in parts})
    wanted = max(MIN_PARTITIONS, size // PARTITION_BYTES)
    count = min(wanted, MAX_PARTITIONS)
    batches = split_parts(parts, min(wanted, len(parts)))
    calls = [Call(describe(batch), (source, batch, key, start, count)) for batch in batches]
    rows = np.zeros(count, dtype=np.int64)
    references: list[list[Any]] = [[] for _ in range(count)]
    done = 0
    report(TaskProgress("reading", 0, len(parts), 0))
    results = executor.run(partition_rows, calls, outputs=count)
    for batch, (own_rows, outputs) in zip(batches, results, strict=True):
        rows += own_rows
        for partition, output in zip(references, outputs, strict=True):
            partition.append(output)
        done += len(batch)
        report(TaskProgress("reading", done, len(parts), int(rows.sum())))
    return [(int(n), each) for n, each in zip(rows, references, strict=True) if n]


def _learn(
    executor: Executor,
    name: str,
    parts: Any,
    start: Any,
    partitions: list[tuple[int, list[Any]]],
    writer: ManyWriter,
    report: Report,
) -> Score:
    """Learn all partitions, and write their models in this order."""
    # Large partitions come first, so that no worker is idle for long at the end.
    partitions = sorted(partitions, key=lambda each: -each[0])
    total = len(partitions)
    calls = [
        Call(f"keys of {name}, partition {k} of {total}", (start, parts, *references))
        for k, (_, references) in enumerate(partitions, start=1)
    ]
    score = Score()
    report(TaskProgress("learning", 0, total, 0, "partitions"))
    for done, ((models, own), _) in enumerate(executor.run(learn_keys, calls), start=1):
        for key, model in models:
            writer.add(key, model)
        score = score.plus(own)
        report(TaskProgress("learning", done, total, score.rows, "partitions"))
    return score


def learn_keys(
    start: Start, parts: list[Part], *partitions: list[Partition]
) -> tuple[list[tuple[str, bytes]], Score]:
    """Learn the models of a partition; return them as file contents, and their score."""
    models = []
    score = Score()
    for name, pieces in rows_by_key(chain(*partitions)).items():
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
