"""y of two dimensions: one learner per column, each to the bit as if it were alone."""

import numpy as np
import pandas
import pytest

import unitless
from unitless import Model, OnlineClassifier, OnlineRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1.0, 1000.0, 1e-3]
LABELS = (X + RNG.normal(size=(60, 3)) * [1.0, 1000.0, 1e-3] > 0).astype(int)
NUMBERS = X @ RNG.normal(size=(3, 2))
CASES = [
    (OnlineClassifier("coordinate", shuffle=False), LABELS),
    (OnlineClassifier(shuffle=False), LABELS),
    (OnlineClassifier("arow", shuffle=False), LABELS),
    (OnlineRegressor(shuffle=False), NUMBERS),
    (OnlineRegressor("full", "absolute", shuffle=False), NUMBERS),
]
each = pytest.mark.parametrize(("model", "targets"), CASES, ids=lambda case: type(case).__name__)


def fresh(model):
    return type(model)(**model.get_params(deep=False))


def with_gaps(targets):
    """Some targets are not known."""
    holes = np.random.default_rng(1).random(targets.shape) < 0.2
    holes[:2] = False
    return np.where(holes, np.nan, targets)


@each
@pytest.mark.parametrize("gaps", [False, True], ids=["all known", "with NaN"])
def test_each_column_as_if_it_were_alone(model, targets, gaps):
    rows = X / X.std(axis=0) if model.learner == "arow" else X
    targets = with_gaps(targets) if gaps else targets
    together = fresh(model).fit(rows, targets)
    assert together.progressive_.shape == targets.shape
    assert together.predict(rows).shape == targets.shape
    for k, column in enumerate(targets.T):
        known = ~np.isnan(column)
        alone = fresh(model).fit(rows[known], column[known])
        assert together.progressive_[known, k].tobytes() == alone.progressive_.tobytes()
        assert together._scores(rows)[:, k].tobytes() == alone._scores(rows).tobytes()
        if hasattr(model, "predict_proba") and model.loss == "logistic":
            same = together.predict_proba(rows)[:, k] == alone.predict_proba(rows)[:, 1]
            assert same.all()
        np.testing.assert_array_equal(together.predict(rows)[:, k], alone.predict(rows))


@each
def test_blocks_files_and_models(tmp_path, model, targets):
    rows = X / X.std(axis=0) if model.learner == "arow" else X
    one = fresh(model).fit(rows, targets)
    other = fresh(model)
    for part in np.split(np.arange(60), [1, 25]):
        other = other.partial_fit(rows[part], targets[part])
        unitless.save(other, tmp_path / "model")
        found = unitless.load(tmp_path / "model")
        assert type(found) is Model
        other = found.to_sklearn()
    assert type(other) is type(model)
    assert other._scores(rows).tobytes() == one._scores(rows).tobytes()
    np.testing.assert_array_equal(found.predict(rows), one.predict(rows))
    assert found.learn(rows[:3], targets[:3]).shape == targets[:3].shape


def test_units_and_rescale():
    one = OnlineClassifier("coordinate").fit(X, LABELS)
    two = OnlineClassifier("coordinate").fit(X * [2.0**300, 1.0, 1.0], LABELS)
    np.testing.assert_array_equal(one.progressive_, two.progressive_)
    one.rescale({"x0": 1024.0})
    np.testing.assert_array_equal(
        one.predict_proba(X * [1024.0, 1.0, 1.0]), two.predict_proba(X * [2.0**300, 1.0, 1.0])
    )


def test_frames_explanations_and_weights():
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = OnlineRegressor("full", "absolute").fit(frame, NUMBERS)
    assert model.coef_.shape == (2, 3)
    assert model.intercept_.shape == (2,)
    parts = model.explain(frame[:1])
    np.testing.assert_allclose(sum(parts.values()), model.predict(frame[:1])[0])
    assert "2 rows" not in repr(model.learner_)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.column_stack([np.arange(60) % 3, LABELS[:, 0]]), "multiclass-multioutput"),
        (np.array([["a", "b"]] * 60), "multilabel-indicator"),
    ],
)
def test_several_multiclass_columns_are_an_error(y, message):
    with pytest.raises(ValueError, match=message):
        OnlineClassifier("coordinate").fit(X, y)


def test_an_error_in_the_last_column_changes_nothing():
    model = OnlineRegressor("nag", "absolute").fit(X, NUMBERS)
    before = model.predict(X)
    with pytest.raises(ValueError, match="target inf"):
        model.partial_fit(X[:2], [[1.0, 2.0], [1.0, np.inf]])
    with pytest.raises(ValueError, match="2 targets per row"):
        model.partial_fit(X[:2], [[1.0, 2.0, 3.0]] * 2)
    np.testing.assert_array_equal(model.predict(X), before)


def test_doors_with_one_target_say_so(tmp_path):
    model = OnlineClassifier("coordinate").fit(X, LABELS).to_model()
    with pytest.raises(ValueError, match="several targets"):
        model.to_river()
    with pytest.raises(ValueError, match="one column of labels"):
        OnlineClassifier("coordinate", class_weight="balanced").fit(X, LABELS)


def test_one_column_is_scikit_learn_s_warning():
    from sklearn.exceptions import DataConversionWarning

    with pytest.warns(DataConversionWarning):
        OnlineClassifier("coordinate").fit(X, LABELS[:, :1])
