"""How many calls lie between a public method and compiled code.

Counted are Python frames of this package, from the public method down to the one that calls the
learner, whose methods are compiled.
"""

import sys
from types import FunctionType

import numpy as np
import pytest

from unitless import OnlineClassifier, OnlineRegressor
from unitless.learners import REGISTRY, Blend, Coordinate, get

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
MOST = {"coordinate": 4, "blend": 5}
"""Calls from a public method to compiled code: those of a single learner, and of the default."""
deepest = []


def frames_of_the_package(frame):
    """Count by the name of the module: a clone named `unitless` may hold the environment, too."""
    count = 0
    while frame is not None:
        count += frame.f_globals["__name__"].partition(".")[0] == "unitless"
        frame = frame.f_back
    return count


def test_frames_of_other_packages_do_not_count():
    place = "/home/me/unitless/.venv/lib/python3.11/site-packages/other/calls.py"
    names = {"__name__": "other.calls", "counted": frames_of_the_package, "sys": sys}
    exec(compile("count = counted(sys._getframe())", place, "exec"), names)
    assert names["count"] == 0


class Watched:
    """Notes how deep it is called."""

    def learn(self, rows, not_fresh=None):
        deepest.append(frames_of_the_package(sys._getframe()))
        return super().learn(rows, not_fresh)

    def predict(self, rows, fresh=False):
        deepest.append(frames_of_the_package(sys._getframe()))
        return super().predict(rows, fresh)


class WatchedCoordinate(Watched, Coordinate):
    pass


class WatchedBlend(Watched, Blend):
    pass


@pytest.mark.parametrize("kind", [WatchedCoordinate, WatchedBlend])
@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict"])
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_calls_from_an_estimator(kind, call, task):
    estimator = OnlineClassifier if task == "classes" else OnlineRegressor
    loss = "logistic" if task == "classes" else "absolute"
    y = X[:, 0] > 0 if task == "classes" else X[:, 0]
    model = estimator(learner=kind(loss)).fit(X, y)
    deepest.clear()
    getattr(model, call)(*((X,) if call == "predict" else (X, y)))
    assert deepest
    assert max(deepest) + 1 <= MOST[kind.name]  # the last one is that of the learner itself


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_learners_are_compiled(name):
    """No Python function lies between a learner and its loop over rows."""
    kind = get(name)
    for method in ("learn", "predict", "learn_one", "predict_one"):
        assert not isinstance(getattr(kind, method), FunctionType)
