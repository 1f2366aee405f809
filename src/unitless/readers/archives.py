"""What a file is by its first bytes: a zip archive, or something that has no rows to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

from unitless.readers.blocks import ReadError

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
PIECE = 1 << 17
HEAD = 512
"""Bytes by which a file that cannot be read is recognised."""

SAVE_AS_CSV = "save its sheet as CSV"
EXPORT = "export its table as CSV"
UNPACK = "unpack it, and name the files in it"
DOWNLOAD = "download the data file that the page links to"
UNREADABLE = {
    b"%pdf-": ("a PDF document", EXPORT),
    b"\xd0\xcf\x11\xe0": ("an Excel workbook (.xls)", SAVE_AS_CSV),
    b"sqlite format 3": ("an SQLite database", EXPORT),
    b"\x89hdf": ("an HDF5 file", EXPORT),
    b"\x93numpy": ("a NumPy array", "save it with numpy.savetxt(..., delimiter=',')"),
    b"7z\xbc\xaf": ("a 7-Zip archive", UNPACK),
    b"rar!": ("a RAR archive", UNPACK),
    b"<!doctype html": ("a web page", DOWNLOAD),
    b"<html": ("a web page", DOWNLOAD),
}
"""The first bytes of what cannot be read, in lower case, what it is, and what to do."""


def refuse_unreadable(head: bytes, file: str) -> None:
    """Raise an error that says what the file is, if its first bytes show that it has no rows."""
    found = [UNREADABLE[magic] for magic in UNREADABLE if head.lower().startswith(magic)]
    if head[257:262] == b"ustar":
        found = [("a tar archive", UNPACK)]
    for what, advice in found:
        raise ReadError(f"this is {what}, which cannot be read: {advice}", file=file)


def open_zip(raw: BinaryIO, file: str) -> tuple[str, Iterator[bytes]]:
    """The name and the bytes of the only file in a zip archive; later damage is an EOFError."""
    try:
        archive = ZipFile(raw)
    except (BadZipFile, OSError, ValueError) as error:
        raise ReadError(f"the file is damaged or cut short ({error})", file=file) from None
    # Without folders, and without what a Mac adds.
    files = [name for name in archive.namelist() if not name.endswith(("/", ".DS_Store"))]
    names = [name for name in files if not name.startswith("__MACOSX/")]
    if "[Content_Types].xml" in names:
        is_workbook = any(name.startswith("xl/") for name in names)
        kind = "an Excel workbook (.xlsx)" if is_workbook else "an Office document"
        raise ReadError(f"this is {kind}, which cannot be read: {SAVE_AS_CSV}", file=file)
    if len(names) != 1:
        some = ", ".join(names[:3]) + ", ..." * (len(names) > 3)
        why = f"this zip archive has {len(names)} files ({some}), and one was expected: {UNPACK}"
        raise ReadError(why, file=file)
    return names[0], _pieces(archive, names[0])


def _pieces(archive: ZipFile, name: str) -> Iterator[bytes]:
    try:
        with archive.open(name) as member:
            while piece := member.read(PIECE):
                yield piece
    except Exception as error:  # each way to compress has its own, and a password another
        raise EOFError(str(error)) from None
