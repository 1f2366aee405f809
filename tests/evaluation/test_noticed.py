"""What a run says about the order of its rows, about its target, and about rows never learned."""

import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris

from cli.material import command
from unitless import losses
from unitless.evaluation.baselines import DIFFERENCE, LAST_LOSS, PAIRS, SAME, Previous, last_label
from unitless.evaluation.metrics import LOSS, ROWS, SQUARE, RunningMetrics
from unitless.evaluation.noticed import _order, information
from unitless.evaluation.progressive import is_held_out


@pytest.fixture
def unitless(monkeypatch, capsys):
    return command(monkeypatch, capsys)


def write(path, target, X=None):
    n = len(target)
    X = np.random.default_rng(0).normal(size=(n, 2)) if X is None else X
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    pl.DataFrame({**columns, "y": target}).write_csv(path)
    return path


def results(unitless, path, *options):
    """The results of an evaluation by a fast learner."""
    done = unitless("evaluate", path, "-t", "y", "-l", "coordinate", "--json", *options)
    assert done.code == 0, done.err
    return json.loads(done.out)


def orders(found):
    return [note for note in found["notes"] if "the rows are ordered" in note]


def test_classes_in_order(unitless, tmp_path):
    X, y = load_iris(return_X_y=True)
    path = write(tmp_path / "iris.csv", [f"iris {k}" for k in y], X)
    found = results(unitless, path)
    (note,) = orders(found)
    assert "98.7% have the class of the row before (33.3% by chance)" in note
    assert "--shuffle" in note
    assert "--test FILE" in note
    assert "--test-share 0.2" in note
    assert found["last"]["same"] == pytest.approx(147 / 149)
    shuffled = results(unitless, path, "--shuffle")
    assert orders(shuffled) == []
    assert shuffled["rows"] == 150
    assert shuffled["metrics"]["accuracy"] < 0.9


def test_numbers_in_order(unitless, tmp_path):
    X, y = load_diabetes(return_X_y=True)
    order = np.argsort(y)
    found = results(unitless, write(tmp_path / "a.csv", y[order], X[order]))
    assert "the correlation of consecutive targets is 1.00" in orders(found)[0]
    assert orders(results(unitless, write(tmp_path / "b.csv", y, X))) == []


def test_an_order_that_the_features_explain(unitless, tmp_path):
    """A slow wave that the only feature contains: any order gives the same error."""
    wave = np.sin(np.arange(2000) / 300)
    found = results(unitless, write(tmp_path / "a.csv", wave, wave[:, None]), "-l", "full")
    assert found["last"]["correlation"] > 0.99
    # The last value is better than any other prediction here, so there is a note after all.
    assert len(orders(found)) == 1
    steep = np.repeat(np.random.default_rng(0).normal(size=200), 10)
    noisy = steep + np.random.default_rng(1).normal(size=2000) / 2
    path = write(tmp_path / "b.csv", noisy, np.column_stack([noisy, steep]))
    found = results(unitless, path, "-l", "vaw")
    assert found["last"]["correlation"] > 0.5
    assert orders(found) == []


@pytest.mark.parametrize("kind", ["classes", "numbers", "rare"])
def test_random_order_gives_no_note(unitless, tmp_path, kind):
    rng = np.random.default_rng(0)
    target = {
        "classes": rng.choice(["a", "b", "c"], 3000),
        "numbers": rng.standard_cauchy(3000),
        "rare": rng.choice(["a", "b"], 3000, p=[0.99, 0.01]),
    }[kind]
    assert orders(results(unitless, write(tmp_path / "a.csv", target))) == []


def test_alternating_classes(unitless, tmp_path):
    path = write(tmp_path / "a.csv", ["a", "b"] * 100)
    assert "0.0% have the class of the row before" in orders(results(unitless, path))[0]


@pytest.mark.parametrize("name", ["squared", "absolute", "quantile(0.9)"])
def test_last_value_by_its_definition(name):
    rng = np.random.default_rng(0)
    loss = losses.get(name)
    y, w = rng.normal(size=30), rng.integers(0, 3, 30).astype(float)
    previous = Previous()
    for part in np.split(np.arange(30), [1, 7, 8, 20]):
        previous.add(y[part], w[part], loss)
    expected = sum(w[k] * float(loss.value(y[k], y[k - 1])) for k in range(1, 30)) / w[1:].sum()
    assert previous.totals[LAST_LOSS] == pytest.approx(expected)
    assert previous.totals[PAIRS] == w[1:].sum()


@pytest.mark.parametrize("classes", [2, 3])
def test_last_class_by_its_definition(classes):
    """No probability of the last class is better than the one that counts."""
    rng = np.random.default_rng(0)
    codes = np.repeat(rng.integers(0, classes, 30), rng.integers(1, 4, 30)).astype(float)
    task, loss = ("binary", "logistic") if classes == 2 else ("multiclass", "softmax")
    targets = 2 * codes - 1 if classes == 2 else codes
    tally, previous = RunningMetrics(task, losses.get(loss)), Previous()
    scores = np.zeros(len(codes)) if classes == 2 else np.zeros((len(codes), classes))
    tally.add(targets, scores, np.ones(len(codes)))
    previous.add(targets, np.ones(len(codes)), tally.loss)
    same = np.mean(codes[1:] == codes[:-1])
    assert previous.totals[SAME] == pytest.approx(same)

    def average(p):
        return -np.mean(
            np.where(codes[1:] == codes[:-1], np.log(p), np.log((1 - p) / (classes - 1)))
        )

    best = min(average(p) for p in np.linspace(0.01, 0.99, 99))
    loss = last_label(tally, previous)["loss"]
    assert loss == pytest.approx(average(same))
    assert loss <= best + 1e-12


def test_hints_about_the_task(unitless, tmp_path):
    rng = np.random.default_rng(0)

    def notes(target, *options):
        return results(unitless, write(tmp_path / "a.csv", target), *options)["notes"]

    quality = rng.integers(3, 9, 300)
    (note,) = notes(quality)
    assert "only 6 distinct values, whole numbers from 3 to 8" in note
    assert "--task multiclass" in note
    (note,) = notes(rng.permutation(np.arange(501) % 100))
    assert "only 100 distinct values, whole numbers from 0 to 99" in note
    assert notes(rng.permutation(np.arange(505) % 101)) == []
    assert notes(quality, "--task", "regression") == []
    assert notes(rng.integers(0, 1000, 300)) == []
    assert notes(quality / 2) == []
    (note,) = notes(["spam"] * 50)
    assert note.startswith("every label is 'spam': with one class there is nothing to learn")
    (note,) = notes(rng.choice(["Yes", "no", "yes"], 300))
    assert note == "the classes 'Yes' and 'yes' differ only in case or blanks: is it one class?"


def test_rows_that_were_never_learned(unitless, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    y = np.where(X @ [1.0, -2, 0.5] + rng.normal(size=1000) > 0, "up", "down")
    path = write(tmp_path / "all.csv", y, X)
    held = is_held_out(np.arange(1000), 0.2)
    learned = write(tmp_path / "learned.csv", y[~held], X[~held])
    others = write(tmp_path / "others.csv", y[held], X[held])
    share = results(unitless, path, "--test-share", "0.2")
    file = results(unitless, learned, "--test", others)
    assert share["learned"] == file["learned"] == 1000 - held.sum()
    assert share["test"]["metrics"] == file["test"]["metrics"]
    assert share["test"]["rows"] == held.sum()
    assert file["test"]["source"] == str(others)
    shuffled = results(unitless, path, "--test-share", "0.2", "--shuffle", "--passes", "2")
    assert shuffled["learned"] == 2 * (1000 - held.sum())


def test_a_test_file_with_a_new_class(unitless, tmp_path):
    learned = write(tmp_path / "a.csv", ["a", "b", "c"] * 20)
    other = write(tmp_path / "b.csv", ["a", "b", "d"] * 5)
    found = results(unitless, learned, "--test", other)["test"]
    assert (found["rows"], found["unknown"]) == (10, 5)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "svm", "vw", "parquet"])
def test_shuffled_files(unitless, tmp_path, ending):
    """The same rows in the same random order, whatever the format and the number of files."""
    X, y = load_iris(return_X_y=True)
    path = write(tmp_path / "a.csv", [f"{k}" for k in y + 1], X)
    options = ("--task", "multiclass", "--shuffle")
    expected = results(unitless, path, *options)["metrics"]["accuracy"]
    other = tmp_path / f"b.{ending}"
    assert unitless("convert", path, other, "-t", "y", "--classes", "1,2,3").code == 0
    if ending in ("svm", "vw"):
        words = ("evaluate", other, "-l", "coordinate", "--json", *options)
        found = json.loads(unitless(*words).out)
    else:
        found = results(unitless, other, *options)
    assert found["metrics"]["accuracy"] == pytest.approx(expected, abs=0.02)
    assert found["rows"] == 150


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--shuffle", "--predictions", "p.csv"),
            "--shuffle cannot be combined with --predictions",
        ),
        (
            ("--shuffle", "--save", "m", "--checkpoint", "5"),
            "--shuffle cannot be combined with --ch",
        ),
        (("--test-share", "1.5"), "--test-share 1.5: must be at least 0 and below 1"),
        (
            ("--test-share", "0.2", "--holdout", "5"),
            "--test-share cannot be combined with --holdout",
        ),
        (("--test", "no-such.csv"), "no-such.csv: there is no such file or folder"),
    ],
)
def test_refused_options(unitless, tmp_path, options, message):
    done = unitless("evaluate", write(tmp_path / "a.csv", [1, 2, 3]), "-t", "y", *options)
    assert done.code in (2, 3)
    assert message in done.err


def test_sorted_rows_say_nothing_about_information(unitless, tmp_path):
    """One pair of rows differs, which is too few to speak of."""
    X, y = load_iris(return_X_y=True)
    path = write(tmp_path / "a.csv", [f"iris {k}" for k in y[:100]], X[:100])
    done = unitless("evaluate", path, "-t", "y", "-l", "full", "--verbose")
    assert done.code == 0
    assert "information" not in done.out
    assert "at least 21.84 less than a model whose weights are all 0" in done.out
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(300, 4))
    far = write(tmp_path / "b.csv", np.where(noise[:, 0] + noise[:, 1] > 0, "a", "b"), noise)
    done = unitless("evaluate", far, "-t", "y", "-l", "full", "--verbose")
    assert "the features carry information" in done.out


def test_guarantees_above_the_loss_are_not_shown(unitless, tmp_path, monkeypatch):
    member = {"loss": 2.9, "overhead": 66.8, "rows": 50}
    claim = {"against": "u = 0", "rows": 50, "certified": 70.0, "sharp": 80.0, "promised": 90.0}
    claim |= {"theorem": "Theorem 1", "by": "coordinate"}
    found = {"loss": 3.0, "rows": 50, "members": {"full": member}, "claims": [claim]}
    monkeypatch.setattr("unitless.evaluation.results.certified", lambda *_: found)
    path = write(tmp_path / "a.csv", np.where(np.arange(50) % 2, "a", "b"))
    words = ("evaluate", path, "-t", "y", "-l", "coordinate")
    assert "guarantee" not in unitless(*words, "--verbose").out + unitless(*words).out
    member["overhead"] = 1.5
    claim["certified"] = -2.0
    assert (
        "guarantee (row 1 counts): at most 1.5 more loss than its member full"
        in unitless(*words).out
    )
    shown = unitless(*words, "--verbose").out
    assert "at most 1.5 more than the 2.9 of its member full" in shown
    assert "at least 2 less than a model whose weights are all 0" in shown


@pytest.mark.parametrize(("loss", "told"), [(0.5, False), (0.7, True)])
def test_a_model_that_predicts_well_is_not_said_to_lack_information(loss, told):
    """The test of information may find nothing where the model finds a lot."""
    run = SimpleNamespace(
        information=SimpleNamespace(result=SimpleNamespace(p_value=0.5, pairs=200)),
        constant=lambda: SimpleNamespace(loss=0.6),
        tally=SimpleNamespace(totals={LOSS: loss}),
    )
    assert (information(run) is not None) == told


@pytest.mark.parametrize(("share", "told"), [(0.3, True), (0.05, False)])
def test_an_order_is_explained_only_by_much_smaller_errors(share, told):
    """A model that learns from the last label as well is somewhat better than it in any order."""
    totals = np.zeros(12)
    totals[[ROWS, SQUARE]] = 1000, share
    run = SimpleNamespace(
        tally=SimpleNamespace(task="regression", totals=totals),
        previous=SimpleNamespace(totals={DIFFERENCE: 1.0}),
        last=lambda: {"correlation": 0.95},
        metrics_not_fresh=lambda: None,
    )
    assert (_order(run) is not None) == told
