"""class_weight multiplies the derivative of the loss, at most by 1, and is no instance weight."""

import math
from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, recall_score

import unitless
from unitless import OnlineClassifier
from unitless.learners import get

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)) * [1.0, 1000.0, 1e-3]
Y = (X[:, 0] + 0.5 * RNG.normal(size=80) > 0.8).astype(int)
W = {0: 1.0, 1: 6.0}


def factors(labels, given):
    """The factor of each row, from the definition."""
    counts, largest, found = Counter(), 0.0, []
    for n, label in enumerate(labels, start=1):
        counts[label] += 1
        weight = n / counts[label] if given == "balanced" else given.get(label, 1.0)
        largest = max(largest, weight)
        found.append(weight / largest)
    return found


def algorithm_1(rows, signs, factor, alpha=1.2):
    """Algorithm 1 with g times the factor of the row; s2 and the trials do not know of it."""
    h, s2, scores = Counter(), Counter(), []
    for t, (row, y, c) in enumerate(zip(rows, signs, factor, strict=True), start=1):
        x = dict(enumerate([1.0, *row]))
        for i in x:
            s2[i] += x[i] ** 2
        p = 0.0
        for i in x:
            exponent = (h[i] ** 2 + x[i] ** 2) / (2 * alpha * s2[i])
            p += h[i] / s2[i] * math.exp(exponent) * x[i] / (alpha * t * len(x))
        scores.append(p)
        g = c * -y / (1 + math.exp(y * p))
        for i in x:
            h[i] -= g * x[i]
    return scores


@pytest.mark.parametrize("given", [W, "balanced"], ids=["dict", "balanced"])
def test_algorithm_1_has_its_gradient_multiplied(given):
    model = OnlineClassifier("coordinate", class_weight=given, shuffle=False).fit(X, Y)
    expected = algorithm_1(X, 2 * Y - 1, factors(Y, given))
    np.testing.assert_allclose(model.progressive_, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["coordinate", "scinol2", "full", "nag", "newton", "ogd", "arow"])
def test_equal_weights_change_nothing(name):
    rows = X / X.std(axis=0)
    plain = OnlineClassifier(name, shuffle=False).fit(rows, Y)
    weighted = OnlineClassifier(name, shuffle=False, class_weight={0: 7, 1: 7}).fit(rows, Y)
    np.testing.assert_array_equal(plain.progressive_, weighted.progressive_)


@pytest.mark.parametrize("name", ["coordinate", "full", "scinol2"])
def test_it_is_no_sample_weight(name):
    """Sample weights of these learners multiply the instance."""
    class_weighted = OnlineClassifier(name, shuffle=False, class_weight=W).fit(X, Y)
    sample = np.array(factors(Y, W))
    instance = OnlineClassifier(name, shuffle=False).fit(X, Y, sample_weight=sample)
    assert not np.allclose(class_weighted.progressive_, instance.progressive_)


@pytest.mark.parametrize("name", ["newton", "nag", "diagonal"])
def test_others_multiply_their_gradient_by_sample_weights_as_well(name):
    class_weighted = OnlineClassifier(name, shuffle=False, class_weight=W).fit(X, Y)
    sample = OnlineClassifier(name, shuffle=False).fit(X, Y, np.array(factors(Y, W)))
    np.testing.assert_array_equal(class_weighted.progressive_, sample.progressive_)


@pytest.mark.parametrize("given", [W, "balanced"], ids=["dict", "balanced"])
@pytest.mark.parametrize("name", ["coordinate", "blend"])
def test_blocks_and_resume(tmp_path, name, given):
    one = OnlineClassifier(name, class_weight=given, shuffle=False).fit(X, Y)
    other = OnlineClassifier(name, class_weight=given)
    parts = []
    for rows in np.split(np.arange(80), [1, 2, 40]):
        other = other.partial_fit(X[rows], Y[rows], classes=[0, 1])
        parts.append(other.progressive_)
        unitless.save(other, tmp_path / "model")
        other = unitless.load(tmp_path / "model").to_sklearn()
    assert np.concatenate(parts).tobytes() == one.progressive_.tobytes()
    assert other.predict_proba(X).tobytes() == one.predict_proba(X).tobytes()
    assert other.get_params()["class_weight"] == given


@pytest.mark.parametrize("name", ["coordinate", "blend"])
def test_units_do_not_matter(name):
    one = OnlineClassifier(name, class_weight="balanced").fit(X, Y)
    two = OnlineClassifier(name, class_weight="balanced").fit(X * [2.0**300, 2.0**-40, 1.0], Y)
    np.testing.assert_array_equal(one.progressive_, two.progressive_)


def rare(n=1500):
    """A rare class that overlaps with the other one."""
    rng = np.random.default_rng(1)
    y = (rng.random(n) < 0.08).astype(int)
    return rng.normal(size=(n, 4)) + 1.3 * y[:, None] * [1, 1, 0, 0], y


def test_balanced_weights_find_more_of_a_rare_class():
    rows, y = rare()
    plain = OnlineClassifier().fit(rows, y).predict(rows)
    weighted = OnlineClassifier(class_weight="balanced").fit(rows, y).predict(rows)
    assert recall_score(y, weighted) > recall_score(y, plain) + 0.2
    assert balanced_accuracy_score(y, weighted) > balanced_accuracy_score(y, plain)


def test_several_classes():
    labels = np.arange(80) % 3
    even = OnlineClassifier("newton").fit(X, labels).predict_proba(X)
    given = {0: 1, 1: 1, 2: 50}
    heavy = OnlineClassifier("newton", class_weight=given).fit(X, labels).predict_proba(X)
    assert heavy[:, 2].mean() > even[:, 2].mean() + 0.2


def test_gradients_never_grow():
    found = factors([0, 1, 1, 0, 1], {0: 0.1, 1: 4.0})
    assert max(found) == 1.0
    learner = get("coordinate")()
    learner.weigh_gradients()
    assert "0 rows learned" in repr(learner)


@pytest.mark.parametrize(
    ("given", "message"),
    [("even", 'None, "balanced" or'), ({0: -1.0}, "not a number > 0"), ([1, 2], "balanced")],
)
def test_wrong_class_weights(given, message):
    with pytest.raises(ValueError, match=message):
        OnlineClassifier("coordinate", class_weight=given).fit(X, Y)


def test_not_together_with_sample_weights():
    model = OnlineClassifier("coordinate", class_weight="balanced").fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="class_weight and sample_weight"):
        model.partial_fit(X, Y, sample_weight=np.ones(80))
    np.testing.assert_array_equal(model.predict_proba(X), before)
