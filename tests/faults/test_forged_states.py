"""Forged states of every learner, in processes of their own, so that a crash is seen.

`benchmarks/forged_files.py` tries many more, in a build that checks every access to memory.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.forging import pairs
from unitless.learners import REGISTRY

pytestmark = pytest.mark.forged
FORGING = Path(__file__).with_name("forging.py")
EVERY = {"blend": 200, "linear_blend": 1000, "boosted_trees": 20, "histogram_trees": 20}
"""Of learners with many arrays, every so many of the forgeries are tried, else every tenth.
Indices and counts are all tried, but for the linear Blend, which has no part of its own."""


def figures(words):
    """What the program prints: a line per learner and loss."""
    path = os.pathsep.join([str(FORGING.parents[1]), *sys.path])
    done = subprocess.run(
        [sys.executable, FORGING, *words],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": path},
    )
    last = [line for line in done.stderr.splitlines() if ": " in line][-1:]
    assert done.returncode == 0, (
        f"it ended with {done.returncode}, at {last}\n{done.stderr[-2000:]}"
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


TAKEN = {name: [loss for each, loss in pairs() if each == name] for name in REGISTRY}
"""The losses that a learner takes."""
CASES = [(name, losses) for name, losses in TAKEN.items() if name != "blend"]
CASES += [("blend", [loss]) for loss in TAKEN["blend"]]


@pytest.mark.parametrize(("name", "losses"), CASES, ids=[f"{n} {own[0]}" for n, own in CASES])
def test_forged_states_are_refused_or_harmless(name, losses):
    """Whatever loading accepts, the learner predicts and learns, within its own memory."""
    words = [word for loss in losses for word in (name, loss, str(EVERY.get(name, 10)))]
    found = figures(words)
    assert [each["loss"] for each in found] == losses
    for each in found:
        assert each["failures"] == []
        assert each["loaded"] > 1
        assert each["refused"] > 1


def test_what_a_learner_is_used_for_is_seen():
    """The program notices errors that no learner may raise."""
    from faults.forging import Trial

    trial = Trial("coordinate", "logistic", rows=20)
    trial.run("as it was")
    assert trial.counts == {"loaded": 1}
    trial.run("nothing", arrays={"t": trial.arrays["t"]})
    assert trial.counts == {"loaded": 1, "refused": 1}
