"""Zip archives of one file, and files that are told what they are because they have no rows."""

import gzip
import io
import tarfile
import zipfile

import pytest

from readers.test_source import drip
from unitless.readers import ReadError, format_of, open_blocks


def zipped(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def tar():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("data.csv"))
    return file.getvalue()


def test_the_file_in_an_archive_tells_the_format(tmp_path):
    path = zipped(tmp_path / "download.zip", {"rows.jsonl": '{"a": 1}\n{"a": 2}\n'})
    assert format_of(path) == "jsonl"
    (block,) = open_blocks(path)
    assert block.frame["a"].to_list() == [1, 2]
    (block,) = open_blocks(zipped(tmp_path / "x.csv.zip", {"whatever": "a,b\n1,2\n"}))
    assert block.frame.rows() == [(1, 2)]


def test_archives_of_several_files(tmp_path):
    path = zipped(tmp_path / "many.zip", dict.fromkeys(["a.csv", "b.csv", "c.csv", "d.csv"], "x\n"))
    with pytest.raises(ReadError, match=r"has 4 files \(a.csv, b.csv, c.csv, ...\).*unpack it"):
        open_blocks(path)
    with pytest.raises(ReadError, match="has 0 files"):
        open_blocks(zipped(tmp_path / "none.zip", {}))


def test_an_archive_with_a_password(tmp_path):
    data = bytearray(zipped(tmp_path / "a.csv.zip", {"a.csv": "x\n1\n"}).read_bytes())
    data[6] |= 1  # the flag of encryption, in the header of the file and in the directory
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.csv.zip").write_bytes(data)
    with pytest.raises(ReadError, match="password required"):
        list(open_blocks(tmp_path / "a.csv.zip"))


UNREADABLE = {
    "report.pdf": (b"%PDF-1.7\n%\xe2\xe3", "a PDF document"),
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"an Excel workbook \(.xls\)"),
    "shop.db": (b"SQLite format 3\x00", "an SQLite database"),
    "data.tar": (tar(), "a tar archive"),
    "data.tar.gz": (gzip.compress(tar()), "a tar archive"),
    "page.data": (b"<!doctype HTML>\n<html>", "a web page"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_has_no_rows_is_named(tmp_path, name):
    """Whatever its name is, and whether the format is given."""
    data, what = UNREADABLE[name]
    for path, options in [(name, {}), ("renamed.csv", {}), (name, {"format": "jsonl"})]:
        (tmp_path / path).write_bytes(data)
        with pytest.raises(ReadError, match=f"{path}: this is {what}, which cannot be read: "):
            list(open_blocks(tmp_path / path, **options))
    with pytest.raises(ReadError, match=what):
        list(open_blocks(drip(data)))


def test_workbooks(tmp_path):
    parts = dict.fromkeys(["[Content_Types].xml", "xl/workbook.xml"], "<x/>")
    with pytest.raises(ReadError, match=r"an Excel workbook .*save its sheet as CSV"):
        open_blocks(zipped(tmp_path / "book.xlsx", parts))
    parts = dict.fromkeys(["[Content_Types].xml", "word/document.xml"], "<x/>")
    with pytest.raises(ReadError, match="an Office document"):
        open_blocks(zipped(tmp_path / "text.csv", parts))
