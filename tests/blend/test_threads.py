"""Members on threads of their own: the same bits."""

import numpy as np
import pytest

from unitless.blend import blend as module
from unitless.learners import Blend
from unitless.rows import as_rows

ENOUGH = 256
"""Rows from which on members run on threads."""


def stream(n=3 * ENOUGH):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6)) * 10.0 ** rng.integers(-3, 4, 6)
    return as_rows(X, np.sign(X[:, 0] + rng.normal(size=n) * 1e-3))


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_threads_change_no_bit(loss, monkeypatch):
    scores = []
    for count in (1, 2, 4):
        monkeypatch.setattr(module, "_threads", lambda count=count: count)
        learner, rows = Blend(loss), stream()
        scores.append((learner.learn(rows), learner.predict(rows)))
    for others in scores[1:]:
        np.testing.assert_array_equal(scores[0], others)


def test_members_do_run_on_threads(monkeypatch):
    monkeypatch.setattr(module, "_threads", lambda: 2)
    seen = []
    pool = module.ThreadPoolExecutor
    monkeypatch.setattr(module, "ThreadPoolExecutor", lambda n: seen.append(n) or pool(n))
    Blend().learn(stream(ENOUGH - 1))
    assert not seen
    Blend().learn(stream(ENOUGH))
    assert seen == [2]


def test_the_environment_limits_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert module._threads() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "not a number")
    assert module._threads() >= 1
