"""Intervals and sets beside a model: shapes, laws, both answers, files, refusals."""

from copy import deepcopy

import numpy as np
import pytest

import unitless
from laws.streams import same_bits
from unitless import OnlineClassifier, OnlineRegressor
from unitless.model import Model
from unitless.uncertainty import Intervals

N = 600


def numbers(seed=0, n=N):
    """Rows whose noise depends on x, and whose level stays for a while."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    level = rng.normal(size=n)[np.arange(n) // 20]
    return X, X[:, 0] + 3 * level + (1 + 3 * (X[:, 1] > 0)) * rng.normal(size=n)


def classes(seed=0, n=N):
    X, y = numbers(seed, n)
    return X, np.digitize(y, [-2, 2])


TASKS = {
    "numbers": (OnlineRegressor, numbers, "predict_interval"),
    "two classes": (OnlineClassifier, lambda: (numbers()[0], classes()[1] > 0), "predict_set"),
    "classes": (OnlineClassifier, classes, "predict_set"),
}
each_task = pytest.mark.parametrize("task", TASKS)


@each_task
def test_shapes(task):
    kind, stream, ask = TASKS[task]
    X, y = stream()
    one, several = kind(intervals=(0.9,)).fit(X, y), kind(intervals=(0.5, 0.9)).fit(X, y)
    width = 2 if task == "numbers" else len(np.unique(y))
    assert getattr(one, ask)(X).shape == (N, width) == one.progressive_interval_.shape
    found = getattr(several, ask)(X)
    assert found.shape == (N, width, 2) == several.progressive_interval_not_fresh_.shape
    same_bits(getattr(several, ask)(X, 0.9), found[:, :, 1])
    if task == "numbers":
        assert (found[:, 0, 1] <= found[:, 0, 0]).all()
        assert (found[:, 1, 1] >= found[:, 1, 0]).all()
    else:
        assert found.dtype == bool
        assert found.any(axis=1).all()
        assert (found[:, :, 1] >= found[:, :, 0]).all()


@each_task
def test_a_block_is_its_rows_and_predictions_are_what_was_recorded(task):
    kind, stream, ask = TASKS[task]
    X, y = stream()
    known = {} if task == "numbers" else {"classes": np.unique(y)}
    whole = kind(intervals=(0.8,)).partial_fit(X, y, **known)
    rows = kind(intervals=(0.8,)).partial_fit(X[:2], y[:2], **known)
    for t in range(2, N):
        here = slice(t, t + 1)
        for fresh, name in (
            (True, "progressive_interval_"),
            (False, "progressive_interval_not_fresh_"),
        ):
            same_bits(getattr(rows, ask)(X[here], fresh=fresh)[0], getattr(whole, name)[t])
        rows.partial_fit(X[here], y[here])
    same_bits(getattr(rows, ask)(X), getattr(whole, ask)(X))


@each_task
def test_predicting_changes_nothing(task):
    kind, stream, ask = TASKS[task]
    X, y = stream()
    model = kind(intervals=(0.8,)).fit(X, y)
    before = unitless.persistence.saving.as_bytes(model)
    getattr(model, ask)(X)
    assert unitless.persistence.saving.as_bytes(model) == before


@each_task
def test_a_saved_model_continues(task, tmp_path):
    kind, stream, ask = TASKS[task]
    X, y = stream()
    model = kind(intervals=(0.9, 0.5)).fit(X, y)
    model.to_model().save(tmp_path / "model")
    loaded = unitless.load(tmp_path / "model")
    copied = deepcopy(model.to_model())
    for each in (model.to_model(), loaded, copied):
        each.learn(X[:100], y[:100])
    for each in (loaded, copied):
        same_bits(getattr(each, ask)(X), getattr(model, ask)(X))
    assert loaded.interval_coverage() == model.interval_coverage()
    assert loaded.to_sklearn().get_params()["intervals"] == (0.9, 0.5)


@pytest.mark.parametrize("factor", [2.0**-40, 2.0**70])
def test_units_of_features_and_targets_change_no_bit(factor):
    X, y = numbers()
    plain, other = OnlineRegressor(intervals=(0.9,)), OnlineRegressor(intervals=(0.9,))
    plain.partial_fit(X, y)
    units = factor ** np.array([1.0, -1.0, 2.0])
    other.partial_fit(X * units, y * factor)
    same_bits(other.progressive_interval_, plain.progressive_interval_ * factor)
    same_bits(other.predict_interval(X * units), plain.predict_interval(X) * factor)


def test_rescaled_models_continue():
    X, y = numbers()
    plain, other = (OnlineRegressor(intervals=(0.9,)).partial_fit(X, y) for _ in range(2))
    other.rescale({"x0": 2.0**5, "x2": 2.0**-3})
    units = np.array([2.0**5, 1, 2.0**-3])
    same_bits(other.predict_interval(X * units), plain.predict_interval(X))


def test_each_answer_has_a_calibration_of_its_own():
    X, y = numbers(n=3000)
    model = OnlineRegressor(intervals=(0.9,)).partial_fit(X, y)
    fresh, late = (model.predict_interval(X, fresh=each) for each in (True, False))
    assert (fresh != late).all()
    fresh, late = model.progressive_interval_, model.progressive_interval_not_fresh_
    assert np.diff(fresh[1500:]).mean() < 0.9 * np.diff(late[1500:]).mean()
    for answer in (fresh, late):
        covered = (answer[:, 0] <= y) & (y <= answer[:, 1])
        assert abs(covered.mean() - 0.9) < 0.02
    [found] = model.interval_coverage()
    ours = model.progressive_interval_
    assert found.share == ((ours[:, 0] <= y) & (y <= ours[:, 1])).mean()
    assert found.low <= found.share <= found.high


def test_width_follows_the_noise():
    X, _ = numbers(n=4000)
    noise = np.random.default_rng(1).normal(size=4000)
    y = X[:, 0] + (1 + 3 * (X[:, 1] > 0)) * noise
    model = OnlineRegressor(intervals=(0.9,)).partial_fit(X, y)
    width = np.diff(model.predict_interval(X))[:, 0]
    assert width[X[:, 1] > 0].mean() > 2 * width[X[:, 1] < 0].mean()


def test_before_anything_is_known_an_interval_is_all_reals():
    X, y = numbers()
    model = OnlineRegressor(intervals=(0.9,)).partial_fit(X[:1], y[:1])
    assert np.isinf(model.progressive_interval_).all()
    assert np.isinf(model.predict_interval(X)).all()
    labels = OnlineClassifier(intervals=(0.9,)).partial_fit(*[a[:1] for a in classes()], [0, 1, 2])
    assert labels.predict_set(X).all()


def test_rows_of_weight_0_and_further_passes_do_not_calibrate():
    X, y = numbers()
    weights = (np.arange(N) % 2).astype(float)
    model = OnlineRegressor(intervals=(0.9,)).partial_fit(X, y, weights)
    assert model.interval_coverage()[0].rows == N // 2
    assert OnlineRegressor(intervals=(0.9,), passes=3).fit(X, y).interval_coverage()[0].rows == N


def test_new_classes_appear():
    X, y = classes()
    order = np.argsort(y, kind="stable")
    model = Model(
        "multiclass", unitless.OnlineClassifier().fit(X, y).learner_.__class__("softmax", classes=2)
    )
    model.intervals = Intervals([0.9], True, True)
    model.learn(X[order], y[order])
    assert model.predict_set(X).shape == (N, 3)


def test_a_refused_call_leaves_everything_as_it_was():
    X, y = numbers()
    model = OnlineRegressor(intervals=(0.9,)).partial_fit(X, y)
    before = unitless.persistence.saving.as_bytes(model)
    with pytest.raises(ValueError, match="inf"):
        model.partial_fit(np.full((2, 3), np.inf), y[:2])
    assert unitless.persistence.saving.as_bytes(model) == before


def test_refusals():
    X, y = numbers()
    model = OnlineRegressor(intervals=(0.5, 0.9)).fit(X, y)
    with pytest.raises(ValueError, match=r"coverage = 0.8 .* intervals=\(0.8,\)"):
        model.predict_interval(X, 0.8)
    with pytest.raises(ValueError, match=r"OnlineRegressor\(intervals=\(0.9,\)\)"):
        OnlineRegressor().fit(X, y).predict_interval(X)
    with pytest.raises(ValueError, match=r"several targets"):
        OnlineRegressor(intervals=(0.9,)).fit(X, np.column_stack([y, y]))
    for wrong in ((90,), (0.9, 0.9), ("a",), (1.0,)):
        with pytest.raises(ValueError, match="intervals"):
            OnlineRegressor(intervals=wrong).fit(X, y)
    with pytest.raises(ValueError, match="predict_interval"):
        model.to_model().predict_set(X)


def test_river_answers_one_row_at_a_time():
    from unitless.river import UnitlessClassifier, UnitlessRegressor

    X, y = numbers()
    rows = [dict(zip("abc", x, strict=True)) for x in X.tolist()]
    model = UnitlessRegressor(intervals=(0.9,))
    assert model.predict_interval_one(rows[0]) == (-np.inf, np.inf)
    inside = []
    for row, target in zip(rows, y.tolist(), strict=True):
        low, high = model.predict_interval_one(row)
        inside.append(low <= target <= high)
        model.learn_one(row, target)
    assert model.to_model().interval_coverage()[0].share == np.mean(inside)
    labels = UnitlessClassifier(multiclass=True, intervals=(0.5, 0.9))
    for row, label in zip(rows, classes()[1].tolist(), strict=True):
        labels.learn_one(row, f"class {label}")
    small, large = labels.predict_set_one(rows[0])
    assert {labels.predict_one(rows[0])} <= small <= large
