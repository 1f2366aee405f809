"""Losses and class weights that do not fit, logarithms of probabilities, types of predictions."""

import numpy as np
import pytest

import unitless
from unitless import OnlineClassifier, OnlineRegressor
from unitless.learners import Nag
from unitless.river import UnitlessRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = (X[:, 0] > 0).astype(int)
SEVERAL = np.stack([Y, 1 - Y], axis=1)


@pytest.mark.parametrize("y", [Y, SEVERAL], ids=["binary", "multilabel"])
@pytest.mark.parametrize("loss", ["quantile(0.9)", "squared", "absolute", "huber(2)"])
def test_a_classifier_refuses_losses_for_numbers(loss, y):
    task = "binary" if y.ndim == 1 else "multilabel"
    message = rf"the {loss.partition('(')[0]}.* loss does not fit the task {task}; use logistic"
    for given in ({"loss": loss}, {"learner": Nag(loss)}):
        with pytest.raises(ValueError, match=message):
            OnlineClassifier(**{"learner": "nag"} | given).fit(X, y)


@pytest.mark.parametrize("y", [X[:, 0], X], ids=["regression", "multioutput"])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_regressor_refuses_losses_for_classes(loss, y):
    task = "regression" if y.ndim == 1 else "multioutput"
    message = f"the {loss} loss does not fit the task {task}; use squared, absolute"
    with pytest.raises(ValueError, match=message):
        OnlineRegressor("nag", loss).fit(X, y)
    with pytest.raises(ValueError, match=f"the {loss} loss does not fit the task regression"):
        UnitlessRegressor("nag", loss).learn_one({"a": 1.0}, 1.0)


@pytest.mark.parametrize(
    ("labels", "given", "shown"),
    [
        (["no", "yes"], {"yse": 2.0}, "'yse' is not one of the classes, which are 'no', 'yes'"),
        ([0, 1], {"1": 2.0}, "'1' is not one of the classes, which are 0, 1"),
        ([0, 1], {0: 1.0, 1: 1.0, 2: 9.0}, "2 is not one of the classes"),
    ],
)
def test_a_weight_of_a_class_that_does_not_exist(labels, given, shown):
    y = np.array(labels)[Y]
    model = OnlineClassifier("newton", class_weight=given)
    with pytest.raises(ValueError, match=f"class_weight: {shown}"):
        model.fit(X, y)
    with pytest.raises(ValueError, match=f"class_weight: {shown}"):
        model.partial_fit(X, y, classes=labels)
    if {*map(type, given)} == {type(labels[0])}:  # announced, and not seen yet
        assert model.partial_fit(X, y, classes=[*{*labels, *given}]).model_.rows == 60


def test_logarithms_of_probabilities():
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    for y in (Y, three, SEVERAL):
        model = OnlineClassifier("newton").fit(X, y)
        expected = np.log(model.predict_proba(X))
        np.testing.assert_allclose(model.predict_log_proba(X), expected, rtol=1e-12)
    sure = OnlineClassifier("newton").fit(X, Y).to_model().log_probabilities(np.array([-800, 800]))
    assert sure.tolist() == [[0, -800], [-800, 0]]  # where probabilities round to 0 and 1
    assert not hasattr(OnlineClassifier("coordinate", "hinge").fit(X, Y), "predict_log_proba")
    one = OnlineClassifier("coordinate").fit(X, np.ones(60))
    assert one.predict_log_proba(X).tolist() == [[0.0]] * 60


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([3, 7], "i"), ([1.0, 2.0], "f"), ([False, True], "b"), (["no", "yes"], "U")],
    ids=["int", "float", "bool", "str"],
)
def test_predictions_of_a_model_have_the_type_of_the_labels(labels, kind, tmp_path):
    y = np.array(labels)[Y]
    fitted = OnlineClassifier("newton").fit(X, y)
    unitless.save(fitted, tmp_path / "model")
    for model in (fitted.to_model(), unitless.load(tmp_path / "model")):
        found = model.predict(X)
        assert found.dtype.kind == kind
        assert found.dtype == fitted.predict(X).dtype
        np.testing.assert_array_equal(found, fitted.predict(X))
        assert type(model.predict({"x0": 1.0, "x1": 0.0})) is type(labels[0])
