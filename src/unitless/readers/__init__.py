"""Readers: files -> blocks of rows, in constant memory; one module per format.

A table (CSV, JSON lines, Parquet, Arrow) gives frames, which a `FrameEncoder` turns into rows.
svmlight and VW text give rows directly, with labels and importance weights:

>>> import io
>>> from unitless.readers import open_blocks
>>> text = b"1 2.5 |size h:1.8 |who ann\\n-1 'b |size h:1.7 |who bob\\n"
>>> for block in open_blocks(io.BytesIO(text), format="vw"):
...     names = block.new_names
...     print(block.rows.columns, block.targets, block.weights, block.tags, names)
3 [ 1. -1.] [2.5 1. ] ['', 'b'] ['size^h', 'who^ann', 'who^bob']

To continue later after row k of a block, keep `block.position_at(k)` and, for VW text,
the names of the columns so far. The position after the whole block is `block.position`:

>>> place = block.position_at(1)
>>> for block in open_blocks(io.BytesIO(text), format="vw", names=names, resume=place):
...     print(block.lines, block.targets, block.rows.indices, block.new_names)
[2] [-1.] [0 2] []
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from unitless.readers.blocks import FileBlock, Options, Position, ReadError
from unitless.readers.files import common_format, expanded, in_turn

if TYPE_CHECKING:
    from unitless.readers.source import File, Source

__all__ = ["FORMATS", "SPARSE", "FileBlock", "Position", "ReadError", "format_of", "open_blocks"]


def __dir__() -> list[str]:
    return sorted(__all__)


FORMATS = {
    "csv": ("csv", "data", "dat", "txt"),
    "tsv": ("tsv", "tab"),
    "jsonl": ("jsonl", "ndjson", "json"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "ipc", "feather"),
    "svmlight": ("svm", "libsvm", "svmlight"),
    "vw": ("vw",),
}
"""Names of the formats, and the endings of file names that mean them."""

SPARSE = ("svmlight", "vw")
"""Formats whose rows hold their labels and weights."""

COMPRESSED = ("gz", "zst", "bz2", "xz", "zip")
"""Endings of compressed files."""

TEXT_TABLES = ("csv", "tsv", "jsonl")
"""Tables in text files, which have an encoding."""

_SPARSE_BYTES = 3 << 18
_TABLE_BYTES = 1 << 23
_MODULES = {"tsv": "csv", "arrow": "parquet"}


def format_of(path: File) -> str:
    """The format of a file by the ending of its name, before any ending of compression.

    Standard input and streams are CSV. Of an unknown name, the file in a zip archive tells it.

    >>> format_of("people.csv.gz"), format_of("a9a.libsvm")
    ('csv', 'svmlight')
    """
    if not isinstance(path, str | os.PathLike):
        return "csv"
    name = os.path.basename(os.fspath(path)).lower()
    parts = [part for part in name.split(".")[1:] if part not in COMPRESSED]
    for known, endings in FORMATS.items():
        if parts and parts[-1] in endings:
            return known
    if name == "-":
        return "csv"
    if os.path.isfile(path):
        from unitless.readers.source import Source

        source = Source(path)
        source.read(512)  # an error if the file has no rows
        source.close()
        if source.member:
            return format_of(source.member)
    raise ValueError(f"{name}: its name does not tell the format; give one of {', '.join(FORMATS)}")


def open_blocks(
    file: File | Sequence[str | os.PathLike[str]],
    *,
    format: str | None = None,
    resume: Position | Mapping[str, object] | None = None,
    settle: int = 100,
    **options: Any,
) -> Iterator[FileBlock]:
    """Read a file in blocks of consecutive rows.

    Parameters
    ----------
    file
        A path, "-" for standard input, a folder, a pattern (`day*.csv`), or a list of these: files
        are read one after another as one stream, those of a folder or pattern sorted by name. Or
        a binary stream. Compression is recognised.
    format
        One of `FORMATS`; by default what the name of the file means, CSV for streams.
    resume
        Where to go on: a `FileBlock.position` or `FileBlock.position_at(row)` of the same files, or
        its JSON (`Position.as_json()`).
    settle
        Number of lines of a pipe in the first block, however slowly they arrive: column types are
        detected on it. A later block is what has arrived when the pipe pauses.
    **options
        How to read the file: see `unitless.readers.blocks.Options`.

    Yields
    ------
    FileBlock
        Rows and their order do not depend on block sizes, threads or resuming. Each block has rows,
        except that the last one may only count bad lines after the last row.

    Raises
    ------
    ReadError
        With file, line, column and text, if the file cannot be read on.

    Examples
    --------
    >>> import io
    >>> for block in open_blocks(io.BytesIO(b"height;who\\n1,8;ann\\n1,7;bob\\n")):
    ...     print(block.frame.rows(), block.position.columns)
    [(1.8, 'ann'), (1.7, 'bob')] {'height': 'number 1234,5', 'who': 'string'}
    """
    files: Sequence[Any] = [file]
    if isinstance(file, str | os.PathLike | list | tuple):
        files = expanded(file)
    if format is None:
        format = common_format(files, format_of)
    if format not in FORMATS:
        raise ValueError(f"there is no format {format!r}; there are {', '.join(FORMATS)}")
    given = Options(**options)
    if format in SPARSE and (given.target or given.weight or given.types):
        raise ValueError(f"rows of {format} hold their labels and weights: name no column")
    start = Position(format=format) if resume is None else Position.of(resume)
    if start.format is None:
        start = msgspec.structs.replace(start, format=format)
    if start.format != format:
        raise ValueError(f"the position is one of a {start.format} file, not of {format}")
    if format == "tsv" and given.separator is None:
        given = replace(given, separator="\t")
    if given.block_bytes is None:
        size = _SPARSE_BYTES if format in SPARSE else _TABLE_BYTES
        given = replace(given, block_bytes=size)
    first = max(len(start.files), 1) - 1
    if first >= len(files):
        raise ValueError(f"the position is in file {first + 1}, and there are {len(files)} files")
    from unitless.readers.prefetch import prefetch
    from unitless.readers.source import Source

    def opened(k: int, place: Position) -> Source:
        # The encoding of a table of text is detected in its first block.
        is_detected = format in TEXT_TABLES and not place.offset
        encoding = given.encoding or place.encoding or (None if is_detected else "utf-8")
        return Source(files[k], settle if k == first else 100, encoding)

    def blocks_of(k: int, names: Sequence[str], place: Position) -> Iterator[FileBlock]:
        types = {**given.types, **place.types}
        source = first_source if k == first else opened(k, place)
        return _blocks(source, format, replace(given, names=names, types=types), place)

    first_source = opened(first, start)  # its errors come at once
    blocks = in_turn(files, start, given.names, blocks_of, given.tell_bad)
    return prefetch(blocks) if given.read_ahead else blocks


def _blocks(source: Source, known: str, options: Options, start: Position) -> Iterator[FileBlock]:
    """Blocks of one file from a position on, which may be inside a block."""
    module: Any = importlib.import_module(f"unitless.readers.{_MODULES.get(known, known)}")
    skip = start.skip
    start = msgspec.structs.replace(start, skip=0)
    try:
        if known == "jsonl":
            module.open_array(source)
        source.skip_to(start.offset)
        for block in module.blocks(source, options, start):
            skipped = min(skip, len(block))
            skip -= skipped
            yield replace(block.tail(skipped) if skipped else block, file=source.name)
    finally:
        source.close()
