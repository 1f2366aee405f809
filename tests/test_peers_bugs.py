"""Bugs that users of Vowpal Wabbit, River and scikit-learn reported, each tried by its number."""

import io
import threading
import warnings

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_diabetes

from unitless import OnlineClassifier, OnlineRegressor, persistence
from unitless.learners import get
from unitless.model import Model
from unitless.readers import open_blocks
from unitless.rows import as_rows
from unitless.state import remembered

INVARIANT = ["coordinate", "full", "nag", "blend"]
each_learner = pytest.mark.parametrize("name", INVARIANT)


def stream(n=300, d=4, seed=0):
    """Rows whose label depends on all columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X.sum(axis=1) + rng.normal(size=n) / 2 > 0, 1.0, -1.0)


def learned_vw(text, name):
    """A learner after lines of VW text, and the scores before each label was used."""
    (block,) = open_blocks(io.BytesIO(text.encode()), format="vw")
    model = Model.from_first_block(block, learner=name, task="binary")
    prepared = model.prepared_block(block, grow=True)
    scores = model.learner.learn(prepared.rows)
    prepared.commit()
    return model, scores


# A huge or tiny value


@each_learner
@pytest.mark.parametrize("first", [1e-19, 1e-30, 1e-45, 5e-324, -1e-25])
def test_vw_756_a_first_value_close_to_zero(name, first):
    X = [[first, 0], [1, 0], [0, 0], [0, 1], [0, 0], [1, 0], [0, 0], [1, 0], [0, 0], [1, 1]]
    y = [-1, 1, -1, -1, -1, -1, -1, 1, -1, 1]
    learner = get(name)()
    assert np.isfinite(learner.learn(as_rows(X, y))).all()
    scores = learner.predict(as_rows([[1.0, 0.0], [0.0, 0.0]]))
    assert scores[0] > scores[1]


@each_learner
def test_vw_651_a_large_number_does_not_disable_learning(name):
    lines = "1 | out:1 ignore:{}\n" + "1 | out:1\n" * 7 + "-1 | other:1"
    _, scores = learned_vw(lines.format("18446745900000000000"), name)
    _, expected = learned_vw(lines.format("1"), name)
    assert (scores[2:8] > 0).all()
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=0)


@each_learner
def test_vw_537_a_large_value_leaves_no_empty_model(name):
    _, scores = learned_vw("-1 | /foo/BAR:50233425598702010000.00\n" * 9 + "1 | a:1", name)
    assert np.isfinite(scores).all()
    assert scores[8] < 0


@each_learner
def test_vw_3501_one_extreme_row_and_the_model_still_learns(name):
    X, y = stream()
    X[100] = [1e300, -1e-300, 1e200, 1e-200]
    learner = get(name)()
    scores = learner.learn(as_rows(X, y))
    assert np.isfinite(scores).all()
    assert np.isfinite(learner.predict(as_rows(X))).all()


# Resumed is not continuous


def halves(tmp_path, name, saves, weights=None):
    """Scores of a second half: continuous, and after saving and loading."""
    X, y = stream()
    parts = [as_rows(X[k], y[k], None if weights is None else weights[k]) for k in
             (slice(0, 150), slice(150, 300))]  # fmt: skip
    straight, resumed = get(name)(), get(name)()
    for learner in (straight, resumed):
        learner.learn(parts[0])
    for _ in range(saves):
        persistence.save(resumed, tmp_path / "model")
        resumed = persistence.load(tmp_path / "model")
    return straight.learn(parts[1]), resumed.learn(parts[1])


@each_learner
@pytest.mark.parametrize("saves", [1, 2])
def test_vw_262_saved_twice_is_saved_once(tmp_path, name, saves):
    one, two = halves(tmp_path, name, saves)
    assert one.tobytes() == two.tobytes()


@each_learner
def test_vw_1355_a_saved_model_predicts_like_the_one_in_memory(tmp_path, name):
    X, y = stream()
    learner = get(name)()
    learner.learn(as_rows(X[:1], y[:1]))
    persistence.save(learner, tmp_path / "model")
    again, rest = persistence.load(tmp_path / "model"), as_rows(X[1:])
    assert again.predict(rest).tobytes() == learner.predict(rest).tobytes()


@each_learner
def test_vw_1573_resumed_with_sample_weights(tmp_path, name):
    weights = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 7.0], 300)
    one, two = halves(tmp_path, name, 1, weights)
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("name", ["ftrl", "pistol", "coin", "adagrad", "ogd", "scinol2"])
def test_vw_1905_resumed_whatever_the_update_rule(tmp_path, name):
    one, two = halves(tmp_path, name, 1)
    assert one.tobytes() == two.tobytes()


def test_vw_3155_an_estimator_goes_on_after_it_was_loaded(tmp_path):
    X, y = stream()
    straight, resumed = (OnlineClassifier("coordinate").fit(X[:150], y[:150]) for _ in range(2))
    persistence.save(resumed, tmp_path / "model")
    resumed = persistence.load(tmp_path / "model").to_sklearn()
    for model in (straight, resumed):
        model.partial_fit(X[150:], y[150:])
    assert straight.predict_proba(X).tobytes() == resumed.predict_proba(X).tobytes()


# Predict and learn


@each_learner
def test_vw_2844_learn_returns_what_predict_returned(name):
    X, y = stream(60)
    learner = get(name)()
    for k in range(60):
        row = slice(k, k + 1)
        before = learner.predict(as_rows(X[row]))
        assert learner.learn(as_rows(X[row], y[row])).tobytes() == before.tobytes()


@pytest.mark.parametrize("name", ["coin", "coordinate", "full"])
def test_vw_4621_learn_returns_the_score_from_before_the_update(name):
    x = {"a": 1.0, "b": 2.0}
    learner = get(name)()
    for _ in range(5):
        before = learner.predict_one(x)
        assert learner.learn_one(x, 1) == before
        assert learner.predict_one(x) != before


@each_learner
def test_vw_2241_a_tiny_importance_weight(name):
    X, y = stream()
    weights = np.ones(300)
    weights[::3] = 2.0**-199
    learner = get(name)()
    assert np.isfinite(learner.learn(as_rows(X, y, weights))).all()
    with pytest.raises(ValueError, match="weight"):
        learner.learn(as_rows(X[:1], y[:1], [5e-324]))
    assert np.isfinite(learner.predict(as_rows(X))).all()


# Names


def test_vw_4231_names_outlive_saving_and_loading(tmp_path):
    learner = get("coordinate")()
    learner.learn_one({"user^age": 31.0, "user^länge": 1.8, "a b": 1.0}, 1)
    persistence.save(learner, tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    assert [*again.names.columns] == ["a b", "user^age", "user^länge"]


def test_vw_3174_names_need_no_second_training(tmp_path):
    model, _ = learned_vw("1 |user age:31 tall\n-1 |item price:2.5\n", "coordinate")
    persistence.save(model, tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    assert again.feature_names() == model.feature_names()
    assert len(again.feature_names()) == 3


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber(1)", "quantile(0.9)"])
def test_vw_3488_no_rate_to_choose_for_each_loss(loss):
    """The same call for every loss beats the best that knows no features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3)) * [1e-3, 1.0, 1e6]
    y = X @ [2e3, -1.0, 3e-6] + rng.normal(size=2000) / 10
    model = OnlineRegressor("blend", loss).fit(X, y)
    value = model.learner_.loss.value
    constants = np.quantile(y, np.linspace(0.05, 0.95, 19))
    best = min(value(y, np.full(len(y), c)).mean() for c in constants)
    assert value(y, model.progressive_).mean() < best / 2


# River


@each_learner
def test_river_332_a_feature_constant_for_545_rows(name):
    """Their scaler makes 33 deviations of its first move, and the intercept swings to 1e9."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(1000, 3.7), rng.normal(size=1000)])
    X[545:, 0] += rng.normal(size=455) / 100
    y = np.where(X[:, 1] + rng.normal(size=1000) / 2 > 0, 1.0, -1.0)
    scores = get(name)().learn(as_rows(X, y))
    loss = np.logaddexp(0, -y * scores)
    assert np.abs(scores).max() < 50
    assert loss[545:].mean() < np.log(2)
    assert loss[545:600].mean() < 2 * np.log(2)


def batch_and_loop(model_of, X, y):
    """Scores of a second half after learning a first, in one block and row by row."""
    many, one = model_of(), model_of()
    many.partial_fit(X[:200], y[:200])
    for k in range(200):
        one.partial_fit(X[k : k + 1], y[k : k + 1])
    return many.predict(X[200:]), one.predict(X[200:])


each_regression = pytest.mark.parametrize(
    ("learner", "loss"), [("coordinate", "absolute"), ("newton", "squared"), ("vaw", "squared")]
)


@each_regression
def test_river_651_a_regression_predicts_the_same_after_a_batch(learner, loss):
    X, y = load_diabetes(return_X_y=True, scaled=False)
    many, one = batch_and_loop(lambda: OnlineRegressor(learner, loss), X, y)
    assert many.tobytes() == one.tobytes()


@each_regression
def test_river_996_the_weights_after_a_batch_are_those_of_a_loop(learner, loss):
    X, y = load_diabetes(return_X_y=True, scaled=False, as_frame=True)
    many, one = OnlineRegressor(learner, loss), OnlineRegressor(learner, loss)
    many.partial_fit(X, y)
    for k in range(len(X)):
        one.partial_fit(X[k : k + 1], y[k : k + 1])
    assert many.coef_.tobytes() == one.coef_.tobytes()
    assert many.intercept_ == one.intercept_
    assert (many.coef_ != 0).all()


def test_river_1912_a_classifier_learns_the_same_from_a_batch():
    X, y = stream()
    first = np.unique(y)

    def model():
        made = OnlineClassifier("blend")
        return made.partial_fit(X[:1], y[:1], classes=first)

    many, one = batch_and_loop(model, X, y)
    assert many.tolist() == one.tolist()


def test_river_669_unscaled_features_give_no_nan():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    X = X * 10.0 ** np.arange(-150, 150, 30)
    for learner in ("vaw", "blend"):
        model = OnlineRegressor(learner).fit(X, y)
        assert np.isfinite(model.progressive_).all()
        assert np.isfinite(model.predict(X)).all()


def test_river_382_large_numbers_in_dict_rows_give_no_nan():
    rng = np.random.default_rng(0)
    for name in ("coordinate", "full"):
        learner = get(name)("absolute")
        for _ in range(200):
            x = {"small": rng.normal(), "large": rng.normal() * 1e150, "year": 2026.0}
            assert np.isfinite(learner.learn_one(x, x["small"]))


@pytest.mark.parametrize("name", ["coordinate", "full", "nag"])
def test_river_1729_several_threads_feed_one_model(name):
    """They asked for `learn_one` in parallel, or else to merge states, and can have neither.

    States of these learners cannot be merged, and no method pretends to: what a row teaches depends
    on all rows before it. One model may be fed by any number of threads, which take turns: no row
    is lost, doubled or half learned. (All learn one and the same row, so that no order shows.)
    """
    rows, x = 400, {"a": 1.5, "b": -2.0, "c": None}
    alone, shared = Model.of(get(name)()), Model.of(get(name)())
    for _ in range(4 * rows):
        alone.learn(x, 1)
    feeders = [
        threading.Thread(target=lambda: [shared.learn(x, 1) for _ in range(rows)]) for _ in range(4)
    ]
    for feeder in feeders:
        feeder.start()
    for feeder in feeders:
        feeder.join()
    assert shared.scores(x) == alone.scores(x)
    states = remembered(shared.learner)[0], remembered(alone.learner)[0]
    assert all(states[0][name].tobytes() == array.tobytes() for name, array in states[1].items())
    assert not {"merge", "__add__", "__iadd__", "__or__"} & {*dir(shared)}


# scikit-learn


def test_sklearn_5248_works_as_well_on_data_that_nobody_scaled():
    X, y = stream(1000)
    units = 2.0 ** np.array([-60, -3, 10, 100])
    for learner in ("coordinate", "full", "blend"):
        plain = OnlineClassifier(learner).fit(X, y).progressive_
        other = OnlineClassifier(learner).fit(X * units, y).progressive_
        assert plain.tobytes() == other.tobytes()


def test_sklearn_11321_a_stream_needs_no_scaler_before_it():
    """Frames in, one call: units, categories and dates, without a pipeline."""
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"grams": rng.normal(size=200) * 1e6, "kind": rng.choice(["a", "b"], 200)}
    )
    y = np.where((frame["grams"] > 0) ^ (frame["kind"] == "a") & (rng.random(200) < 0.2), 1, 0)
    model = OnlineClassifier("coordinate")
    for k in range(0, 200, 50):
        model.partial_fit(frame[k : k + 50], y[k : k + 50], classes=[0, 1])
    assert model.score(frame, y) > 0.75


def test_sklearn_5602_the_largest_numbers_overflow_nothing():
    X, y = stream(100)
    X[:, 1] *= 1e307
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for learner in ("coordinate", "full", "blend"):
            model = OnlineClassifier(learner).fit(X, y)
            assert np.isfinite(model.decision_function(X)).all()


# The successor paper's own code


@each_learner
def test_no_absolute_epsilon_in_a_scale(name):
    """1e-15 added to a scale is a unit: all columns far below it must learn the same."""
    X, y = stream()
    plain = get(name)().learn(as_rows(X, y))
    tiny = get(name)().learn(as_rows(X * 2.0**-200, y))
    assert plain.tobytes() == tiny.tobytes()
