"""`fit_by_key`: one model per key, each learned from its rows in the order of the source.

1. The calling process reads the source and appends its rows to one file per partition, chosen by a
   hash of the key. All rows of a key are in the same partition.
2. A task takes the content of a file, collects the rows of each key and learns its model.

Partitions depend on the source only, and models are written in their order, so the file of models
is the same on any number of workers. Rows are polars frames of features, with key, part, line,
target and weight as further columns.
"""

import os
import tempfile
import weakref
from copy import deepcopy
from itertools import groupby
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import polars as pl

from unitless.core.learner import Learner
from unitless.distributed.executor import Progress, TaskProgress, no_progress, open_executor
from unitless.distributed.learning import (
    Float,
    learn_block,
    mean_loss,
    require_labels,
    start_of,
)
from unitless.distributed.partitioned_data import Part, PartitionedData
from unitless.evaluation.metrics import ROWS
from unitless.model import Model
from unitless.model.file_decisions import AnyDecision
from unitless.model.intake import column_of
from unitless.model.reservoir import SIZE, Reservoir
from unitless.persistence.archive import Many, many_writer
from unitless.persistence.saving import as_bytes
from unitless.readers import FileBlock, Position, ReadError

MIN_PARTITIONS = 16
MAX_PARTITIONS = 256
PARTITION_BYTES = 1 << 25
"""Approximate size of a partition in the files of the source."""
BLOCK_BYTES = 1 << 23
"""Approximate size of the blocks that are learned at once."""
LARGEST_KEY = 2.0**53
"""From here on, float64 cannot represent every whole number."""
KEY, PART, LINE, TARGET, WEIGHT, NUMBER = (f"\0{k}" for k in range(6))
"""Names of the further columns, and of the number of the partition."""


class ModelsByKey(Many):
    """The models by key, in a file; each is loaded when it is accessed."""

    rows: int
    """Number of rows learned."""
    loss: float
    """Their average loss, each predicted before it was learned; first rows of models left out."""
    decisions: list[AnyDecision]
    """What was decided about the files; `unitless.model.decision_sentences` words it."""


def fit_by_key(
    learner: str | Learner,
    source: PartitionedData | str | os.PathLike[str],
    key: str,
    *,
    address: str | None = None,
    retries: int = 3,
    save: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    reservoir: int = SIZE,
    progress: Progress = no_progress,
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
    address
        A Ray cluster (`host:port` or "auto"); None runs the tasks in processes of this machine.
    retries
        How often a task is repeated after its worker died.
    workers
        Number of processes on this machine; by default one per core. With 1, tasks run in this
        process.
    reservoir
        How many of its rows each model keeps for `importances` and `explain`; 0 keeps none.
    progress
        Called with a `TaskProgress` whenever a task ends; an error that it raises ends the fit.

    Raises
    ------
    ValueError
        For an invalid row; the message names file and part.
    OSError
        For a missing file; `WorkerLost` if a worker died more than `retries` times.

    Examples
    --------
    >>> fit_by_key("blend", PartitionedData("flights", target="carrier"), "carrier")
    Traceback (most recent call last):
    ...
    ValueError: column 'carrier' cannot be both key and target
    """
    source = PartitionedData.of(source)
    if key == source.target:
        raise ValueError(f"column {key!r} cannot be both key and target")
    parts = source.parts()
    if source.format([parts[0].file]) == "svmlight":
        raise ValueError(f"{source.name}: svmlight files have no column {key!r}")
    model, source = start_of(source, learner, parts, key)
    model.reservoir = Reservoir(reservoir)
    path = save
    if path is None:
        handle, path = tempfile.mkstemp(suffix=".unitless")
        os.close(handle)
    score = np.zeros(3)
    with (
        tempfile.TemporaryDirectory(prefix="unitless-") as folder,
        open_executor(address, workers, retries) as run,
        many_writer(path) as add_model,
    ):
        partitions = partition_rows(source, parts, key, folder, progress)
        total = len(partitions)
        calls = {
            f"keys of {source.name}, partition {k} of {total}": (model, parts, partition)
            for k, partition in enumerate(partitions, start=1)
        }
        progress(TaskProgress("learning", 0, total, 0, "partitions"))
        for done, (models, own) in enumerate(run(learn_keys, calls), start=1):
            for name, file in models:
                add_model(name, file)
            score += own
            progress(TaskProgress("learning", done, total, int(score[ROWS]), "partitions"))
        require_labels(source, int(score[ROWS]))
    found = ModelsByKey(path)
    found.rows = int(score[ROWS])
    found.loss = mean_loss(score)
    found.decisions = model.file.decisions
    if save is None:
        weakref.finalize(found, os.unlink, path)
    return found


def learn_keys(
    new: Model, parts: list[Part], partition: "Partition | list[bytes]"
) -> tuple[list[tuple[str, bytes]], Float]:
    """Return the models of a partition as file contents, and their score."""
    models = []
    score = np.zeros(3)
    contents = partition.contents() if isinstance(partition, Partition) else partition
    for name, frames in rows_by_key(contents).items():
        model = deepcopy(new)
        try:
            for frame in frames:
                most = max(1, BLOCK_BYTES // (8 * frame.width))
                for rows in frame.iter_slices(most):
                    score += learn_block(model, block_of(rows))
        except ValueError:
            model = deepcopy(new)  # learn again by part, so that the message names it
            for frame in frames:
                for rows in frame.partition_by(PART, maintain_order=True):
                    block = block_of(rows)
                    with parts[rows[PART][0] - 1].naming(block):
                        learn_block(model, block)
            raise
        model.file.position = Position()
        models.append((name, as_bytes(model)))
    return models, score


class Partition:
    """A file of rows; it is read when it is sent to a worker, which gets its frames as bytes."""

    def __init__(self, folder: str, number: int) -> None:
        self.path = Path(folder, str(number))
        self.rows = 0
        self.sizes: list[int] = []

    def append(self, frame: pl.DataFrame) -> None:
        content = frame.write_ipc(None).getvalue()
        self.rows += frame.height
        self.sizes.append(len(content))
        with self.path.open("ab") as file:
            file.write(content)

    def contents(self) -> list[bytes]:
        with self.path.open("rb") as file:
            return [file.read(size) for size in self.sizes]

    def __reduce__(self) -> tuple[object, ...]:
        return list, (self.contents(),)


def partition_rows(
    source: PartitionedData, parts: list[Part], key: str, folder: str, progress: Progress
) -> list[Partition]:
    """Read the source, and write its rows to files by partition; those with most rows first."""
    size = sum(os.path.getsize(file) for file in {part.file for part in parts})
    count = min(max(MIN_PARTITIONS, size // PARTITION_BYTES), MAX_PARTITIONS)
    partitions = [Partition(folder, k) for k in range(count)]
    rows = 0
    progress(TaskProgress("reading", 0, len(parts), 0))
    for part in parts:
        for block in source.blocks(part):
            with part.naming():
                frame = _with_keys(block, key, part)
            names = frame[KEY].unique()
            numbers = [crc32(name.encode()) % count for name in names]
            number = pl.col(KEY).replace_strict(names, numbers)
            for own in frame.with_columns(number.alias(NUMBER)).partition_by(NUMBER):
                partitions[own[NUMBER][0]].append(own.drop(NUMBER))
            rows += len(block)
        progress(TaskProgress("reading", part.number, len(parts), rows))
    used = [partition for partition in partitions if partition.rows]
    return sorted(used, key=lambda partition: -partition.rows)


def rows_by_key(contents: list[bytes]) -> dict[str, list[pl.DataFrame]]:
    """Return the rows of each key of a partition, in the order of the source.

    Frames with the same columns are joined: learning a few rows at a time would be slow.
    """
    found: dict[str, list[pl.DataFrame]] = {}
    frames = map(pl.read_ipc, contents)
    for _, same in groupby(frames, key=lambda frame: frame.schema):
        joined = pl.concat(same, rechunk=True)
        for own in joined.partition_by(KEY, maintain_order=True):
            found.setdefault(own[KEY][0], []).append(own)
    return found


def block_of(frame: pl.DataFrame) -> FileBlock:
    """Return the rows as a reader would."""
    targets = frame[TARGET].to_numpy() if TARGET in frame.columns else None
    weights = frame[WEIGHT].to_numpy() if WEIGHT in frame.columns else None
    features = frame.drop(KEY, PART, LINE, TARGET, WEIGHT, strict=False)
    lines = frame[LINE].to_numpy()
    return FileBlock(features, None, lines, targets=targets, weights=weights)


def _with_keys(block: FileBlock, key: str, part: Part) -> pl.DataFrame:
    """Return the rows of a block with the further columns."""
    assert block.frame is not None
    further: dict[str, Any] = {KEY: _keys(block, key), PART: pl.lit(part.number)}
    further[LINE] = pl.Series(block.lines)
    targets = block.targets
    if targets is not None:
        further[TARGET] = pl.Series(targets if targets.dtype == np.float64 else targets.tolist())
    if block.weights is not None:
        further[WEIGHT] = pl.Series(block.weights)
    return block.frame.with_columns(**further)


def _keys(block: FileBlock, key: str) -> pl.Series:
    """Return the keys of a block as text; whole numbers have no decimal point."""
    column = column_of(block.frame, key)
    is_float = column.dtype.is_float()
    is_bad = column.is_null()
    if is_float:
        column = column.fill_nan(None)
        is_bad = (column.abs() >= LARGEST_KEY).fill_null(True)
    if is_bad.any():
        row = int(is_bad.arg_max() or 0)
        why = "the key is missing"
        if column[row] is not None:
            why = f"the key {column[row]:.17g} is not below 2^53, where numbers can no longer be"
            why += " distinguished: store it as text"
        raise ReadError(why, file="", line=int(block.lines[row]), column=key)
    if not is_float:
        return column.cast(pl.String)
    whole = column.cast(pl.Int64).cast(pl.String)
    return whole.zip_with(column == column.floor(), column.cast(pl.String))
