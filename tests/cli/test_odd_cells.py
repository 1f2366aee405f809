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
    "column 'metres': 3 cells are not numbers and count as missing, the first in line 17: 'abc'; "
    "for categories, use --category metres",
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
    in_use = NOTES[0].partition("; for categories")[0]  # the model has decided
    assert f"note: {in_use}\n" in unitless("predict", model, odd).err
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
    words = ("fit", houses[0], "-t", "score", "-l", "vaw", "--by-key", "colour")
    words += ("--save", tmp_path / "m")
    done = unitless(*words)
    assert done.code == 2
    assert "line 17, column 'metres': a number was expected: 'abc'" in done.err
    assert "--coerce" in done.err
    assert unitless(*words, "--coerce").code == 0


# More than a few


@pytest.fixture
def rooms(tmp_path):
    """A file in which 40 of 2000 cells of a feature are n.v., and its frame."""
    frame = table(2000).select("metres", "grams", "score")
    words = frame["metres"].cast(pl.String).to_list()
    words[10::50] = ["n.v."] * 40
    path = written(tmp_path / "rooms.csv", frame.with_columns(metres=pl.Series(words)))
    return path, frame


def evaluated(unitless, path, *words):
    page = path.with_suffix(".predictions")
    options = ("-t", "score", "-l", "full", "--json", "--predictions", page)
    done = unitless("evaluate", path, *options, *words)
    assert done.code == 0, done.err
    return json.loads(done.out), pl.read_csv(page)["prediction"].to_numpy()


def test_a_column_with_some_odd_cells_is_numeric(unitless, rooms):
    path, _ = rooms
    found, scores = evaluated(unitless, path)
    named, wanted = evaluated(unitless, path, "--na", "n.v.")
    same_bits(scores, wanted)
    assert found["coerced"] == 40
    assert found["notes"] == [
        "column 'metres': 40 cells are not numbers and count as missing, the first in line 12: "
        "'n.v.'; for categories, use --category metres"
    ]
    as_category, _ = evaluated(unitless, path, "--category", "metres")
    assert as_category["notes"] == named["notes"] == []
    assert as_category["features"] > 1000 > found["features"]


def test_a_column_that_stays_categorical_is_told(unitless, tmp_path, rooms):
    _, frame = rooms
    words = frame["metres"].fill_null(1).cast(pl.String).to_list()
    words[::5] = [f"n.v.{k % 7}" for k in range(400)]
    units = [f"{k} {'kg' if k % 3 else 'g'}" for k in range(2000)]
    frame = frame.with_columns(metres=pl.Series(words), mass=pl.Series(units))
    path = written(tmp_path / "a.csv", frame)
    found, _ = evaluated(unitless, path, "-l", "zero")
    told = [line for line in found["decisions"] if line.startswith("numbers:")]
    assert told == [
        "numbers: metres is categorical, although 1,600 of 2,000 cells are numbers; --number "
        "metres makes others missing: 'n.v.0', 'n.v.1', 'n.v.2', 'n.v.3', 'n.v.4' and 2 more",
        "numbers: mass is categorical, because units differ: 'g', 'kg'",
    ]
    numeric, _ = evaluated(unitless, path, "-l", "zero", "--number", "metres")
    assert numeric["coerced"] == 400
    assert not any("metres" in line for line in numeric["decisions"])


def test_odd_cells_of_a_target_stop_the_run(unitless, tmp_path, rooms):
    _, frame = rooms
    words = frame["score"].cast(pl.String).to_list()
    words[10::50] = ["n.v."] * 40
    for ending in ("csv", "jsonl", "parquet"):
        path = tmp_path / f"odd.{ending}"
        odd = frame.with_columns(score=pl.Series(words))
        getattr(odd, "write_ndjson" if ending == "jsonl" else f"write_{ending}")(path)
        done = unitless("evaluate", path, "-t", "score", "-l", "zero", "--save", tmp_path / "m")
        assert done.code == 2
        place = f"{path}, line {12 if ending == 'csv' else 11}, column 'score'"
        why = "40 of 2,000 labels are not numbers ('n.v.')"
        assert f"{place}: {why}: if such a cell is a missing label, use --na n.v.;" in done.err
        assert "if it is a class, use --task multiclass" in done.err
        assert not (tmp_path / "m").exists()
        for way in (("--na", "n.v."), ("--task", "regression")):
            found, _ = evaluated(unitless, path, *way, "-l", "zero")
            assert (found["task"], found["unlabelled"]) == ("regression", 40)


def test_a_rare_class_does_not_vanish(unitless, tmp_path):
    lines = [f"{k},{'fraud' if k % 20 == 7 else k % 2}" for k in range(200)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["x,score", *lines]))
    found, _ = evaluated(unitless, path, "-l", "zero", "--task", "multiclass")
    assert evaluated(unitless, path, "-l", "zero")[0]["labels"] == found["labels"]
    assert found["labels"] == ["0", "1", "fraud"]


# Targets


def shop(path, cell, rows=300):
    rng = np.random.default_rng(0)
    x = rng.normal(size=rows).round(3)
    y = (100 * x).round(2).tolist()
    frame = pl.DataFrame({"x": x, "score": [cell(value, k) for k, value in enumerate(y)]})
    getattr(frame, {".jsonl": "write_ndjson"}.get(path.suffix, f"write_{path.suffix[1:]}"))(path)
    return path


def accounting(value, _):
    return f"(${-value:,.2f})" if value < 0 else f"${value:,.2f}"


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_amounts_of_money_are_a_regression(unitless, tmp_path, ending):
    path = shop(tmp_path / f"a.{ending}", accounting)
    plain = shop(tmp_path / f"plain.{ending}", lambda value, _: value)
    found, scores = evaluated(unitless, path, "--save", tmp_path / "m")
    _, wanted = evaluated(unitless, plain)
    same_bits(scores, wanted)
    assert found["task"] == "regression"
    asked, scores = evaluated(unitless, path, "--task", "regression")
    same_bits(scores, wanted)
    assert asked["metrics"] == found["metrics"]
    # Another file that does not show how numbers are written, and one of a single row.
    short = tmp_path / f"short.{ending}"
    shop(short, lambda value, k: f"${k}", rows=3)
    done = unitless("evaluate", path, "-t", "score", "-l", "full", "--test", short, "--json")
    assert json.loads(done.out)["test"]["rows"] == 3
    assert unitless("predict", tmp_path / "m", short).code == 0
    as_classes = unitless("evaluate", path, "-t", "score", "--task", "multiclass", "-l", "zero")
    assert as_classes.code == 0


def test_a_text_target_of_many_classes_is_doubted(unitless, tmp_path):
    path = shop(tmp_path / "a.csv", lambda value, k: f"about {value:.1f} and {k}")
    found, _ = evaluated(unitless, path, "-l", "zero")
    (doubt,) = [line for line in found["decisions"] if line.startswith("doubt:")]
    assert doubt == (
        "doubt: 'score' has 300 classes in 300 rows, nearly one per row; to predict another "
        "column, use --target"
    )
    path = shop(tmp_path / "b.csv", lambda value, k: f"{k}" if k % 4 else f"#{k}")
    found, _ = evaluated(unitless, path, "-l", "zero")
    assert found["decisions"][-1].endswith("if they are numbers, use --task regression")
    path = shop(tmp_path / "c.csv", lambda value, k: f"class {k % 120}")
    found, _ = evaluated(unitless, path, "-l", "zero")
    assert not any("doubt" in line for line in found["decisions"])


@pytest.mark.parametrize("command", ["evaluate", "fit", "compare"])
@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (lambda value, k: None, "none of 300 rows has a label, its cells are missing; check"),
        (
            lambda value, k: f"around {k}",
            "none of 300 rows has a label, its cells are not numbers, the first in line 2: "
            "'around 0'; check --target, or use --task multiclass for classes",
        ),
    ],
)
def test_a_target_without_a_label_is_an_error(unitless, tmp_path, command, cell, why):
    path = shop(tmp_path / "a.csv", cell)
    save = () if command == "compare" else ("--save", tmp_path / "m")
    learner = ("--learners", "zero") if command == "compare" else ("-l", "zero")
    done = unitless(command, path, "-t", "score", "--task", "regression", *learner, *save)
    assert done.code == 2
    assert f"column 'score': {why}" in done.err
    assert "guaranteed" not in done.out
    assert not (tmp_path / "m").exists()


def test_several_processes_need_a_label_too(unitless, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,key,score\n" + "1,a,\n2,a,\n" * 30)
    options = ("-t", "score", "--task", "regression", "-l", "vaw", "--by-key", "key")
    done = unitless("fit", path, *options, "--save", tmp_path / "m")
    assert done.code == 2
    assert "has a label" in done.err
    assert not (tmp_path / "m").exists()
