"""`evaluate` tells of a feature that may have changed its unit: once, by name, with the row."""

import polars as pl

from cli.material import table, written
from unitless import persistence


def in_grams_from(row, frame):
    """The frame with the first feature in another unit from a row on."""
    late = pl.int_range(pl.len()) >= row
    return frame.with_columns(pl.when(late).then(pl.col("grams") * 1e6).otherwise(pl.col("grams")))


def test_evaluate_tells_once_and_goes_on(unitless, tmp_path):
    data = written(tmp_path / "data.csv", in_grams_from(500, table()))
    options = ("-t", "label", "--learner", "coordinate", "--ignore", "score")
    done = unitless(
        "evaluate", data, *options, "--save", tmp_path / "m", "--interactions", "grams:metres"
    )
    assert done.code == 0
    notes = [line for line in done.err.splitlines() if "unit change" in line]
    assert len(notes) == 1
    assert "feature 'grams': from about row 50" in notes[0]
    assert "`unitless rescale MODEL grams=1000000`" in notes[0]
    (alarm,) = persistence.header(tmp_path / "m")["notes"]["alarms"]
    assert alarm["feature"] == "grams"
    assert abs(alarm["row"] - 501) <= 2


def test_a_second_file_in_another_unit(unitless, tmp_path):
    """Resumed, the watch remembers the first file; rescaled, the model expects the second."""
    first = written(tmp_path / "first.csv", table(100))
    second = written(tmp_path / "second.csv", in_grams_from(0, table(100, seed=1)))
    options = ("-t", "label", "--learner", "coordinate", "--ignore", "score")
    assert "unit change" not in unitless("evaluate", first, *options, "--save", tmp_path / "m").err
    on = ("evaluate", second, "--resume", tmp_path / "m")
    assert "feature 'grams': from about row 1 on" in unitless(*on).err
    unitless("rescale", tmp_path / "m", "grams=1000000", "--quiet")
    assert "unit change" not in unitless(*on).err


def test_checkpoints_lose_no_run(unitless, tmp_path):
    """Stopped within the run of the new values."""
    data = written(tmp_path / "data.csv", in_grams_from(500, table()))
    options = ("-t", "label", "--learner", "coordinate", "--ignore", "score")
    unitless("evaluate", data, *options, "--save", tmp_path / "whole", "--quiet")
    short = written(tmp_path / "short.csv", in_grams_from(500, table())[:505])
    unitless("evaluate", short, *options, "--save", tmp_path / "m", "--quiet")
    short.write_bytes(data.read_bytes())
    unitless("evaluate", short, "--resume", tmp_path / "m", "--save", tmp_path / "m", "--quiet")
    whole, m = (persistence.header(tmp_path / name)["notes"]["alarms"] for name in ("whole", "m"))
    assert whole == m
    assert len(m) == 1
