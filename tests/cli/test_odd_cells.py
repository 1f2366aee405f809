"""A few cells that are not numbers: a note, not a category and not an end of the run."""

import json

import numpy as np
import polars as pl
import pytest

from cli.material import table, written
from laws.streams import same_bits


@pytest.fixture
def houses(tmp_path):
    """Two files: with three odd cells among the features and one in the target, and with gaps."""
    frame = table(600).select("metres", "grams", "colour", "score")
    cells = frame.select(pl.all().cast(pl.String)).to_dict(as_series=False)
    gaps = frame.to_dict(as_series=False)
    for name, row, cell in [
        ("metres", 15, "abc"), ("metres", 300, "n.v."), ("metres", 599, "12a"), ("score", 40, "?!"),
    ]:  # fmt: skip
        cells[name][row] = cell
        gaps[name][row] = None
    odd = written(tmp_path / "odd.csv", pl.DataFrame(cells))
    return odd, written(tmp_path / "gaps.csv", pl.DataFrame(gaps))


NOTES = [
    "column 'metres': 3 cells are not numbers and count as missing, the first in line 17: 'abc'",
    "column 'score': 1 cell is not a number and counts as missing, in line 42: '?!'; "
    "if it is a class, use --task binary or --task multiclass",
]


def test_odd_cells_are_missing_and_told(unitless, tmp_path, houses):
    results = []
    pages = [tmp_path / "p0.csv", tmp_path / "p1.csv"]
    for data, page in zip(houses, pages, strict=True):
        words = ("-t", "score", "-l", "coordinate", "--json", "--predictions", page)
        results.append(json.loads(unitless("evaluate", data, *words).out))
    assert results[0]["task"] == "regression"
    assert results[0]["notes"] == NOTES
    assert results[1]["notes"] == []
    assert (results[0]["coerced"], results[0]["unlabelled"]) == (4, 1)
    found = [pl.read_csv(page)["prediction"].to_numpy() for page in pages]
    assert len(found[0]) == 600
    assert np.isfinite(found[0]).all()
    same_bits(*found)


def test_the_summary_and_predictions_tell_them(unitless, tmp_path, houses):
    odd, _ = houses
    model = tmp_path / "m"
    done = unitless("evaluate", odd, "-t", "score", "-l", "coordinate", "--save", model)
    assert all(f"note: {note}" in done.out for note in NOTES)
    assert f"note: {NOTES[0]}" in unitless("predict", model, odd).err
    assert f"note: {NOTES[0]}" in unitless("convert", odd, tmp_path / "odd.parquet").err
    done = unitless("compare", odd, "-t", "score", "--learners", "coordinate")
    assert f"note: {NOTES[1]}" in done.out


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_strict(unitless, houses, command):
    done = unitless(command, houses[0], "-t", "score", "--strict")
    assert done.code == 2
    assert "line 17, column 'metres': a number was expected: 'abc'" in done.err
    assert "cannot be combined" in unitless(command, houses[0], "--strict", "--coerce").err
    assert unitless("evaluate", houses[0], "-t", "score", "-l", "zero", "--coerce").code == 0


def test_a_target_of_many_odd_cells_can_be_a_regression(unitless, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("x,y\n1,2\n2,4\n3,many\n4,8\n")
    done = unitless("evaluate", path, "-t", "y", "--task", "regression", "-l", "zero", "--json")
    assert (done.code, json.loads(done.out)["unlabelled"]) == (0, 1)


def test_several_processes_are_strict_unless_told(unitless, tmp_path, houses):
    words = ("fit", houses[0], "-t", "score", "-l", "vaw", "--shards", 1, "--save", tmp_path / "m")
    done = unitless(*words)
    assert done.code == 2
    assert "line 17, column 'metres': a number was expected: 'abc'" in done.err
    assert "--coerce" in done.err
    assert unitless(*words, "--coerce").code == 0
