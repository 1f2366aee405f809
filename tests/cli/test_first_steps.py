"""What a newcomer tries first, and what the first screen says."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from cli.material import table, written
from unitless.cli.screen import number

MODULE = [sys.executable, "-m", "unitless"]
QUICK = ("-l", "coordinate")


@pytest.fixture
def evaluate(unitless, data):
    """Runs an evaluation of the labels."""
    return lambda *words: unitless("evaluate", data, "-t", "label", *QUICK, *words)


def test_without_arguments_the_help_is_shown():
    done = subprocess.run(MODULE, capture_output=True, text=True)
    assert done.returncode == 2
    assert "evaluate" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_shell_completion():
    words = {"COMP_WORDS": "unitless evaluate --tar", "COMP_CWORD": "2"}
    env = os.environ | words | {"_UNITLESS_COMPLETE": "complete_bash"}
    done = subprocess.run(MODULE, capture_output=True, text=True, env=env)
    assert done.stdout.split() == ["--target"]


def test_the_demo_ends_with_the_next_step(unitless, monkeypatch):
    class Quick:
        def __init__(self, *_, **__):
            pass

        def run(self):
            pass

    monkeypatch.setattr("unitless.cli.run.EvaluationRun", Quick)
    there = SimpleNamespace(loss=0.125, moved=0.0)
    compared = SimpleNamespace(
        factors=np.array([0.5, 8.0]), entries=[SimpleNamespace(elsewhere=there)]
    )
    monkeypatch.setattr("unitless.compare.compare", lambda *_, **__: compared)
    shown = unitless("demo").out.splitlines()
    assert "the loss is 0.1250, and no prediction changed by a single bit." in shown
    assert shown[-2] == "    unitless evaluate FILE --target COLUMN"


def test_files_that_were_written_are_named(evaluate, tmp_path):
    files = [str(tmp_path / name) for name in ("m", "p.csv", "r.json")]
    shown = evaluate("--save", files[0], "--predictions", files[1], "--results", files[2]).out
    assert shown.splitlines()[-1] == f"wrote {', '.join(files)}"
    assert "wrote" not in evaluate().out


def test_rows_of_a_test_share_have_one_score(evaluate):
    shown = evaluate("--test-share", 0.2).out
    assert "that were never learned" in shown
    assert "loss of held-out rows" not in shown
    assert "loss of held-out rows, pass 1" in evaluate("--holdout", 5).out


def test_a_file_of_test_rows_that_does_not_fit_costs_no_work(unitless, tmp_path):
    """Without the target it is refused at once; without a feature, the summary is shown first."""
    learn, test, model = tmp_path / "a.csv", tmp_path / "test.csv", tmp_path / "m"
    learn.write_text("x,z,y\n" + "1,2,3\n2,1,4\n" * 20)
    words = ("evaluate", learn, "-t", "y", *QUICK, "--test", test, "--save", model)
    test.write_text("x,z\n1,2\n")
    done = unitless(*words)
    assert "there is no column 'y'" in done.err
    assert (done.code, done.out, model.exists()) == (2, "", False)
    test.write_text("x,y\n1,2\n")
    done = unitless(*words)
    assert "there is no column 'z'" in done.err
    assert done.code == 2
    assert "average loss" in done.out
    assert model.exists()


def test_an_odd_cell_is_told_once(unitless, tmp_path, frame):
    text = frame.select("grams", "score").write_csv().splitlines()
    text[60] = "much,1"
    (tmp_path / "odd.csv").write_text("\n".join(text) + "\n")
    shown = unitless("evaluate", tmp_path / "odd.csv", "-t", "score", "-l", "vaw").out
    assert "column 'grams': 1 cell is not a number and counts as missing, in line 61" in shown
    assert shown.count("missing") == 1


def test_a_missing_weight_is_called_missing(unitless, tmp_path):
    (tmp_path / "a.csv").write_text("w,x,y\n1,2,3\n?,2,4\n" + "1,1,5\n" * 30)
    done = unitless("evaluate", tmp_path / "a.csv", "-t", "y", "--weight", "w", *QUICK)
    assert "line 3, column 'w': the weight is missing; use 0 to leave a row out\n" in done.err


def test_dates_in_another_format_are_read_or_hinted_at(unitless, tmp_path):
    lines = [f"{1 + k % 28:02}.{1 + k % 12:02}.2024;{k}" for k in range(60)]
    (tmp_path / "days.csv").write_text("\n".join(["sold on;y", *lines]) + "\n")
    words = ("evaluate", tmp_path / "days.csv", "-t", "y", "-l", "vaw")
    read = "dates: sold on, written as %d.%m.%Y (--category makes a column categorical)"
    assert read in unitless(*words).out
    lines = [f"{1 + k % 9}-{1 + k % 12}-2024;{k}" for k in range(60)]
    (tmp_path / "days.csv").write_text("\n".join(["sold on;y", *lines]) + "\n")
    formats = "--date 'sold on=%d-%m-%Y' or --date 'sold on=%m-%d-%Y'"
    shown = " ".join(unitless(*words).out.split())
    assert f"dates: sold on may be dates; {formats} reads them" in shown
    assert "dates: sold on, written as" in unitless(*words, "--date", "sold on=%d-%m-%Y").out


def test_decisions_of_models_by_key(unitless, tmp_path):
    path = written(tmp_path / "a.csv", table(300).drop("weight", "label"))
    words = ("fit", path, "-t", "score", *QUICK, "--by-key", "colour", "--workers", 1)
    shown = unitless(*words, "--save", tmp_path / "m").out.splitlines()
    assert "separator: comma" in shown
    assert "task: regression, because 'score' has numbers" in shown
    assert shown[-1] == f"wrote {tmp_path / 'm'}"


def test_an_explanation_says_what_the_score_is(evaluate, unitless, tmp_path):
    evaluate("--save", tmp_path / "m", "--quiet")
    first = unitless("explain", tmp_path / "m", "grams=900").out.splitlines()[0]
    assert first.startswith("the log-odds of yes: ")
    assert first.endswith("%)")


@pytest.mark.parametrize(
    ("value", "text"), [(17_400.25, "17,400.2"), (999.9, "999.9000"), (7.5e10, "7.5e+10")]
)
def test_numbers_can_be_read(value, text):
    assert number(value) == text
