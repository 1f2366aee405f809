"""OnlineClassifier and OnlineRegressor."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError

from unitless import OnlineClassifier, OnlineRegressor
from unitless.learners import REGISTRY, get
from unitless.regret import certificate
from unitless.rows import as_rows

X, Y = load_breast_cancer(return_X_y=True)
A, B = load_diabetes(return_X_y=True, scaled=False)
NAMED = np.array(["malignant", "benign"])[Y]  # benign, the larger code, sorts first
SIGNS = np.where(NAMED == "malignant", 1.0, -1.0)

each_learner = pytest.mark.parametrize("learner", sorted(REGISTRY))
each_model = pytest.mark.parametrize(
    ("model", "data"),
    [(OnlineClassifier(), (X, Y)), (OnlineRegressor(), (A, B))],
    ids=["classifier", "regressor"],
)
each_kind = pytest.mark.parametrize("kind", [OnlineClassifier, OnlineRegressor])


def same_model(one, two, rows):
    """Assert that two models will say the same, to the bit."""
    np.testing.assert_array_equal(one.predict(rows), two.predict(rows))
    np.testing.assert_array_equal(
        one.learner_.predict(as_rows(rows)), two.learner_.predict(as_rows(rows))
    )


# One pass


@each_learner
def test_the_classifier_is_its_learner(learner):
    model = OnlineClassifier(learner).fit(X, NAMED)
    expected = get(learner)()
    scores = expected.learn(as_rows(X, SIGNS))
    np.testing.assert_array_equal(model.progressive_, scores)
    np.testing.assert_array_equal(model.decision_function(X), expected.predict(as_rows(X)))


@each_learner
def test_the_regressor_is_its_learner(learner):
    model = OnlineRegressor(learner, loss="quantile(0.3)").fit(A, B)
    expected = get(learner)("quantile(0.3)")
    np.testing.assert_array_equal(model.progressive_, expected.learn(as_rows(A, B)))
    np.testing.assert_array_equal(model.predict(A), expected.predict(as_rows(A)))


@each_model
@pytest.mark.parametrize("learner", sorted(REGISTRY))
def test_partial_fit_is_fit(model, data, learner):
    rows, y = data
    whole = clone(model).set_params(learner=learner).fit(rows, y)
    parts, scores = clone(model).set_params(learner=learner), []
    for start in range(0, len(y), 97):
        assert parts.partial_fit(rows[start : start + 97], y[start : start + 97]) is parts
        scores.append(parts.progressive_)
    np.testing.assert_array_equal(np.concatenate(scores), whole.progressive_)
    same_model(parts, whole, rows)


@each_model
def test_fit_forgets(model, data):
    rows, y = data
    once, twice = clone(model).fit(rows, y), clone(model).fit(rows[::-1], y[::-1])
    twice.fit(rows, y)
    np.testing.assert_array_equal(once.progressive_, twice.progressive_)
    same_model(once, twice, rows)


@each_model
def test_fit_takes_other_features_and_labels(model, data):
    rows, y = data
    model = clone(model).fit(rows, y)
    other = 3.0 - 2 * (y > y.mean())
    assert model.fit(rows[:, :3], other).n_features_in_ == 3
    same_model(model, clone(model).fit(rows[:, :3], other), rows[:, :3])


def test_units_do_not_matter():
    factors = 2.0 ** np.random.default_rng(0).integers(-30, 30, 30)
    one, two = OnlineClassifier("full").fit(X, Y), OnlineClassifier("full").fit(X * factors, Y)
    np.testing.assert_array_equal(one.progressive_, two.progressive_)


def test_a_learner_of_one_s_own():
    """Its parameters are kept, itself is not touched."""
    mine = get("coordinate")("hinge", alpha=2.0, wealth=3.0)
    model = OnlineClassifier(mine).fit(X, Y)
    expected = get("coordinate")("hinge", alpha=2.0, wealth=3.0)
    np.testing.assert_array_equal(model.progressive_, expected.learn(as_rows(X, 2.0 * Y - 1)))
    assert mine.sums().trials == 0
    assert model.learner is mine


# Classes


def test_labels_of_any_kind():
    by_number = OnlineClassifier("full").fit(X, Y)
    for labels in (Y.astype(bool), Y * 10 - 3, np.array(["a", "b"])[Y], Y.astype(float)):
        model = OnlineClassifier("full").fit(X, labels)
        np.testing.assert_array_equal(model.progressive_, by_number.progressive_)
        np.testing.assert_array_equal(model.classes_, np.unique(labels))
        assert model.predict(X).dtype == labels.dtype
        assert model.score(X, labels) == by_number.score(X, Y)


def test_predictions_follow_the_scores():
    model = OnlineClassifier("full").fit(X, NAMED)
    assert model.classes_.tolist() == ["benign", "malignant"]
    scores, labels = model.decision_function(X), model.predict(X)
    np.testing.assert_array_equal(labels == "malignant", scores >= 0)
    assert model.score(X, NAMED) == np.mean(labels == NAMED) > 0.85


def test_probabilities():
    model = OnlineClassifier("full").fit(X, Y)
    p = model.predict_proba(X)
    assert p.shape == (len(X), 2)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-model.decision_function(X))), rtol=1e-12)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X))


@pytest.mark.parametrize(
    "model", [OnlineClassifier(loss="hinge"), OnlineClassifier(get("full")("smoothed_hinge"))]
)
def test_no_probabilities_without_the_logistic_loss(model):
    """Also where the loss is that of a learner of one's own: a score is no probability."""
    model = clone(model).fit(X, Y)
    with pytest.raises(AttributeError, match="hinge loss gives no probabilities"):
        model.predict_proba(X)


def test_classes_may_be_given_first():
    model = OnlineClassifier()
    model.partial_fit(X[:5], NAMED[:5], classes=["malignant", "benign"])  # all of one class
    model.partial_fit(X[5:], NAMED[5:])
    same_model(model, OnlineClassifier().fit(X, NAMED), X)


def test_one_class_only():
    model = OnlineClassifier().fit(X[:5], NAMED[:5])
    assert model.predict(X[:5]).tolist() == ["malignant"] * 5
    assert model.predict_proba(X[:5]).shape == (5, 1)
    assert model.score(X[:5], NAMED[:5]) == 1


def test_three_classes_are_not_yet():
    with pytest.raises(ValueError, match="3 classes"):
        OnlineClassifier().fit(X[:3], [0, 1, 2])


def test_an_unknown_label_leaves_the_model_untouched():
    model = OnlineClassifier("full").fit(X[:100], NAMED[:100])
    before = deepcopy(model)
    with pytest.raises(ValueError, match=r"row 9: label .*'unclear'.*'benign', 'malignant'"):
        model.partial_fit(X[100:110], [*NAMED[100:109], "unclear"])
    np.testing.assert_array_equal(model.progressive_, before.progressive_)
    assert model.learner_.sums().trials == 100
    same_model(model, before, X)
    same_model(model.partial_fit(X[100:], NAMED[100:]), OnlineClassifier("full").fit(X, NAMED), X)


# Rows of other kinds


@each_model
def test_sparse_rows(model, data):
    rows, y = data
    dense = clone(model).fit(rows, y)
    for kind in (sp.csr_array, sp.csc_array, sp.csr_matrix, sp.coo_array):
        sparse = clone(model).fit(kind(rows), y)
        size = np.abs(dense.progressive_).max()
        np.testing.assert_allclose(sparse.progressive_, dense.progressive_, 1e-12, 1e-12 * size)
        np.testing.assert_array_equal(sparse.predict(kind(rows)), sparse.predict(rows))


@each_model
def test_lists_and_integers(model, data):
    rows, y = np.rint(data[0]), data[1]
    expected = clone(model).fit(rows, y)
    for other in (
        rows.tolist(),
        rows.astype(int),
        rows.astype(np.float32),
        np.asfortranarray(rows),
    ):
        same_model(clone(model).fit(other, y.tolist()), expected, rows)


@each_model
def test_missing_values(model, data):
    rows, y = data[0].copy(), data[1]
    rows[np.random.default_rng(0).random(rows.shape) < 0.1] = np.nan
    gaps, zeros = clone(model).fit(rows, y), clone(model).fit(np.nan_to_num(rows), y)
    np.testing.assert_array_equal(gaps.progressive_, zeros.progressive_)
    np.testing.assert_array_equal(gaps.predict(rows), zeros.predict(np.nan_to_num(rows)))


@each_model
def test_sample_weights(model, data):
    rows, y = data
    v = np.random.default_rng(0).choice([0.0, 1.0], len(y))
    some = clone(model).fit(rows, y, sample_weight=v)
    left = clone(model).fit(rows[v > 0], y[v > 0])
    np.testing.assert_array_equal(some.progressive_[v > 0], left.progressive_)
    same_model(some, left, rows)
    more = clone(model).partial_fit(rows, y, sample_weight=2 * np.ones(len(y)))
    assert np.any(more.progressive_ != clone(model).fit(rows, y).progressive_)


# Errors


@each_model
def test_not_fitted(model, data):
    calls = ["predict", "decision_function", "predict_proba", "score"]
    for call in [name for name in calls if hasattr(model, name)]:
        arguments = data if call == "score" else data[:1]
        with pytest.raises(NotFittedError):
            getattr(clone(model), call)(*arguments)


@each_model
def test_another_number_of_features(model, data):
    rows, y = data
    model = clone(model).fit(rows, y)
    before = deepcopy(model)
    d = rows.shape[1]
    for other in (rows[:, :-1], np.column_stack([rows, rows[:, 0]])):
        message = f"{other.shape[1]} features.*{d} features"
        with pytest.raises(ValueError, match=message):
            model.predict(other)
        with pytest.raises(ValueError, match=message):
            model.partial_fit(other, y)
    same_model(model, before, rows)


BAD = {
    "infinity": (np.where(np.arange(30) == 29, np.inf, X[:10]), Y[:10], None, "row 0, column 29"),
    "one row": (X[0], Y[:1], None, "(?i)reshape"),
    "too few labels": (X[:10], Y[:9], None, "targets has shape.*10 rows"),
    "negative weight": (X[:10], Y[:10], [1.0] * 9 + [-1.0], "row 9: weight -1"),
    "too few weights": (X[:10], Y[:10], [1.0] * 9, "weights has shape.*10 rows"),
    "words": (X[:10].astype(str), Y[:10], None, "expected numbers"),
}


@each_kind
@pytest.mark.parametrize(("rows", "y", "v", "message"), BAD.values(), ids=BAD)
def test_bad_blocks(kind, rows, y, v, message):
    model = kind().fit(X[:100], Y[:100])
    before = deepcopy(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(rows, y, sample_weight=v)
    assert model.learner_.sums().trials == 100
    np.testing.assert_array_equal(model.progressive_, before.progressive_)
    same_model(model, before, X)


@each_kind
def test_a_bad_first_block_leaves_no_model(kind):
    model = kind()
    with pytest.raises(ValueError, match="row 0, column 29"):
        model.partial_fit(BAD["infinity"][0], Y[:10])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X[:, :7], Y)
    assert model.n_features_in_ == 7


@each_kind
def test_unknown_learner_and_loss(kind):
    with pytest.raises(ValueError, match="unknown learner 'sgd'; choose one of"):
        kind(learner="sgd").fit(X, Y)
    with pytest.raises(ValueError, match="unknown loss 'cubic'; choose one of"):
        kind(loss="cubic").fit(X, Y)


def test_a_loss_for_the_other_kind_of_target():
    with pytest.raises(ValueError, match=r"row 0: target .* does not fit the logistic loss"):
        OnlineRegressor(loss="logistic").fit(A, B)


# scikit-learn's ways


@each_kind
def test_parameters(kind):
    mine = get("full")(alpha=2.0)
    model = kind(learner=mine, loss="huber(2)")
    assert model.get_params() == {"learner": mine, "loss": "huber(2)"}
    assert kind(**model.get_params()).learner is mine
    assert kind().set_params(learner="full").learner == "full"


@each_model
def test_clone_is_unfitted(model, data):
    fitted = clone(model).fit(*data)
    fresh = clone(fitted)
    assert not hasattr(fresh, "learner_")
    assert fresh.get_params() == fitted.get_params()


@each_model
@pytest.mark.parametrize("learner", sorted(REGISTRY))
def test_pickle_in_mid_stream(model, data, learner):
    rows, y = data
    straight = clone(model).set_params(learner=learner).partial_fit(rows[:200], y[:200])
    resumed = pickle.loads(pickle.dumps(straight))
    for one in (straight, resumed):
        one.partial_fit(rows[200:], y[200:])
    np.testing.assert_array_equal(resumed.progressive_, straight.progressive_)
    same_model(resumed, straight, rows)


def test_the_regressor_s_score_is_r2():
    model = OnlineRegressor("full").fit(A, B)
    residual = np.sum((B - model.predict(A)) ** 2) / np.sum((B - B.mean()) ** 2)
    assert model.score(A, B) == pytest.approx(1 - residual)


def test_huber_and_absolute_give_numbers_near_the_targets():
    for loss in ("absolute", "huber(10)", "quantile(0.5)"):
        model = OnlineRegressor("full", loss=loss).fit(A, B)
        late = np.abs(model.progressive_ - B)[200:].mean()
        assert late < np.abs(B).mean() / 2


@pytest.mark.parametrize("learner", ["coordinate", "full"])
def test_certificate_is_the_learner_s(learner):
    model = OnlineClassifier(learner=learner)
    with pytest.raises(NotFittedError):
        model.certificate()
    model.fit(X, Y)
    made = model.certificate(ball=2.0)
    assert str(made) == str(certificate(model.learner_, ball=2.0))
    assert made.trials == len(Y)
