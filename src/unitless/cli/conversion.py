"""Conversions between tables and sparse rows, block by block, for `unitless convert`."""

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

MAX_COLUMNS = 10_000
"""Largest number of columns of a table made from sparse rows."""


class Conversion(NamedTuple):
    """A file, and how to read it; `position` becomes that of the last block."""

    data: str
    reading: dict[str, Any]
    target: str | None
    weight: str | None
    classes: list[str] | None
    position: dict[str, Any]

    def blocks(self) -> Iterator[Block]:
        """Read the blocks of the file."""
        for block in open_blocks(self.data, **self.reading):
            self.position.update(block.position)
            yield block


def reordered_frames(conversion: Conversion, wanted: str) -> Iterator[pl.DataFrame]:
    """Yield the frames of a table, with labels and weights first."""
    settled: dict[str, pl.DataType] = {}
    for block in conversion.blocks():
        aside = [(conversion.target, block.targets), (conversion.weight, block.weights)]
        labels = [_series(name, values) for name, values in aside if name and values is not None]
        assert block.frame is not None
        frame = pl.DataFrame([*labels, *block.frame])
        settled = settled or dict(frame.schema)
        new = [name for name in frame.columns if name not in settled]
        if new and wanted != "jsonl":
            raise ValueError(
                f"line {block.lines[0]} or later, column {new[0]!r}: it appears after the columns "
                f"of the {wanted} file were written; convert to jsonl instead"
            )
        yield frame.cast({series.name: settled[series.name] for series in labels})


def _series(name: str, labels: NDArray[Any]) -> pl.Series:
    if labels.dtype == np.float64:
        return pl.Series(name, labels)
    words = not any(isinstance(label, bool) for label in labels)
    return pl.Series(name, labels.tolist(), pl.String if words else pl.Boolean)


def encoded_rows(conversion: Conversion) -> Iterator[Sparse]:
    """Yield the rows of a table; each category becomes a column."""
    if conversion.target is None:
        raise ValueError("rows of svmlight and VW text need a label: name its column with --target")
    columns = FrameEncoder(max_levels=2**31)
    for block in conversion.blocks():
        made = columns.encode(block.frame)
        columns.commit(made)
        labels = label_codes(block, conversion.target, conversion.classes)
        yield Sparse(as_rows(csr_array(made.X), labels, block.weights), columns.names)


def label_codes(block: Block, target: str, classes: list[str] | None) -> NDArray[np.float64]:
    """Return labels as numbers: unchanged, or two classes as -1 and 1, more as 1, 2, 3, ..."""
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
            if _text(label) not in codes:
                raise ValueError(
                    f"line {block.lines[row]}, column {target!r}: {label!r} is not a number, as "
                    "labels of svmlight and VW text must be; list all classes with --classes"
                )
            made[row] = codes[_text(label)]
    return made


def _text(label: str | float | bool) -> str:
    if isinstance(label, str):
        return label
    return str(label).lower() if isinstance(label, bool) else f"{label:g}"


def rows_with_names(conversion: Conversion) -> Iterator[Sparse]:
    """Yield sparse rows with the names of their columns."""
    names: list[str] | None = [] if conversion.reading["format"] == "vw" else None
    for block in conversion.blocks():
        assert block.rows is not None
        if names is not None:
            names += block.new_names
        yield Sparse(block.rows, names, block.tags)


def dense_frames(conversion: Conversion) -> Iterator[pl.DataFrame]:
    """Yield sparse rows as frames; the file is read twice, first for its columns."""
    if conversion.data == "-":
        raise ValueError(
            "a table needs the names of all columns first, and standard input can be read only "
            "once: convert to jsonl, or convert a file"
        )
    first, names = _columns(conversion)
    for block in rows_with_names(conversion):
        rows = block.rows
        shape = len(rows), first + len(names)
        X = csr_array((rows.values, rows.indices, rows.starts), shape=shape).toarray()
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        yield pl.DataFrame(
            [
                pl.Series(str(conversion.target), rows.targets),
                pl.Series(str(conversion.weight), weights),
                *(pl.Series(name, X[:, first + k]) for k, name in enumerate(names)),
            ]
        )


def _columns(conversion: Conversion) -> tuple[int, list[str]]:
    """Return the first column of a sparse file that has values, and the names from there on."""
    first, names = 1, list[str]()
    for block in rows_with_names(conversion):
        assert block.rows.indices is not None
        first = min(first, int(block.rows.indices.min(initial=1)))
        names = [str(k) for k in range(block.rows.columns)]
        names = [*(names if block.names is None else block.names)]
        if len(names) > MAX_COLUMNS:
            raise ValueError(
                f"more than {MAX_COLUMNS} columns: a table would be mostly zeros; convert to jsonl"
            )
    return first, names[first:]
