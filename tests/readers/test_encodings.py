"""Encodings: what is detected, and files in other encodings from files and pipes, and resumed."""

import io

import pytest

from readers.naive import read
from unitless.readers import ReadError, open_blocks
from unitless.readers.encodings import encoding_of

GERMAN = "Größe;Stück\n1,5;2\nMüller;3\n"
TEXTS = [
    (GERMAN, "utf-8", "utf-8"),
    (GERMAN, "cp1252", "cp1252"),
    (GERMAN, "latin-1", "cp1252"),
    (GERMAN, "utf-16", "utf-16"),
    (GERMAN, "utf-16-le", "utf-16-le"),
    (GERMAN, "utf-16-be", "utf-16-be"),
    ("a,b\n1,2\n", "ascii", "utf-8"),
    ("name\ncafé\n", "cp1252", "cp1252"),
    ("says\nAnn says “hi” – it’s 5 €\n", "cp1252", "cp1252"),
    ("текст\nпривет, как дела\n", "cp1251", "cp1251"),
    ("текст\nпривет, как дела\n", "utf-16-le", "utf-16-le"),
    ("Größe;Łódź\nМосква;東京 5 €\n", "utf-16-le", "utf-16-le"),
    ("Größe;Łódź\nМосква;東京 5 €\n", "utf-16-be", "utf-16-be"),
]


@pytest.mark.parametrize(("text", "encoding", "wanted"), TEXTS)
def test_detected(text, encoding, wanted):
    assert encoding_of(text.encode(encoding)) == wanted


def test_a_damaged_line_does_not_change_the_encoding():
    assert encoding_of("é\n".encode() + b"\xff\n") == "utf-8"
    assert encoding_of("é".encode()[:1]) == "utf-8"  # a block ends inside a character
    assert encoding_of(b"a\0b\n") == "utf-8"


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("block_bytes", [20, 1 << 20])
def test_any_encoding_gives_the_same_rows(encoding, block_bytes):
    text = "wer;Preis\n" + "".join(f"Jürgen {k};{k},5\n" for k in range(40))
    wanted = [(f"Jürgen {k}", k + 0.5) for k in range(40)]
    data = text.encode(encoding)
    blocks = read(data, format="csv", block_bytes=block_bytes)
    assert [row for block in blocks for row in block.frame.rows()] == wanted
    for block in blocks[:3]:
        for row in (1, len(block)):
            later = list(open_blocks(io.BytesIO(data), resume=block.position_at(row)))
            rest = [row for each in later for row in each.frame.rows()]
            assert rest == wanted[block.start.rows + row :]


def test_an_encoding_can_be_given():
    data = "who\nМосква\n".encode("koi8-r")
    (block,) = read(data, format="csv", encoding="koi8-r")
    assert block.frame.rows() == [("Москва",)]
    assert block.position.encoding == "koi8-r"
    with pytest.raises(ValueError, match="there is no encoding 'klingon'"):
        read(data, format="csv", encoding="klingon")
    with pytest.raises(ReadError, match="not ascii.*--encoding"):  # noqa: RUF043
        read(data, format="csv", encoding="ascii")


def test_json_lines():
    (block,) = read('{"who": "Jürgen"}\n'.encode("cp1252"), format="jsonl")
    assert block.frame.rows() == [("Jürgen",)]
