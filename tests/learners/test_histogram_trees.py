"""Histogram trees: a twin from the formulas, what they can learn, and what they keep."""

import pickle

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
    np.testing.assert_allclose(learner.mean_error, twin.mean_error, rtol=1e-9)
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
    X = rng.integers(-1, 2, (130, 1050))  # and 130 * 1050 > 2^17
    compare(loss, X, targets_for(loss, X[:, 30]), first=100)


def test_twin_whose_rows_leave_for_new_columns():
    """A new column makes each row longer; the row at hand keeps its own error."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(240, 60))
    X[np.arange(240)[:, None] < 4 * np.arange(60)] = 0.0
    y = targets_for("logistic", 2 * X[:, 0])
    _, twin = compare("logistic", X, y, first=20, max_memory=0.02)
    assert twin.halved_for_columns


@pytest.mark.parametrize("loss", LOSSES)
def test_twin_without_room(loss):
    """Two rows are more than the memory allowed: hardly any row is kept, and all is finite."""
    X, y = stream(loss, 300)
    X[np.arange(300)[:, None] < 20 * np.arange(6)] = 0.0
    learner, _ = compare(loss, X, y, first=20, max_memory=1e-9)
    assert len(learner.labels) <= 2
    assert np.isfinite(learner.predict(as_rows(X))).all()
    resumed = pickle.loads(pickle.dumps(learner))
    rows = as_rows(X, y)
    np.testing.assert_array_equal(resumed.learn(rows), learner.learn(rows))


def test_one_class():
    X, _ = stream("softmax")
    learner = HistogramTrees("softmax", classes=1, first=20)
    assert not learner.learn(as_rows(X, np.zeros(len(X)))).any()


# What the page promises


@each_loss
def test_the_first_scores(loss):
    """0 until a forest is in use; with the squared loss, the number in the range nearest to it."""
    X, y = stream(loss)
    scores = made(loss, first=100).learn(as_rows(X, y))
    lowest = np.maximum(np.minimum.accumulate(y), 0)
    expected = np.append(0, lowest[:129]) if loss == "squared" else np.zeros(130)
    np.testing.assert_array_equal(scores[:130].reshape(130, -1)[:, 0], expected)
    assert (scores[130:] != 0).all()


@pytest.mark.parametrize(("n", "trees", "leaves"), [(27, 8, 4), (1000, 16, 13), (8000, 32, 36)])
def test_size_of_a_forest(n, trees, leaves):
    """It is begun at n rows, and is in use when there are 30 % more."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (n + 3 * n // 10 + 1, 3))
    y = np.sign(X[:, 0] * X[:, 1])
    learner = HistogramTrees(first=n)
    learner.learn(as_rows(X[:n], y[:n]))
    assert (learner.begun, learner.planned, len(learner.next.roots)) == (n, trees, 0)
    learner.learn(as_rows(X[n:-1], y[n:-1]))
    learner.learn(as_rows(X[-1:], y[-1:]))
    assert (learner.planned, len(learner.forest.roots)) == (0, trees)
    nodes = np.diff(np.append(learner.forest.roots, len(learner.forest.nodes)))
    assert ((nodes + 1) // 2).max() <= leaves
    assert ((nodes + 1) // 2).max() > 0.7 * leaves or n < 100


def test_columns_of_a_tree():
    """At most max(32, 2^17 / n); together, the trees use all of them."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(10_400, 64))
    y = np.sign(X.sum(axis=1))
    learner = HistogramTrees(first=8000)
    learner.learn(as_rows(X, y))
    nodes, roots = np.array(learner.forest.nodes), np.array(learner.forest.roots)
    columns = [set(own["column"].tolist()) - {0} for own in np.split(nodes, roots[1:])]
    assert 25 < max(map(len, columns)) <= 32
    assert set.union(*columns) == set(range(1, 65))


def test_useless_columns_cost_little():
    """Twenty columns of noise per useful one; 97 % are right without them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 63))
    y = np.sign(X[:, 0] * X[:, 1] + X[:, 2])
    scores = HistogramTrees().learn(as_rows(X, y))
    assert (scores * y > 0)[2500:].mean() > 0.92


@each_loss
def test_contributions_add_up(loss):
    X, y = stream(loss, 400)
    learner = made(loss, first=50)
    learner.learn(as_rows(X, y))
    sizes = np.zeros(6)
    for row in (as_rows(X[t : t + 1]) for t in range(0, 400, 10)):
        base, parts = learner.contributions(row)
        np.testing.assert_allclose(base + parts.sum(axis=0), learner.predict(row)[0], rtol=1e-9)
        sizes += np.abs(parts).reshape(6, -1).sum(axis=1)
    assert sizes[3] == 0  # constant
    assert sizes[:2].min() > sizes[4:].max()


@pytest.mark.parametrize("t", [120, 220])  # one forest is in use; besides, another is grown
def test_a_class_that_comes_later(t):
    X, y = stream("softmax", 600)
    learner = made("softmax", 2, first=100)
    learner.learn(as_rows(X[:t], np.minimum(y[:t], 1)))
    if t < 130:
        learner.learn(as_rows(X[t:150], np.minimum(y[t:150], 1)))
    before = learner.predict(as_rows(X))
    learner.add_class()
    after = learner.predict(as_rows(X))
    np.testing.assert_array_equal(after[:, :2], before)
    assert not after[:, 2].any()
    learner.learn(as_rows(X[t:], y[t:]))
    assert (learner.predict(as_rows(X)).argmax(axis=1) == y)[t:].mean() > 0.8


@each_loss
def test_memory_is_bounded(loss):
    """Of a stream that would need seven times as much; what is predicted is still good."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(20_000, 10))
    y = targets_for(loss, X[:, 0] * X[:, 1])
    learner = made(loss, max_memory=0.3)
    for t in range(0, len(X), 500):
        scores = learner.learn(as_rows(X[t : t + 500], y[t : t + 500]))
        assert memory(learner) < 0.3e6
    best_constant = np.bincount(y.astype(int)).max() / len(y) if loss == "softmax" else 0.5
    if loss == "squared":
        assert ((scores - y[-500:]) ** 2).mean() < 0.3 * y.var()
    else:
        right = scores.argmax(axis=1) == y[-500:] if loss == "softmax" else scores * y[-500:] > 0
        assert right.mean() > (1 + best_constant) / 2


def test_hard_rows_are_kept():
    """One row of a hundred is of a class; it counts as often as it came, though more are kept."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20_000, 5))
    y = np.where((X[:, 0] > 2) & (X[:, 1] > 0), 1.0, -1.0)
    learner = HistogramTrees(max_memory=0.25)
    learner.learn(as_rows(X, y))
    kept = np.array(learner.labels)
    rare = kept["y"] > 0
    assert rare.mean() > 3 * (y > 0).mean()
    counted = 1 / kept["chance"]
    assert 0.9 < counted.sum() / len(y) < 1.1
    assert 0.6 < counted[rare].sum() / (y > 0).sum() < 1.6


def test_a_column_that_outgrows_its_unit():
    """By more than the range of a float: its factor stays finite, and 0 stays 0."""
    X, y = stream("logistic")
    X = np.nan_to_num(X[:, :3])
    X[:, 1] = np.where(np.arange(200) < 100, X[:, 1] * 2.0**-1060, X[:, 1] * 2.0**1000)
    learner = HistogramTrees(first=20)
    assert np.isfinite(learner.learn(as_rows(X, y))).all()
    assert np.isfinite(np.array(learner.own_unit)).all()
    X[::3, 1] = 0.0
    assert np.isfinite(learner.predict(as_rows(X))).all()


def test_bad_parameters():
    with pytest.raises(ValueError, match="first = 1: it is a whole number >= 2"):
        HistogramTrees(first=1)
    with pytest.raises(ValueError, match="max_memory = 0"):
        HistogramTrees(max_memory=0)
    with pytest.raises(ValueError, match="takes the logistic or the softmax or the squared loss"):
        HistogramTrees("hinge")


def test_rows_that_are_wrong_by_far_leave_too():
    """Else the memory that they fill would have room for no other row ever again."""
    X, y = stream("squared", 3000)
    y[:300] *= 2.0**200
    learner, _ = compare("squared", X[:600], y[:600], first=20, max_memory=0.014)
    learner.learn(as_rows(X[600:], y[600:]))
    assert learner.share > 2.0**-60
    assert len(learner.labels) > 1
