"""A call is atomic: one bad row refuses the block, says where and what to do, and leaves no trace.

The bad row is always the last one, and it comes with columns and names never seen before.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from cases import in_one_test
from laws.streams import each_form, each_learner, each_pair, make, snapshot, tame
from unitless import losses
from unitless.learners import get
from unitless.rows import as_rows


def trained(name, loss=None):
    """A learner that knows three columns, and three names."""
    learner = make(name, loss)
    learner.learn(tame(name, loss, d=3).rows())
    learner.learn_one({"a": 1.0, "b": 0.5, "c": 0.0}, 1.0)
    return learner


def refused(learner, call, words, error=ValueError):
    """The call raises an error that holds all the words, and nothing has changed."""
    before = snapshot(learner)
    with pytest.raises(error) as caught:
        call()
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, str(caught.value)
    assert snapshot(learner) == before


# Blocks of five rows and four columns


GOOD = np.arange(20.0).reshape(5, 4)


def with_last(value, array=GOOD):
    """The array with its last entry replaced."""
    array = array.astype(object if isinstance(value, str) else type(value))
    array.flat[-1] = value
    return array


SIGNS, ONES = np.ones(5), np.ones(5)
BAD_BLOCKS = {
    "inf": (with_last(np.inf), SIGNS, ONES, ["row 4, column 3", "inf", "NaN"]),
    "-inf": (with_last(-np.inf), SIGNS, ONES, ["row 4, column 3", "-inf", "NaN"]),
    "inf in CSR": (sp.csr_array(with_last(np.inf)), SIGNS, ONES, ["row 4, column 3", "NaN"]),
    "a word": (with_last("red"), SIGNS, ONES, ["row 4, column 3", "'red'", "NaN"]),
    "words": (GOOD.astype(str), SIGNS, ONES, ["numbers", "OnlineClassifier"]),
    "complex": (GOOD * 1j, SIGNS, ONES, ["complex", "two columns"]),
    "dates": (GOOD.astype("M8[D]"), SIGNS, ONES, ["numbers", "datetime64"]),
    "one row": (GOOD[0], SIGNS, ONES, ["shape (4,)", "X.reshape(1, -1)"]),
    "a cube": (GOOD[None], SIGNS, ONES, ["shape (1, 5, 4)"]),
    "too few targets": (GOOD, SIGNS[1:], ONES, ["targets", "(4,)", "5 rows"]),
    "targets in a column": (GOOD, SIGNS[:, None], ONES, ["targets", "(5, 1)", "5 rows"]),
    "words for targets": (GOOD, SIGNS.astype(str), ONES, ["numbers"]),
    "no targets": (GOOD, None, ONES, ["as_rows(X, targets)"]),
    "too many weights": (GOOD, SIGNS, np.ones(6), ["weights", "(6,)", "5 rows"]),
    "a negative weight": (GOOD, SIGNS, with_last(-1.0, ONES), ["row 4", "weight -1", "use 0"]),
    "a weight of NaN": (GOOD, SIGNS, with_last(np.nan, ONES), ["row 4", "weight nan", "use 0"]),
    "an infinite weight": (GOOD, SIGNS, with_last(np.inf, ONES), ["row 4", "weight inf", "use 0"]),
    "a weight too small": (GOOD, SIGNS, with_last(1e-61, ONES), ["row 4", "weight 1e-61", "use 0"]),
    "a weight too large": (GOOD, SIGNS, with_last(1e61, ONES), ["row 4", "weight 1e+61", "use 0"]),
}


@each_learner
def test_bad_blocks(name):
    learner = trained(name)
    for X, y, v, words in BAD_BLOCKS.values():
        refused(learner, lambda block=(X, y, v): learner.learn(as_rows(*block)), words)


@each_learner
@in_one_test("wide", [1.0, 1e200, 1e-200])
def test_an_infinity_among_known_columns(name, wide):
    """Kernels may notice it by themselves: the rows before it leave no trace either."""
    learner = trained(name)
    for row in range(5):
        X = np.ones((5, 3))
        X[1, 0], X[row, 2], X[4, 2] = wide, -np.inf, np.inf
        words = [f"row {row}, column 2", "inf", "NaN"]
        for weights in (None, ONES, np.zeros(5)):
            refused(learner, lambda v=weights, X=X: learner.learn(as_rows(X, SIGNS, v)), words)
            refused(learner, lambda v=weights, X=X: learner.predict(as_rows(X, None, v)), words)


BAD_TARGETS = {
    "signs": [0.0, 0.5, 2.0, np.nan, np.inf],
    "reals": [np.nan, np.inf, -np.inf],
    "slopes": [1.0000000000000002, -2.0, np.nan, np.inf],
    "classes": [3.0, -1.0, 0.5, np.nan, np.inf],
}


@each_pair
@each_form
def test_bad_targets(name, loss, form):
    learner = trained(name, loss)
    X = GOOD if form == "dense" else sp.csr_array(GOOD)
    for bad in BAD_TARGETS[losses.get(loss).targets]:
        rows = as_rows(X, with_last(bad, ONES))
        refused(learner, lambda rows=rows: learner.learn(rows), ["row 4", str(bad), loss])
        refused(learner, lambda bad=bad: learner.learn_one({"new": 1.0}, bad), [str(bad), loss])


@each_learner
def test_what_is_no_block(name):
    learner = trained(name)
    for rows in (GOOD, sp.csr_array(GOOD), GOOD.tolist(), {"a": 1.0}, None):
        words = ["Rows", type(rows).__name__, "as_rows"]
        refused(learner, lambda rows=rows: learner.learn(rows), words, TypeError)
        refused(learner, lambda rows=rows: learner.predict(rows), words, TypeError)


@each_learner
def test_predict_refuses_bad_weights_too(name):
    learner = trained(name)
    for weight in (1e-61, 1e61):
        rows = as_rows(GOOD, weights=with_last(weight, ONES))
        words = ["row 4", f"weight {weight:g}", "use 0"]
        refused(learner, lambda rows=rows: learner.predict(rows), words)


# Dicts


BAD_ROWS = {
    "inf": ({"a": np.inf}, ["'a'", "inf", "None"]),
    "-inf": ({"b": 1.0, "a": -np.inf}, ["'a'", "inf", "None"]),
    "inf in a new feature": ({"a": 1.0, "new": np.inf}, ["'new'", "inf", "None"]),
    "inf beside a new feature": ({"a": np.inf, "new": 1.0}, ["'a'", "inf", "None"]),
    "inf in a feature so far 0": ({"c": np.inf}, ["'c'", "inf", "None"]),
    "a word": ({"a": "red"}, ["'a'", "'red'", "None", "a=red"]),
    "a word beside a new feature": ({"new": 1.0, "a": "red"}, ["'a'", "'red'", "None"]),
    "digits": ({"a": "1.0"}, ["'a'", "'1.0'"]),
    "bytes": ({"a": b"1"}, ["'a'", "None"]),
    "complex": ({"a": 1j}, ["'a'", "1j", "None"]),
    "a list": ({"a": [1.0, 2.0]}, ["'a'", "[1.0, 2.0]", "None"]),
    "beyond float64": ({"new": 1.0, "a": 10**400}, ["'a'", "None"]),
}


@each_pair
def test_bad_dicts(name, loss):
    learner = trained(name, loss)
    for row, words in BAD_ROWS.values():
        refused(learner, lambda row=row: learner.learn_one(row, 1), words)
        refused(learner, lambda row=row: learner.learn_one(row, 1, 0), words)
        refused(learner, lambda row=row: learner.predict_one(row), words)


@each_learner
def test_bad_weights_of_dicts(name):
    learner = trained(name)
    for weight in (-1.0, np.nan, np.inf, 1e-61, 1e61):
        words = [f"weight {weight:g}", "use 0"]
        refused(learner, lambda v=weight: learner.learn_one({"new": 1.0}, 1, v), words)
        refused(learner, lambda v=weight: learner.predict_one({"new": 1.0}, v), words)


@each_pair
def test_targets_of_dicts_that_are_no_numbers(name, loss):
    learner = trained(name, loss)
    for target in ("yes", None, [1.0]):
        words = [repr(target), loss]
        refused(learner, lambda y=target: learner.learn_one({"new": 1.0}, y), words)


@each_learner
def test_the_next_row_is_learned_as_if_nothing_had_happened(name):
    tried, fresh = trained(name), trained(name)
    for row, _ in BAD_ROWS.values():
        with pytest.raises(ValueError, match="'"):
            tried.learn_one(row, 1)
        good = {"a": 0.75, "b": -1.0, "late": 0.5}
        assert tried.predict_one(good) == fresh.predict_one(good)
        assert tried.learn_one(good, -1) == fresh.learn_one(good, -1)


# The paper's fixed d


def test_more_features_than_promised():
    learner = get("coordinate")(d=4)
    learner.learn(tame("coordinate", d=3).rows())
    words = ["d = 4", "4 features and an intercept", "d=None"]
    refused(learner, lambda: learner.learn(as_rows(GOOD, SIGNS)), words)
    named = get("coordinate")(d=3)
    named.learn_one({"a": 1.0, "b": 2.0}, 1)
    words = ["d = 3", "3 features and an intercept", "d=None"]
    refused(named, lambda: named.learn_one({"a": 1.0, "c": 2.0}, 1), words)
    assert named.learn_one({"a": 1.0}, 1) == pytest.approx(named.predict_one({"a": 1.0}), abs=1)
