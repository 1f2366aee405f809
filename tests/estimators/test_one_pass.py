"""fit and partial_fit: one pass in the given order, scores made before each label."""

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from estimators.material import (
    BINARY,
    REAL,
    SEVERAL,
    SIGNS,
    WINE,
    A,
    B,
    OnlineClassifier,
    OnlineRegressor,
    W,
    X,
    Y,
    each_kind,
    each_model,
    same_model,
    standard,
)
from unitless.learners import get
from unitless.learners.one_vs_rest import with_classes
from unitless.rows import as_rows


@pytest.mark.parametrize("learner", BINARY)
def test_the_classifier_is_its_learner(learner):
    rows = standard(X)
    model = OnlineClassifier(learner).fit(rows, SIGNS)
    expected = get(learner)()
    np.testing.assert_array_equal(model.progressive_, expected.learn(as_rows(rows, SIGNS)))
    np.testing.assert_array_equal(model.decision_function(rows), expected.predict(as_rows(rows)))


@pytest.mark.parametrize("learner", SEVERAL)
def test_with_three_classes_too(learner):
    rows = standard(W)
    model = OnlineClassifier(learner).fit(rows, WINE)
    expected = with_classes(get(learner), 3)
    np.testing.assert_array_equal(model.progressive_, expected.learn(as_rows(rows, WINE)))
    np.testing.assert_array_equal(model.decision_function(rows), expected.predict(as_rows(rows)))
    assert model.progressive_.shape == (len(W), 3)


@pytest.mark.parametrize(("learner", "loss"), REAL.items())
def test_the_regressor_is_its_learner(learner, loss):
    rows = standard(A)
    model = OnlineRegressor(learner, loss).fit(rows, B)
    expected = get(learner)(loss)
    np.testing.assert_array_equal(model.progressive_, expected.learn(as_rows(rows, B)))
    np.testing.assert_array_equal(model.predict(rows), expected.predict(as_rows(rows)))


@each_model
def test_partial_fit_is_fit(model, data):
    rows, y = data
    whole, parts, scores = clone(model).fit(rows, y), clone(model), []
    for start in range(0, len(y), 97):
        parts.partial_fit(rows[start : start + 97], y[start : start + 97])
        scores.append(parts.progressive_)
    np.testing.assert_array_equal(np.concatenate(scores), whole.progressive_)
    same_model(parts, whole, rows)


@each_model
def test_both_return_the_model(model, data):
    assert model.fit(*data) is model
    assert model.partial_fit(*data) is model


@each_model
def test_fit_forgets(model, data):
    rows, y = data
    once, twice = clone(model).fit(rows, y), clone(model).fit(rows[::-1], y[::-1])
    twice.fit(rows, y)
    np.testing.assert_array_equal(once.progressive_, twice.progressive_)
    same_model(once, twice, rows)


def test_fit_takes_other_features_and_labels():
    model = OnlineClassifier().fit(X, Y)
    assert model.fit(W, WINE).n_features_in_ == 13
    assert model.classes_.tolist() == [0, 1, 2]
    same_model(model, OnlineClassifier().fit(W, WINE), W)


@each_model
def test_progressive_scores_are_made_before_the_label(model, data):
    """They depend on no later row, and not on the row's own label."""
    rows, y = data
    other = y.copy()
    other[100:] = np.roll(y, 37)[100:]
    one, two = clone(model).partial_fit(rows, y), clone(model).partial_fit(rows, other)
    np.testing.assert_array_equal(one.progressive_[:101], two.progressive_[:101])
    assert np.any(one.progressive_[101:] != two.progressive_[101:])


# Passes


@each_kind
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_passes(kind, form):
    """Two passes are one after the other; the scores are those of the last."""
    rows = form(X)
    model = kind(passes=2).fit(rows, Y)
    by_hand = kind().partial_fit(rows, Y).partial_fit(rows, Y)
    np.testing.assert_array_equal(model.progressive_, by_hand.progressive_)
    same_model(model, by_hand, rows)


@each_kind
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_shuffle(kind, form):
    """Each pass has an order of its own; scores, weights and labels stay with their rows."""
    v = np.random.default_rng(1).choice([0.5, 1.0, 2.0], len(Y))
    model = kind(passes=2, shuffle=True, random_state=7).fit(form(X), Y, sample_weight=v)
    generator, by_hand = np.random.RandomState(7), kind()
    for _ in range(2):
        order = generator.permutation(len(Y))
        by_hand.partial_fit(form(X)[order], Y[order], sample_weight=v[order])
    np.testing.assert_array_equal(model.progressive_[order], by_hand.progressive_)
    same_model(model, by_hand, X)


@each_kind
def test_random_state(kind):
    loss = "hinge" if kind is OnlineClassifier else "absolute"
    one, two, three = (
        kind("full", loss, shuffle=True, random_state=state).fit(X, SIGNS) for state in (3, 3, 4)
    )
    np.testing.assert_array_equal(one.progressive_, two.progressive_)
    assert np.any(one.progressive_ != three.progressive_)


@each_kind
def test_no_pass_is_an_error(kind):
    with pytest.raises(ValueError, match="passes = 0: at least one"):
        kind(passes=0).fit(X, Y)


# Learners of one's own


def test_a_learner_of_one_s_own():
    """Its parameters are kept, itself is not touched."""
    mine = get("coordinate")("hinge", alpha=2.0, wealth=3.0)
    model = OnlineClassifier(mine).fit(X, Y)
    expected = get("coordinate")("hinge", alpha=2.0, wealth=3.0)
    np.testing.assert_array_equal(model.progressive_, expected.learn(as_rows(X, 2.0 * Y - 1)))
    assert mine.sums().trials == 0
    assert model.learner is mine


def test_a_learner_of_one_s_own_for_three_classes():
    mine = get("blend")("softmax", views="linear", classes=3)
    model = OnlineClassifier(mine).fit(W, WINE)
    np.testing.assert_array_equal(
        model.progressive_, deepcopy(mine).learn(as_rows(W, WINE.astype(float)))
    )


@pytest.mark.parametrize(
    ("learner", "labels", "message"),
    [
        (get("full")(), WINE, r'full has the logistic loss.*"softmax" and classes=3'),
        (with_classes(get("nag"), 4), WINE, r"softmax loss \(classes=4\).*classes=3"),
        (with_classes(get("nag"), 3), WINE > 0, "needs a loss of one score"),
    ],
)
def test_a_learner_for_another_number_of_classes(learner, labels, message):
    with pytest.raises(ValueError, match=message):
        OnlineClassifier(learner).fit(W, labels)


def test_units_do_not_matter():
    factors = 2.0 ** np.random.default_rng(0).integers(-30, 30, 30)
    for learner in ("full", "blend"):
        one, two = (
            OnlineClassifier(learner).fit(X, Y),
            OnlineClassifier(learner).fit(X * factors, Y),
        )
        np.testing.assert_array_equal(one.progressive_, two.progressive_)


def test_targets_in_any_unit():
    """With the squared loss: other units of the target are other units of the predictions."""
    celsius, fahrenheit = (OnlineRegressor().fit(A, y) for y in (B, 32 + 1.8 * B))
    expected = 32 + 1.8 * celsius.progressive_[1:]  # the first is 0, before any target is known
    np.testing.assert_allclose(fahrenheit.progressive_[1:], expected, rtol=1e-9)
    np.testing.assert_allclose(fahrenheit.predict(A), 32 + 1.8 * celsius.predict(A), rtol=1e-9)
    binary = OnlineRegressor().fit(A, 1024 * B)
    np.testing.assert_array_equal(binary.progressive_, 1024 * celsius.progressive_)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber(10)", "quantile(0.5)"])
def test_every_loss_gives_numbers_near_the_targets(loss):
    model = OnlineRegressor(loss=loss).fit(A, B)
    late = np.abs(model.progressive_ - B)[200:].mean()
    assert late < np.abs(B - np.median(B))[200:].mean()


def test_quantiles_lie_where_they_should():
    low, high = (
        OnlineRegressor(loss=f"quantile({tau})").fit(A, B).progressive_ for tau in (0.1, 0.9)
    )
    assert np.mean(low > B) < 0.25 < 0.75 < np.mean(high > B)
