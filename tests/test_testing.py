"""A learner written outside the package works, is cached, and is checked by the laws."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from unitless.kernels.decorators import cache_folder
from unitless.learners import get
from unitless.rows import as_rows
from unitless.testing import check_learner

LEARNER = '''
"""Perceptron-like: w_i -= g x_i / M_i^2 with M_i = max |x_i|."""

from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, every, load, store, total, where
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop


@inlined
def predict(parameters, totals, v, x, f, scratch):
    M, B = f[0], f[1]
    score = every(0.0)
    for k in range(0, x.size, LANES):
        largest = max(load(M, k), abs(load(x, k)))
        store(M, k, largest)
        score += load(B, k) * (load(x, k) / where(largest > 0.0, largest, 1.0))
    p = total(score)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    M, B = f[0], f[1]
    for k in range(0, x.size, LANES):
        largest = load(M, k)
        ratio = load(x, k) / where(largest > 0.0, largest, 1.0)
        store(B, k, load(B, k) - parameters[0] * trial.v * trial.g * ratio)


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 2, task, parameters, block, targets, weights, scores, state)


class Mine(Coordinatewise):
    name = "mine"
    invariance = "unit"
    fields = (Field("M", "|x|", "max |x_i|"), Field("B", "sign", "w_i M_i"))
    kernel = staticmethod(run)

    def __init__(self, loss="logistic", *, rate=0.1, intercept=True):
        super().__init__(loss, intercept=intercept)
        self.rate = rate
        self._prepare()

    def _parameters(self):
        return (self.rate,)
'''


def imported(path):
    """The module in that file, anew."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def written(tmp_path, monkeypatch):
    """The file of a learner, on the path so that it can be pickled."""
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "my_learner.py"
    path.write_text(LEARNER)
    return path


def test_a_learner_of_ones_own(written):
    import my_learner

    check_learner(my_learner.Mine)
    rows = as_rows(np.eye(3), [1, -1, 1])
    assert my_learner.Mine().learn(rows).shape == (3,)
    assert Path(my_learner.run.stats.cache_path).is_relative_to(cache_folder())
    again = imported(written)
    again.Mine().learn(rows)
    assert sum(again.run.stats.cache_hits.values()) == 1


class Careless(get("ogd")):
    """Gradient descent that claims to be scale-invariant."""

    invariance = "unit"

    def _rescale(self, columns, factors):
        pass


def test_a_false_promise_is_found():
    with pytest.raises(AssertionError, match="Careless with the logistic loss: A scale-invariant"):
        check_learner(Careless)


@pytest.mark.parametrize("name", ["coordinate", "scinol2", "ogd", "full"])
def test_learners_of_the_package(name):
    check_learner(get(name))
