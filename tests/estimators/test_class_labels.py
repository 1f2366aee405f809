"""Labels of the classifier: any kind, two or many, known or not."""

from copy import deepcopy

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.exceptions import NotFittedError

import unitless
from estimators.material import GRAPES, NAMED, WINE, OnlineClassifier, W, X, Y, same_model, standard
from unitless.learners import get


@pytest.mark.parametrize(("rows", "y"), [(X, Y), (W, WINE)], ids=["two", "three"])
def test_labels_of_any_kind(rows, y):
    by_number = OnlineClassifier("coordinate").fit(rows, y)
    for labels in (y * 10 - 3, np.array(["a", "b", "c"])[y], y.astype(float)):
        model = OnlineClassifier("coordinate").fit(rows, labels)
        np.testing.assert_array_equal(model.progressive_, by_number.progressive_)
        np.testing.assert_array_equal(model.classes_, np.unique(labels))
        assert model.predict(rows).dtype == labels.dtype
        assert model.score(rows, labels) == by_number.score(rows, y)


@pytest.mark.parametrize(
    "labels",
    [
        pandas.Series(NAMED),
        pandas.Series(NAMED).astype("category"),
        polars.Series(NAMED),
        pyarrow.chunked_array([NAMED.tolist()]),
        NAMED.tolist(),
    ],
    ids=["pandas", "categorical", "polars", "pyarrow", "list"],
)
def test_labels_from_a_frame(labels):
    model = OnlineClassifier("coordinate").fit(X, labels)
    assert (
        model.predict(X).tolist()
        == OnlineClassifier("coordinate").fit(X, NAMED).predict(X).tolist()
    )


def test_booleans():
    model = OnlineClassifier("full").fit(X, Y.astype(bool))
    assert model.predict(X).dtype == bool
    np.testing.assert_array_equal(model.predict(X), OnlineClassifier("full").fit(X, Y).predict(X))


@pytest.mark.parametrize("learner", ["blend", "full"])
def test_predictions_follow_the_scores(learner):
    model = OnlineClassifier(learner).fit(X, NAMED)
    assert model.classes_.tolist() == ["benign", "malignant"]
    scores, labels = model.decision_function(X), model.predict(X)
    np.testing.assert_array_equal(labels == "malignant", scores >= 0)
    assert model.score(X, NAMED) == np.mean(labels == NAMED) > 0.85


@pytest.mark.parametrize("learner", ["blend", "coordinate", "nag"])
def test_three_classes(learner):
    """Only the Blend centres: rows far from 0 say little to the others."""
    rows = W if learner == "blend" else standard(W)
    model = OnlineClassifier(learner).fit(rows, GRAPES)
    assert model.classes_.tolist() == sorted(set(GRAPES))
    scores = model.decision_function(rows)
    assert scores.shape == (len(W), 3)
    np.testing.assert_array_equal(model.predict(rows), model.classes_[scores.argmax(axis=1)])
    before = model.classes_[model.progressive_.argmax(axis=1)] == GRAPES
    assert before.mean() > 0.9


def test_the_order_of_classes_means_nothing():
    """Labels that sort otherwise: the same scores in other columns."""
    one = OnlineClassifier().fit(W, WINE)
    two = OnlineClassifier().fit(W, (WINE + 1) % 3)
    np.testing.assert_allclose(
        one.progressive_[:, [2, 0, 1]], two.progressive_, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(("rows", "y"), [(X, Y), (W, WINE)], ids=["two", "three"])
@pytest.mark.parametrize("learner", ["blend", "coordinate"])
def test_probabilities(learner, rows, y):
    model = OnlineClassifier(learner).fit(rows, y)
    p, scores = model.predict_proba(rows), model.decision_function(rows)
    assert p.shape == (len(rows), len(set(y)))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-15)
    odds = scores if scores.ndim == 2 else np.column_stack([np.zeros(len(rows)), scores])
    by_hand = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(p, by_hand, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(rows))


@pytest.mark.parametrize(
    "model", [OnlineClassifier(loss="hinge"), OnlineClassifier(get("full")("smoothed_hinge"))]
)
def test_no_probabilities_without_the_logistic_loss(model):
    """A score is no probability, also where the loss is that of a learner of one's own."""
    assert not hasattr(model, "predict_proba")
    model.fit(X, Y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="no attribute 'predict_proba'") as error:
        model.predict_proba(X)
    assert "hinge loss gives no probabilities" in str(error.value.__cause__)
    assert hasattr(OnlineClassifier(), "predict_proba")


def test_other_losses_are_for_two_classes():
    with pytest.raises(ValueError, match="hinge loss is for two classes, and there are 3"):
        OnlineClassifier(loss="hinge").fit(W, WINE)


@pytest.mark.parametrize("learner", ["vaw", "inag", "arow"])
def test_learners_of_two_classes_say_so(learner):
    with pytest.raises(ValueError, match=f"{learner} supports only two classes"):
        OnlineClassifier(learner).fit(W, WINE)


# classes=


@pytest.mark.parametrize("learner", ["blend", "coordinate"])
def test_classes_may_be_given_first(learner):
    for rows, y in ((X, NAMED), (W, GRAPES)):
        model = OnlineClassifier(learner)
        model.partial_fit(rows[:1], y[:1], classes=[*sorted(set(y))[::-1]])
        model.partial_fit(rows[1:], y[1:], classes=sorted(set(y)))
        same_model(model, OnlineClassifier(learner).fit(rows, y), rows)


def test_a_class_that_never_comes():
    model = OnlineClassifier().partial_fit(X, NAMED, classes=["benign", "malignant", "unclear"])
    p = model.predict_proba(X)
    assert p.shape == (len(X), 3)
    assert p[:, 2].max() < 0.01


def test_other_classes_later_are_scikit_learn_s_error():
    model = OnlineClassifier().partial_fit(X, Y, classes=[0, 1])
    before = deepcopy(model)
    with pytest.raises(ValueError, match="not the same as on last call to partial_fit"):
        model.partial_fit(X, Y, classes=[0, 1, 2])
    same_model(model, before, X)


@pytest.mark.parametrize("learner", ["blend", "coordinate"])
def test_one_class_only(learner):
    model = OnlineClassifier(learner).fit(X[:5], NAMED[:5])
    assert model.predict(X).tolist() == ["malignant"] * len(X)
    assert model.predict_proba(X).shape == (len(X), 1)
    assert model.score(X[:5], NAMED[:5]) == 1


def test_one_class_is_continued_by_every_door(tmp_path):
    """Its scores are positive, so the class that comes later has the negative ones."""
    model = OnlineClassifier("coordinate").fit(X[:100] * [2.0], ["yes"] * 100)
    assert (model.decision_function(X[:5]) > 0).all()
    unitless.save(model, tmp_path / "model")
    found = unitless.load(tmp_path / "model")
    assert found.predict_proba(X[:5]).tolist() == [[1.0]] * 5
    assert found.predict_proba(dict(zip(found.feature_names(), X[0], strict=True))) == {"yes": 1.0}
    assert found.to_sklearn().classes_.tolist() == ["yes"]
    found.learn(X[:1], ["no"])
    assert found.classes == ["no", "yes"]
    no, yes = found.predict_proba(X[:5]).T
    assert (yes > no).all()


# Unknown labels


@pytest.mark.parametrize(
    ("rows", "y", "classes"),
    [(X, NAMED, "'benign', 'malignant'"), (W, GRAPES, "'barbera', 'barolo', 'grignolino'")],
    ids=["two", "three"],
)
def test_an_unknown_label_leaves_the_model_untouched(rows, y, classes):
    model = OnlineClassifier().fit(rows[:100], y[:100])
    before = deepcopy(model)
    message = rf"row 9: y contains a previously unseen label: .*'unclear'.*\[{classes}\]"
    with pytest.raises(ValueError, match=message):
        model.partial_fit(rows[100:110], [*y[100:109], "unclear"])
    np.testing.assert_array_equal(model.progressive_, before.progressive_)
    same_model(model, before, rows)
    same_model(model.partial_fit(rows[100:], y[100:]), OnlineClassifier().fit(rows, y), rows)


def test_an_unknown_label_in_the_first_rows():
    model = OnlineClassifier()
    with pytest.raises(ValueError, match=r"unseen label: .*'malignant'"):
        model.partial_fit(X, NAMED, classes=["benign", "unclear"])
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("labels", [X[:, 0], Y.astype(object)], ids=["continuous", "unknown"])
def test_labels_that_are_no_classes(labels):
    with pytest.raises(ValueError, match=r"Unknown label type: (continuous|unknown)"):
        OnlineClassifier().fit(X, labels)
