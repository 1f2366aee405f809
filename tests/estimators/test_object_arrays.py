"""Arrays of objects with strings: their columns are x0, x1, ..., and all else is as for frames."""

from datetime import date

import numpy as np
import pandas
import pytest

import unitless
from unitless import OnlineClassifier, OnlineRegressor

RNG = np.random.default_rng(2)
SIZE = RNG.normal(size=60)
COLOUR = RNG.choice(["red", "blue", "green"], 60)
X = np.empty((60, 3), dtype=object)
X[:, 0], X[:, 1], X[:, 2] = SIZE, COLOUR, [date(2024, 1, 1 + k % 28) for k in range(60)]
X[3, 0], X[5, 1], X[7, 1], X[9, 1], X[4, 2] = None, np.nan, None, pandas.NA, None
Y = np.where(SIZE + (COLOUR == "red") > 0.3, "yes", "no")
FRAME = pandas.DataFrame(X, columns=["x0", "x1", "x2"])


@pytest.mark.parametrize("interactions", [(), ["x0:x1"]])
def test_they_give_the_bits_of_a_frame(interactions, tmp_path):
    of_array = OnlineClassifier(interactions=interactions).fit(X, Y)
    of_frame = OnlineClassifier(interactions=interactions).fit(FRAME, Y)
    np.testing.assert_array_equal(of_array.progressive_, of_frame.progressive_)
    assert of_array.feature_names_ == of_frame.feature_names_
    assert not hasattr(of_array, "feature_names_in_")
    np.testing.assert_array_equal(of_array.predict_proba(X), of_frame.predict_proba(FRAME))
    of_array.partial_fit(X[:5], Y[:5])
    of_frame.partial_fit(FRAME[:5], Y[:5])
    unitless.save(of_array, tmp_path / "model")
    model = unitless.load(tmp_path / "model")
    expected = of_frame.decision_function(FRAME)
    np.testing.assert_array_equal(model.scores(X), expected)
    np.testing.assert_array_equal(model.scores(X[2]), expected[2:3])
    np.testing.assert_array_equal(model.scores(X.tolist()), expected)
    np.testing.assert_array_equal(model.to_sklearn().decision_function(X), expected)
    assert model.predict({"x0": X[1, 0], "x1": X[1, 1], "x2": X[1, 2]}) == model.predict(X)[1]


def test_by_position_for_a_model_of_a_frame():
    model = OnlineRegressor("newton").fit(FRAME.set_axis(list("abc"), axis=1), SIZE).to_model()
    np.testing.assert_array_equal(model.predict(X), model.predict(FRAME.set_axis([*"abc"], axis=1)))


def test_what_is_refused():
    model = OnlineClassifier("coordinate").fit(X, Y)
    with pytest.raises(ValueError, match=r"column 'x1': 1\.0 is a number, and .* categories"):
        model.predict(np.ones((1, 3)))
    with pytest.raises(ValueError, match="X has 2 features, and the model has 3"):
        model.predict(X[:, :2])
    numbers = OnlineClassifier("coordinate").fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(ValueError, match="row 0, column 0: 'red'"):
        numbers.predict(np.array([["red"]], dtype=object))
    with pytest.raises(ValueError, match="the model was made from numbers"):
        numbers.to_model().predict(np.array([["red"]], dtype=object))
    mixed = np.array([[1.0], ["red"]], dtype=object)
    with pytest.raises(
        ValueError, match=r"row 1, column 'x0': 'red' is a category, and .* numbers"
    ):
        OnlineClassifier("coordinate").fit(mixed, ["a", "b"])
    with pytest.raises(ValueError, match="no column 'size'"):
        OnlineClassifier(interactions=["size:x1"]).fit(X, Y)
