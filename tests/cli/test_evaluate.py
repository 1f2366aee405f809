"""evaluate and fit: the library's numbers, the options, and clean ends."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, roc_auc_score

from cli.material import table, written
from laws.streams import same_bits
from unitless import OnlineClassifier, OnlineRegressor, persistence, readers
from unitless.cli.stopping import Stopped, Stopper

FEATURES = ["metres", "grams", "colour"]
WITHOUT = ("--ignore", "weight", "--ignore", "score")


def library(frame, target="label"):
    """The scores of the estimators on the rows that have a target."""
    there = frame.filter(pl.col(target).is_not_null())
    kind = OnlineClassifier if target == "label" else OnlineRegressor
    model = kind("coordinate" if target == "label" else "vaw", shuffle=False)
    return model.fit(there.select(FEATURES), there[target].to_numpy())


def test_predictions_and_metrics_are_the_library_s(unitless, tmp_path, data, frame):
    page = tmp_path / "p.csv"
    done = unitless(
        "evaluate",
        data,
        "-t",
        "label",
        "-l",
        "coordinate",
        *WITHOUT,
        "--predictions",
        page,
        "--json",
    )
    assert done.code == 0
    results, model = json.loads(done.out), library(frame)
    found = pl.read_csv(page)
    there = frame["label"].is_not_null()
    assert results["unlabelled"] == int((~there).sum()) > 0
    assert found["row"].to_list() == list(range(1, len(frame) + 1))
    link = model.learner_.loss.link(model.progressive_)
    same_bits(found.filter(there)["p(yes)"].to_numpy(), link)
    link = link[1:]  # scores count from the second label on
    y = (frame.filter(there)["label"] == "yes").to_numpy()[1:]
    assert results["metrics"]["auc"] == pytest.approx(roc_auc_score(y, link), abs=1e-3)
    assert results["metrics"]["accuracy"] == pytest.approx((y == (link >= 0.5)).mean())
    assert results["metrics"]["loss"] == pytest.approx(
        model.learner_.loss.value(2.0 * y - 1, model.progressive_[1:]).mean()
    )
    share = y.mean()
    entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert results["baseline"]["loss"] == pytest.approx(entropy)


def test_numbers(unitless, data, frame):
    done = unitless(
        "evaluate",
        data,
        "-t",
        "score",
        "-l",
        "vaw",
        "--ignore",
        "weight",
        "--ignore",
        "label",
        "--json",
    )
    results, model = json.loads(done.out), library(frame, "score")
    y = frame["score"].to_numpy()
    assert results["task"] == "regression"
    assert results["metrics"]["r2"] == pytest.approx(r2_score(y[1:], model.progressive_[1:]))
    assert results["metrics"]["mae"] == pytest.approx(
        mean_absolute_error(y[1:], model.progressive_[1:])
    )
    assert results["baseline"]["loss"] == pytest.approx(y[1:].var())


def test_what_is_printed(unitless, data):
    done = unitless(
        "evaluate", data, "-t", "label", "-l", "coordinate", *WITHOUT, "--top", "2", "--verbose"
    )
    lines = done.out.splitlines()
    assert lines[:4] == [
        "separator: comma",
        "columns: 2 numeric, 1 categorical (colour)",
        "task: binary, because 'label' has two values, 'no' and 'yes'",
        "learner: coordinate; loss: logistic",
    ]
    assert [line.split()[0] for line in lines[5:15]] == [str(2**k) for k in range(10)]
    assert "\x1b" not in done.out
    for word in ("without a label", "area under ROC", "best constant", "Theorem 1", "grams"):
        assert word in done.out


def test_the_test_of_information_is_printed(unitless, data, tmp_path):
    words = ("evaluate", data, "-t", "label", "-l", "coordinate", *WITHOUT)
    assert "the features carry information: e-value" in unitless(*words, "--verbose").out
    brief = unitless(*words).out
    assert "carry information" not in brief
    assert "e-value " in brief.splitlines()[-1]
    rng = np.random.default_rng(0)
    noise = tmp_path / "noise.csv"
    label = np.where(rng.random(400) < 0.9, "a", "b")
    pl.DataFrame({"x": 1 + rng.normal(size=400) / 100, "label": label}).write_csv(noise)
    words = ("evaluate", noise, "-t", "label", "-l", "coordinate")
    assert "no information in the features yet: e-value" in unitless(*words, "--verbose").out
    assert "e-value only " in unitless(*words).out.splitlines()[-1]


def test_quiet(unitless, data):
    assert unitless("evaluate", data, "-t", "label", "-l", "zero", "--quiet")[1:] == ("", "")


@pytest.mark.parametrize(
    ("target", "options", "task"),
    [
        ("label", (), "binary"),
        ("colour", (), "multiclass"),
        ("weight", (), "binary"),  # two distinct values
        ("weight", ("--task", "regression"), "regression"),
        ("score", (), "regression"),
        ("score", ("--quantile", "0.9"), "regression"),
    ],
)
def test_tasks(unitless, data, target, options, task):
    done = unitless("evaluate", data, "-t", target, "-l", "nag", *options, "--json")
    assert done.code == 0
    results = json.loads(done.out)
    assert results["task"] == task
    assert ("below" in results["metrics"]) == ("--quantile" in options)


def test_a_class_that_comes_late(unitless, tmp_path):
    """In blocks of their own: of two classes an error that names --task, of several one more."""
    path = tmp_path / "late.csv"
    first = "".join(f"{k % 7},{'ab'[k % 2]}\n" for k in range(10))
    path.write_text("x,y\n" + first + "3,c\n")
    done = unitless("evaluate", path, "-t", "y", "-l", "nag", "--task", "binary")
    assert done.code == 2
    assert f"{path}, line 12, column 'y': there are more than two classes" in done.err
    assert "--task multiclass" in done.err
    more = tmp_path / "more.csv"
    path.write_text("x,y\n" + first)
    more.write_text("x,y\n3,c\n4,a\n")
    model = tmp_path / "m"
    for task, code in (("binary", 2), ("multiclass", 0)):
        unitless("fit", path, "-t", "y", "-l", "nag", "--task", task, "--save", model)
        done = unitless("evaluate", more, "--resume", model, "--save", model)
        assert done.code == code
        assert f"{more}, line 2, column 'y': 'c' is a third class" in done.err or code == 0
        assert "--task" in done.err or code == 0
    assert persistence.load(model).labels == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-t", "nothing"), "there is no column 'nothing'"),
        ((), "which column is the target?"),
        (("-t", "label", "--checkpoint", "5"), "--save"),
        (("-t", "label", "--loss", "squared"), "does not fit the task binary"),
        (("-t", "label", "-l", "nobody"), "there is no learner 'nobody'"),
        (("-t", "label", "--keep", "gone"), "there is no column 'gone'"),
        (("-t", "label", "--ignore", "gone"), "there is no column 'gone'"),
        (("-t", "label", "--text", "gone"), "there is no column 'gone'"),
        (("-t", "label", "-q", "gone:metres"), "there is no column 'gone'"),
        (("-t", "label", "-q", "label:metres"), "there is no column 'label'"),
        (("-t", "label", "--separator", ";"), "there is no column 'label'"),
        (("-t", "label", "--separator", ";;"), "separator ';;': it is one character"),
        (("-t", "label", "--quote", "both"), "quote 'both': it is one character"),
        (("-t", "label", "--skip-bad", "-1"), "--skip-bad -1: must be at least 0"),
        (("-t", "label", "--audit", "-1"), "--audit -1: must be at least 0"),
        (("-t", "label", "--top", "-1"), "--top -1: must be at least 0"),
        (("-t", "label", "--weight", "colour"), "column 'colour': importances are numbers"),
        (("-t", "label", "--holdout", "1"), "--holdout"),
        (("-t", "label", "--resume", "no-such-file"), "no-such-file"),
        (("-t", "label", "--predictions", "no/such"), "no/such: the folder does not exist"),
    ],
)
def test_what_cannot_be_is_one_sentence(unitless, data, words, message):
    done = unitless("evaluate", data, *words)
    assert done.code in (2, 3)
    assert message in done.err
    assert done.err.startswith("unitless: ")
    assert done.err.count("\n") == 1


def test_columns(unitless, data, frame):
    """keep, weights, text, interactions and hashing are the library's."""
    done = unitless(
        "evaluate", data, "-t", "score", "-l", "vaw", "--weight", "weight", "--keep", "metres",
        "--keep", "grams", "-q", "metres:grams", "--json",
    )  # fmt: skip
    model = OnlineRegressor("vaw", interactions=["metres:grams"], shuffle=False).fit(
        frame.select("metres", "grams"), frame["score"].to_numpy(), frame["weight"].to_numpy()
    )
    results = json.loads(done.out)
    assert {row["column"] for row in results["effects"]} <= {*model.to_model().input_names()}
    error = (frame["score"].to_numpy() - model.progressive_) ** 2
    weights = frame["weight"].to_numpy().copy()
    weights[np.argmax(weights > 0)] = 0  # scores count from the second row on
    assert results["metrics"]["loss"] == pytest.approx(np.average(error, weights=weights))


def test_hashing_is_noted(unitless, tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text("text,spam\n" + "".join(f"w{k} w{k + 1},{k % 2}\n" for k in range(20)))
    done = unitless(
        "evaluate",
        path,
        "-t",
        "spam",
        "-l",
        "nag",
        "--text",
        "text",
        "--max-levels",
        "5",
        "-b",
        "3",
    )
    assert done.err.startswith("note: column 'text' has more than 5 words")
    assert "features                        " in done.out


def test_delay_counts_the_prediction_issued(unitless, data, frame):
    """With labels that never come in time every prediction is that of the fresh learner."""
    words = ("-t", "label", "-l", "coordinate", *WITHOUT, "--json")
    late = json.loads(unitless("evaluate", data, *words, "--delay", len(frame)).out)
    assert late["metrics"] == {}  # no row was predicted with any knowledge
    assert late["learned"] == len(frame) - late["unlabelled"]
    soon = json.loads(unitless("evaluate", data, *words, "--delay", 5).out)
    now = json.loads(unitless("evaluate", data, *words).out)
    assert now["metrics"]["loss"] < soon["metrics"]["loss"] < np.log(2)


def test_holdout_and_passes(unitless, tmp_path, data, frame):
    done = unitless(
        "fit", data, "-t", "label", "-l", "nag", *WITHOUT, "--passes", "3", "--holdout", "10",
        "--save", tmp_path / "m", "--json",
    )  # fmt: skip
    results = json.loads(done.out)
    held = frame["label"].is_not_null().to_numpy()[9::10].sum()
    there = frame["label"].is_not_null().sum()
    assert results["held_out"] == held
    assert results["learned"] == 3 * (there - held)
    assert len(results["holdouts"]) == 3
    assert results["rows"] == len(frame)


def test_audit_adds_up(unitless, data):
    done = unitless(
        "evaluate", data, "-t", "score", "-l", "vaw", "--ignore", "label", "--audit", "300",
        "--predictions", "-",
    )  # fmt: skip
    predicted = float(done.out.splitlines()[300].split(",")[1])
    table = done.err[done.err.index("Contributions to the score of row 300") :].splitlines()[2:]
    adds = [float(line.split()[0]) for line in table[: table.index("")]]
    assert sum(adds) == pytest.approx(predicted, abs=1e-3 * len(adds))


def test_a_row_to_audit_that_is_not_there(unitless, data, frame):
    done = unitless("evaluate", data, "-t", "label", "-l", "zero", "--audit", len(frame) + 1)
    assert f"There is no row {len(frame) + 1}: {len(frame)} rows were read" in done.out


# Stopping and going on


@pytest.mark.parametrize("learner", ["coordinate", "blend"])
def test_stopped_in_mid_file_and_resumed_is_the_same_model(unitless, tmp_path, frame, learner):
    """The last checkpoint is all that a kill leaves; resumed, it comes to the same bytes."""
    path, words = written(tmp_path / "d.csv", frame), ("-t", "label", "-l", learner, "--quiet")
    options = ("--checkpoint", "100", "--save")
    page = tmp_path / "p.csv"
    assert (
        unitless("evaluate", path, *words, *options, tmp_path / "whole", "--predictions", page).code
        == 0
    )
    expected = page.read_text()
    stopped = tmp_path / "stopped"
    saves = []

    def dying(*args):
        """After the checkpoint of row 300 nothing more is written."""
        saves.append(args)
        if len(saves) > 3:
            raise RuntimeError("killed")
        write(*args)

    write = persistence.container.replace
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(persistence.container, "replace", dying)
        with pytest.raises(RuntimeError, match="killed"):
            unitless("evaluate", path, *words, *options, stopped, "--predictions", page)
    assert persistence.load(stopped).file.position.skip == 300
    assert page.read_text() == expected  # the older file stays until the new one is complete
    assert 0 < len((tmp_path / "p.csv.partial").read_text()) < len(expected)
    done = unitless(
        "evaluate", path, "--resume", stopped, "--quiet", *options, stopped, "--predictions", page
    )
    assert done.code == 0
    assert stopped.read_bytes() == (tmp_path / "whole").read_bytes()
    assert page.read_text() == expected


def test_a_bad_line_leaves_the_model_of_the_rows_before(unitless, tmp_path, frame):
    lines = written(tmp_path / "d.csv", table(60_000)).read_text().splitlines(keepends=True)
    lines[-5] = "one,two\n"
    path = tmp_path / "bad.csv"
    path.write_text("".join(lines))
    done = unitless(
        "evaluate", path, "-t", "label", "-l", "zero", "--save", tmp_path / "m", "--quiet"
    )
    assert done.code == 2
    assert "fields were expected" in done.err
    done = unitless("evaluate", path, "-t", "label", "-l", "zero", "--skip-bad", "1")
    assert done.code == 0
    assert "1 invalid line skipped" in done.out


def test_another_file_goes_on_from_the_model(unitless, tmp_path, frame):
    first, second = (
        written(tmp_path / "a.csv", frame[:300]),
        written(tmp_path / "b.csv", frame[300:]),
    )
    words = ("-t", "label", "-l", "coordinate", "--quiet")
    unitless("fit", first, *words, "--save", tmp_path / "m")
    unitless("fit", second, "--resume", tmp_path / "m", "--save", tmp_path / "m", "--quiet")
    unitless("fit", written(tmp_path / "all.csv", frame), *words, "--save", tmp_path / "whole")
    one, two = persistence.load(tmp_path / "m"), persistence.load(tmp_path / "whole")
    same_bits(one.learner.weights().features, two.learner.weights().features)
    assert one.rows == two.rows


def process(*words, **options):
    """`unitless` in a process of its own."""
    code = "from unitless.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


def test_ctrl_c_saves_the_model_of_the_last_finished_piece(tmp_path):
    path = written(tmp_path / "long.csv", table(60_000))
    run = process("evaluate", path, "-t", "label", "--save", tmp_path / "m")
    assert any(line.split()[:1] == [b"64"] for line in iter(run.stdout.readline, b""))
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    model = persistence.load(tmp_path / "m")
    assert 64 <= model.file.position.skip < 60_000
    assert model.rows <= model.file.position.skip
    said, _, command = err.decode().rstrip("\n").partition("; continue with: unitless ")
    saved = f"{model.rows:,} rows learned and saved in {tmp_path / 'm'}"
    assert said == f"unitless: interrupted; {saved}"
    assert shlex.split(command) == [
        "evaluate", str(path), "-t", "label", "--save", str(tmp_path / "m"),
        "--resume", str(tmp_path / "m"),
    ]  # fmt: skip


def test_a_slow_pipe_shows_its_rows_and_ends_cleanly(tmp_path):
    words = ("--format", "vw", "--task", "binary", "-l", "zero", "--save", tmp_path / "m")
    with process("evaluate", "-", *words, stdin=subprocess.PIPE) as run:
        run.stdin.write(b"1 | a\n-1 | b\n1 | a b\n-1 | c\n")
        run.stdin.flush()  # and stays open
        assert any(line.split()[:1] == [b"4"] for line in iter(run.stdout.readline, b""))
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=60) == 130
        said = run.stderr.read().decode()
    model = shlex.quote(str(tmp_path / "m"))
    assert said.startswith("unitless: interrupted; 4 rows learned and saved in ")
    assert said.endswith(f"; more rows continue it with --resume {model}\n")
    assert persistence.load(tmp_path / "m").rows == 4


def test_ctrl_c_interrupts_the_wait_for_input():
    """While rows are learned it is only noted; a second one is heard at once."""

    def slow():
        yield 1
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)

    with Stopper() as stopper:
        items = stopper.waiting_for(slow())
        assert next(items) == 1
        with pytest.raises(Stopped):
            next(items)
    with Stopper() as stopper:
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Stopped):
            stopper.check()
        with pytest.raises(Stopped):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_closed_pipe_saves_the_model(tmp_path, data):
    with process("evaluate", data, "-t", "label", "-l", "zero", "--save", tmp_path / "m") as run:
        run.stdout.readline()
        run.stdout.close()
        err = run.stderr.read()
        assert run.wait(timeout=60) == 1
    assert b"Traceback" not in err
    assert persistence.load(tmp_path / "m").task == "binary"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_disk_is_an_error_that_names_the_file(unitless, tmp_path, data):
    done = unitless(
        "evaluate",
        data,
        "-t",
        "label",
        "-l",
        "zero",
        "--predictions",
        "/dev/full",
        "--save",
        tmp_path / "m",
    )
    assert done.code == 3
    assert "/dev/full" in done.err or "No space left" in done.err
    assert persistence.load(tmp_path / "m").task == "binary"


def test_a_label_that_is_no_number_after_numbers_names_the_task(unitless, tmp_path, monkeypatch):
    path = tmp_path / "late.csv"
    path.write_text("x,y\n" + "1,2\n2,3\n3,4\n" * 20 + "4,many\n")
    whole = readers.open_blocks
    monkeypatch.setattr(
        readers, "open_blocks", lambda *a, **k: whole(*a, **k | {"block_bytes": 100})
    )
    words = ("evaluate", path, "-t", "y", "-l", "vaw", "--save", tmp_path / "m")
    done = unitless(*words)
    assert done.code == 0
    assert "in line 62: 'many'; if it is a class, use --task" in done.out
    done = unitless(*words, "--strict")
    assert done.code == 2
    for word in ("line 62", "'y'", "many", "--task multiclass"):
        assert word in done.err
    assert persistence.load(tmp_path / "m").rows > 20
    words = ("-t", "y", "-l", "nag", "--task", "multiclass", "--save", tmp_path / "m", "--quiet")
    assert unitless("evaluate", path, *words).code == 0
    assert persistence.load(tmp_path / "m").labels == ["2", "3", "4", "many"]
    assert unitless("predict", tmp_path / "m", path).out.count("\n") == 62


@pytest.mark.parametrize(
    ("text", "rows"),
    [("a,y\n1,x\n", 1), ("y\n1\n2\n1\n", 3), ("a,y\n1,5\n", 1)],
)
def test_next_to_nothing_is_something(unitless, tmp_path, text, rows):
    """One row, no feature: each has its page, its model and its predictions."""
    path, model = tmp_path / "d.csv", tmp_path / "m"
    path.write_text(text)
    done = unitless("evaluate", path, "-t", "y", "--save", model, "--report", tmp_path / "p.html")
    assert done.code == 0, done.err
    assert unitless("predict", model, path).out.count("\n") == rows + 1
    assert unitless("inspect", model).code == 0


def test_nothing_is_an_error(unitless, tmp_path):
    for text in ("", "a,y\n"):
        (tmp_path / "d.csv").write_text(text)
        done = unitless("evaluate", tmp_path / "d.csv", "-t", "y")
        assert done.code == 2
        assert "there are no rows" in done.err


@pytest.mark.parametrize("learner", ["blend", "coordinate", "zero"])
@pytest.mark.parametrize("options", [("--audit", "1"), ("--audit", "3", "--delay", "50")])
def test_a_row_is_taken_apart_before_anything_was_learned(unitless, data, learner, options):
    done = unitless("evaluate", data, "-t", "label", "--ignore", "score", "-l", learner, *options)
    assert done.code == 0
    assert f"Contributions to the score of row {options[1]}\n" in done.out
    assert "(base)" in done.out


def test_a_learner_per_class_is_named(unitless, data):
    out = unitless("evaluate", data, "-t", "colour", "-l", "coordinate").out
    assert "learner: coordinate, one per class; loss: softmax" in out


def test_the_linear_blend_by_name(unitless, tmp_path, data):
    done = unitless("fit", data, "-t", "label", "-l", "linear_blend", "--save", tmp_path / "model")
    assert done.code == 0
    learner = persistence.load(tmp_path / "model").learner
    assert (learner.name, learner.views) == ("linear_blend", "linear")
    assert "boosted trees" not in learner.mixture_weights()
