"""What a file is by its first bytes: a zip archive, or something that has no rows to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

from unitless.readers.blocks import ReadError

ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
PIECE = 1 << 17
HEAD = 512
"""Bytes by which a file that cannot be read is recognised."""

SAVE_AS_CSV = "save its sheet as CSV"
EXPORT = "export its table as CSV"
UNPACK = "unpack it, and name the files in it"
UNREADABLE = {
    b"%PDF-": ("a PDF document", EXPORT),
    b"\xd0\xcf\x11\xe0": ("an Excel workbook (.xls)", SAVE_AS_CSV),
    b"SQLite format 3": ("an SQLite database", EXPORT),
    b"\x89HDF": ("an HDF5 file", EXPORT),
    b"\x93NUMPY": ("a NumPy array", "save it with numpy.savetxt(..., delimiter=',')"),
    b"7z\xbc\xaf": ("a 7-Zip archive", UNPACK),
    b"Rar!": ("a RAR archive", UNPACK),
    b"<!DOCTYPE html": ("a web page", "download the data file that the page links to"),
    b"<html": ("a web page", "download the data file that the page links to"),
}
"""The first bytes of what cannot be read, what it is, and what to do."""


def refuse_unreadable(head: bytes, file: str) -> None:
    """Raise an error that says what the file is, if its first bytes show that it has no rows."""
    found = None
    for magic, meaning in UNREADABLE.items():
        if head.lower().startswith(magic.lower()):
            found = meaning
    if head[257:262] == b"ustar":
        found = ("a tar archive", UNPACK)
    if found is not None:
        what, advice = found
        raise ReadError(f"this is {what}, which cannot be read: {advice}", file=file)


def only_member(archive: ZipFile, file: str) -> str:
    """The name of the only file in a zip archive."""
    names = [name for name in archive.namelist() if not _is_extra(name)]
    if "[Content_Types].xml" in names:
        kind = "an Excel workbook (.xlsx)" if any(map(_is_sheet, names)) else "an Office document"
        raise ReadError(f"this is {kind}, which cannot be read: {SAVE_AS_CSV}", file=file)
    if len(names) != 1:
        some = ", ".join(names[:3]) + ", ..." * (len(names) > 3)
        why = f"this zip archive has {len(names)} files ({some}), and one was expected: {UNPACK}"
        raise ReadError(why, file=file)
    return names[0]


def _is_extra(name: str) -> bool:
    """Whether it is a folder, or a file that a Mac adds."""
    return name.endswith(("/", ".DS_Store")) or name.startswith("__MACOSX/")


def _is_sheet(name: str) -> bool:
    return name.startswith("xl/")


def open_zip(raw: BinaryIO, file: str) -> tuple[str, Iterator[bytes]]:
    """The name and the bytes of the only file in a zip archive; later damage is an EOFError."""
    try:
        archive = ZipFile(raw)
    except (BadZipFile, OSError, ValueError) as error:
        why = f"the compressed file is damaged or cut short ({error})"
        raise ReadError(why, file=file) from None
    name = only_member(archive, file)
    return name, _pieces(archive, name)


def _pieces(archive: ZipFile, name: str) -> Iterator[bytes]:
    try:
        with archive.open(name) as member:
            while piece := member.read(PIECE):
                yield piece
    except Exception as error:  # each way to compress has its own, and a password another
        raise EOFError(str(error)) from None
