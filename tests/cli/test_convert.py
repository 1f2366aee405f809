"""`unitless convert`: every format into every other and back, to the bit."""

import csv
import errno
import itertools
import json
import os

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from readers.naive import sparse_rows
from unitless import writers
from unitless.cli.app import app
from unitless.encoders import FrameEncoder
from unitless.readers import open_blocks
from unitless.rows import as_rows

TABLES = {
    "csv": ".csv",
    "tsv": ".tsv.gz",
    "jsonl": ".jsonl.zst",
    "parquet": ".pq",
    "arrow": ".arrow",
}
TABLE = (
    "y,w,x,colour of,z\n1,2,0.1,red hot,1e300\n-1,1,,b|l:ue,0\n,0.5,-3,NA,5e-324\n1,3,0,100%,7\n"
)


def run(*arguments, code=0, **options):
    done = CliRunner().invoke(app, ["convert", *map(str, arguments)], **options)
    if code == 0 and done.exception:
        raise done.exception
    return done


def features(path, **options):
    """(label, weight, {feature: value}) of each row, categories as features, zeros left out."""
    blocks = list(open_blocks(path, **options))
    if blocks[0].frame is None:
        return sparse_rows(blocks)
    columns, found = FrameEncoder(), []
    for block in blocks:
        encoded = columns.encode(block.frame)
        columns.commit(encoded)
        rows = as_rows(encoded.X, block.targets, block.weights)
        X = encoded.X.toarray() if rows.starts is not None else encoded.X
        for row, label, weight in zip(X, block.targets, block.weights, strict=True):
            kept = {columns.names[k]: row[k] for k in np.flatnonzero(row).tolist()}
            found.append((float(label), float(weight), kept))
    return found


def same(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one[:2], other[:2])
        assert one[2].keys() == other[2].keys()
        np.testing.assert_array_equal([*one[2].values()], [other[2][key] for key in one[2]])


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize(("there", "back"), [*itertools.product(TABLES, TABLES)])
def test_tables(table, tmp_path, there, back):
    one, two = tmp_path / f"one{TABLES[there]}", tmp_path / f"two{TABLES[back]}"
    run(table, one)
    done = run(one, two, "--target", "y", "--weight", "w")
    assert done.stderr == "4 rows\n"
    same(features(two, target="y", weight="w"), features(table, target="y", weight="w"))
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("format", TABLES)
def test_tables_to_sparse_text(table, tmp_path, format):
    one, two = tmp_path / f"one{TABLES[format]}", tmp_path / "two.vw"
    run(table, one)
    run(one, two, "--target", "y", "--weight", "w")
    wanted = [
        (label, weight if label == label else 1.0, {writers.quoted(k): v for k, v in row.items()})
        for label, weight, row in features(table, target="y", weight="w")
    ]
    same(features(two), wanted)


def test_names_of_svmlight_are_comments(table, tmp_path):
    run(table, path := tmp_path / "rows.svm", "--target", "y")
    text = path.read_text().splitlines()
    assert text[:4] == ["# 1 w", "# 2 x", "# 3 z", "# 4 colour%20of=red%20hot"]
    assert text[-3:] == ["-1 1:1 2:nan 5:1", "nan 1:0.5 2:-3 3:5e-324", "1 1:3 3:7 6:1"]


@pytest.mark.parametrize("output", ["two.jsonl", "two.csv", "two.parquet", "two.svm", "two.vw"])
def test_vw_text_to_all(tmp_path, output):
    one, two = tmp_path / "one.vw", tmp_path / output
    one.write_text("1 |a x:0.5 y |b z:nan\n-1 |a y:-2 |c w:hot\n |a x:1e-300\n")
    run(one, two)
    names = ["a^x", "a^y", "b^z", "c^w^hot"]
    wanted = features(one)
    assert {*wanted[0][2], *wanted[1][2]} == {*names}
    if output == "two.svm":
        wanted = [(a, b, {names.index(k) + 1: v for k, v in row.items()}) for a, b, row in wanted]
    same(features(two) if output in ("two.svm", "two.vw") else labelled(two), wanted)


def labelled(path):
    """As `features`, of a table that was made of sparse rows."""
    (block,) = open_blocks(path, target="label", absent_zero=True)
    found = []
    for row, label in zip(block.frame.rows(named=True), block.targets, strict=True):
        weight = row.pop("importance", 1.0)
        values = {k: np.nan if v is None else v for k, v in row.items() if v != 0}
        found.append((label, weight, values))
    return found


@pytest.mark.parametrize("output", ["two.jsonl", "two.csv", "two.arrow", "two.svm", "two.vw"])
def test_svmlight_to_all(tmp_path, output):
    one, two = tmp_path / "one.svm", tmp_path / output
    one.write_text("1 1:0.5 7:2\n-1 2:1\n2 3:nan\n")
    run(one, two)
    named = [(a, b, {str(k): v for k, v in row.items()}) for a, b, row in features(one)]
    found = features(two) if output in ("two.svm", "two.vw") else labelled(two)
    same(found, features(one) if output == "two.svm" else named)


def test_classes(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("y,x\nno,1\nyes,2\n,3\n")
    run(path, out := tmp_path / "words.vw", "-t", "y", "--classes", "no,yes")
    assert out.read_text() == "-1 | x\n1 | x:2\n| x:3\n"
    run(path, out, "-t", "y", "--classes", "maybe,no,yes")
    assert out.read_text() == "2 | x\n3 | x:2\n| x:3\n"
    with pytest.raises(ValueError, match=r"line 2, column 'y': 'no' is not a number.*--classes"):
        run(path, out, "-t", "y")
    assert out.read_text() == "2 | x\n3 | x:2\n| x:3\n"  # the file of before


def test_importances_and_tags_of_vw_stay(tmp_path):
    one, two = tmp_path / "one.vw", tmp_path / "two.vw"
    one.write_text("1 2.5 'tag| x:3 y\n-1 | x\n")
    run(one, two)
    assert two.read_text() == one.read_text()
    with pytest.raises(ValueError, match="no place for importances"):
        run(one, tmp_path / "two.svm")
    run(one, tmp_path / "two.jsonl")
    first = '{"label": 1.0, "importance": 2.5, "tag": "tag", "x": 3.0, "y": 1.0}'
    assert (tmp_path / "two.jsonl").read_text().splitlines()[0] == first


@pytest.mark.parametrize(
    ("names", "options", "why"),
    [
        (("a.csv", "b.vw"), (), "--target"),
        (("a.csv", "b.parquet.gz"), (), "compressed inside"),
        (("a.csv", "b"), (), "does not tell the format"),
        (("-", "b.csv"), ("--from", "vw"), "read only once"),
        (("a.csv", "b.jsonl"), ("--target", "q"), "no column 'q'"),
    ],
)
def test_what_cannot_be(tmp_path, names, options, why):
    (tmp_path / "a.csv").write_text(TABLE)
    data, output = (name if name == "-" else tmp_path / name for name in names)
    with pytest.raises(ValueError, match=why):
        run(data, output, *options)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_bad_line_leaves_no_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(TABLE + "1,2\n")
    with pytest.raises(ValueError, match="line 6"):
        run(path, tmp_path / "b.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert run(path, tmp_path / "b.parquet", "--skip-bad", 1).stderr == (
        "4 rows, 1 invalid line skipped\n"
    )


def test_columns_that_appear_late(tmp_path, monkeypatch):
    monkeypatch.setattr("unitless.readers._TABLE_BYTES", 10)
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"b": 2}\n')
    run(path, tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_text() == '{"a":1}\n{"a":null,"b":2}\n'
    with pytest.raises(ValueError, match=r"line 2 or later, column 'b'"):
        run(path, tmp_path / "b.csv")


LARGE = 2**53 + 1
WHOLE = f"id,x,y,z\n{LARGE},5,1.5,-0.0\n-{LARGE},-7,2,1\n,0,3,2\n"


@pytest.mark.parametrize("there", TABLES)
def test_whole_numbers_stay_whole(tmp_path, there):
    """Also those that float64 does not have."""
    (tmp_path / "a.csv").write_text(WHOLE)
    one, two = tmp_path / f"one{TABLES[there]}", tmp_path / "two.csv"
    run(tmp_path / "a.csv", one)
    run(one, two)
    assert two.read_text() == WHOLE.replace(",2,1\n", ",2.0,1.0\n").replace(",3,2\n", ",3.0,2.0\n")
    run(one, tmp_path / "two.jsonl", "--target", "y")
    first = (tmp_path / "two.jsonl").read_text().splitlines()[0]
    assert first == f'{{"y":1.5,"id":{LARGE},"x":5,"z":-0.0}}'


def test_whole_numbers_that_come_late(tmp_path, monkeypatch):
    monkeypatch.setattr("unitless.readers._TABLE_BYTES", 10)
    (tmp_path / "a.csv").write_text(f"id,x\n1,2\n3,4\n5,6\n{LARGE},7\n")
    run(tmp_path / "a.csv", tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == (tmp_path / "a.csv").read_text()
    with pytest.raises(ValueError, match="column 'id': it held Float64 before, and Int64"):
        run(tmp_path / "a.csv", tmp_path / "b.parquet")


def test_labels_of_vw(tmp_path):
    """Its logistic loss knows -1 and 1."""
    (tmp_path / "a.csv").write_text("y,x\n0,1\n1,2\n,3\n")
    done = run(tmp_path / "a.csv", out := tmp_path / "a.vw", "-t", "y")
    assert out.read_text() == "-1 | x\n1 | x:2\n| x:3\n"
    assert "labels 0 and 1 are written as -1 and 1" in done.stderr
    run(tmp_path / "a.csv", tmp_path / "a.svm", "-t", "y")
    run(tmp_path / "a.svm", out)
    assert out.read_text() == "-1 | 1\n1 | 1:2\n| 1:3\n"
    (tmp_path / "b.csv").write_text("y,x\n0,1\n1,2\n2,3\n")  # numbers, not classes
    assert "note" not in run(tmp_path / "b.csv", out, "-t", "y").stderr
    assert out.read_text() == "0 | x\n1 | x:2\n2 | x:3\n"
    run(out, tmp_path / "c.vw")
    assert (tmp_path / "c.vw").read_text() == out.read_text()


def test_a_label_after_0_and_1(tmp_path, monkeypatch):
    monkeypatch.setattr("unitless.readers._TABLE_BYTES", 13)
    (tmp_path / "a.csv").write_text("y,x\n0,1\n1,2\n1,2\n2,3\n2,3\n")
    with pytest.raises(ValueError, match="line 5: the label 2 comes after labels 0 and 1"):
        run(tmp_path / "a.csv", tmp_path / "a.vw", "-t", "y")


def test_pipes():
    done = run("-", "-", "--from", "svmlight", "--to", "vw", "--quiet", input=b"1 3:4\n")
    assert (done.stdout, done.stderr) == ("1 | 3:4\n", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("format", [*TABLES, "svmlight", "vw"])
def test_a_full_disk_is_told_by_name(table, format):
    with pytest.raises(OSError, match="No space left") as caught:
        run(table, "/dev/full", "--to", format, "-t", "y")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")


@pytest.mark.parametrize("format", TABLES)
def test_whoever_reads_may_go(format):
    """An output that nobody reads is a broken pipe, although polars writes into it."""
    out, into = os.pipe()
    os.close(out)
    frames = [pl.DataFrame({"a": [1.5, 2.5]})]
    with open(into, "wb", buffering=0) as gone, pytest.raises(BrokenPipeError):
        writers.write_frames(frames, gone, format)


def test_lists_are_json_text_in_csv(unitless, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"x": 1, "tags": ["a", "b\\"c"]}\n{"x": 2, "tags": ["d"]}\n')
    done = unitless("convert", tmp_path / "a.jsonl", tmp_path / "a.csv")
    assert done.code == 0
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [json.loads(row["tags"]) for row in rows] == [["a", 'b"c'], ["d"]]
    assert [row["x"] for row in rows] == ["1", "2"]
