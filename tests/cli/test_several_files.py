"""Several files as one stream, in every command that reads: the same bits as one file."""

import json

import pytest

from cli.material import table, written
from unitless import persistence
from unitless.persistence.saving import as_bytes
from unitless.readers import Position

ROWS = 240
OPTIONS = ("-t", "label", "--ignore", "score", "-l", "coordinate", "--quiet")


@pytest.fixture
def parts(tmp_path):
    """One file, and the same rows in three."""
    frame = table(ROWS)
    one = written(tmp_path / "one.csv", frame)
    several = [written(tmp_path / f"part{k}.csv", frame[80 * k : 80 * (k + 1)]) for k in range(3)]
    return one, several


def learned(path):
    model = persistence.load(path)
    model.file.position, model.file.source, model.file.decisions = Position(), "", []
    return as_bytes(model)


@pytest.mark.parametrize("command", ["evaluate", "fit"])
def test_files_are_learned_as_one(unitless, tmp_path, parts, command):
    one, several = parts
    assert unitless(command, one, *OPTIONS, "--save", tmp_path / "a").code == 0
    pattern = tmp_path / "part*.csv"
    assert unitless(command, pattern, *OPTIONS, "--save", tmp_path / "b").code == 0
    assert unitless(command, *several, *OPTIONS, "--save", tmp_path / "c").code == 0
    assert learned(tmp_path / "a") == learned(tmp_path / "b") == learned(tmp_path / "c")
    assert unitless(command, *several[::-1], *OPTIONS, "--save", tmp_path / "d").code == 0
    assert learned(tmp_path / "d") != learned(tmp_path / "a")


def test_files_are_predicted_as_one(unitless, tmp_path, parts):
    one, several = parts
    unitless("fit", one, *OPTIONS, "--save", tmp_path / "m")
    unitless("predict", tmp_path / "m", one, "-o", tmp_path / "one.out")
    assert unitless("predict", tmp_path / "m", *several, "-o", tmp_path / "several.out").code == 0
    assert (tmp_path / "several.out").read_text() == (tmp_path / "one.out").read_text()


def test_a_run_goes_on_with_files_that_were_added(unitless, tmp_path, parts):
    one, several = parts
    unitless("evaluate", one, *OPTIONS, "--save", tmp_path / "whole")
    more = ("--save", tmp_path / "m", "--results", tmp_path / "r.json")
    unitless("evaluate", several[0], *OPTIONS, *more)
    unitless("evaluate", *several[:2], "--resume", tmp_path / "m", "--quiet", *more)
    done = unitless("evaluate", *several, "--resume", tmp_path / "m", "--quiet", *more)
    assert done.code == 0, done.err
    assert learned(tmp_path / "m") == learned(tmp_path / "whole")
    assert json.loads((tmp_path / "r.json").read_text())["rows"] == ROWS


def test_the_file_of_an_error_is_named(unitless, tmp_path, parts):
    _, several = parts
    text = several[1].read_text().splitlines(keepends=True)
    several[1].write_text("".join([*text[:5], text[5].replace("yes", "no").replace("no", "maybe")]))
    done = unitless("evaluate", *several, *OPTIONS)
    assert done.code == 2
    assert "part1.csv, line 6, column 'label'" in done.err


def test_no_input_is_an_output(unitless, tmp_path, parts):
    _, several = parts
    done = unitless("fit", tmp_path / "part*.csv", *OPTIONS, "--save", several[2])
    assert done.code == 2
    assert "this is the input file" in done.err


def test_standard_input_among_files(unitless, parts):
    done = unitless("evaluate", parts[0], "-", *OPTIONS)
    assert (done.code, "standard input (-) cannot be read together with files" in done.err) == (
        2,
        True,
    )


def test_the_file_of_an_odd_cell_is_named(unitless, parts):
    _, several = parts
    text = several[1].read_text().splitlines(keepends=True)
    several[1].write_text("".join([*text[:3], "old" + text[3][text[3].index(",") :], *text[4:]]))
    done = unitless("evaluate", *several, *OPTIONS[:-1])
    assert done.code == 0, done.err
    assert f"in line 4 of {several[1]}: 'old'" in (done.out + done.err).replace("\n", " ")
