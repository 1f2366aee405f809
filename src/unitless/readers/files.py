"""Several files as one stream: which files folders and patterns mean, and one file after another.

Each file is opened when its turn comes. What was found in the files before it (counts, types of
columns, separator) is part of the position, so that reading can continue inside any file.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from glob import glob, has_magic
from typing import Any

import msgspec

from unitless.readers.blocks import FileBlock, Position, ReadError

HIDDEN = (".", "_")
"""Beginnings of the names of files that are not meant when a folder is."""


def expanded(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
) -> list[str]:
    """The files that paths, folders and patterns mean, in the order given.

    Those of one folder (and its inner folders) or pattern are sorted by name. Hidden files (.x, _x)
    of a folder are left out.
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    return [file for path in paths for file in _files(os.fspath(path))]


def _files(path: str) -> list[str]:
    is_folder = os.path.isdir(path)
    if path == "-" or (os.path.exists(path) and not is_folder):
        return [path]
    if not is_folder and not has_magic(path):
        raise FileNotFoundError(errno.ENOENT, "there is no such file or folder", path)
    found = [name for name in glob(path, recursive=True) if os.path.isfile(name)]
    for folder, inner, names in os.walk(path) if is_folder else ():
        inner[:] = [name for name in inner if not name.startswith(HIDDEN)]
        found += [os.path.join(folder, name) for name in names if not name.startswith(HIDDEN)]
    if not found:
        raise FileNotFoundError(errno.ENOENT, "there are no files in it", path)
    return sorted(found)


def common_format(files: Sequence[object], format_of: Callable[[Any], str]) -> str:
    """The format of all files; an error if they have several."""
    formats: dict[str, object] = {}
    for file in files:
        formats.setdefault(format_of(file), file)
    if len(formats) > 1:
        (one, first), (two, second), *_ = formats.items()
        raise ValueError(
            f"{first} is {one} and {second} is {two}, but files that are read together must have "
            "one format: use a pattern, such as 'folder/*.csv', or `unitless convert`"
        )
    return next(iter(formats))


def is_continued(position: Position, source: str | None, files: Sequence[str]) -> bool:
    """Whether these files begin with those that were read up to the position."""
    known = position.files or (source or "-",)
    begin = files[: len(known)]
    return "-" not in begin and [*map(os.path.abspath, begin)] == [*map(os.path.abspath, known)]


Opener = Callable[[int, Sequence[str], Position], Iterator[FileBlock]]
"""Opens file number k, with the names known so far, at a position."""


def in_turn(
    files: Sequence[object],
    start: Position,
    names: Sequence[str],
    opened: Opener,
    tell_bad: bool = False,
) -> Generator[FileBlock, None, None]:
    """The blocks of all files from a position on; there must be rows in one of them.

    A block without rows (bad lines, comments) is left out, unless it is the last one and has a new
    count of bad lines, or `tell_bad` and has any; the next block has its new names.
    """
    begun = start.rows > 0
    skipped = start.skipped
    empty = None
    new_names: list[str] = []
    for block in _blocks(files, start, list(names), opened):
        if not len(block):
            empty = block
            new_names += block.new_names
            if tell_bad and block.bad:
                yield block
                skipped = block.position.skipped
            continue
        yield block.tail(0, new_names) if new_names else block
        begun = True
        skipped = block.position.skipped
        empty = None
        new_names = []
    if not begun:
        kind = "this file" if len(files) == 1 else "these files"
        file = files[0] if isinstance(files[0], str) else "the stream"
        raise ReadError(f"there are no rows in {kind}", file=file)
    if empty is not None and empty.position.skipped > skipped:
        yield empty


def _blocks(
    files: Sequence[Any], start: Position, names: list[str], opened: Opener
) -> Iterator[FileBlock]:
    if len(files) == 1:
        yield from opened(0, names, start)
        return
    sizes = list(map(os.path.getsize, files))
    place = start
    first = max(len(start.files), 1) - 1
    for k in range(first, len(files)):
        place = place if k == first else _at_next_file(place)
        place = msgspec.structs.replace(place, files=tuple(files[: k + 1]))
        before = sum(sizes[:k])
        for block in opened(k, names, place):
            names += block.new_names
            place = block.position
            done = block.done
            if done is not None:
                done = (before + done * sizes[k]) / sum(sizes)
            yield replace(block, done=done)


def _at_next_file(place: Position) -> Position:
    """The position at the beginning of the next file."""
    begin = msgspec.structs.replace(place, offset=0, line=0, skip=0, encoding=None)
    if not place.columns or place.format not in ("csv", "tsv"):
        return begin
    # Each file has a header of its own.
    known = {name: kind for name, kind in place.columns.items() if kind is not None}
    return msgspec.structs.replace(begin, columns=None, types={**place.types, **known})
