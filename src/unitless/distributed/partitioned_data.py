"""Sources of rows, split into parts: row groups of Parquet files, whole files of other formats.

Parts are ordered by file name, then by row. They depend on the files only, never on the number of
workers, so every run computes the same thing.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from unitless.encoders import FrameEncoder
from unitless.readers import FileBlock, Position, ReadError, format_of, open_blocks
from unitless.readers.blocks import Why
from unitless.readers.files import common_format, expanded


class Part(NamedTuple):
    """Consecutive rows of a file that are read together."""

    number: int
    """From 1, in the order of the source."""
    of: int
    """Number of parts of the source."""
    file: str
    start: int = 0
    stop: int | None = None
    """Rows `start` to `stop` of a Parquet file; None means the whole file."""
    size: int = 1
    """Rows of a Parquet file, bytes of other files."""

    def __str__(self) -> str:
        rows = "" if self.stop is None else f", rows {self.start + 1} to {self.stop}"
        return f"part {self.number} of {self.of}: {self.file}{rows}"

    @contextmanager
    def naming(self, block: FileBlock | None = None) -> Iterator[None]:
        """Add file and part to the message of errors."""
        suffix = f"(part {self.number} of {self.of})"
        lines = f", lines {block.lines[0]} to {block.lines[-1]}" if block else ""
        try:
            yield
        except ReadError as error:
            if error.why in (Why.NUMBER, Why.FINITE, Why.BOOLEAN):
                suffix += "; coerce=True or --coerce treats such cells as missing"
            raise ValueError(f"{error.of_file(self.file)} {suffix}") from None
        except ValueError as error:
            raise ValueError(f"{self.file}{lines}: {error} {suffix}") from None
        except OSError as error:
            raise type(error)(f"{self.file}: {error.strerror or error} {suffix}") from None


@dataclass(frozen=True)
class PartitionedData:
    """Files of rows, and the meaning of their columns.

    Parameters
    ----------
    path
        A file, a folder or a pattern (`flights/*.parquet`), or a list of these.
    target, weight
        Tables: the column to predict, and the column of sample weights.
    ignore, keep
        Tables: columns that are not features, or the only columns that are.
    identifier_as_feature
        Tables: use columns of strings that are different in every row; by default they are left
        out.
    task
        "binary", "multiclass", "regression", or "auto" to decide from the first rows.
    loss
        The loss; by default that of the task.
    columns
        Tables: an empty `FrameEncoder` with options (interactions, text, max_levels).
    reading
        Options of `open_blocks`: format, header, separator, quote, types.
    coerce
        Tables: treat a cell that does not fit its column as missing instead of as an error,
        also in CSV files, where one process does so by itself.

    Examples
    --------
    >>> PartitionedData("flights", target="delay").task
    'auto'
    """

    path: str | os.PathLike[str] | Sequence[str]
    target: str | None = None
    weight: str | None = None
    ignore: Sequence[str] = ()
    keep: Sequence[str] = ()
    task: str = "auto"
    loss: str | None = None
    columns: FrameEncoder | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    coerce: bool = False
    identifier_as_feature: bool = False

    @classmethod
    def of(cls, source: "PartitionedData | str | os.PathLike[str]") -> "PartitionedData":
        """Return the source; a path alone is one with default options."""
        return source if isinstance(source, PartitionedData) else cls(source)

    @property
    def name(self) -> str:
        """The path as text."""
        paths = [self.path] if isinstance(self.path, str | os.PathLike) else self.path
        return " ".join(os.fspath(path) for path in paths)

    def format(self, files: Sequence[str]) -> str:
        """Return the common format of the files."""
        found = self.reading.get("format") or common_format(files, format_of)
        if found == "vw":
            raise ValueError(
                f"{self.name}: VW text cannot be split into parts, because its features are "
                "numbered as they appear; convert it with `unitless convert` to JSON lines or "
                "svmlight"
            )
        return found

    def parts(self) -> list[Part]:
        """Return the parts in order.

        >>> import tempfile, polars
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     frame = polars.DataFrame({"x": range(5)})
        ...     frame.write_parquet(f"{folder}/a.parquet", row_group_size=3)
        ...     for part in PartitionedData(folder).parts():
        ...         print(part.number, os.path.basename(part.file), part.start, part.stop)
        1 a.parquet 0 3
        2 a.parquet 3 5
        """
        files = expanded(self.path)
        is_parquet = self.format(files) == "parquet"
        spans: list[tuple[Any, ...]] = []
        for file in files:
            if not is_parquet:
                spans.append((file, 0, None, max(1, os.path.getsize(file))))
                continue
            ends = np.cumsum([0, *_rows_of_groups(file)]).tolist()
            spans += [(file, i, j, j - i) for i, j in pairwise(ends) if i < j]
        if not spans:
            raise ReadError("the source has no rows", file=self.name)
        return [Part(k, len(spans), *span) for k, span in enumerate(spans, start=1)]

    def blocks(self, part: Part) -> Iterator[FileBlock]:
        """Read the rows of a part; errors name it."""
        options = dict(self.reading)
        if part.stop is not None:
            options["resume"] = Position(line=part.start, rows=part.start, until=part.stop)
        with part.naming():
            yield from open_blocks(
                part.file,
                **options,
                target=self.target,
                weight=self.weight,
                strict=not self.coerce,
                read_ahead=False,
            )


def _rows_of_groups(file: str) -> list[int]:
    """Return the number of rows of each row group of a Parquet file."""
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import read_metadata
    except ImportError:
        raise ModuleNotFoundError(
            "splitting Parquet files needs pyarrow, which is not installed: pip install pyarrow"
        ) from None
    try:
        found = read_metadata(file)
    except ArrowInvalid as error:
        raise ReadError(f"this is not a Parquet file ({error})", file=file) from None
    return [found.row_group(k).num_rows for k in range(found.num_row_groups)]
