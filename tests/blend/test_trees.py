"""The Blend with trees: curves and interactions, with the laws and the guarantee of the Blend."""

from itertools import pairwise

import numpy as np
import pytest

import unitless
from unitless.learners import Blend, HistogramTrees
from unitless.rows import as_rows

LOSSES = ["logistic", "squared", "softmax", "hinge", "absolute"]
each_loss = pytest.mark.parametrize("loss", LOSSES)


def blend(loss):
    return Blend(loss, views="all", classes=3 if loss == "softmax" else 0)


def stream(loss, n=700):
    """A product of two columns, one column that comes late, and missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * [1.0, 100.0, 1e-3, 1.0, 1.0]
    X[: n // 2, 4] = 0.0
    signal = X[:, 0] * X[:, 1] / 100
    X[rng.random((n, 5)) < 0.03] = np.nan
    if loss in ("squared", "absolute"):
        return X, 10 + signal
    if loss == "softmax":
        return X, np.digitize(signal, [-0.3, 0.3]).astype(float)
    return X, np.where(signal > 0, 1.0, -1.0)


@each_loss
def test_it_sees_an_interaction(loss):
    X, y = stream(loss, 3000)
    plain = Blend(loss, views="smooth", classes=3 if loss == "softmax" else 0)
    paid = [
        learner.loss.value(y, learner.learn(as_rows(X, y))).mean()
        for learner in (plain, blend(loss))
    ]
    assert paid[1] < 0.8 * paid[0]


@each_loss
def test_rows_one_by_one_are_the_block(loss):
    X, y = stream(loss, 200)
    rows = as_rows(X, y)
    single, whole = blend(loss), blend(loss)
    scores = np.concatenate([single.learn(rows[t : t + 1]) for t in range(200)])
    np.testing.assert_array_equal(scores, whole.learn(rows))
    np.testing.assert_array_equal(single.predict(rows), whole.predict(rows))
    parts = [single.predict(rows[t : t + 1]) for t in range(200)]
    np.testing.assert_array_equal(np.concatenate(parts), whole.predict(rows))


@each_loss
def test_units_change_no_bit(loss):
    X, y = stream(loss)
    factors = 2.0 ** np.array([30, -3, 100, 0, -40])
    np.testing.assert_array_equal(
        blend(loss).learn(as_rows(X, y)), blend(loss).learn(as_rows(X * factors, y))
    )


@each_loss
def test_rescale_goes_on(loss):
    """Also by negative factors: mirrored rows get the scores that the old ones would have had."""
    X, y = stream(loss)
    factors = np.array([-4.0, 2.0, 0.5, -1.0, 8.0])
    straight, changed = blend(loss), blend(loss)
    for learner in (straight, changed):
        learner.learn(as_rows(X[:400], y[:400]))
    changed.rescale(factors)
    expected = straight.learn(as_rows(X[400:], y[400:]))
    scores = changed.learn(as_rows(X[400:] * factors, y[400:]))
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)


@each_loss
def test_saved_and_resumed(loss, tmp_path):
    X, y = stream(loss)
    learner = blend(loss)
    learner.learn(as_rows(X[:400], y[:400]))
    unitless.save(learner, tmp_path / "model")
    resumed = unitless.load(tmp_path / "model").learner
    rest = as_rows(X[400:], y[400:])
    np.testing.assert_array_equal(resumed.learn(rest), learner.learn(rest))


@each_loss
def test_guarantees_of_all_members(loss):
    """The loss is at most that of every member, trees included, plus the stated overhead."""
    X, y = stream(loss)
    learner = blend(loss)
    learner.learn(as_rows(X, y))
    guarantees = learner.guarantees()
    assert {"boosted trees", "neighbours"} <= set(guarantees)
    for guarantee in guarantees.values():
        assert guarantee.loss <= guarantee.member_loss + guarantee.overhead + 1e-9


@each_loss
def test_contributions_add_up(loss):
    X, y = stream(loss)
    learner = blend(loss)
    learner.learn(as_rows(X, y))
    sizes = np.zeros(5)
    for t in range(5, 25):
        row = as_rows(X[t : t + 1])
        base, parts = learner.contributions(row)
        np.testing.assert_allclose(base + parts.sum(axis=0), learner.predict(row)[0], rtol=1e-9)
        sizes += np.abs(parts).reshape(5, -1).sum(axis=1)
    assert sizes[:2].min() > sizes[2:].max()  # the columns that matter


# With a forest of histogram trees in use: it is begun in row 512 and in use from row 666 on

few_losses = pytest.mark.parametrize("loss", ["logistic", "squared", "softmax"])
LONG = 1500


def histogram_trees(learner):
    """The member of that name, with a forest in use."""
    found = next(each for each in learner.experts if isinstance(each, HistogramTrees))
    assert len(found.forest.roots) > 0
    return found


@few_losses
def test_units_change_no_bit_with_a_forest(loss):
    X, y = stream(loss, LONG)
    factors = 2.0 ** np.array([30, -3, 100, 0, -40])
    straight, changed = blend(loss), blend(loss)
    np.testing.assert_array_equal(
        straight.learn(as_rows(X, y)), changed.learn(as_rows(X * factors, y))
    )
    assert histogram_trees(straight).predict(as_rows(X)).any()
    np.testing.assert_array_equal(
        histogram_trees(straight).predict(as_rows(X)),
        histogram_trees(changed).predict(as_rows(X * factors)),
    )


@few_losses
def test_rows_one_by_one_are_the_block_with_a_forest(loss):
    X, y = stream(loss, LONG)
    rows = as_rows(X, y)
    single, whole = blend(loss), blend(loss)
    scores = np.concatenate([single.learn(rows[t : t + 1]) for t in range(LONG)])
    np.testing.assert_array_equal(scores, whole.learn(rows))
    np.testing.assert_array_equal(single.predict(rows), whole.predict(rows))
    histogram_trees(whole)


@few_losses
def test_saved_and_resumed_with_a_forest(loss, tmp_path):
    """While the first forest is grown, and while it is in use."""
    X, y = stream(loss, LONG)
    rows = as_rows(X, y)
    uninterrupted, learner = blend(loss), blend(loss)
    expected = uninterrupted.learn(rows)
    scores = []
    for first, last in pairwise([0, 600, 1000, LONG]):
        scores.append(learner.learn(rows[first:last]))
        unitless.save(learner, tmp_path / "model")
        learner = unitless.load(tmp_path / "model").learner
    np.testing.assert_array_equal(np.concatenate(scores), expected)
    np.testing.assert_array_equal(learner.predict(rows), uninterrupted.predict(rows))
    histogram_trees(learner)


def test_a_blend_without_trees_is_symmetric():
    assert Blend(views="smooth").symmetric
    assert Blend(views="linear").symmetric
    assert not Blend().symmetric


def test_noise_is_scored_like_the_frequency_of_the_classes():
    """The trees of the Blend split early and lose on noise; the stacker and the mixture do not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 10))
    y = np.where(rng.random(10_000) < 0.3, 1.0, -1.0)
    learner = blend("logistic")
    loss = learner.loss.value(y, learner.learn(as_rows(X, y))).mean()
    frequency = (np.cumsum(y > 0) - (y > 0) + 0.5) / np.arange(1, 10_001)
    best = learner.loss.value(y, np.log(frequency / (1 - frequency))).mean()
    assert loss < 1.01 * best
