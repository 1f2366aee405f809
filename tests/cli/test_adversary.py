"""`unitless adversary` shows the game and its outcome, and refuses in a sentence."""

import re

import pytest
import typer
from typer.testing import CliRunner

from unitless.cli.adversary import adversary
from unitless.learners import REGISTRY, get

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="rich")
app.command()(adversary)


def run(*arguments):
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "100", "TERM": "dumb"})


def outcome(output, learner):
    """(own loss, |u|_S, regret, promised) of the learner's line."""
    line = next(line for line in output.splitlines() if line.split()[:1] == [learner])
    return [float(number) for number in line.split()[1:]]


def test_all_learners_lose():
    result = run("all")
    assert result.exit_code == 0
    assert "diverged before the end: adaptive_normal" in result.output
    for name in REGISTRY:
        if get(name).invariance == "none":
            continue
        own, norm, regret, promised = outcome(result.output, name)
        assert norm == pytest.approx(1.0)
        assert promised == pytest.approx(17.5**0.5, rel=1e-5)
        assert regret == pytest.approx(own + promised, rel=1e-5)
    assert len(result.output.splitlines()) <= len(REGISTRY) + 9


def test_one_learner_s_game_is_shown():
    result = run("coordinate", "-d", "3", "-T", "50")
    assert re.search(r"^\s+50\s", result.output, re.MULTILINE)
    assert outcome(result.output, "coordinate")[3] == pytest.approx(5.0)
    assert len(result.output.splitlines()) <= 24


def test_no_growth():
    result = run("full", "--game", "no-growth", "-T", "5", "--norm", "2.2704")
    assert outcome(result.output, "full")[2] == pytest.approx(5.077, abs=5e-4)


def test_worst_case():
    result = run("--game", "worst-case", "-T", "200")
    rows = [line.split() for line in result.output.splitlines() if "%" in line]
    assert len(rows) == 10
    for row in rows:
        lower, worst, sharp, theorem = (float(cell) for cell in row[1:5])
        assert lower <= worst <= sharp <= theorem


def test_refusal_is_the_adversary_s_own_sentence():
    result = run("zero", "-T", "36")
    assert isinstance(result.exception, ValueError)
    assert "beyond 35" in str(result.exception)


def test_unknown_learner():
    assert "choose one of" in str(run("nobody").exception)


def test_help_has_an_example():
    assert "unitless adversary coordinate" in run("--help").output
