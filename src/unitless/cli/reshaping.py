"""Between tables and sparse rows, block by block: what `unitless convert` does in between."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unitless.encoders import FrameEncoder
from unitless.readers import Block, open_blocks
from unitless.rows import as_rows
from unitless.writers import Sparse

MOST_COLUMNS = 10_000
"""Of a table that is made of sparse rows."""


class Job(NamedTuple):
    """What to read and how; `position` becomes that of the last block."""

    data: str
    reading: dict[str, Any]
    target: str | None
    weight: str | None
    classes: list[str] | None
    position: dict[str, Any]

    def blocks(self) -> Iterator[Block]:
        """The blocks of the file."""
        for block in open_blocks(self.data, **self.reading):
            self.position.update(block.position)
            yield block


def frames(job: Job, wanted: str) -> Iterator[pl.DataFrame]:
    """The frames of a table, labels and importances first."""
    settled: dict[str, pl.DataType] = {}
    for block in job.blocks():
        aside = [(job.target, block.targets), (job.weight, block.weights)]
        labels = [_series(name, values) for name, values in aside if name and values is not None]
        assert block.frame is not None
        frame = pl.DataFrame([*labels, *block.frame])
        settled = settled or dict(frame.schema)
        new = [name for name in frame.columns if name not in settled]
        if new and wanted != "jsonl":
            raise ValueError(
                f"line {block.lines[0]} or later, column {new[0]!r}: it appears when the columns "
                f"of the {wanted} file are settled; convert to jsonl instead"
            )
        yield frame.cast({series.name: settled[series.name] for series in labels})


def _series(name: str, labels: NDArray[Any]) -> pl.Series:
    if labels.dtype == np.float64:
        return pl.Series(name, labels)
    words = not any(isinstance(label, bool) for label in labels)
    return pl.Series(name, labels.tolist(), pl.String if words else pl.Boolean)


def encoded(job: Job) -> Iterator[Sparse]:
    """The rows of a table, each category a column of its own."""
    if job.target is None:
        raise ValueError("svmlight and VW rows begin with a label: name its column with --target")
    columns = FrameEncoder(max_levels=2**31)
    for block in job.blocks():
        made = columns.encode(block.frame)
        columns.commit(made)
        labels = coded(block, job.target, job.classes)
        yield Sparse(as_rows(csr_array(made.X), labels, block.weights), columns.names)


def coded(block: Block, target: str, classes: list[str] | None) -> NDArray[np.float64]:
    """Labels as numbers: as they are; two classes as -1 and 1; more as 1, 2, 3, ..."""
    labels = block.targets
    assert labels is not None
    if classes is None and labels.dtype == np.float64:
        return labels
    names = classes or ["false", "true"]
    numbers = [-1, 1] if len(names) == 2 else range(1, len(names) + 1)
    codes = dict(zip(names, numbers, strict=True))
    made = np.full(len(labels), np.nan)
    for row, label in enumerate(labels.tolist()):
        if label is not None and label == label:
            if _spelt(label) not in codes:
                raise ValueError(
                    f"line {block.lines[row]}, column {target!r}: {label!r} is no number, as "
                    "labels of svmlight and VW text are; list all labels with --classes"
                )
            made[row] = codes[_spelt(label)]
    return made


def _spelt(label: str | float | bool) -> str:
    if isinstance(label, str):
        return label
    return str(label).lower() if isinstance(label, bool) else f"{label:g}"


def named(job: Job) -> Iterator[Sparse]:
    """Sparse rows with the names of their columns."""
    names: list[str] | None = [] if job.reading["format"] == "vw" else None
    for block in job.blocks():
        assert block.rows is not None
        if names is not None:
            names += block.new_names
        yield Sparse(block.rows, names, block.tags)


def dense(job: Job) -> Iterator[pl.DataFrame]:
    """Sparse rows as frames; the file is read twice, first for its columns."""
    if job.data == "-":
        raise ValueError(
            "a table names its columns first, and standard input can be read only once: "
            "convert to jsonl, or from a file"
        )
    first, names = _columns(job)
    for block in named(job):
        rows = block.rows
        shape = len(rows), first + len(names)
        X = csr_array((rows.values, rows.indices, rows.starts), shape=shape).toarray()
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        yield pl.DataFrame(
            [
                pl.Series(str(job.target), rows.targets),
                pl.Series(str(job.weight), weights),
                *(pl.Series(name, X[:, first + k]) for k, name in enumerate(names)),
            ]
        )


def _columns(job: Job) -> tuple[int, list[str]]:
    """The first column of a sparse file that has values, and the names from that one on."""
    first, names = 1, list[str]()
    for block in named(job):
        assert block.rows.indices is not None
        first = min(first, int(block.rows.indices.min(initial=1)))
        names = [str(k) for k in range(block.rows.columns)]
        names = [*(names if block.names is None else block.names)]
        if len(names) > MOST_COLUMNS:
            raise ValueError(
                f"more than {MOST_COLUMNS} columns: a table would be mostly zeros; convert to jsonl"
            )
    return first, names[first:]
