"""CSV: layouts, types, missing values, and what each broken file is told."""

import csv
import io

import numpy as np
import pandas
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readers.naive import csv_records, read
from unitless.readers import ReadError, open_blocks
from unitless.readers.blocks import OddCells
from unitless.readers.csv_records import Dialect, records, regular_lines, whole_records


def table(data, **options):
    """(columns, rows) of a file."""
    blocks = read(data if isinstance(data, bytes) else data.encode(), format="csv", **options)
    frame = pl.concat([block.frame for block in blocks])
    assert set(frame.dtypes) <= {pl.Float64, pl.String, pl.Boolean, pl.Date, pl.Datetime("us")}
    assert sum(map(len, blocks)) == frame.height == blocks[-1].position.rows
    return frame.columns, frame.rows()


# Layout


@pytest.mark.parametrize("separator", [",", "\t", ";", "|", " "])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_separators_and_line_ends(separator, newline, last):
    lines = ["a,b,c", "1,x y,2", "3,z,4"] if separator != " " else ["a,b,c", "1,xy,2", "3,z,4"]
    text = newline.join(lines).replace(",", separator) + newline * last
    word = "xy" if separator == " " else "x y"
    assert table(text) == (["a", "b", "c"], [(1.0, word, 2.0), (3.0, "z", 4.0)])


def test_no_header():
    assert table("1,x\n2,y\n", header=False) == (["c1", "c2"], [(1.0, "x"), (2.0, "y")])


def test_names():
    assert table('\ufeff a ,"b,c",,\'d\n1,2,3,4\n')[0] == ["a", "b,c", "c3", "'d"]


def test_quotes():
    text = 'a,b\n"x,1","say ""hi"""\n"two\nlines",plain "quotes" stay\n'
    assert table(text) == (["a", "b"], [("x,1", 'say "hi"'), ("two\nlines", 'plain "quotes" stay')])


def test_no_quotes():
    text = 'a\tb\n"x\t1\ny"\t2\n'
    assert table(text, quote=None) == (["a", "b"], [('"x', 1.0), ('y"', 2.0)])
    text = 'a\tb\n"x\t1\ny\t2\n'  # found out: with quotes it would not be whole
    assert table(text) == (["a", "b"], [('"x', 1.0), ("y", 2.0)])


def test_other_quotes():
    assert table("a,b\n'x,y',1\n", quote="'") == (["a", "b"], [("x,y", 1.0)])


def test_one_column():
    assert table("a\n1\n\n2\n") == (["a"], [(1.0,), (2.0,)])
    assert table('a\nx\n""\ny z\n') == (["a"], [("x",), (None,), ("y z",)])


def test_empty_lines_are_passed_over():
    (block,) = read(b"\n\r\na,b\n\n1,2\n\r\n\n3,4\n\n", format="csv")
    assert block.frame.rows() == [(1.0, 2.0), (3.0, 4.0)]
    assert block.lines.tolist() == [5, 8]


# Types and missing values


def test_missing_values():
    words = ["", "NA", "na", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", '""']
    words += ["#N/A", "None", "?", "  ", " ?", "NA "]
    text = "number,string\n1,x\n" + "".join(f"{word},{word}\n" for word in words)
    for block_bytes in (1 << 20, 30):
        _, rows = table(text, block_bytes=block_bytes)
        assert all(number is None or number != number for number, _ in rows[1:])
        assert {string for _, string in rows[1:]} == {None}
    assert table("a,b\nnone,NONE\n-,x\n")[1] == [("none", "NONE"), ("-", "x")]


@pytest.mark.parametrize("word", ["-", ".", "--", "unknown", " - "])
@pytest.mark.parametrize("block_bytes", [1 << 20, 16])
def test_missing_only_among_numbers(word, block_bytes):
    text = f"number,category\n1,x\n2,y\n{word},{word}\n4,z\n"
    _, rows = table(text, block_bytes=block_bytes)
    assert rows == [(1.0, "x"), (2.0, "y"), (None, word), (4.0, "z")]


@pytest.mark.parametrize("block_bytes", [1 << 20, 20])
def test_tokens_that_the_user_adds(block_bytes):
    """A token that is a number is that value, in any spelling; in text it is the token."""
    text = "a,b,c\n1,x,1\n-999,y,2\n 3,n.v.,n.v.\n-999.0,-999, -999\n"
    _, rows = table(text, na=["-999", "n.v."], block_bytes=block_bytes)
    assert rows == [(1.0, "x", 1.0), (None, "y", 2.0), (3.0, None, None), (None, None, None)]


def test_a_column_without_values_is_a_number():
    assert table("a,b\n,1\nNA,2\n")[1] == [(None, 1.0), (None, 2.0)]


def test_numbers():
    text = 'a,b\n1,-1.5e3\n+2,.5\n 3,5. \n"4 ",1E-5\n'
    assert table(text)[1] == [(1.0, -1500.0), (2.0, 0.5), (3.0, 5.0), (4.0, 1e-5)]


@given(st.lists(st.floats(allow_infinity=False, allow_nan=False), min_size=1))
def test_numbers_to_the_bit(values):
    _, rows = table("a,b\n" + "".join(f"{value!r},x\n" for value in values))
    assert np.array([row[0] for row in rows]).tobytes() == np.array(values).tobytes()


def test_types_are_settled_on_the_first_block():
    text = b"a,b\n1,1\n2,x\n3,3\n4,4\n"
    blocks = read(text, format="csv", block_bytes=13)
    assert [block.frame.dtypes for block in blocks] == [[pl.Float64, pl.String]] * len(blocks)
    assert pl.concat([block.frame for block in blocks])["b"].to_list() == ["1", "x", "3", "4"]


@pytest.mark.parametrize("word", ["x", "1:5", "0x1"])
def test_words_anywhere_in_the_first_block_count(word):
    """Up to one in ten cells may be one; far behind the records that are looked at first."""
    text = "a;b\n" + "1;2\n" * 500 + f"1;{word}\n" * 55 + "1;3\n"
    _, rows = table(text)
    assert [rows[0], rows[500], rows[555]] == [(1.0, 2.0), (1.0, None), (1.0, 3.0)]
    _, rows = table(text + f"1;{word}\n")
    assert [rows[0], rows[500], rows[555]] == [(1.0, "2"), (1.0, word), (1.0, "3")]


@pytest.mark.parametrize("block_bytes", [1 << 20, 200])
def test_odd_cells_are_missing_and_counted(block_bytes):
    cells = [str(k) for k in range(60)]
    cells[20], cells[50], cells[59] = "abc", "inf", "x" * 200
    data = ("n,x\n" + "".join(f"{k},{cell}\n" for k, cell in enumerate(cells))).encode()
    types = {"x": "number"} if block_bytes > 200 else {}
    blocks = read(data, format="csv", block_bytes=block_bytes, types=types)
    found = pl.concat([block.frame for block in blocks])["x"].to_list()
    assert found == [None if k in (20, 50, 59) else float(k) for k in range(60)]
    last = blocks[-1].position
    assert (last.coerced, last.odd_cells) == (3, {"x": OddCells(3, 22, "abc")})
    resumed = read(data, format="csv", types=types, resume=blocks[-1].position_at(0))
    assert resumed[-1].position.odd_cells == last.odd_cells
    with pytest.raises(ReadError, match="a number was expected: 'abc'") as caught:
        read(data, format="csv", block_bytes=block_bytes, types=types, strict=True)
    assert (caught.value.line, caught.value.column) == (22, "x")


@pytest.mark.parametrize("block_bytes", [1 << 20, 30])
def test_booleans(block_bytes):
    text = "a,b,y\nTRUE,true,TRUE\nFalse,NA,FALSE\n,false,TRUE\ntRUE,true,FALSE\n"
    _, rows = table(text, block_bytes=block_bytes, target="y")
    assert rows == [(True, True), (False, None), (None, False), (True, True)]
    blocks = read(text.encode(), format="csv", block_bytes=block_bytes, target="y")
    assert np.concatenate([b.targets for b in blocks]).tolist() == ["TRUE", "FALSE"] * 2
    more = (text + "maybe,1,TRUE\n").encode()
    types = {"a": "boolean", "b": "boolean"}
    blocks = read(more, format="csv", block_bytes=block_bytes, types=types)
    assert blocks[-1].frame.rows()[-1][:2] == (None, None)
    assert blocks[-1].position.odd_cells == {"a": OddCells(1, 6, "maybe"), "b": OddCells(1, 6, "1")}
    with pytest.raises(ReadError, match="line 6, column 'a': true or false was expected: 'maybe'"):
        read(more, format="csv", types=types, strict=True)


def test_types_can_be_given():
    assert table("a,b\n1,2\n", types={"a": "string"})[1] == [("1", 2.0)]
    with pytest.raises(ReadError, match="no column 'z'"):
        table("a,b\n1,2\n", types={"z": "string"})


# Broken files


LATE = "a,b\n1,x\n2,y\n3,z\n"


@pytest.mark.parametrize(
    ("line", "column", "text", "why"),
    [
        ("4", None, "4", "2 fields were expected, there are 1"),
        ("4,5,6", None, "4,5,6", "2 fields were expected, there are 3"),
        ("four,x", "a", "four", "a number was expected"),
        ("TRUE,x", "a", "TRUE", "a number was expected"),
        ("inf,x", "a", "inf", "a finite number"),
        ("-1e999,x", "a", "-1e999", "a finite number"),
        ('"4"5,x', None, '"4"5,x', "closing quote"),
        ('"4,x', None, '"4,x', "not closed"),
    ],
)
@pytest.mark.parametrize("block_bytes", [1 << 20, 16])
def test_bad_lines(line, column, text, why, block_bytes):
    data = f"{LATE}{line}\n5,w\n".encode()
    options = {"block_bytes": block_bytes, "types": {"a": "number"}, "quote": '"', "strict": True}
    options["format"] = "csv"
    with pytest.raises(ReadError, match=why) as caught:
        read(data, **options)
    error = caught.value
    assert (error.file, error.line, error.column, error.text) == ("the stream", 5, column, text)
    blocks = read(data, skip_bad=1, **options)
    frame = pl.concat([block.frame for block in blocks])
    assert frame["a"].to_list() == [1.0, 2.0, 3.0, 5.0]
    assert blocks[-1].position.skipped == 1
    assert np.concatenate([block.lines for block in blocks]).tolist() == [2, 3, 4, 6]


@pytest.mark.parametrize("cell", ["four", "inf", "1e999", "0x1", "1_000", "TRUE"])
def test_coerced_cells(cell):
    data = f"{LATE}{cell},w\n5,v\n".encode()
    blocks = read(data, format="csv", types={"a": "number"}, block_bytes=12)
    frame = pl.concat([block.frame for block in blocks])
    assert frame["a"].to_list() == [1.0, 2.0, 3.0, None, 5.0]
    assert frame["b"].to_list() == ["x", "y", "z", "w", "v"]
    assert blocks[-1].position.coerced == 1


def test_bad_bytes():
    data = b"a,b\n1,x\n2,\xff\xfe\n3,z\n"
    with pytest.raises(ReadError, match="not UTF-8.*--encoding") as caught:  # noqa: RUF043
        read(data, format="csv", encoding="utf-8")
    assert caught.value.line == 3
    for options in ({}, {"types": {"a": "number", "b": "string"}}):
        (block,) = read(data, format="csv", encoding="utf8", skip_bad=1, **options)
        assert (block.frame.rows(), block.lines.tolist()) == ([(1.0, "x"), (3.0, "z")], [2, 4])


def test_bad_bytes_in_a_later_block():
    data = b"a,b\n" + b"1,x\n" * 20 + b"2,\xff\n"
    with pytest.raises(ReadError, match="not UTF-8") as caught:
        read(data, format="csv", block_bytes=40)
    assert caught.value.line == 22


@pytest.mark.parametrize("data", [b"", b"\n\n", b"a,b\n", b"a,b", b"\xef\xbb\xbf", b"a,b\n\n\r\n"])
def test_files_without_rows(data):
    with pytest.raises(ReadError, match="no rows"):
        read(data, format="csv")


def test_header_that_names_a_column_twice():
    """The suffixes are those of pandas."""
    for header in ("a,a", "a,b,a,a", "a,a.1,a", "a,a,a.1,a.1", "a.1,a,a", "a,a,a.2,a,a"):
        text = f"{header}\n{header}\n"
        wanted = pandas.read_csv(io.StringIO(text)).columns.tolist()
        assert table(text)[0] == wanted, header
    assert table("x,,x,\n1,2,3,4\n")[0] == ["x", "c2", "x.1", "c4"]
    block = read(b"a,a,b\n1,2,3\n", format="csv")[0]
    assert block.position.renamed == {"a.1": "a"}
    assert block.frame.row(0) == (1, 2, 3)
    with pytest.raises(ReadError, match="not UTF-8"):
        table(b"a,\xff\n1,2\n", encoding="utf-8")


def test_the_error_counts_lines_inside_quotes():
    text = 'a,b\n"one\ntwo\nthree",1\nx,2\ny,oops\n'
    with pytest.raises(ReadError) as caught:
        table(text, types={"b": "number"}, strict=True)
    assert (caught.value.line, caught.value.column) == (6, "b")


def test_short_line_is_found_among_long_ones():
    """Separators that are right in sum only."""
    with pytest.raises(ReadError, match="there are 3") as caught:
        table("a,b\n1,2\n1,2,\n3\n")
    assert caught.value.line == 3


def test_skipping_stops_in_the_end():
    data = b"a,b\n1,2\n3\n4,5\n6\n7\n"
    for allowed, line in ((0, 3), (1, 5), (2, 6)):
        with pytest.raises(ReadError) as caught:
            read(data, format="csv", skip_bad=allowed)
        assert caught.value.line == line
    assert table(data, skip_bad=3)[1] == [(1.0, 2.0), (4.0, 5.0)]


# Records

TEXTS = st.text('a",\n\r', max_size=90).map(lambda text: text.encode() + b"\n")
PLAIN = Dialect(",", '"')


@settings(max_examples=600)
@given(TEXTS)
def test_records(data):
    found = list(records(data, PLAIN))
    assert [each.begin for each in found] == [0, *(each.end for each in found)][:-1]
    wanted = [(start, line, fields) for start, line, fields in csv_records(data)]
    sizes = [None if each.why else len(each.fields) for each in found]
    assert [(each.begin, each.line) for each in found] == [each[:2] for each in wanted]
    assert sizes == [fields for _, _, fields in wanted]


@settings(max_examples=600)
@given(TEXTS, st.integers(1, 90))
def test_whole_records_of_a_part_are_those_of_the_text(data, size):
    end = whole_records(data[:size], PLAIN)
    assert end in {0, *(each.end for each in records(data, PLAIN))}


@settings(max_examples=600)
@given(TEXTS, st.integers(1, 3))
def test_regular_records_are_all_alike(data, width):
    lines = regular_lines(data, PLAIN, width)
    if lines is not None:
        found = list(records(data, PLAIN))
        assert lines.tolist() == [each.line for each in found]
        assert not any(each.why or each.is_blank for each in found)
        assert sum(len(each.fields) for each in found) == width * len(found)


@settings(max_examples=100)
@given(
    st.lists(
        st.lists(st.text('ab",\n é;', max_size=6), min_size=2, max_size=2),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 60),
)
def test_what_python_writes_is_read_back(rows, block_bytes):
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([["first", "second"], *rows])
    kinds = {"first": "string", "second": "string"}
    _, found = table(
        file.getvalue(), separator=",", quote='"', types=kinds, block_bytes=block_bytes
    )
    assert found == [tuple(cell if cell.strip(" ") else None for cell in row) for row in rows]


# Real files


@pytest.mark.parametrize(
    ("name", "options", "shape", "strings", "missing"),
    [
        ("beijing_pm25.csv", {}, (43824, 13), 1, 2067),
        ("bike_hour.csv", {}, (17379, 17), 0, 0),
        ("credit_default.csv", {}, (30000, 24), 0, 0),
        ("diamonds.csv", {}, (53940, 10), 3, 0),
        ("german.data", {"header": False}, (1000, 21), 13, 0),
        ("online_shoppers.csv", {}, (12330, 18), 2, 0),
        ("smsspamcollection.tsv", {}, (5572, 4), 2, 0),
    ],
)
def test_real_files(shared_data, name, options, shape, strings, missing):
    for block_bytes in (None, 1 << 17):
        blocks = list(open_blocks(shared_data / "raw" / name, block_bytes=block_bytes, **options))
        frame = pl.concat([block.frame for block in blocks])
        assert frame.shape == shape
        assert frame.dtypes.count(pl.String) == strings
        assert sum(frame.null_count().row(0)) == missing


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("first", ["x^2", "x\x01", "x\u0700", "(\u007f"])
@pytest.mark.parametrize("columns", [1, 2])
def test_text_that_begins_like_compressed_data(first, columns, header):
    """Zlib begins with x^ as well, and polars would decompress it, with or without an error."""
    rest = ",1.5" * (columns - 1)
    lines = ["a,b"[: 2 * columns - 1]] * header + [first + rest, "y" + rest] * 3
    for block_bytes in (15, 1 << 20):
        blocks = read("\n".join(lines).encode(), header=header, block_bytes=block_bytes)
        found = [row for block in blocks for row in block.frame.rows()]
        assert found == [(text, 1.5)[:columns] for text in (first, "y")] * 3


@pytest.mark.parametrize("line", ["", "1,2,3\n", "1,\xff\n"])
@pytest.mark.parametrize("block_bytes", [8, 13])
def test_a_first_block_without_rows_settles_no_types(line, block_bytes):
    """A header alone, or bad lines behind it: types are those of the first rows."""
    data = f"a,b\n{line}".encode("latin-1") + b"1,x\n2,y\n" * 3
    blocks = read(data, format="csv", encoding="utf-8", block_bytes=block_bytes, skip_bad=1)
    frame = pl.concat([block.frame for block in blocks])
    assert frame.rows() == [(1.0, "x"), (2.0, "y")] * 3
    assert blocks[-1].position.columns == {"a": "number", "b": "string"}


MARK = "\ufeff"


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("block_bytes", [12, 1 << 20])
def test_a_byte_order_mark_in_a_cell_is_text(header, block_bytes):
    lines = ["a,b"] * header + [f"{MARK},1", f"{MARK},2", f"x,{3}", f"{MARK},4"]
    data = (MARK * (not header) + "\n".join(lines)).encode()
    _, rows = table(data, header=header, block_bytes=block_bytes)
    assert rows == [(MARK, 1.0), (MARK, 2.0), ("x", 3.0), (MARK, 4.0)]


@pytest.mark.parametrize("cell", ["1\r", "\r1", "1\r2", '"1\r"'])
def test_a_carriage_return_in_a_number_makes_it_none(cell):
    data = f"a,b\n1,2\n{cell},3\n"
    options = {"types": {"a": "number"}, "quote": '"', "separator": ",", "strict": True}
    with pytest.raises(ReadError, match="a number was expected") as caught:
        table(data, **options)
    assert (caught.value.line, caught.value.column) == (3, "a")
    assert table(data, **options, skip_bad=1)[1] == [(1.0, 2.0)]
    assert table(data, separator=",", quote='"')[1] == [("1", 2.0), (cell.strip('"'), 3.0)]


@pytest.mark.parametrize("block_bytes", [20, 1 << 20])
def test_regular_blocks_are_left_to_polars(monkeypatch, block_bytes):
    """Quotes, missing words and types that have to be found do not need the slow way."""
    monkeypatch.setattr("unitless.readers.csv.Reader._split", None)
    text = 'a,b\n1,"x, y"\nNA,"two\nlines"\n2,z\n3,\n'
    wanted = [(1.0, "x, y"), (None, "two\nlines"), (2.0, "z"), (3.0, None)]
    assert table(text, block_bytes=block_bytes)[1] == wanted


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("first", ["\t", " ", "\r\r", "\r\n\t"])
def test_a_first_line_of_blanks_does_not_depend_on_the_size_of_blocks(first, header):
    found = []
    for block_bytes in (1, 1 << 20):
        options = {"header": header, "block_bytes": block_bytes, "skip_bad": 9, "separator": ","}
        blocks = read(f"{first}\n1,2\n3\n".encode(), format="csv", **options)
        lines = [line for block in blocks for line in block.lines.tolist()]
        found.append((lines, blocks[-1].position.skipped))
    assert found[0] == found[1]
