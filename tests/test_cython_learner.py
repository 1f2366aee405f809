"""A compiled learner outside the package: built, found by its entry point, checked, saved."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "cython_learner"
CODE = """
import numpy as np
import unitless
from unitless.learners import get, names
from unitless.rows import as_rows
from unitless.testing import check_learner

assert "compiled_gradient" in names()
kind = get("compiled_gradient")
check_learner(kind)
X = np.random.default_rng(0).normal(size=(200, 12))
y = np.sign(X[:, 0])
learner = kind(rate=0.5)
learner.learn(as_rows(X, y))
unitless.save(learner, "model")
again = unitless.load("model").learner
assert type(again) is kind and again.rate == 0.5
assert np.array_equal(again.predict(as_rows(X)), learner.predict(as_rows(X)))
several = unitless.OnlineClassifier(learner="compiled_gradient").fit(X, np.arange(200) % 3)
assert several.predict_proba(X).shape == (200, 3)

import sys
sys.path.insert(0, sys.argv[1])
from own_learner import ScaledGradient
ours = ScaledGradient(rate=0.5).learn(as_rows(X, y))
np.testing.assert_allclose(kind(rate=0.5).learn(as_rows(X, y)), ours, rtol=1e-10, atol=1e-12)
print("all is well")
"""


@pytest.mark.slow
def test_the_example_builds_and_keeps_the_laws(tmp_path):
    for needed in ("Cython", "mesonpy"):
        pytest.importorskip(needed, reason=f"{needed} is needed to build the example")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    programs = Path(sys.executable).parent  # ninja and meson, where no environment is activated
    env = {**os.environ, "PATH": os.pathsep.join([str(programs), os.environ["PATH"]])}
    command = [*install, "--target", str(tmp_path), str(EXAMPLE)]
    subprocess.run(command, env=env, check=True, timeout=600)
    run = subprocess.run(
        [sys.executable, "-c", CODE, str(EXAMPLE.parent)],
        cwd=tmp_path,
        env={**env, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith("all is well\n")
