"""predict, inspect, explain, rescale: what saved models say."""

import json

import numpy as np
import polars as pl
import pytest

from laws.streams import same_bits
from unitless import OnlineClassifier, OnlineRegressor, persistence
from unitless.rows import as_rows

FEATURES = ["metres", "grams", "colour"]


@pytest.fixture
def saved(unitless, tmp_path, data):
    """A model of the numbers."""
    path = tmp_path / "m"
    words = ("-t", "score", "-l", "vaw", "--ignore", "weight", "--ignore", "label", "--quiet")
    assert unitless("fit", data, *words, "--save", path).code == 0
    return path


def predictions(text):
    return pl.read_csv(text.encode())["prediction"].to_numpy()


def test_predict_gives_the_library_s_bits(unitless, tmp_path, data, frame, saved):
    there = OnlineRegressor("vaw", shuffle=False).fit(
        frame.select(FEATURES), frame["score"].to_numpy()
    )
    expected = there.predict(frame.select(FEATURES))
    done = unitless("predict", saved, data)
    assert done.code == 0
    same_bits(predictions(done.out), expected)
    without = tmp_path / "without.csv"
    frame.select(*FEATURES[::-1], "label", "weight").write_csv(without)  # no target, other order
    same_bits(predictions(unitless("predict", saved, without).out), expected)
    model = persistence.load(saved)
    encoded = model.encoder.encode(frame.select(FEATURES), grow=False).X
    same_bits(model.learner.predict(as_rows(encoded)), expected)


def test_predict_takes_estimators_and_learners(unitless, tmp_path, data, frame):
    there = frame.filter(pl.col("label").is_not_null())
    model = OnlineClassifier("coordinate", shuffle=False).fit(
        there.select(FEATURES), there["label"].to_numpy()
    )
    persistence.save(model, tmp_path / "estimator")
    done = unitless("predict", tmp_path / "estimator", data)
    chances = pl.read_csv(done.out.encode())["p(yes)"].to_numpy()
    same_bits(chances, model.predict_proba(frame.select(FEATURES))[:, 1])


def test_vw_and_svmlight(unitless, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 5))
    y = np.where(X[:, 0] > X[:, 1], 1, -1)
    svm = "".join(
        f"{t} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v) + "\n"
        for t, row in zip(y, X, strict=True)
    )
    vw = "".join(
        f"{t} | " + " ".join(f"w{j}:{v}" for j, v in enumerate(row) if v) + "\n"
        for t, row in zip(y, X, strict=True)
    )
    for name, text in (("a.svm", svm), ("a.vw", vw)):
        path, model = tmp_path / name, tmp_path / f"{name}.m"
        path.write_text(text)
        assert unitless("fit", path, "-l", "nag", "--save", model, "--quiet").code == 0
        found = pl.read_csv(unitless("predict", model, path).out.encode())
        assert len(found) == 60
        assert found["p(1)"].std() > 0.01
    vw_model = persistence.load(tmp_path / "a.vw.m")
    assert sorted(vw_model.feature_names()) == [f"w{j}" for j in range(5)]
    more = tmp_path / "more.vw"
    more.write_text("| w3:2 new:5 w1:1\n| w1:1 w3:2\n")
    one, two = pl.read_csv(unitless("predict", tmp_path / "a.vw.m", more).out.encode())["p(1)"]
    assert one == two  # a name never seen is no feature


def test_inspect(unitless, saved):
    done = unitless("inspect", saved, "--top", "2")
    for word in ("vaw", "score", "700", "grams", "typical change", "Coefficients"):
        assert word in done.out
    facts = json.loads(unitless("inspect", saved, "--json", "--sort", "name").out)
    names = [row["column"] for row in facts["effects"]]
    assert names == sorted(names)
    model = persistence.load(saved)
    assert {"metres", "grams", "colour"} <= {*names} <= {*model.input_names()}
    assert {*facts["coefficients"]} == {"(intercept)", *model.feature_names()}


def test_explain_adds_up_to_the_prediction(unitless, tmp_path, saved, frame):
    row = frame.select(FEATURES).filter(pl.col("metres").is_not_null())[0]
    path = tmp_path / "one.csv"
    row.write_csv(path)
    (score,) = predictions(unitless("predict", saved, path).out)
    words = [f"{name}={row[name][0]!r}".replace("'", "") for name in FEATURES]
    for form in (words, [json.dumps(row.to_dicts()[0])]):
        found = json.loads(unitless("explain", saved, *form, "--json").out)
        assert found["score"] == pytest.approx(score)
        assert sum(part["adds"] for part in found["parts"]) == pytest.approx(score)
    assert "metres" in unitless("explain", saved, *words).out
    assert unitless("explain", saved, "metres").code == 2
    slip = unitless("explain", saved, "Metres=3")
    assert (slip.code, "has no column 'Metres'; did you mean 'metres'?" in slip.err) == (2, True)


def test_explain_a_row_of_a_file(unitless, saved, data):
    expected = predictions(unitless("predict", saved, data).out)
    for row in (1, 700):
        found = json.loads(unitless("explain", saved, data, "--row", row, "--json").out)
        assert found["score"] == expected[row - 1]
        assert sum(part["adds"] for part in found["parts"]) == pytest.approx(found["score"])
    assert "--row 701: the file has 700 rows" in unitless("explain", saved, data, "--row", 701).err
    assert "rows are counted from 1" in unitless("explain", saved, data, "--row", 0).err
    assert "the arguments are swapped" in unitless("explain", data, saved, "--row", 1).err
    assert "add --row N" in unitless("explain", saved, data).err


def test_certificates_are_computed_only_when_someone_asks(unitless, data, monkeypatch, tmp_path):
    def asked(*_):
        raise AssertionError

    monkeypatch.setattr("unitless.evaluation.results.certified", asked)
    monkeypatch.setattr("unitless.evaluation.evaluation.certified", asked)
    words = ("evaluate", data, "-t", "label", "-l", "coordinate")
    assert unitless(*words, "--quiet", "--save", tmp_path / "m").code == 0
    with pytest.raises(AssertionError):
        unitless(*words, "--quiet", "--results", tmp_path / "r.json")


def test_explain_shows_what_is_missing(unitless, saved):
    """To lack a value that seen rows have is a difference, too."""
    found = json.loads(unitless("explain", saved, "colour=red", "--json").out)
    values = {part["column"]: part["value"] for part in found["parts"]}
    assert values["colour"] == "red"
    assert values["metres"] is None
    assert "metres = (missing)" in unitless("explain", saved, "colour=red").out


def test_rescale(unitless, tmp_path, data, frame, saved):
    before = predictions(unitless("predict", saved, data).out)
    other = tmp_path / "other.csv"
    frame.with_columns(pl.col("metres") * 1024).write_csv(other)
    assert unitless("rescale", saved, "metres=1024", "--save", tmp_path / "mm").code == 0
    np.testing.assert_allclose(predictions(unitless("predict", tmp_path / "mm", other).out), before)
    assert unitless("rescale", saved, "metres=1024").code == 0
    assert saved.read_bytes() == (tmp_path / "mm").read_bytes()
    for word in ("colour=2", "nothing=2", "metres", "metres=0"):
        done = unitless("rescale", saved, word)
        assert done.code == 2, word
        assert repr(word.partition("=")[0]) in done.err


def test_a_damaged_model_is_one_sentence(unitless, saved, data):
    saved.write_bytes(saved.read_bytes()[:-1])
    done = unitless("predict", saved, data)
    assert done.code == 2
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_columns_that_the_model_does_not_have_are_one_note(
    unitless, tmp_path, saved, frame, ending
):
    rows = frame.select(FEATURES).with_columns(Metres=1.0, more=pl.lit("x"))
    plain, other = tmp_path / f"plain.{ending}", tmp_path / f"other.{ending}"
    write = pl.DataFrame.write_csv if ending == "csv" else pl.DataFrame.write_ndjson
    write(frame.select(FEATURES), plain)
    write(rows, other)
    expected, found = unitless("predict", saved, plain), unitless("predict", saved, other)
    note = "note: columns 'Metres', 'more' are not in the model and are ignored"
    note += "; did you mean 'metres'?"
    assert (found.code, found.out, found.err.strip()) == (0, expected.out, note)
    assert expected.err == ""
    assert unitless("predict", saved, other, "--quiet").err == ""
    explained = unitless("explain", saved, other, "--row", 2)
    assert (explained.code, explained.err.strip()) == (0, note)


def test_new_columns_of_another_file_are_noted(unitless, tmp_path, data, frame, saved):
    other = tmp_path / "other.csv"
    frame.with_columns(more=1.0).write_csv(other)
    done = unitless("fit", other, "--resume", saved, "--save", tmp_path / "m")
    assert (done.code, done.err.count("more")) == (0, 1)
    assert "note: column 'more' is not in the model and becomes a feature" in done.err
