"""`fit` treats rows as exchangeable; rows that arrive sorted by class raise a warning."""

import warnings

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_iris, load_wine

from unitless import OnlineClassifier, OnlineRegressor
from unitless.estimators.order_warning import LabelOrder, OrderWarning

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(("load", "score"), [(load_iris, 0.96), (load_wine, 0.98)])
def test_sorted_rows_are_learned(load, score):
    rows, y = load(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert OnlineClassifier().fit(rows, y).score(rows, y) > score


def test_fit_is_partial_fit_in_permuted_order():
    model = OnlineClassifier("coordinate", random_state=3).fit(X, Y)
    order = np.random.RandomState(3).permutation(len(X))
    other = OnlineClassifier("coordinate").partial_fit(X[order], Y[order])
    np.testing.assert_array_equal(model.progressive_[order], other.progressive_)
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))


def test_columns_levels_and_classes_do_not_depend_on_the_order():
    frame = pandas.DataFrame({"size": X[:, 0], "kind": [f"kind {y}" for y in Y]})
    labels = [f"class {y}" for y in Y]
    made = [OnlineClassifier("coordinate", random_state=k).fit(frame, labels) for k in range(3)]
    for model in made:
        assert model.feature_names_ == ["size", "kind=kind 0", "kind=kind 1", "kind=kind 2"]
        assert model.classes_.tolist() == ["class 0", "class 1", "class 2"]
    assert not np.array_equal(made[0].progressive_, made[1].progressive_)


def test_random_state():
    one, two = (OnlineRegressor("coordinate", "absolute").fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(one.progressive_, two.progressive_)
    new = [OnlineRegressor("coordinate", "absolute", random_state=None).fit(X, Y) for _ in "ab"]
    assert not np.array_equal(new[0].progressive_, new[1].progressive_)


def test_sorted_rows_warn_once():
    model = OnlineClassifier("coordinate", shuffle=False)
    with pytest.warns(OrderWarning, match="sorted by class"):
        model.fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X, Y)


def test_order_is_counted_over_all_calls():
    model = OnlineClassifier("coordinate").partial_fit(X[:30], Y[:30], classes=[0, 1, 2])
    with pytest.warns(OrderWarning):
        model.partial_fit(X[50:60], Y[50:60])


@pytest.mark.parametrize(
    "codes",
    [
        [0] * 10 + [1] * 9,  # too few of a class
        [0] * 20 + [1] * 20 + [0],  # it comes back
        [0] * 100,  # one class
        [0, 1] * 50,
        [0] * 50 + [1] + [0] * 50,  # imbalanced
    ],
)
def test_other_orders_raise_no_warning(codes):
    order = LabelOrder(3)
    order.add(np.array(codes, dtype=float))
    assert not order.warned


def test_first_block_of_one_class_needs_classes():
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        OnlineClassifier().partial_fit(X[:5], Y[:5])


@pytest.mark.parametrize("shuffle", [True, False])
def test_errors_name_rows_as_they_were_given(shuffle):
    model = OnlineRegressor("coordinate", "absolute", shuffle=shuffle)
    with pytest.raises(ValueError, match="row 3: target nan"):
        model.fit(X, np.where(np.arange(len(Y)) == 3, np.nan, Y))
    infinite = np.array(X)
    infinite[7, 1] = np.inf
    with pytest.raises(ValueError, match="row 7, column 1: inf"):
        model.fit(infinite, Y)


def test_no_target():
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        OnlineRegressor().fit(X, None)
