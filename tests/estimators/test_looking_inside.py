"""explain, rescale, coef_, certificate."""

from copy import deepcopy

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

from estimators.material import (
    BINARY,
    REAL,
    SEVERAL,
    WINE,
    A,
    B,
    OnlineClassifier,
    OnlineRegressor,
    W,
    X,
    Y,
    people,
    same_model,
    some,
    standard,
)
from unitless.learners import get
from unitless.regret import certificate

COLUMNS, LABELS = people()
FRAME = pandas.DataFrame(COLUMNS)


def adds_up(model, row, score):
    """The parts of a score add up to it, within the rounding of the largest of them."""
    parts = model.explain(row)
    size = max(np.abs(part).max() for part in parts.values())
    np.testing.assert_allclose(sum(parts.values()), score, rtol=0, atol=1e-13 * max(size, 1) * 40)
    assert set(parts) <= {"(base)", *model.to_model().input_names()}


@pytest.mark.parametrize("learner", BINARY)
def test_explain_adds_up_for_two_classes(learner):
    model = OnlineClassifier(learner).fit(standard(X), Y)
    for row, score in zip(
        standard(X)[::97], model.decision_function(standard(X)[::97]), strict=True
    ):
        adds_up(model, row, score)


@pytest.mark.parametrize("learner", SEVERAL)
def test_explain_adds_up_for_three_classes(learner):
    model = OnlineClassifier(learner).fit(standard(W), WINE)
    for row, score in zip(
        standard(W)[::41], model.decision_function(standard(W)[::41]), strict=True
    ):
        adds_up(model, row, score)


@pytest.mark.parametrize(("learner", "loss"), REAL.items())
def test_explain_adds_up_for_numbers(learner, loss):
    model = OnlineRegressor(learner, loss).fit(standard(A), B)
    for row, score in zip(standard(A)[::97], model.predict(standard(A)[::97]), strict=True):
        adds_up(model, row, score)


@pytest.mark.parametrize("learner", ["blend", "coordinate", "full"])
def test_explain_in_raw_units(learner):
    model = OnlineClassifier(learner).fit(X, Y)
    for row, score in zip(X[::97], model.decision_function(X[::97]), strict=True):
        adds_up(model, row, score)


def test_explain_takes_every_kind_of_row():
    model = OnlineClassifier().fit(X, Y)
    expected = model.explain(X[0])
    for row in (X[:1], X[0].tolist(), X[:1].tolist(), sp.csr_array(X[:1])):
        assert model.explain(row) == expected
    with pytest.raises(ValueError, match="explain takes one row, not 2"):
        model.explain(X[:2])
    with pytest.raises(ValueError, match="2 features"):
        model.explain([1.0, 2.0])


@pytest.mark.parametrize("learner", ["blend", "coordinate"])
def test_explain_a_row_of_a_frame(learner):
    model = OnlineClassifier(learner).fit(FRAME, LABELS)
    k = int(np.flatnonzero(FRAME.notna().all(axis=1))[3])
    row = FRAME.iloc[[k]]
    parts = model.explain(row)
    adds_up(model, row, model.decision_function(row)[0])
    assert "height" in parts
    assert "colour" in parts
    assert {*parts} <= {"(base)", *FRAME.columns}
    assert model.explain(FRAME.iloc[k]) == pytest.approx(parts)


def test_explain_names_what_matters():
    """A linear target: each part is its share of it."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3000, 3)) * [1, 1000, 1e-3] + [5, 0, 0]
    y = 2 * rows[:, 0] - rows[:, 1] / 1000
    for model in (OnlineRegressor(), OnlineRegressor("vaw")):
        model.fit(rows, y)
        near = model.explain([6.0, 2000.0, 1e-3])
        far = model.explain([6.0, -2000.0, 1e-3])
        assert far["x1"] - near["x1"] == pytest.approx(4, abs=0.1)
        assert far["x0"] == pytest.approx(near["x0"], abs=0.1)
        assert abs(near.get("x2", 0)) < 0.05


def test_a_learner_that_is_linear_is_explained_exactly():
    """Each part is the weight times the difference to the mean of the reservoir's rows."""
    model = OnlineRegressor("ogd", "absolute").fit(standard(A), B)
    seen = model.to_model().reservoir.rows().values
    parts = model.explain(standard(A)[3])
    by_hand = model.coef_ * (standard(A)[3] - seen.mean(axis=0))
    found = [parts.get(f"x{j}", 0) for j in range(10)]
    np.testing.assert_allclose(found, by_hand, rtol=1e-9, atol=1e-12)
    assert max(parts.errors.values()) < 1e-12


def test_without_a_reservoir_only_linear_learners_are_explained():
    linear = OnlineClassifier("ogd", reservoir=0).fit(standard(X), Y)
    row = standard(X)[0].copy()
    row[4] = 0
    parts = linear.explain(row)
    np.testing.assert_allclose(parts["x3"], linear.coef_[0, 3] * row[3], rtol=1e-9)
    assert "x4" not in parts
    adds_up(linear, row, linear.decision_function([row])[0])
    with pytest.raises(ValueError, match=r"reservoir=0.*learn with reservoir=256"):
        OnlineClassifier(reservoir=0).fit(X, Y).explain(X[0])


# rescale


@pytest.mark.parametrize("learner", ["blend", "coordinate", "full", "newton"])
@pytest.mark.parametrize(("rows", "y"), [(X, Y), (W, WINE)], ids=["two", "three"])
def test_rescale_by_name(learner, rows, y):
    """A change of unit in mid-stream: as if the past had been in the new unit."""
    if learner == "newton" and y is WINE:
        pytest.skip("one test of Newton is enough")
    factors = np.ones(rows.shape[1])
    factors[[2, 5]] = 1024, 1 / 8
    new = OnlineClassifier(learner).fit(rows[:100] * factors, y[:100])
    model = OnlineClassifier(learner).fit(rows[:100], y[:100])
    assert model.rescale({"x2": 1024, "x5": 1 / 8}) is model
    for one in (new, model):
        one.partial_fit(rows[100:] * factors, y[100:])
    np.testing.assert_array_equal(new.progressive_, model.progressive_)


@pytest.mark.parametrize("learner", ["blend", "coordinate"])
def test_rescale_reaches_the_interactions(learner):
    def in_millimetres(columns):
        return {
            name: [None if v is None or name != "height" else 1000 * v for v in values]
            if name == "height"
            else values
            for name, values in columns.items()
        }

    half = len(LABELS) // 2
    parts = ["height:colour", "height:member", "colour:member"]
    model = OnlineClassifier(learner, interactions=parts)
    model.fit(pandas.DataFrame(some(COLUMNS, half)), LABELS[:half]).rescale({"height": 1000})
    new = OnlineClassifier(learner, interactions=parts)
    new.fit(pandas.DataFrame(in_millimetres(some(COLUMNS, half))), LABELS[:half])
    for one in (model, new):
        one.partial_fit(pandas.DataFrame(in_millimetres(some(COLUMNS, half, None))), LABELS[half:])
    np.testing.assert_allclose(model.progressive_, new.progressive_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ({"weight": 2}, "no feature 'weight'"),
        ({"colour": 2}, "'colour' is a category, which has no unit"),
        ({"joined": 2}, "'joined' is a date, which has no unit"),
        ({"height": 0}, "'height': a unit cannot change by a factor of 0"),
        ({"height": np.inf}, "'height': a unit cannot change by a factor of inf"),
        ({"height": 2, "colour=red": 2}, "no feature 'colour=red'"),
    ],
)
def test_rescale_refuses(factors, message):
    model = OnlineClassifier().fit(FRAME, LABELS)
    before = deepcopy(model)
    with pytest.raises(ValueError, match=message):
        model.rescale(factors)
    np.testing.assert_array_equal(model.decision_function(FRAME), before.decision_function(FRAME))


def test_rescale_of_a_learner_that_depends_on_units():
    with pytest.raises(ValueError, match="depends on units"):
        OnlineClassifier("ogd").fit(standard(X), Y).rescale({"x0": 2})


# coef_


def test_coefficients_are_the_learner_s_weights():
    """One row for two classes, a row a class for more, none for regression."""
    two, three = OnlineClassifier("full").fit(X, Y), OnlineClassifier("full").fit(W, WINE)
    assert two.coef_.shape == (1, 30)
    assert two.intercept_.shape == (1,)
    assert three.coef_.shape == (3, 13)
    assert three.intercept_.shape == (3,)
    number = OnlineRegressor("vaw").fit(A, B)
    assert number.coef_.shape == (10,)
    assert isinstance(number.intercept_, float)
    for model in (two, three, number):
        weights = model.learner_.weights()
        np.testing.assert_array_equal(
            model.coef_, np.reshape(weights.features.T, model.coef_.shape)
        )
        np.testing.assert_array_equal(np.ravel(model.intercept_), np.ravel(weights.intercept))


@pytest.mark.parametrize("learner", ["coordinate", "full", "nag"])
def test_coefficients_are_slopes_at_zero(learner):
    model = OnlineClassifier(get(learner)(intercept=False)).fit(X, Y)
    steps = np.diag(1e-9 * np.linalg.norm(X, axis=0))
    slopes = (model.decision_function(steps) - model.decision_function(-steps)) / 2
    np.testing.assert_allclose(slopes / np.diag(steps), model.coef_[0], rtol=1e-7)
    assert model.intercept_ == 0


def test_a_linear_model_s_predictions_are_those_of_its_coefficients():
    """Where weights do not depend on x."""
    model = OnlineRegressor("ogd", "absolute").fit(standard(A), B)
    by_hand = standard(A) @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(standard(A)), by_hand, rtol=1e-10, atol=1e-10)
    model = OnlineClassifier("ogd").fit(standard(W), WINE)
    by_hand = standard(W) @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(
        model.decision_function(standard(W)), by_hand, rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("learner", [name for name in BINARY if not get(name).linear])
def test_no_coefficients_of_what_is_not_linear(learner):
    model = OnlineClassifier(learner).fit(X, Y)
    for name in ("coef_", "intercept_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"scores of '{learner}' are not linear in x"):
            getattr(model, name)


# certificate


@pytest.mark.parametrize("learner", ["coordinate", "full"])
def test_certificate_is_the_learner_s(learner):
    model = OnlineClassifier(learner=learner)
    with pytest.raises(NotFittedError):
        model.certificate()
    model.fit(X, Y)
    made = model.certificate(ball=2.0)
    assert str(made) == str(certificate(model.learner_, ball=2.0))
    assert made.trials == len(Y)


def test_looking_changes_nothing():
    model = OnlineClassifier().fit(X, Y)
    before = deepcopy(model)
    model.explain(X[0])
    _ = model.feature_names_, model.learner_.weights()
    same_model(model, before, X)


def test_feature_importances_are_shares_in_any_unit():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 3))
    y = rows[:, 1] * 3 + rows[:, 2] > 0
    for learner in ("blend", "full"):
        one = OnlineClassifier(learner).fit(rows, y).feature_importances_
        other = OnlineClassifier(learner).fit(rows * [1024, 1, 0.25], y).feature_importances_
        assert one.sum() == pytest.approx(1)
        assert one.argmax() == 1
        np.testing.assert_array_equal(one, other)


def test_feature_importances_need_a_reservoir():
    model = OnlineClassifier(reservoir=0).fit(X, Y)
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match=r"reservoir=0.*fit with reservoir=256"):
        _ = model.feature_importances_
    with pytest.raises(ValueError, match="reservoir = -1"):
        OnlineClassifier(reservoir=-1).fit(X, Y)


def test_one_importance_per_column_of_a_frame():
    """Columns keep their order, those that are left out have no effect, and a level is none."""
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "city": rng.choice(["Oslo", "Rome", "Bergen"], 500),
            "name": [f"id{k}" for k in range(500)],
            "size": rng.normal(size=500),
            "day": pandas.date_range("2024-01-01", periods=500),
            "noise": rng.normal(size=500),
        }
    )
    y = frame["size"] + 3 * (frame["city"] == "Oslo")
    with pytest.warns(UserWarning, match="name"):
        model = OnlineRegressor(interactions=["size:city"]).fit(frame, y)
    assert model.feature_importances_.shape == (5,)
    largest = np.argsort(-model.feature_importances_)
    assert [model.feature_names_in_[k] for k in largest[:2]] == ["city", "size"]
    assert model.feature_importances_[1] == 0
    rest = frame.drop(columns="name")
    selected = SelectFromModel(OnlineRegressor(), threshold=0.2).fit(rest, y)
    assert [*selected.get_feature_names_out()] == ["city", "size"]
