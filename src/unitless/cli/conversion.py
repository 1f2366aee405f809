"""Conversions between tables and sparse rows, block by block, for `unitless convert`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unitless import writers
from unitless.cli.options import CommandOptions
from unitless.encoders import FrameEncoder
from unitless.labels import text_of
from unitless.model.intake import column_of
from unitless.readers import COMPRESSED, SPARSE, FileBlock, Position, format_of, open_blocks
from unitless.readers.files import common_format
from unitless.rows import as_rows
from unitless.writers import Sparse

ENDINGS = tuple(f".{ending}" for ending in COMPRESSED)
MAX_TABLE_COLUMNS = 10_000
"""Largest number of columns of a table made from sparse rows."""


class Conversion:
    """A file, how to read it, and how to write it."""

    def __init__(self, options: CommandOptions) -> None:
        self.options = options
        self.format = options.format or common_format(options.data, format_of)
        self.wanted = options.to or format_of(options.output)
        self.is_sparse = self.format in SPARSE
        self.position = Position()
        """Where the last block that was read ends: number of rows, and of bad lines."""
        self.has_signs: bool | None = None
        """Whether labels 0 and 1 are written as -1 and 1."""

    def write(self) -> None:
        """Write the rows in the other format."""
        output = self.options.output
        if self.wanted in ("parquet", "arrow") and output.endswith(ENDINGS):
            raise ValueError(
                f"{output}: {self.wanted} files are compressed inside; leave out the ending"
            )
        rows = self._sparse_rows() if self.is_sparse else self._encoded_rows()
        label = self.options.target or "label"
        weight = self.options.weight or "importance"
        with writers.opened(output) as file:
            if self.wanted == "vw":
                writers.write_vw(rows, file)
            elif self.wanted == "svmlight":
                writers.write_svmlight(rows, file)
            elif self.is_sparse and self.wanted == "jsonl":
                writers.write_objects(rows, file, label, weight)
            else:
                frames = self._dense_frames(label, weight) if self.is_sparse else self._frames()
                safe_csv = self.options.safe_csv
                writers.write_frames(frames, file, self.wanted, safe_csv=safe_csv)

    def _blocks(self, **settings: Any) -> Iterator[FileBlock]:
        options = self.options
        settings |= options.reading() | options.strictness() | {"format": self.format}
        for block in open_blocks(options.data, **settings):
            self.position = block.position
            yield block

    # Tables

    def _frames(self) -> Iterator[pl.DataFrame]:
        """Yield the frames of a table, with labels and weights first."""
        first = [name for name in (self.options.target, self.options.weight) if name is not None]
        settled: dict[str, pl.DataType] = {}
        for block in self._blocks(exact=True):
            assert block.frame is not None
            for name in first:
                column_of(block.frame, name)
            frame = block.frame.select(*first, pl.exclude(first))
            if self.wanted == "jsonl":
                yield frame
                continue
            settled = settled or dict(frame.schema)
            line = f"line {block.lines[0]} or later"
            for name, dtype in frame.schema.items():
                if name not in settled:
                    raise ValueError(
                        f"{line}, column {name!r}: it appears after the columns of the "
                        f"{self.wanted} file were written; convert to jsonl instead"
                    )
                if dtype != settled[name] and self.wanted in ("parquet", "arrow"):
                    raise ValueError(
                        f"{line}, column {name!r}: it held {settled[name]} before, and {dtype} "
                        "from here on; convert to csv or jsonl instead"
                    )
            yield frame

    def _encoded_rows(self) -> Iterator[Sparse]:
        """Yield the rows of a table; each category becomes a column."""
        if self.options.target is None:
            text = "rows of svmlight and VW text need a label: name its column with --target"
            raise ValueError(text)
        columns = FrameEncoder(max_levels=2**31)
        labels = {"target": self.options.target, "weight": self.options.weight}
        for block in self._blocks(**labels, absent_zero=True):
            made = columns.encode(block.frame)
            columns.commit(made)
            X = csr_array(made.X, copy=True)
            X.eliminate_zeros()
            yield Sparse(as_rows(X, self._label_codes(block), block.weights), columns.names)

    def _label_codes(self, block: FileBlock) -> NDArray[np.float64]:
        """Return labels as numbers: unchanged, or two classes as -1 and 1, more as 1, 2, 3, ..."""
        labels = block.targets
        assert labels is not None
        if self.options.classes is None and labels.dtype == np.float64:
            return self._signed(labels, block)
        names = (self.options.classes or "false,true").split(",")
        numbers = (-1, 1) if len(names) == 2 else range(1, len(names) + 1)
        codes = dict(zip(names, numbers, strict=True))
        made = np.full(len(labels), np.nan)
        for row, label in enumerate(labels.tolist()):
            if label is None or label != label:
                continue
            name = str(label).lower() if isinstance(label, bool) else text_of(label)
            if name not in codes:
                raise ValueError(
                    f"line {block.lines[row]}, column {self.options.target!r}: {label!r} is not a "
                    "number, as labels of svmlight and VW text must be; list all classes with "
                    "--classes"
                )
            made[row] = codes[name]
        return made

    def _signed(self, labels: NDArray[np.float64], block: FileBlock) -> NDArray[np.float64]:
        """Return labels 0 and 1 as -1 and 1 for VW, whose logistic loss needs them."""
        if self.wanted != "vw" or self.format == "vw":
            return labels
        present = ~np.isnan(labels)
        if self.has_signs is None and present.any():
            self.has_signs = {*labels[present].tolist()} == {0.0, 1.0}
        if not self.has_signs:
            return labels
        other = present & ~np.isin(labels, (0, 1))
        if other.any():
            row = int(np.argmax(other))
            raise ValueError(
                f"line {block.lines[row]}: the label {labels[row]:g} comes after labels 0 and 1, "
                "which were written as the classes -1 and 1; sort the rows in another way"
            )
        return np.where(labels == 0, -1.0, labels)

    # Sparse rows

    def _sparse_rows(self) -> Iterator[Sparse]:
        """Yield sparse rows with the names of their columns."""
        names: list[str] | None = [] if self.format == "vw" else None
        for block in self._blocks():
            assert block.rows is not None
            if names is not None:
                names += block.new_names
            assert block.rows.targets is not None
            rows = replace(block.rows, targets=self._signed(block.rows.targets, block))
            yield Sparse(rows, names, block.tags)

    def _dense_frames(self, label: str, weight: str) -> Iterator[pl.DataFrame]:
        """Yield sparse rows as frames; the file is read twice, first for its columns."""
        if self.options.source == "-":
            raise ValueError(
                "a table needs the names of all columns first, and standard input can be read only "
                "once: convert to jsonl, or convert a file"
            )
        first = 1  # svmlight counts columns from 0 or from 1
        names: list[str] = []
        for rows, known, _ in self._sparse_rows():
            first = min(first, int(np.min(rows.block.indices, initial=1)))
            names = [str(k) for k in range(rows.columns)] if known is None else list(known)
            if len(names) > MAX_TABLE_COLUMNS:
                text = f"more than {MAX_TABLE_COLUMNS} columns: a table would be mostly zeros"
                raise ValueError(f"{text}; convert to jsonl")
        for rows, _, _ in self._sparse_rows():
            entries = (rows.values, rows.indices, rows.starts)
            X = csr_array(entries, shape=(len(rows), len(names))).toarray()
            labels = pl.DataFrame({label: rows.targets, weight: 1.0})
            if rows.weights is not None:
                labels = labels.with_columns(pl.Series(weight, rows.weights))
            yield labels.hstack(pl.DataFrame(X[:, first:], schema=names[first:]))
