"""Every example runs, and prints what its reader is meant to see."""

import re
from pathlib import Path

import pytest

import scripts

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
OFF = re.compile(r"off by ([\d.]+)")


@pytest.fixture
def printed(capfd):
    """Run an example; returns what it prints. A warning is an error."""

    def run(name):
        scripts.run(EXAMPLES / f"{name}.py")
        said = capfd.readouterr()
        assert said.err == ""
        return said.out

    return run


def test_stream_from_csv(printed):
    text = printed("stream_from_csv")
    errors = [float(error) for error in OFF.findall(text)]
    assert len(errors) == 6
    assert errors[0] > errors[-1]
    assert max(errors[1:]) < 3
    assert "distance_m" in text.splitlines()[-1]


def test_river_before_and_after(printed):
    text = printed("river_before_and_after")
    before, after = (float(score) for score in re.findall(r"Accuracy: ([\d.]+)%", text))
    assert after > before
    before, after = (float(score) for score in re.findall(r"MAE: ([\d.]+)", text))
    assert after < before
    assert text.endswith("to the last bit: True\n")


def test_change_of_unit(printed):
    text = printed("change_of_unit")
    scores = [float(line.split()[-1]) for line in text.splitlines()[1:4]]
    unchanged, told, untold = scores
    assert told == unchanged > untold
    assert float(text.split()[-1]) < 1e-6


def test_resume_elsewhere(printed):
    text = printed("resume_elsewhere")
    assert "first process: learned 221 patients" in text
    assert float(OFF.search(text)[1]) < 60
    assert text.endswith("one process that learned all: True\n")


def test_own_learner(printed):
    text = printed("own_learner")
    assert float(re.search(r"seen: ([\d.]+)", text)[1]) > 0.85
    assert "bit for bit: True" in text
    assert text.endswith("check_learner found no error\n")


def test_every_example_is_tested():
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES.glob("*.py")} <= tested


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_says_how_to_run_it(path):
    assert f"python examples/{path.name}" in path.read_text()
