"""Rows that are sparse, lists, incomplete or weighted; and rows that are wrong."""

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from estimators.material import (
    A,
    B,
    OnlineClassifier,
    OnlineRegressor,
    X,
    Y,
    each_kind,
    each_model,
    same_model,
)


@each_model
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.coo_array])
def test_sparse_rows(model, data, form):
    rows, y = data[0] * (data[0] > np.median(data[0], axis=0)), data[1]
    dense, sparse = clone(model).fit(rows, y), clone(model).fit(form(rows), y)
    size = np.abs(dense.progressive_).max()
    np.testing.assert_allclose(sparse.progressive_, dense.progressive_, 1e-12, 1e-12 * size)
    np.testing.assert_array_equal(sparse.predict(form(rows)), sparse.predict(rows))


@each_model
def test_lists_and_integers(model, data):
    rows, y = np.rint(data[0]), data[1]
    expected = clone(model).fit(rows, y)
    for other in (rows.tolist(), rows.astype(int), rows.astype(object), np.asfortranarray(rows)):
        same_model(clone(model).fit(other, y.tolist()), expected, rows)


@pytest.mark.parametrize("learner", ["coordinate", "full"])
def test_missing_values_teach_nothing(learner):
    """For learners that do not centre, they are zeros."""
    rows = X.copy()
    rows[np.random.default_rng(0).random(rows.shape) < 0.1] = np.nan
    gaps, zeros = (OnlineClassifier(learner).fit(x, Y) for x in (rows, np.nan_to_num(rows)))
    np.testing.assert_array_equal(gaps.progressive_, zeros.progressive_)
    np.testing.assert_array_equal(gaps.predict(rows), zeros.predict(np.nan_to_num(rows)))


@each_model
def test_missing_values_of_every_model(model, data):
    """NaN and None are the same, and what is always missing is as if it were not there."""
    rows, y = data[0].copy(), data[1]
    rows[np.random.default_rng(0).random(rows.shape) < 0.1] = np.nan
    gaps = clone(model).fit(rows, y)
    assert np.isfinite(gaps.progressive_).all()
    holes = np.where(np.isnan(rows), None, rows)
    same_model(gaps, clone(model).fit(holes, y), rows)
    last = clone(model).fit(np.insert(rows, rows.shape[1], np.nan, axis=1), y)
    np.testing.assert_array_equal(last.progressive_, gaps.progressive_)
    first = clone(model).fit(np.insert(rows, 0, np.nan, axis=1), y)  # sums in another order
    np.testing.assert_allclose(first.progressive_, gaps.progressive_, rtol=1e-8, atol=1e-9)


# Weights


@each_model
def test_a_weight_of_zero_leaves_a_row_out(model, data):
    rows, y = data
    v = np.random.default_rng(0).choice([0.0, 1.0], len(y))
    some = clone(model).fit(rows, y, sample_weight=v)
    left = clone(model).fit(rows[v > 0], y[v > 0])
    np.testing.assert_array_equal(some.progressive_[v > 0], left.progressive_)
    same_model(some, left, rows)


@each_model
def test_weights_count(model, data):
    rows, y = data
    v = np.random.default_rng(0).uniform(0.5, 2, len(y))
    ones = clone(model).partial_fit(rows, y, sample_weight=np.ones(len(y)))
    same_model(ones, clone(model).fit(rows, y), rows)
    more = clone(model).partial_fit(rows, y, sample_weight=v.tolist())
    assert np.any(more.progressive_ != ones.progressive_)
    same_model(more, clone(model).fit(rows, y, sample_weight=v), rows)


def test_a_first_block_without_weight_is_a_model_that_knows_nothing():
    model = OnlineClassifier().partial_fit(X[:9], Y[:9], classes=[0, 1], sample_weight=np.zeros(9))
    same_model(model.partial_fit(X, Y), OnlineClassifier().fit(X, Y), X)
    with pytest.raises(ValueError, match="at least one non-zero"):
        OnlineClassifier().fit(X, Y, sample_weight=np.zeros(len(Y)))


# Wrong use


@each_model
def test_not_fitted(model, data):
    calls = ["predict", "decision_function", "predict_proba", "explain", "rescale"]
    for call in [name for name in calls if hasattr(model, name)]:
        with pytest.raises(NotFittedError):
            getattr(clone(model), call)({} if call == "rescale" else data[0])
    for name in ("feature_names_", "coef_", "intercept_"):
        assert not hasattr(clone(model), name)
    with pytest.raises(NotFittedError):
        clone(model).certificate()


@each_model
def test_another_number_of_features(model, data):
    rows, y = data
    model = clone(model).fit(rows, y)
    before = deepcopy(model)
    d = rows.shape[1]
    for other in (rows[:, :-1], np.column_stack([rows, rows[:, 0]])):
        message = f"{other.shape[1]} features.*{d} features"
        for call in (lambda x: model.predict(x), lambda x: model.partial_fit(x, y)):
            with pytest.raises(ValueError, match=message):
                call(other)
    same_model(model, before, rows)


TEN = X[15:25]
LABELS = Y[15:25]  # of both classes, which a first block must have
BAD = {
    "infinity": (np.where(np.arange(30) == 29, np.inf, TEN), LABELS, None, "row 0, column 29"),
    "one row": (TEN[0], LABELS, None, "Reshape your data"),
    "too few labels": (TEN, LABELS[:9], None, "inconsistent numbers of samples: 10 rows"),
    "negative weight": (TEN, LABELS, [1.0] * 9 + [-1.0], "row 9: weight -1"),
    "huge weight": (TEN, LABELS, [1.0] * 9 + [1e300], "row 9: weight 1e"),
    "too few weights": (TEN, LABELS, [1.0] * 9, "weights has shape.*10 rows"),
    "words": (TEN.astype(str), LABELS, None, "expected numbers"),
    "a word": (
        np.where(np.arange(300).reshape(10, 30) == 275, "?", TEN.astype(object)),
        LABELS,
        None,
        "row 9, column (5|'x5'): '\\?'",
    ),
}


@each_kind
@pytest.mark.parametrize(("rows", "y", "v", "message"), BAD.values(), ids=BAD)
def test_bad_blocks(kind, rows, y, v, message):
    """In a later block, in the first one, and in fit: the model is what it was."""
    model, fresh = kind().fit(X[:100], Y[:100]), kind()
    before = deepcopy(model)
    for call in (model.partial_fit, model.fit, fresh.partial_fit, fresh.fit):
        with pytest.raises(ValueError, match=message):
            call(rows, y, sample_weight=v)
    np.testing.assert_array_equal(model.progressive_, before.progressive_)
    same_model(model, before, X)
    same_model(model.partial_fit(X[100:], Y[100:]), kind().fit(X, Y), X)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert fresh.partial_fit(X[:, :7], Y).n_features_in_ == 7


@each_kind
@pytest.mark.parametrize("rows", [{"a": [1, 2]}, [{"a": 1}, {"a": 2}]], ids=["columns", "rows"])
def test_dicts_are_told_where_to_go(kind, rows):
    with pytest.raises(TypeError, match=r"pandas.DataFrame\(X\).*unitless.river"):
        kind().fit(rows, [0, 1])


def test_cells_that_are_no_numbers():
    rows = X[:9].astype(object)
    rows[2, 3] = {"a": 1}
    with pytest.raises(TypeError, match="must be a string or a real number"):
        OnlineClassifier().fit(rows, Y[:9])


@pytest.mark.parametrize("target", [np.nan, np.inf])
def test_bad_targets(target):
    model = OnlineRegressor().fit(A, B)
    before = deepcopy(model)
    with pytest.raises(ValueError, match=r"inf|nan"):
        model.partial_fit(A[:2], [1.0, target])
    same_model(model, before, A)


@each_kind
def test_nothing_to_learn_from(kind):
    model = kind()
    with pytest.raises(ValueError, match="0 sample"):
        model.partial_fit(X[:0], Y[:0])
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(569, 0\)\)"):
        model.fit(X[:, :0], Y)
    model.fit(X, Y)
    before = deepcopy(model)
    same_model(model.partial_fit(X[:0], Y[:0]), before, X)
    assert model.progressive_.shape == (0,)
    assert model.predict(X[:0]).shape == (0,)


@each_kind
def test_unknown_learner_and_loss(kind):
    with pytest.raises(ValueError, match="unknown learner 'sgd'; choose one of"):
        kind(learner="sgd").fit(X, Y)
    with pytest.raises(ValueError, match="unknown loss 'cubic'; choose one of"):
        kind(loss="cubic").fit(X, Y)


def test_a_loss_for_the_other_kind_of_target():
    with pytest.raises(ValueError, match="the logistic loss does not fit the task regression"):
        OnlineRegressor(loss="logistic").fit(A, B)
