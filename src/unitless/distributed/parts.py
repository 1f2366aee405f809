"""Sources cut into parts in a fixed order: row groups of Parquet files, whole files of all others.

The order is that of the files' names, then that of the rows. Parts depend on the files alone, never
on who works on them: what is made of a part is made in any number of processes alike.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from typing import Any, NamedTuple

from unitless.encoders import Columns
from unitless.readers import Block, ReadError, format_of, open_blocks


class Part(NamedTuple):
    """Consecutive rows of a file that are read together."""

    number: int
    """From 1, in the order of the source."""
    of: int
    file: str
    start: int = 0
    stop: int | None = None
    """The rows of a Parquet file; None: all of the file."""
    size: int = 1
    """Rows or bytes, whichever all parts of the source have."""

    def __str__(self) -> str:
        rows = "" if self.stop is None else f", rows {self.start + 1} to {self.stop}"
        return f"part {self.number} of {self.of}: {self.file}{rows}"


@dataclass(frozen=True)
class Source:
    """Where rows come from, and what their columns mean.

    ========== =========================================================================
    field      meaning
    ========== =========================================================================
    path       a file, a folder or a pattern (`flights/*.parquet`)
    target     tables: the column to predict
    weight     tables: the column of sample weights
    ignore     tables: columns that are no features
    keep       tables: the only columns that are, if any are named
    task       "binary", "multiclass", "regression" or "auto", which the first rows settle
    loss       the loss, if it is not the usual one of the task
    columns    tables: an empty `Columns` with options (interactions, text, max_levels)
    reading    options of `open_blocks`: format, header, separator, quote
    coerce     tables: a cell that does not fit its column is missing, not an error
    ========== =========================================================================

    >>> Source("flights", target="delay").task
    'auto'
    """

    path: str | os.PathLike[str]
    target: str | None = None
    weight: str | None = None
    ignore: Sequence[str] = ()
    keep: Sequence[str] = ()
    task: str = "auto"
    loss: str | None = None
    columns: Columns | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    coerce: bool = False

    @property
    def name(self) -> str:
        """The path as text."""
        return os.fspath(self.path)


def as_source(source: "Source | str | os.PathLike[str]") -> Source:
    """A source; a path alone is one without further wishes."""
    return source if isinstance(source, Source) else Source(source)


def parts_of(source: Source) -> list[Part]:
    """The parts of a source, in their order.

    >>> import tempfile, polars
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in ("b", "a"):
    ...         frame = polars.DataFrame({"x": range(5)})
    ...         frame.write_parquet(f"{folder}/{day}.parquet", row_group_size=3)
    ...     for part in parts_of(Source(folder)):
    ...         print(part.number, os.path.basename(part.file), part.start, part.stop)
    1 a.parquet 0 3
    2 a.parquet 3 5
    3 b.parquet 0 3
    4 b.parquet 3 5
    """
    files = files_of(source)
    kind = format_named(source, files)
    cuts = [cut for file in files for cut in (_groups(file) if kind == "parquet" else _whole(file))]
    if not cuts:
        raise ReadError("there are no rows in this source", file=source.name)
    return [Part(number, len(cuts), *cut) for number, cut in enumerate(cuts, start=1)]


def files_of(source: Source) -> list[str]:
    """The files of a source, by name; hidden ones (.x, _x) are no part of it."""
    path = source.name
    if os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        found = [os.path.join(at, name) for at, _, names in os.walk(path) for name in names]
        found = [file for file in found if not _hidden(os.path.relpath(file, path))]
    elif has_magic(path):
        found = [file for file in glob(path, recursive=True) if os.path.isfile(file)]
    else:
        raise FileNotFoundError(f"{path}: there is no such file or folder")
    if not found:
        raise FileNotFoundError(f"{path}: there are no files in it")
    return sorted(found)


def _hidden(path: str) -> bool:
    return any(step.startswith((".", "_")) for step in path.split(os.sep))


def format_named(source: Source, files: Sequence[str]) -> str:
    """The one format of all files."""
    given = source.reading.get("format")
    formats = {given or format_of(file): file for file in files}
    if len(formats) > 1:
        (one, first), (two, second), *_ = formats.items()
        raise ValueError(f"{source.name}: {first} is {one} and {second} is {two}: name one format")
    (kind,) = formats
    if kind == "vw":
        raise ValueError(
            f"{source.name}: VW text numbers its features as they appear, so it has no parts; "
            "`unitless convert` makes JSON lines or svmlight of it"
        )
    return kind


def _whole(file: str) -> list[tuple[Any, ...]]:
    return [(file, 0, None, max(1, os.path.getsize(file)))]


def _groups(file: str) -> list[tuple[Any, ...]]:
    """The row groups of a Parquet file."""
    from pyarrow import ArrowInvalid
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(file) as opened:
            about = opened.metadata
            counts = [about.row_group(k).num_rows for k in range(about.num_row_groups)]
    except ArrowInvalid as error:
        raise ReadError(f"no Parquet file ({error})", file=file) from None
    made, start = [], 0
    for count in counts:
        if count:
            made.append((file, start, start + count, count))
        start += count
    return made


def shards_of(parts: Sequence[Part], shards: int) -> list[list[Part]]:
    """Runs of consecutive parts, about equal in size, none empty.

    >>> parts = [Part(k, 5, "x", size=size) for k, size in enumerate([4, 1, 1, 1, 1], start=1)]
    >>> [[part.number for part in shard] for shard in shards_of(parts, 2)]
    [[1], [2, 3, 4, 5]]
    """
    if shards < 1:
        raise ValueError(f"shards = {shards}: at least 1")
    if shards > len(parts):
        raise ValueError(
            f"shards = {shards}: the source has {len(parts)} parts (files, or row groups of "
            "Parquet), and a shard is one or more of them: ask for fewer, or write smaller ones"
        )
    total, done, made = sum(part.size for part in parts), 0, [[parts[0]]]
    for k, part in enumerate(parts[1:], start=1):
        done += parts[k - 1].size
        left, due = shards - len(made), len(made) * total / shards
        if left and (done >= due or len(parts) - k == left):
            made.append([])
        made[-1].append(part)
    return made


def named(parts: Sequence[Part]) -> str:
    """Parts that follow each other, for an error."""
    return str(parts[0]) if len(parts) == 1 else f"{parts[0]} and the {len(parts) - 1} behind it"


def blocks_of(source: Source, part: Part, types: Mapping[str, str]) -> Iterator[Block]:
    """The rows of a part; `types` are those of the columns of a text file, where they are known."""
    options = {k: v for k, v in source.reading.items() if k != "types"}
    if part.stop is not None:
        options["resume"] = {"line": part.start, "rows": part.start, "until": part.stop}
    return open_blocks(
        part.file, **options, target=source.target, weight=source.weight, types=types,
        coerce=source.coerce, read_ahead=False,
    )  # fmt: skip
