"""Histogram trees: a twin from the formulas, what they can learn, and what they keep."""

import numpy as np
import pytest

from laws.test_memory import memory
from naive.histogram_trees import HistogramTrees as Twin
from unitless.learners import HistogramTrees
from unitless.rows import as_rows


def stream(loss, n=200, classes=3):
    """Rows with a constant column, missing values, a late column, and two that matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6)) * [1, 100, 1e-3, 1, 1, 1]
    X[:, 3] = 7.0
    X[: n // 2, 4] = 0.0
    X[:, 5] = rng.integers(0, 4, n)
    X[rng.random((n, 6)) < 0.05] = np.nan
    return X, targets_for(
        loss, np.nan_to_num(X[:, 0] * X[:, 1] / 100 + np.sin(2 * X[:, 0])), classes
    )


def targets_for(loss, signal, classes=3):
    """Targets that follow a signal of about -2 to 2."""
    noise = 0.1 * np.random.default_rng(1).normal(size=len(signal))
    if loss == "squared":
        return 3 + signal + noise
    if loss == "logistic":
        return np.where(signal + noise > 0, 1.0, -1.0)
    return np.digitize(signal + noise, np.linspace(-1, 1, classes - 1)).astype(float)


def made(loss, classes=3, **parameters):
    return HistogramTrees(loss, classes=classes if loss == "softmax" else 0, **parameters)


def compare(loss, X, y, v=None, classes=3, **parameters):
    """Assert that learner and twin have the same scores; returns both."""
    twin = Twin(loss, classes if loss == "softmax" else 1, **parameters)
    learner = made(loss, classes, **parameters)
    weights = np.ones(len(y)) if v is None else v
    expected = [twin.learn(*trial) for trial in zip(X, y, weights, strict=True)]
    scores = learner.learn(as_rows(X, y, v)).reshape(len(X), -1)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-11)
    assert len(learner.labels) == len(twin.rows)
    assert learner.share == twin.share
    return learner, twin


LOSSES = ["logistic", "squared", "softmax"]
each_loss = pytest.mark.parametrize("loss", LOSSES)
KINDS = [("logistic", 0), ("squared", 0), ("softmax", 2), ("softmax", 3), ("softmax", 9)]
each_kind = pytest.mark.parametrize(("loss", "classes"), KINDS)


@each_kind
@pytest.mark.parametrize("first", [20, 37])
def test_twin(loss, classes, first):
    X, y = stream(loss, classes=classes)
    _, twin = compare(loss, X, y, classes=classes, first=first)
    assert len(twin.used) == 3
    assert max(len(tree.leaves()) for tree in twin.forest.trees) > 2


@each_loss
def test_twin_with_sample_weights(loss):
    X, y = stream(loss)
    v = np.random.default_rng(2).choice([0.0, 0.25, 1.0, 3.0], len(y))
    learner, twin = compare(loss, X, y, v, first=25)
    assert learner.trials == twin.t == np.count_nonzero(v)


@each_kind
def test_twin_whose_rows_leave(loss, classes):
    X, y = stream(loss, 300, classes)
    v = np.random.default_rng(2).choice([0.5, 1.0], len(y))
    learner, twin = compare(loss, X, y, v, classes, first=20, max_memory=0.014)
    assert twin.halvings > 1
    assert len(learner.labels) < 120


@each_loss
def test_twin_with_more_columns_than_a_tree_uses(loss):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 45))
    compare(loss, X, targets_for(loss, X[:, 30]), first=30)
