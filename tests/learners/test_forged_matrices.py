"""States of a forged file, of learners with a matrix: refused, or used without leaving an array."""

import math
from copy import deepcopy

import numpy as np
import pytest

from learners.test_forged_trees_and_neighbours import forged
from unitless.core.learner import Diverged
from unitless.learners import get
from unitless.learners.one_vs_rest import with_classes
from unitless.rows import as_rows
from unitless.state import Damaged, remembered, restore

CASES = [
    ("newton", "logistic"),
    ("newton", "squared"),
    ("newton", "softmax"),
    ("full", "logistic"),
    ("full", "absolute"),
    ("full", "softmax"),
    ("vaw", "squared"),
    ("ons", "logistic"),
    ("second_order_perceptron", "logistic"),
    ("fd_son", "logistic"),
    ("oja_son", "logistic"),
]


def make(name, loss):
    return with_classes(get(name), 3) if loss == "softmax" else get(name)(loss)


def stream(loss, columns):
    """Rows of which some columns depend on others, and some are new after half of them."""
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (200, columns)).astype(float)
    X[:, 2] = X[:, 0] + X[:, 1]
    X[:100, 3] = 0
    signal = X[:, 0] - X[:, 1] + 0.5
    y = {"softmax": np.clip(signal // 1 + 1, 0, 2), "logistic": np.sign(signal)}.get(loss, signal)
    return as_rows(X / 4, y)


def use(learner, loss):
    """Predict and learn rows, with columns that are new."""
    for rows in (stream(loss, 5), stream(loss, 20)):
        learner.predict(rows)
        try:
            learner.learn(rows)
        except Diverged:
            assert not learner.scale_invariant


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "loss"), CASES)
def test_forged_entries(name, loss):
    learner = make(name, loss)
    learner.learn(stream(loss, 5)[:120])
    arrays, facts = remembered(learner)
    accepted = set()
    for field, changed in forged(arrays):
        victim = make(name, loss)
        try:
            restore(victim, changed, deepcopy(facts))
        except Damaged:
            continue
        accepted.add(field)
        use(victim, loss)
    assert accepted, "the forger changed nothing that matters little"


@pytest.mark.parametrize(
    ("name", "field", "at", "value", "message"),
    [
        ("newton", "columns", (), 2.0**53, "columns has a value above"),
        ("newton", "columns", (), 8.0, "no room for 8 columns"),
        ("newton", "columns", (), math.nan, "columns is not a count"),
        ("newton", "posterior.U", 1, 1.0, "U is not unit triangular"),
        ("newton", "posterior.U", 0, 1e308, "U is not unit triangular"),
        ("newton", "posterior.D", 0, -1.0, "D has a value below 0"),
        ("full", "columns", (), 4.0, "places do not fit the columns"),
        ("full", "factor.rank", (), 7.0, "rank has a value above"),
        ("full", "factor.rank", (), -1.0, "rank has a value below 0"),
        ("full", "factor.rank", (), 1.0, "other rows than rank"),
        ("full", "factor.U", 6, 1.0, "U is not triangular"),
        ("full", "factor.U", 0, 1e308, "other rows than rank"),
        ("full", "factor.places", 0, 6, "places and coordinates disagree"),
        ("full", "factor.places", 0, -1, "places and coordinates disagree"),
        ("full", "factor.coordinates", 0, 6, "coordinates point beyond the end"),
        ("full", "factor.coordinates", 0, -1, "coordinates has a value below 0"),
        ("fd_son", "rows", (), 10.0, "rows has a value above 9"),
        ("oja_son", "rows", (), 11.0, "rows has a value above 10"),
        ("ons", "columns", (), 8.0, "no room for 8 columns"),
    ],
)
def test_what_is_refused(name, field, at, value, message):
    learner = make(name, "logistic")
    learner.learn(stream("logistic", 5))
    arrays, facts = remembered(learner)
    arrays[field][at] = value
    with pytest.raises(Damaged, match=message):
        restore(make(name, "logistic"), arrays, facts)


def test_arrays_whose_size_in_bytes_wraps_around():
    with pytest.raises(ValueError, match="at most 1024 directions"):
        get("fd_son")(m=2**31)
