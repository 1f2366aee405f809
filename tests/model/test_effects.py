"""Importances, effects and explanations: differences of predictions."""

from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import numpy as np
import pandas
import pytest

from unitless import OnlineClassifier, OnlineRegressor
from unitless.model.effects import predictions

SETS = 6
"""`benchmarks/effects.py` has twenty."""


def made(seed):
    """Rows in arbitrary units, targets, and which of the columns are of use."""
    rng = np.random.default_rng(seed)
    rows, used = [500, 1000, 2000][seed % 3], 2 + seed % 2
    Z = rng.normal(size=(rows, 8))
    order = rng.permutation(8)
    a, b, *others = Z[:, order[:used]].T
    signal = (a * b, a + b, np.sin(2 * a) + abs(b))[seed % 3] + sum(others)
    y = signal + 0.3 * rng.normal(size=rows)
    units = 10.0 ** rng.integers(-4, 5, 8)
    return Z * units, (y > np.median(y)) if seed % 2 else y, order[:used], order[used:]


@pytest.mark.parametrize("seed", range(SETS))
def test_columns_of_use_rank_above_noise(seed):
    X, y, useful, useless = made(seed)
    kind = OnlineClassifier if y.dtype == bool else OnlineRegressor
    found = kind().fit(X, y).feature_importances_
    assert found[useful].min() > found[useless].max()


def test_the_sign_of_a_product():
    """Weights gave the largest share to a column of noise."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 4))
    y = np.sign(X[:, 1] * X[:, 3] + 0.1 * rng.normal(size=2000))
    found = OnlineClassifier().fit(X, y).feature_importances_
    assert {*np.argsort(-found)[:2]} == {1, 3}


def test_importances_are_mean_absolute_changes():
    """The plain twin: replace one value at a time."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    model = OnlineRegressor().fit(X, X[:, 0] * X[:, 1]).to_model()
    seen = model.reservoir.rows().values
    found = []
    for column in range(3):
        changes = []
        for shift in (6, 12, 18, 24):
            for k, row in enumerate(seen):
                other = row.copy()
                other[column] = seen[(k + shift) % 30, column]
                changes.append(abs(model.predict([other]) - model.predict([row]))[0])
        found.append(np.mean(changes))
    np.testing.assert_allclose(model.importances(), found, rtol=1e-12)


def test_effects_of_a_frame():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "size": rng.normal(size=800) * 1e3,
            "city": rng.choice(["Oslo", "Rome"], 800),
            "holiday": (rng.random(800) < 0.03) * 1.0,
            "day": pandas.date_range("2024-01-01", periods=800),
        }
    )
    y = frame["size"] / 1e3 + 2 * (frame["city"] == "Oslo") - 7 * frame["holiday"]
    model = OnlineRegressor("vaw").fit(frame, y).to_model()
    found = {effect["column"]: effect for effect in model.effects()}
    assert found["city"]["from"] == "Rome"
    assert found["city"]["to"] == "Oslo"
    assert found["city"]["change"] == pytest.approx(2, abs=0.1)
    assert (found["holiday"]["from"], found["holiday"]["to"]) == (0, 1)
    assert found["holiday"]["change"] == pytest.approx(-7, abs=0.5)
    span = found["size"]["to"] - found["size"]["from"]
    assert found["size"]["change"] == pytest.approx(span / 1e3, rel=0.05)
    assert "change" not in found["day"]


def test_effects_of_classes_are_changes_of_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.digitize(X[:, 1], [-0.5, 0.5])
    model = OnlineClassifier().fit(X, y).to_model()
    [largest] = model.effects(top=1)
    assert largest["column"] == "x1"
    assert largest["class"] in ("0", "2")
    assert 0.7 < abs(largest["change"]) <= 1
    assert predictions(model, model.reservoir.rows()).shape == (256, 3)


# Explanations


def exact(model, x):
    """Shapley values by all orders and all rows of the reservoir."""
    seen = model.reservoir.rows().values
    orders = [*permutations(range(len(x)))]
    parts = np.zeros(len(x))
    for row in seen:
        for order in orders:
            now = row.copy()
            before = model.scores([now])[0]
            for column in order:
                now[column] = x[column]
                after = model.scores([now])[0]
                parts[column] += (after - before) / len(orders) / len(seen)
                before = after
    return parts


def test_parts_are_shapley_values_within_their_errors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    model = OnlineRegressor(reservoir=40).fit(X, X[:, 0] * X[:, 1] + X[:, 2]).to_model()
    x = np.array([1.0, 2.0, -1.0])
    parts = model.explain(x)
    found = np.array([parts[f"x{j}"] for j in range(3)])
    errors = np.array([parts.errors[f"x{j}"] for j in range(3)])
    assert (errors > 0).all()
    assert (np.abs(found - exact(model, x)) <= 4 * errors).all()
    assert sum(parts.values()) == pytest.approx(model.scores([x])[0], rel=1e-12)
    assert parts["(base)"] == pytest.approx(model.scores(model.reservoir.rows()).mean())


def test_parts_add_up_with_products_and_missing_values():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "a": np.where(rng.random(400) < 0.2, np.nan, rng.normal(size=400)),
            "b": rng.normal(size=400),
            "c": rng.choice(["x", "y", None], 400),
        }
    )
    y = frame["a"].fillna(0) * frame["b"] + (frame["c"] == "x")
    model = OnlineRegressor(interactions=["::"]).fit(frame, y).to_model()
    for k in range(0, 40, 8):
        row = frame.iloc[[k]]
        parts = model.explain(row)
        assert {*parts} <= {"(base)", "a", "b", "c"}
        assert sum(parts.values()) == pytest.approx(model.scores(row)[0], rel=1e-12)


def test_recent_targets_are_one_more_part():
    """The score with recent targets is the other one plus that part."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.repeat(rng.normal(size=15), 20)
    model = OnlineRegressor(shuffle=False).fit(X, y).to_model()
    with_recent = model.scores(X[:1], fresh=True)[0]
    without = model.scores(X[:1])[0]
    parts = model.explain(X[0], fresh=True)
    assert abs(with_recent - without) > 0.1
    assert parts["(recent targets)"] == with_recent - without
    assert sum(parts.values()) == pytest.approx(with_recent)
    assert "(recent targets)" not in model.explain(X[0])


def test_units_change_no_importance_and_no_part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] * X[:, 1] > 0
    units = np.array([1024, 0.125, 1])
    for learner in ("blend", "coordinate"):
        one = OnlineClassifier(learner).fit(X, y)
        other = OnlineClassifier(learner).fit(X * units, y)
        np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
        assert one.explain(X[0]) == other.explain(X[0] * units)


def test_looking_while_another_thread_learns():
    """Each look sees the model between two blocks, and changes nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = X[:, 0] * X[:, 1]
    model = OnlineRegressor().partial_fit(X[:300], y[:300]).to_model()
    alone = OnlineRegressor().partial_fit(X, y).to_model()

    def looks(_):
        parts = model.explain(X[0])
        return model.importances().shape == (3,) and np.isfinite(sum(parts.values()))

    with ThreadPoolExecutor(2) as threads:
        seen = threads.map(looks, range(6))
        for start in range(300, 900, 100):
            model.learn(X[start : start + 100], y[start : start + 100])
        assert all(seen)
    assert model.reservoir == alone.reservoir
    np.testing.assert_array_equal(model.importances(), alone.importances())
