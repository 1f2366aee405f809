"""Sources of rows, split into parts: row groups of Parquet files, whole files of other formats.

Parts are ordered by file name, then by row. They depend on the files only, never on the number of
workers, so every run computes the same thing.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from typing import Any, NamedTuple

from unitless.encoders import FrameEncoder
from unitless.readers import Block, ReadError, format_of, open_blocks


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


@dataclass(frozen=True)
class PartitionedData:
    """Files of rows, and the meaning of their columns.

    Parameters
    ----------
    path
        A file, a folder or a pattern (`flights/*.parquet`).
    target, weight
        Tables: the column to predict, and the column of sample weights.
    ignore, keep
        Tables: columns that are not features, or the only columns that are.
    task
        "binary", "multiclass", "regression", or "auto" to decide from the first rows.
    loss
        The loss; by default that of the task.
    columns
        Tables: an empty `FrameEncoder` with options (interactions, text, max_levels).
    reading
        Options of `open_blocks`: format, header, separator, quote.
    coerce
        Tables: treat a cell that does not fit its column as missing instead of as an error.

    Examples
    --------
    >>> PartitionedData("flights", target="delay").task
    'auto'
    """

    path: str | os.PathLike[str]
    target: str | None = None
    weight: str | None = None
    ignore: Sequence[str] = ()
    keep: Sequence[str] = ()
    task: str = "auto"
    loss: str | None = None
    columns: FrameEncoder | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    coerce: bool = False

    @property
    def name(self) -> str:
        """The path as text."""
        return os.fspath(self.path)

    def files(self) -> list[str]:
        """Return the files, sorted by name; hidden files (.x, _x) of a folder are left out."""
        path = self.name
        if os.path.isfile(path):
            return [path]
        if os.path.isdir(path):
            found = [
                os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
            ]
            found = [file for file in found if not _is_hidden(os.path.relpath(file, path))]
        elif has_magic(path):
            found = [file for file in glob(path, recursive=True) if os.path.isfile(file)]
        else:
            raise FileNotFoundError(f"{path}: there is no such file or folder")
        if not found:
            raise FileNotFoundError(f"{path}: there are no files in it")
        return sorted(found)

    def format(self, files: Sequence[str]) -> str:
        """Return the common format of the files."""
        given = self.reading.get("format")
        formats = {given or format_of(file): file for file in files}
        if len(formats) > 1:
            (one, first), (two, second), *_ = formats.items()
            raise ValueError(
                f"{self.name}: {first} is {one} and {second} is {two}, but all files must have "
                "the same format"
            )
        (found,) = formats
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
        ...     for day in ("b", "a"):
        ...         frame = polars.DataFrame({"x": range(5)})
        ...         frame.write_parquet(f"{folder}/{day}.parquet", row_group_size=3)
        ...     for part in PartitionedData(folder).parts():
        ...         print(part.number, os.path.basename(part.file), part.start, part.stop)
        1 a.parquet 0 3
        2 a.parquet 3 5
        3 b.parquet 0 3
        4 b.parquet 3 5
        """
        files = self.files()
        split = _row_groups if self.format(files) == "parquet" else _whole_file
        found = [piece for file in files for piece in split(file)]
        if not found:
            raise ReadError("the source has no rows", file=self.name)
        return [Part(number, len(found), *piece) for number, piece in enumerate(found, start=1)]

    def blocks(self, part: Part, types: Mapping[str, str]) -> Iterator[Block]:
        """Read the rows of a part; `types` are the known types of text columns."""
        options = {k: v for k, v in self.reading.items() if k != "types"}
        if part.stop is not None:
            options["resume"] = {"line": part.start, "rows": part.start, "until": part.stop}
        return open_blocks(
            part.file,
            **options,
            target=self.target,
            weight=self.weight,
            types=types,
            coerce=self.coerce,
            read_ahead=False,
        )


def as_source(source: PartitionedData | str | os.PathLike[str]) -> PartitionedData:
    """Return a source; a path alone is a source with default options."""
    return source if isinstance(source, PartitionedData) else PartitionedData(source)


def _is_hidden(path: str) -> bool:
    return any(name.startswith((".", "_")) for name in path.split(os.sep))


def _whole_file(file: str) -> list[tuple[str, int, int | None, int]]:
    return [(file, 0, None, max(1, os.path.getsize(file)))]


def _row_groups(file: str) -> list[tuple[str, int, int | None, int]]:
    """Return the row groups of a Parquet file."""
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise ModuleNotFoundError(
            "splitting Parquet files needs pyarrow, which is not installed: pip install pyarrow"
        ) from None
    try:
        with ParquetFile(file) as opened:
            about = opened.metadata
            counts = [about.row_group(k).num_rows for k in range(about.num_row_groups)]
    except ArrowInvalid as error:
        raise ReadError(f"this is not a Parquet file ({error})", file=file) from None
    groups: list[tuple[str, int, int | None, int]] = []
    start = 0
    for count in counts:
        if count:
            groups.append((file, start, start + count, count))
        start += count
    return groups


def split_parts(parts: Sequence[Part], count: int) -> list[list[Part]]:
    """Split parts into `count` runs of consecutive parts of about equal size, none empty.

    >>> parts = [Part(k, 5, "x", size=size) for k, size in enumerate([4, 1, 1, 1, 1], start=1)]
    >>> [[part.number for part in run] for run in split_parts(parts, 2)]
    [[1], [2, 3, 4, 5]]
    """
    if count < 1:
        raise ValueError(f"shards = {count}: must be at least 1")
    if count > len(parts):
        raise ValueError(
            f"shards = {count}: the source has only {len(parts)} parts (files, or row groups of "
            "Parquet files), and a shard needs at least one; use fewer shards or smaller files"
        )
    total = sum(part.size for part in parts)
    done = 0
    runs = [[parts[0]]]
    for k, part in enumerate(parts[1:], start=1):
        done += parts[k - 1].size
        missing = count - len(runs)
        is_full = done >= len(runs) * total / count
        if missing and (is_full or len(parts) - k == missing):
            runs.append([])
        runs[-1].append(part)
    return runs


def describe(parts: Sequence[Part]) -> str:
    """Describe consecutive parts, for an error message."""
    if len(parts) == 1:
        return str(parts[0])
    return f"{parts[0]} and the next {len(parts) - 1}"
