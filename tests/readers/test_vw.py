"""VW text against its plain twin, Vowpal Wabbit itself and a list of broken lines."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from readers.naive import read, sparse_rows, vw_line
from readers.test_svmlight import NUMBERS, assert_equal_rows
from unitless.readers import ReadError

WORDS = st.text("ab^é0.-'x", min_size=1, max_size=3) | st.text("abcdefgh", min_size=5, max_size=40)


@st.composite
def vw_lines(draw, numbers=NUMBERS, words=WORDS, plain=False):
    """One line of VW text, good in most cases; plain: without what an audit cannot show."""
    label = draw(st.sampled_from(["", "1 ", "-1 ", "0.5 ", "1 2.5 ", "2 0 ", "  1   3 ", "x\t1 "]))
    tag = draw(st.sampled_from(["", "", "'tag", "'tag ", "tag", "'"]))
    line = label + tag
    for _ in range(draw(st.integers(1, 3))):
        space = draw(
            st.sampled_from(["", "", "ns", "a", "a" if plain else "a^b", "longer_namespace"])
        )
        if space:
            space += draw(st.sampled_from(["", "", ":2.5", ":0.125", ":1e-3"]))
        line += "|" + space
        for _ in range(draw(st.integers(0, 5))):
            gap, name = draw(st.sampled_from([" ", " ", "  ", "\t"])), draw(words)
            form = draw(st.sampled_from([0, 2, 3, 4] if plain else [0, 1, 2, 3, 4]))
            value = draw(words) if form == 4 else draw(numbers)
            line += gap + (name if form == 0 else ":" + value if form == 1 else f"{name}:{value}")
        line += draw(st.sampled_from(["", " "]))
    return line


def twin(line):
    try:
        return vw_line(line)
    except ValueError:
        return "bad"


@settings(max_examples=120)
@given(
    st.lists(vw_lines() | st.sampled_from(["", " "]), min_size=1, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 300),
)
def test_twin(lines, newline, block_bytes):
    parsed = [twin(line) for line in lines]
    good = [row for row in parsed if row not in (None, "bad")]
    assume(good)
    data = newline.join(lines).encode()
    blocks = read(data, format="vw", skip_bad=len(lines), block_bytes=block_bytes)
    wanted = [(label, weight, values) for label, weight, _, values in good]
    assert_equal_rows(sparse_rows(blocks), wanted)
    assert blocks[-1].position.skipped <= parsed.count("bad")
    tags = [tag for block in blocks for tag in block.tags or [""] * len(block)]
    assert tags == [tag for _, _, tag, _ in good]
    where = [i + 1 for i, row in enumerate(parsed) if row not in (None, "bad")]
    assert [line for block in blocks for line in block.lines.tolist()] == where


# Vowpal Wabbit itself

AUDIT = """
import sys
from vowpalwabbit import Workspace
Workspace(arg_list=["--audit", "--noconstant", "--quiet", "-d", sys.argv[1], "-b", "24"]).finish()
"""


def audit(path):
    """[{name: value}] of a file, as VW's audit prints them."""
    run = subprocess.run(
        [sys.executable, "-c", AUDIT, str(path)], capture_output=True, text=True, timeout=120
    )
    rows = []
    for line in run.stdout.split("\n"):
        if line.startswith("\t"):
            row = {}
            for feature in filter(None, line.strip("\t").split("\t")):
                name, _, value, _ = feature.rsplit(":", 3)
                row[name] = row.get(name, 0.0) + float(value)
            rows.append({name: value for name, value in row.items() if value})  # a:1 a:-1
    return rows


def labels(data):
    """Labels and importances as VW parses them."""
    from vowpalwabbit import Workspace

    workspace = Workspace("--quiet --noconstant")
    found = []
    for line in data.decode().split("\n"):
        if line:
            example = workspace.parse(line)
            label = example.get_simplelabel_label()
            found.append((math.nan if label > 3e38 else label, example.get_simplelabel_weight()))
            workspace.finish_example(example)
    return found


PLAIN = st.text("abcxyz019_", min_size=1, max_size=12)
FEW_DIGITS = st.integers(-99999, 99999).filter(bool).map(lambda k: repr(k / 1000))


def compare_with_vw(data, path):
    pytest.importorskip("vowpalwabbit")
    path.write_bytes(data)
    found = sparse_rows(read(data, format="vw"))
    wanted = list(audit(path))
    assert len(found) == len(wanted)
    for (_, _, values), row in zip(found, wanted, strict=True):
        assert values.keys() == row.keys()
        np.testing.assert_allclose(
            list(values.values()), [row[key] for key in values], rtol=2e-5, atol=1e-30
        )
    seen = np.array([(label, weight) for label, weight, _ in found])
    np.testing.assert_allclose(seen, np.array(labels(data)), rtol=1e-6)


def test_vowpal_wabbit_on_made_lines(tmp_path):
    made = []

    @settings(max_examples=250)
    @given(vw_lines(numbers=FEW_DIGITS, words=PLAIN, plain=True))
    def collect(line):
        # VW reads text that begins like a number, or with e, as a number.
        odd = re.search(r":[0-9_]+[a-z_]|:[eE]|:(inf|nan)", line)
        parsed = twin(line)
        if not odd and parsed not in (None, "bad") and parsed[3]:
            made.append(line)

    collect()
    assert len(made) > 100
    compare_with_vw("\n".join(made).encode() + b"\n", tmp_path / "made.vw")


def test_vowpal_wabbit_on_a_real_file(shared_data, tmp_path):
    """german.data, its columns as namespaces, words as features and numbers as values."""
    lines = []
    for row in (shared_data / "raw" / "german.data").read_text().split("\n")[:-1]:
        *cells, label = row.split()
        features = "".join(
            f" c{k}:{cell}" if cell.isdigit() else f" |n{k} {cell} |s col{k}:{cell}"
            for k, cell in enumerate(cells)
        )
        lines.append(f"{label} {1 + len(lines) % 3} 'r{len(lines)} |x:0.5{features}")
    compare_with_vw("\n".join(lines).encode() + b"\n", tmp_path / "german.vw")


# Lines that are refused


@pytest.mark.parametrize(
    ("line", "column", "text", "why"),
    [
        ("1 2 3", 1, "1", "a line has a |"),
        ("x | a", 1, "x", "label"),
        ("1 x | a", 3, "x", "label"),
        ("1 1 0.5 | a", 5, "0.5", "label"),
        ("1 1 1 1 | a", 5, "1", "label"),
        ("1e999 | a", 1, "1e999", "finite"),
        ("1 -1 | a", 3, "-1", "importance"),
        ("1 nan | a", 3, "nan", "importance"),
        ("# comment | a", 1, "#", "label"),
        ("1 |:2 a", 3, "|:2", "namespace"),
        ("1 |n:x a", 3, "|n:x", "namespace"),
        ("1 |n: a", 3, "|n:", "namespace"),
        ("1 |n:nan a", 3, "|n:nan", "namespace"),
        ("1 |n:inf a", 3, "|n:inf", "namespace"),
        ("1 |n:1:2 a", 3, "|n:1:2", "namespace"),
        ("1 | a:", 5, "a:", "name:number"),
        ("1 | a: 5", 5, "a:", "name:number"),
        ("1 | a:1:2", 5, "a:1:2", "name:number"),
        ("1 | a:12ab", 5, "a:12ab", "name:number"),
        ("1 | a:0x10", 5, "a:0x10", "name:number"),
        ("1 | :2", 5, ":2", "name:number"),
        ("1 | a:inf", 7, "inf", "finite"),
        ("1 |n:0 a:inf", 10, "inf", "finite"),
        ("1 |n:0 a:1e999", 10, "1e999", "finite"),
        ("1 |n:1e300 a:123456789012345678901", 12, "a:123456789012345678901", "finite"),
        ("1 | a#b\x01c", 8, "\x01c", "control"),
        ("1 | a:1e999", 7, "1e999", "finite"),
        ("1 |n:1e300 a:1e300", 12, "a:1e300", "finite"),
        ("1 | a:1e308 a:1e308", None, None, "add up to no finite"),
        ("\x01x\t1 | a", 1, "\x01x", "control"),
        ("1 | a\x01b", 6, "\x01b", "control"),
        ("1 | a\rb", 6, "\rb", "control"),
    ],
)
def test_bad_lines(line, column, text, why):
    data = f"1 | good\n\n{line}\n-1 | fine\n".encode()
    with pytest.raises(ReadError, match=re.escape(why)) as caught:
        read(data, format="vw")
    error = caught.value
    assert (error.line, error.column, error.text) == (3, column, text)
    blocks = read(data, format="vw", skip_bad=1)
    assert sparse_rows(blocks) == [(1.0, 1.0, {"good": 1.0}), (-1.0, 1.0, {"fine": 1.0})]
    assert blocks[-1].position.skipped == 1


def test_names_that_are_not_utf8():
    data = b"1 | good\n1 | a \xff\xfe b\n1 | \xff\xfe\n-1 | fine\n"
    with pytest.raises(ReadError, match="UTF-8") as caught:
        read(data, format="vw")
    assert caught.value.line == 2
    blocks = read(data, format="vw", skip_bad=2)
    assert [row[2] for row in sparse_rows(blocks)] == [{"good": 1.0}, {"fine": 1.0}]


def test_what_vw_guesses_is_text_here():
    names = [row[2] for row in sparse_rows(read(b"1 | a:e5 b:- c:. d:nancy\n", format="vw"))]
    assert names == [{"a^e5": 1.0, "b^-": 1.0, "c^.": 1.0, "d^nancy": 1.0}]


# Names


def test_equal_spelling_is_one_column():
    data = b"1 |a b^c:2 |a^b c:3 |a b:c\n1 | x:y\n1 |x y\n"
    first, second, third = sparse_rows(read(data, format="vw"))
    assert first[2] == {"a^b^c": 6.0}
    assert second[2] == third[2] == {"x^y": 1.0}


def test_names_given_keep_their_columns():
    names = ["z", "12", "ns^a", "b"]
    (block,) = read(b"1 |ns a |  b 12:3 new z\n", format="vw", names=names)
    assert block.new_names == ["new"]
    assert block.rows.indices.tolist() == [0, 1, 2, 3, 4]
    assert block.rows.columns == 5


@settings(max_examples=50)
@given(st.lists(WORDS, min_size=1, max_size=300), st.integers(1, 500))
def test_columns_come_in_order_of_appearance(names, block_bytes):
    names = [name for name in names if ":" not in name]
    data = "".join(f"1 | {name}\n" for name in names).encode()
    blocks = read(data, format="vw", block_bytes=block_bytes)
    assert [name for block in blocks for name in block.new_names] == list(dict.fromkeys(names))


def test_many_names():
    """The table grows, and numbers take the short way."""
    rng = np.random.default_rng(0)
    names = [f"{k}" if k % 2 else f"name_{k}_{'x' * (k % 30)}" for k in range(30000)]
    rows = [{names[k] for k in row} for row in rng.integers(0, len(names), (3000, 20)).tolist()]
    data = "".join("1 | " + " ".join(row) + "\n" for row in rows).encode()
    found = sparse_rows(read(data, format="vw", block_bytes=1 << 16))
    assert [set(row[2]) for row in found] == rows


def test_names_are_entered_while_others_are_looked_up():
    """Blocks are parsed at the same time, and most of them bring names that are new."""
    rng = np.random.default_rng(1)
    names = [str(k) if k % 3 else f"word{k}" for k in range(40000)]
    rows = [{names[k]: 0.5 for k in row} for row in rng.integers(0, 40000, (8000, 20)).tolist()]
    data = "".join("1 | " + " ".join(f"{name}:0.5" for name in row) + "\n" for row in rows)
    blocks = read(data.encode(), format="vw", block_bytes=1 << 15)
    assert [row[2] for row in sparse_rows(blocks)] == rows
    wanted = list(dict.fromkeys(name for row in rows for name in row))
    assert [name for block in blocks for name in block.new_names] == wanted


def test_a_namespace_may_have_a_weight_of_many_digits():
    data = b"1 |n:0.0866764267642876642286 a b:2 c:-1.234567890123456789012 d:text |m e:3\n"
    ((_, _, values),) = sparse_rows(read(data, format="vw"))
    weight = 0.0866764267642876642286
    assert values == {
        "n^a": weight, "n^b": weight * 2, "n^c": weight * -1.234567890123456789012,
        "n^d^text": 1.0, "m^e": 3.0,
    }  # fmt: skip


def test_an_infinite_weight_is_refused_where_it_is_used():
    data = b"1 |n:1e999 a\n1 |n:1e999 |m b\n"
    (block,) = read(data, format="vw", skip_bad=1)
    assert block.lines.tolist() == [2]


def test_a_bad_line_leaves_neither_weight_nor_tag():
    data = b"1 |a b\n1 2.5 'tag |n:1e999 a\n-1 |a c\n"
    (block,) = read(data, format="vw", skip_bad=1)
    assert block.lines.tolist() == [1, 3]
    assert (block.rows.weights, block.tags) == (None, None)


def test_whole_numbers_are_names_as_they_are_written():
    data = b"1 | 7:1 007:2 +7:3 7.0:4 0:5 00:6 12345678901:7\n" * 2
    for row in sparse_rows(read(data, format="vw", block_bytes=50)):
        assert row[2] == {
            "7": 1.0,
            "007": 2.0,
            "+7": 3.0,
            "7.0": 4.0,
            "0": 5.0,
            "00": 6.0,
            "12345678901": 7.0,
        }


def test_a_bad_line_between_names_that_wait():
    """The look-up goes in batches; a bad line in the middle of one must not shift it."""
    words = [f"w{k}" for k in range(500)]
    for size in (10, 63, 64, 65, 130, 200, 500):  # of the longest, some were looked up already
        good = "1 | " + " ".join(words[:size])
        bad = "1 | " + " ".join(f"v{k}" for k in range(size)) + " a:"
        data = f"{good}\n{bad}\n{good} last\n".encode()
        rows = sparse_rows(read(data, format="vw", skip_bad=1))
        assert [set(row[2]) for row in rows] == [set(words[:size]), {*words[:size], "last"}]
