"""Members on threads of their own: the same bits."""

import numpy as np
import pytest

from unitless.blend import ensemble as threads
from unitless.learners import Blend
from unitless.rows import as_rows


def stream(n=3 * threads.MIN_ROWS):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6)) * 10.0 ** rng.integers(-3, 4, 6)
    return as_rows(X, np.sign(X[:, 0] + rng.normal(size=n) * 1e-3))


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_threads_change_no_bit(loss, monkeypatch):
    scores = []
    for count in (1, 2, 4):
        monkeypatch.setattr(threads.config, "NUMBA_NUM_THREADS", count)
        learner, rows = Blend(loss), stream()
        scores.append((learner.learn(rows), learner.predict(rows)))
    for others in scores[1:]:
        np.testing.assert_array_equal(scores[0], others)


def test_members_do_run_on_threads(monkeypatch):
    monkeypatch.setattr(threads.config, "NUMBA_NUM_THREADS", 2)
    seen = []
    pool = threads.ThreadPoolExecutor
    monkeypatch.setattr(threads, "ThreadPoolExecutor", lambda n: seen.append(n) or pool(n))
    Blend().learn(stream(threads.MIN_ROWS - 1))
    assert not seen
    Blend().learn(stream(threads.MIN_ROWS))
    assert seen == [2]
