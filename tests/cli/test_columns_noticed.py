"""Headers, codes, spellings, empty columns and identifiers: noticed, told, and left out or kept."""

import json

import numpy as np
import polars as pl
import pytest

from laws.streams import same_bits
from unitless import OnlineRegressor, load
from unitless.estimators.column_warning import ColumnsLeftOut

ROWS = 120
WORDS = ("-t", "y", "--task", "regression", "-l", "coordinate", "--loss", "absolute")


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=ROWS).round(3)
    user = [f"u{k * 7919 % 10_007:05}" for k in range(ROWS)]
    return pl.DataFrame({"user": user, "x": x, "y": (x + 1).round(3)})


def evaluated(unitless, path, *words):
    """The decisions, and the predictions."""
    page = path.with_suffix(".predictions")
    done = unitless("evaluate", path, *WORDS, *words, "--json", "--predictions", page)
    assert done.code == 0, done.err
    return json.loads(done.out)["decisions"], pl.read_csv(page)["prediction"].to_numpy()


def told(decisions, begin):
    return [line for line in decisions if line.startswith(begin)]


def test_a_name_that_comes_twice(unitless, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("x,x,y\n" + "".join(f"{k},{k % 5},{k % 7}\n" for k in range(40)))
    decisions, _ = evaluated(unitless, path, "--save", tmp_path / "m")
    assert told(decisions, "header:") == [
        "header: names that come several times have a suffix: x.1 (another x)"
    ]
    assert load(tmp_path / "m").feature_names() == ["x", "x.1"]
    done = unitless("predict", tmp_path / "m", path)
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("header", "numbers"),
    [
        ("1,2,3", "1, 2, 3"),
        ("5.1,3.5,y", "5.1, 3.5"),
        ("4,4,y", "4, 4"),
        ("a,2001,y", None),
        ("a,b,y", None),
    ],
)
def test_a_header_of_numbers_is_questioned(unitless, tmp_path, header, numbers):
    path = tmp_path / "numbers.csv"
    path.write_text(header + "\n" + "".join(f"{k / 7:.2f},{k % 5},{k % 7}\n" for k in range(40)))
    decisions, _ = evaluated(unitless, path, "-t", header.split(",")[-1])
    wanted = [f"header: {numbers} are numbers; if they are data, use --no-header"]
    assert told(decisions, "header:")[-1:] == (wanted if numbers else [])
    decisions, _ = evaluated(unitless, path, "-t", "c3", "--no-header")
    assert not told(decisions, "header:")


@pytest.mark.parametrize("first", ["02139", "94110"])
def test_leading_zeros_make_a_category(unitless, tmp_path, first):
    """Also where the zeros come late in the file."""
    path = tmp_path / "zip.csv"
    codes = [first] * 20_000 + ["02139", "94110"] * 1000
    lines = "".join(f"{k % 3},{code},{k % 7}\n" for k, code in enumerate(codes))
    path.write_text(f"n,zip,y\n{lines}")
    words = ("-l", "zero", "--save", tmp_path / "m")
    decisions, _ = evaluated(unitless, path, *words)
    line = "leading zeros: zip categorical (--number makes a column numeric)"
    assert told(decisions, "leading zeros:") == [line]
    assert {*load(tmp_path / "m").feature_names()} == {"n", "zip=02139", "zip=94110"}
    decisions, _ = evaluated(unitless, path, *words, "--number", "zip")
    assert not told(decisions, "leading zeros:")
    assert load(tmp_path / "m").feature_names() == ["n", "zip"]


@pytest.mark.parametrize("cells", [["0", "1"], ["0.5", "0"], ["-05", "05"], ["10", "20"]])
def test_other_numbers_stay_numbers(unitless, tmp_path, cells):
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n" + "".join(f"{cells[k % 2]},{k % 7}\n" for k in range(40)))
    decisions, _ = evaluated(unitless, path)
    assert "columns: 1 numeric" in decisions


def test_spellings_of_one_category_are_told(unitless, tmp_path):
    path = tmp_path / "yes.csv"
    words = ["Yes", "no", "yes", " Yes", "maybe"]
    path.write_text("said,y\n" + "".join(f"{words[k % 5]},{k % 7}\n" for k in range(40)))
    decisions, _ = evaluated(unitless, path)
    same = "'Yes' and 'yes' and ' Yes' of said differ only in case or blanks"
    assert told(decisions, "categories:") == [f"categories: {same}: is it one?"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_an_empty_column_is_left_out(unitless, tmp_path, rows, ending):
    """The scores are those of the file and the frame without it."""
    writers = {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet"}
    plain = rows.drop("user")
    empty = plain.with_columns(
        pl.lit(None, dtype=pl.Float64).alias("gap"), pl.lit(None, dtype=pl.String).alias("none")
    ).select("gap", "x", "none", "y")
    path, without = tmp_path / f"empty.{ending}", tmp_path / f"plain.{ending}"
    getattr(empty, writers[ending])(path)
    getattr(plain, writers[ending])(without)
    _, wanted = evaluated(unitless, without)
    decisions, found = evaluated(unitless, path, "--save", tmp_path / "m")
    same_bits(found, wanted)
    line = "empty: gap, none left out, because no row has a value so far"
    assert told(decisions, "empty:") == [line]
    assert "columns: 1 numeric" in decisions
    assert load(tmp_path / "m").feature_names() == ["x"]
    model = OnlineRegressor("coordinate", "absolute", shuffle=False)
    with pytest.warns(ColumnsLeftOut, match="'gap', 'none' left out"):
        model.fit(empty.drop("y"), empty["y"].to_numpy())
    same_bits(model.progressive_, wanted)
    with pytest.raises(ValueError, match="not all numbers with values"):
        model.predict(np.zeros((1, 3)))


def test_an_empty_column_that_gets_values_later_is_a_feature(rows):
    """However its rows are cut into blocks."""
    late = rows.with_columns(pl.when(pl.int_range(pl.len()) >= 70).then(pl.col("x")).alias("late"))
    frame, y = late.select("late", "x"), late["y"].to_numpy()
    scores = []
    for size in (1, 7, 50):
        model = OnlineRegressor("coordinate", "absolute")
        with pytest.warns(ColumnsLeftOut, match="'late' left out"):
            model.partial_fit(frame[:50], y[:50])
        parts = [model.progressive_]
        for start in range(50, ROWS, size):
            model.partial_fit(frame[start : start + size], y[start : start + size])
            parts.append(model.progressive_)
        assert model.feature_names_ == ["x", "late"]
        scores.append(np.concatenate(parts))
    same_bits(scores[0], scores[1])
    same_bits(scores[0], scores[2])


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_identifiers_are_left_out_of_files_and_frames(unitless, tmp_path, rows, ending, library):
    writers = {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet"}
    path = tmp_path / f"users.{ending}"
    getattr(rows, writers[ending])(path)
    frame, y = rows.drop("y"), rows["y"].to_numpy()
    frame = frame.to_pandas() if library == "pandas" else frame
    for as_feature in (False, True):
        words = ("--identifier-as-feature",) if as_feature else ()
        decisions, found = evaluated(unitless, path, *words, "--save", tmp_path / "m")
        model = OnlineRegressor(
            "coordinate", "absolute", shuffle=False, identifier_as_feature=as_feature
        )
        if as_feature:
            model.fit(frame, y)
        else:
            with pytest.warns(ColumnsLeftOut, match="'user' left out.*identifier_as_feature=True"):
                model.fit(frame, y)
        same_bits(found, model.progressive_)
        line = (
            "identifiers: user left out, because every row has another value "
            "(--identifier-as-feature keeps them)"
        )
        assert told(decisions, "identifiers:") == ([] if as_feature else [line])
        features = load(tmp_path / "m").feature_names()
        assert features == model.feature_names_
        assert (len(features) > 1) == as_feature
        assert model.n_features_in_ == 2
        # Saved, resumed and given other rows, the model goes on to leave it out.
        done = unitless("predict", tmp_path / "m", path)
        assert done.code == 0, done.err
        same_bits(load(tmp_path / "m").predict(frame), model.predict(frame))


def test_a_resumed_run_leaves_out_the_same_identifiers(unitless, tmp_path, rows):
    path, whole = tmp_path / "users.csv", tmp_path / "whole.csv"
    rows.write_csv(whole)
    evaluated(unitless, whole, "--save", tmp_path / "a")
    lines = whole.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:50]))
    evaluated(unitless, path, "--save", tmp_path / "b")
    path.write_text("".join(lines))
    done = unitless("fit", path, "--resume", tmp_path / "b", "--save", tmp_path / "b")
    assert done.code == 0, done.err
    same = [unitless("predict", tmp_path / name, whole).out for name in "ab"]
    assert same[0] == same[1]
    assert load(tmp_path / "b").file.ignore == ["user"]


@pytest.mark.parametrize(
    "words", [("--category", "user"), ("--keep", "user"), ("-q", "user:x"), ("--text", "user")]
)
def test_a_column_that_is_named_is_no_identifier(unitless, tmp_path, rows, words):
    path = tmp_path / "users.csv"
    rows.write_csv(path)
    decisions, _ = evaluated(unitless, path, *words, "--save", tmp_path / "m")
    assert not told(decisions, "identifiers:")
    assert any(name.startswith("user") for name in load(tmp_path / "m").feature_names())


def test_a_file_of_identifiers_alone(unitless, tmp_path, rows):
    """Nothing is left to learn from but the targets."""
    path = tmp_path / "users.csv"
    rows.drop("x").write_csv(path)
    _, found = evaluated(unitless, path)
    with pytest.warns(ColumnsLeftOut):
        model = OnlineRegressor("coordinate", "absolute", shuffle=False).fit(
            rows.select("user"), rows["y"].to_numpy()
        )
    same_bits(found, model.progressive_)


def test_models_by_key_leave_identifiers_out(unitless, tmp_path, rows):
    path = tmp_path / "users.csv"
    rows.with_columns(key=pl.lit("a")).write_csv(path)
    words = (*WORDS, "--by-key", "key", "--workers", 1, "--save", tmp_path / "m")
    done = unitless("fit", path, *words)
    assert done.code == 0, done.err
    assert "identifiers: user left out" in done.out
