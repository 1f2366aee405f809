"""Looking inside: weights, contributions that add up to the score, who carries how much."""

import copy

import numpy as np
import pytest

from blend.material import CLASSES, FEW_LOSSES, LOSSES, blend, same_bits, tame, widening
from unitless.blend.explaining import means_and_deviations
from unitless.rows import as_rows

each_loss = pytest.mark.parametrize("loss", LOSSES)
few_losses = pytest.mark.parametrize("loss", FEW_LOSSES)


def taught(loss, **parameters):
    """(a blend that has learned, rows)."""
    X, y = tame(loss)
    learner = blend(loss, **parameters)
    learner.learn(as_rows(X, y))
    return learner, X, y


# weights()


@each_loss
def test_weights_are_changes_of_the_score(loss):
    """Of one deviation either way of the means, per unit of the feature."""
    learner, X, _ = taught(loss)
    weights = learner.weights()
    # to the bit: the score may jump at the means, which are edges of bins
    mean, deviation = means_and_deviations(learner)
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(deviation, X.std(axis=0), rtol=1e-9)
    rows = np.vstack([mean, mean + np.diag(deviation), mean - np.diag(deviation)])
    scores = learner.predict(as_rows(rows))
    by_hand = ((scores[1:7] - scores[7:]).T / (2 * deviation)).T
    least = 1e-9 * np.abs(by_hand).max()
    np.testing.assert_allclose(weights.features, by_hand, rtol=1e-6, atol=least)
    at_means = weights.intercept + mean @ weights.features
    np.testing.assert_allclose(at_means, scores[0], rtol=1e-9, atol=1e-9)


@few_losses
def test_weights_have_the_unit_of_1_over_x(loss):
    learner, X, y = taught(loss)
    factors = np.array([2.0, -4.0, 2.0**-30, 2.0**30, 1.0, 0.5])
    sizes = np.abs(factors)  # trees and bins know the signs of the columns
    other = blend(loss)
    other.learn(as_rows(X * sizes, y))
    for changed, by in ((other, sizes), (copy.deepcopy(learner).rescale(factors), factors)):
        same_bits((changed.weights().features.T * by).T, learner.weights().features)


def test_a_constant_column_has_no_weight():
    """However it is rounded: of 3.7 and a million, no deviation but 0."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(300, 3.7), np.full(300, 1e6 / 3), rng.normal(size=300)])
    y = np.sign(X[:, 2] + rng.normal(size=300))
    learner = blend()
    learner.learn(as_rows(X, y))
    weights = learner.weights().features
    assert not weights[:2].any()
    assert weights[2] > 0.5


@pytest.mark.parametrize("origin", [1e3, 1e6, 1e8])
def test_weights_of_a_column_far_from_0(origin):
    """Deviations do not cancel: the weight is that of the column near 0 but for the raw views."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = np.sign(X[:, 0] + 0.5 * rng.normal(size=500))
    learner = blend()
    learner.learn(as_rows(X + np.array([origin, 0]), y))
    assert 1 < learner.weights().features[0] < 8


def test_weights_once_rows_are_lists():
    X, y = widening("logistic", "dense")
    learner = blend()
    learner.learn(as_rows(X, y))
    weights = learner.weights()
    assert weights.features.shape == (X.shape[1],)
    assert np.isfinite(weights.features).all()
    assert weights.intercept == learner.predict(as_rows(np.zeros((1, X.shape[1]))))[0]


def test_weights_of_one_who_knows_nothing():
    weights = blend().weights()
    assert weights.intercept == 0
    assert weights.features.shape == (0,)


# contributions()


def adds_up(learner, row):
    """Assert that base and contributions are the score; the contributions."""
    rows = as_rows(row)
    base, parts = learner.contributions(rows)
    score = learner.predict(rows)[0]
    size = np.abs(parts).sum() + np.abs(base).max()
    np.testing.assert_allclose(base + parts.sum(axis=0), score, atol=1e-14 * size)
    return parts


@each_loss
@pytest.mark.parametrize("views", ["all", "smooth", "linear"])
def test_contributions_add_up(loss, views):
    learner, X, _ = taught(loss, views=views)
    for t in range(5):
        parts = adds_up(learner, X[t : t + 1])
        assert parts.shape == ((6, CLASSES) if loss == "softmax" else (6,))
    adds_up(learner, np.zeros((1, 6)))


@few_losses
@pytest.mark.parametrize("kind", ["small", "dense", "falling"])
def test_contributions_add_up_while_members_leave(loss, kind):
    X, y = widening(loss, kind)
    learner = blend(loss)
    for t in range(0, len(y), 6):
        learner.learn(as_rows(X[t : t + 6], y[t : t + 6]))
        for row in (X[t : t + 1], X[-1:]):
            parts = adds_up(learner, row)
            absent = np.ones(len(parts), dtype=bool)
            absent[row.indices[row.indices < len(parts)]] = False
            if not learner.features.dense:
                assert not parts[absent].any()


@few_losses
def test_looking_leaves_no_trace(loss):
    learner, X, y = taught(loss)
    before = learner.predict(as_rows(X[:20]))
    learner.contributions(as_rows(X[:1]))
    learner.weights()
    learner.guarantees()
    learner.history()
    same_bits(learner.predict(as_rows(X[:20])), before)
    other, _, _ = taught(loss)
    same_bits(learner.learn(as_rows(X, y)), other.learn(as_rows(X, y)))


def test_contributions_point_the_right_way():
    """Of the only feature that matters, in its unit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3)) * [1e4, 1, 1e-4]
    y = np.sign(X[:, 0] / 1e4 + 0.3 * rng.normal(size=2000))
    learner = blend()
    learner.learn(as_rows(X, y))
    for sign in (1.0, -1.0):
        parts = adds_up(learner, sign * np.array([[2e4, 1.0, 1e-4]]))
        assert sign * parts[0] > 2
        assert np.abs(parts[1:]).max() < 0.2 * abs(parts[0])


# Who carries how much


@each_loss
def test_weights_of_members(loss):
    learner, _, _ = taught(loss)
    carried = learner.mixture_weights()
    assert sum(carried.values()) == pytest.approx(1, abs=1e-12)
    assert all(weight >= 0 for weight in carried.values())
    history = learner.history()
    assert [t for t, _ in history] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert all(weights.keys() == carried.keys() for _, weights in history)
