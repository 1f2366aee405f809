"""Readers: files -> blocks of rows, in constant memory; one module per format.

A table (CSV, JSON lines, Parquet, Arrow) gives frames, which a `FrameEncoder` turns into rows:

>>> import io
>>> from unitless.encoders import FrameEncoder
>>> from unitless.readers import open_blocks
>>> from unitless.rows import as_rows
>>> file = io.BytesIO(b"height,who,price\\n1.8,ann,3\\n1.7,bob,\\nNA,ann,5\\n")
>>> columns = FrameEncoder()
>>> for block in open_blocks(file, target="price"):
...     encoded = columns.encode(block.frame)
...     rows = as_rows(encoded.X, block.targets, block.weights)
...     columns.commit(encoded)
...     print(block.lines, block.targets, columns.names, len(rows))
[2 3 4] [ 3. nan  5.] ['height', 'who=ann', 'who=bob'] 3
>>> block.position["rows"], block.position["skipped"], block.position["coerced"]
(3, 0, 0)

svmlight and VW text give rows directly, with labels and importance weights:

>>> file = io.BytesIO(b"1 2.5 |size h:1.8 |who ann\\n-1 'b |size h:1.7 |who bob\\n")
>>> names = []
>>> for block in open_blocks(file, format="vw", names=names):
...     names += block.new_names
...     print(block.rows.columns, block.targets, block.weights, block.tags, block.lines)
3 [ 1. -1.] [2.5 1. ] ['', 'b'] [1 2]
>>> names
['size^h', 'who^ann', 'who^bob']

To continue later after row k of a block, keep `block.position_at(k)` (plain JSON) and, for VW text,
the names of the columns so far. The position after the whole block is `block.position`:

>>> place = block.position_at(1)
>>> file = io.BytesIO(b"1 2.5 |size h:1.8 |who ann\\n-1 'b |size h:1.7 |who bob\\n")
>>> for block in open_blocks(file, format="vw", names=names, resume=place):
...     print(block.lines, block.targets, block.rows.indices, block.new_names)
[2] [-1.] [0 2] []

What cannot be read raises a `ReadError` with file, line, column and text.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unitless.readers.blocks import Block, Options, Position, ReadError

if TYPE_CHECKING:
    from unitless.readers.source import File, Source

__all__ = ["FORMATS", "SPARSE", "Block", "Position", "ReadError", "format_of", "open_blocks"]

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

COMPRESSED = ("gz", "zst", "bz2", "xz")
"""Endings of compressed files."""

_MODULES = {"tsv": "csv", "arrow": "parquet"}
_SPARSE_BYTES, _TABLE_BYTES = 3 << 18, 1 << 23


def format_of(path: str | os.PathLike[str]) -> str:
    """The format of a file by the ending of its name, before any ending of compression.

    >>> format_of("people.csv.gz"), format_of("a9a.libsvm")
    ('csv', 'svmlight')
    """
    name = os.path.basename(os.fspath(path)).lower()
    parts = [part for part in name.split(".")[1:] if part not in COMPRESSED]
    for known, endings in FORMATS.items():
        if parts and parts[-1] in endings:
            return known
    if name == "-":
        return "csv"
    raise ValueError(f"{name}: its name does not tell the format; give one of {', '.join(FORMATS)}")


def open_blocks(
    file: File,
    *,
    format: str | None = None,
    resume: Position | None = None,
    target: str | None = None,
    weight: str | None = None,
    labels: Sequence[str] = (),
    header: bool = True,
    separator: str | None = None,
    quote: str | None = "auto",
    types: Mapping[str, str] | None = None,
    coerce: bool = False,
    skip_bad: int = 0,
    names: Sequence[str] = (),
    block_bytes: int | None = None,
    read_ahead: bool = True,
    settle: int = 100,
) -> Iterator[Block]:
    """Read a file in blocks of consecutive rows.

    Parameters
    ----------
    file
        A path, "-" for standard input, or a binary stream. gzip and Zstandard are recognised.
    format
        One of `FORMATS`; by default what the name of the file means, CSV for streams.
    resume
        Where to go on: a `Block.position` or `Block.position_at(row)` of the same file.
    target, weight
        Tables: the columns that hold the labels and the importances; they are not in the frames.
    labels
        JSON lines: columns that stay in the frames, and in which what is absent is missing, not 0.
    header, separator, quote
        CSV: whether the first line names the columns (otherwise c1, c2, ...); the separator, by
        default detected; the quote, None for none, by default detected.
    types
        CSV, JSON lines: "number" or "string" for columns whose type is not to be detected.
    coerce
        Tables: a cell that does not fit its column is missing, and counted, not an error.
    skip_bad
        How many bad lines are skipped and counted; one more is an error.
    names
        VW text: names that already have columns, for instance those of a model.
    block_bytes
        Approximate size of a block in the file (in memory for Parquet and Arrow).
    read_ahead
        Whether another thread reads the next block while the caller works on this one.
    settle
        Number of lines of a pipe in the first block, however slowly they arrive: column types are
        detected on it. A later block is what has arrived when the pipe pauses.

    Yields
    ------
    Block
        Rows and their order do not depend on block sizes, threads or resuming. Each block has rows,
        with one exception: the last block of a pipe may only count bad lines after the last row.

    Raises
    ------
    ReadError
        With file, line, column and text, if the file cannot be read on.

    >>> import io
    >>> for block in open_blocks(io.BytesIO(b"height;who\\n1.8;ann\\n1.7;bob\\n")):
    ...     print(block.frame.rows(), block.position["rows"])
    [(1.8, 'ann'), (1.7, 'bob')] 2
    """
    if format is None:
        format = format_of(file) if isinstance(file, str | os.PathLike) else "csv"
    if format not in FORMATS:
        raise ValueError(f"there is no format {format!r}; there are {', '.join(FORMATS)}")
    if format in SPARSE and (target or weight):
        raise ValueError(f"rows of {format} hold their labels and weights: name no column for them")
    for what, char in (("separator", separator), ("quote", None if quote == "auto" else quote)):
        if char is not None and (len(char) != 1 or not char.isascii() or char in "\r\n"):
            raise ValueError(f"{what} {char!r}: it is one character, and plain ASCII")
    if skip_bad < 0:
        raise ValueError(f"skip_bad = {skip_bad}: a number of lines is at least 0")
    for name, kind in (types or {}).items():
        if kind not in ("number", "string"):
            raise ValueError(f"column {name!r}: a type is 'number' or 'string', not {kind!r}")
    if block_bytes is None:
        block_bytes = _SPARSE_BYTES if format in SPARSE else _TABLE_BYTES
    if format == "tsv":
        separator = separator or "\t"
    options = Options(
        target=target,
        weight=weight,
        header=header,
        separator=separator,
        quote=quote,
        types=types or {},
        coerce=coerce,
        skip_bad=skip_bad,
        names=names,
        block_bytes=max(1, block_bytes),
        labels=labels,
        read_ahead=read_ahead,
    )
    start = {"format": format, **(resume or {})}
    if start["format"] != format:
        raise ValueError(f"the position is one of a {start['format']} file, not of {format}")
    from unitless.readers.source import Source

    source = Source(file, settle)
    blocks = _blocks(source, format, options, start)
    if not read_ahead:
        return blocks
    from unitless.readers.prefetch import prefetch

    return prefetch(blocks)


def _blocks(
    source: Source, known: str, options: Options, start: Position
) -> Generator[Block, None, None]:
    """Blocks from a position on, which may be inside a block; a file without rows is an error."""
    module: Any = importlib.import_module(f"unitless.readers.{_MODULES.get(known, known)}")
    skip = start.get("skip", 0)
    start = {key: value for key, value in start.items() if key != "skip"}
    begun = start.get("rows", 0) > 0
    try:
        source.skip_to(start.get("offset", 0))
        for block in _filled(module.blocks(source, options, start), skip, source):
            begun = begun or len(block) > 0
            yield block
    finally:
        source.close()
    if not begun:
        raise ReadError("there are no rows in this file", file=source.name)


def _filled(blocks: Iterator[Block], skip: int, source: Source) -> Iterator[Block]:
    """Blocks that have rows, without the first `skip` rows.

    The position after a block without rows (bad lines, comments) becomes that of the block before
    it, so that its counts are those of the file; its new names go to the next block. If a pipe has
    paused, the block before was delivered already: then a last block without rows has the counts.
    """
    held: Block | None = None
    empty: Block | None = None
    given = False
    names: tuple[str, ...] = ()
    try:
        for block in blocks:
            if len(block) <= skip:
                skip, names = skip - len(block), (*names, *block.new_names)
                held = held and replace(held, position=block.position, done=block.done)
                empty = block if given else None
                continue
            if held:
                yield held
            empty, given = None, False
            held, skip, names = block.tail(skip, names) if skip or names else block, 0, ()
            if source.pauses:  # deliver it now: the next rows may come much later
                yield held
                held, given = None, True
    except ReadError:
        if held:
            yield held
        raise
    last = empty if held is None else held
    if last is not None:
        yield last
