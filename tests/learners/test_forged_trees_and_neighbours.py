"""States of a forged file: each is refused, or predicts and learns within its arrays."""

import math
from copy import deepcopy

import numpy as np
import pytest

from unitless.learners import BoostedTrees, HistogramTrees, Neighbours
from unitless.rows import as_rows
from unitless.state import Damaged, remembered, restore

EXTREMES = (-1, 0, 1, 7, 2**31 - 1, -(2**31), 2.0**53, 1e308, -1e308, math.nan, math.inf)
LOSSES = ["logistic", "squared", "softmax"]

pytestmark = pytest.mark.forged


def stream(loss, n=400):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (n, 5)).astype(float)
    X[rng.random(X.shape) < 0.05] = math.nan
    signal = np.nan_to_num(X[:, 0] - 2 * (X[:, 1] > 1) + X[:, 2] * X[:, 3])
    if loss == "squared":
        return as_rows(X, signal)
    return as_rows(X, np.sign(signal - 1.5) if loss == "logistic" else np.clip(signal, 0, 9) // 1)


def fresh(kind, loss):
    """A learner; of histogram trees, one forest is in use after 300 rows, and another is grown."""
    parameters = {"first": 125} if kind is HistogramTrees else {}
    return kind(loss, classes=10 if loss == "softmax" else 0, **parameters)


def learned(kind, loss):
    """A learner of 300 rows, with trees that have grown."""
    learner = fresh(kind, loss)
    learner.learn(stream(loss)[:300])
    return learner


def forged(arrays):
    """(name, arrays with one entry changed, or one entry more or less)."""
    rng = np.random.default_rng(1)
    for name, array in arrays.items():
        for value in EXTREMES:
            if array.dtype.kind in "iu":
                bounds = np.iinfo(array.dtype)
                if not bounds.min <= value <= bounds.max:
                    continue
            for at in {0, max(array.size - 1, 0), int(rng.integers(max(array.size, 1)))}:
                changed = array.copy()
                if changed.size:
                    changed.reshape(-1)[at] = value
                yield name, arrays | {name: changed}
            if array.ndim:
                yield name, arrays | {name: np.full_like(array, value)}
        if array.ndim:
            yield name, arrays | {name: array[:-1]}
            yield name, arrays | {name: np.concatenate([array, array[:1]])}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", [BoostedTrees, HistogramTrees, Neighbours])
def test_forged_entries(kind, loss):
    learner = learned(kind, loss)
    arrays, facts = remembered(learner)
    rows = stream(loss)
    accepted = set()
    for name, changed in forged(arrays):
        victim = fresh(kind, loss)
        try:
            restore(victim, changed, deepcopy(facts))
        except Damaged:
            continue
        accepted.add(name)
        victim.predict(rows[:100])
        victim.learn(rows[300:])
        victim.learn(rows[:300])
    assert accepted, "the forger changed nothing that matters little"


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("nodes.child", -1, 0, "a walk may never end"),
        ("nodes.child", 0, 2**31 - 1, "a child is missing"),
        ("nodes.leaf", 0, 2**31 - 1, "a leaf is out of bounds"),
        ("nodes.column", 0, 7, "a column of a node is out of bounds"),
        ("candidates.column", 0, 7, "a column of a candidate is out of bounds"),
        ("candidates.unready", 0, 13, "miscounted"),
        ("candidates.draws", 0, -1, "a number of draws is out of bounds"),
        ("leaves_of", 0, 10**6, "leaves_of has a value above"),
        ("leaves_of", 0, 1, "do not add up"),
        ("history", 0, -1, "a column of a split is out of bounds"),
        ("order", 0, 5, "a column is out of bounds"),
        ("turned", 0, 2, "turned has a value above 1"),
        ("values.H", 0, -1.0, "a curvature is negative"),
        ("splits", (), -1.0, "splits has a value below 0"),
        ("lowest", (), math.nan, "lowest is not finite"),
    ],
)
def test_what_the_trees_refuse(name, at, value, message):
    arrays, facts = remembered(learned(BoostedTrees, "logistic"))
    arrays[name][at] = value
    with pytest.raises(Damaged, match=message):
        restore(BoostedTrees(), arrays, facts)


def test_a_leaf_without_its_sums():
    arrays, facts = remembered(learned(BoostedTrees, "logistic"))
    for name in arrays:
        if name.startswith(("candidates.", "first.")):
            arrays[name] = arrays[name][:-1]
    with pytest.raises(Damaged, match="shape"):
        restore(BoostedTrees(), arrays, facts)


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("next", (), 10_000.0, "next has a value above"),
        ("next", (), -1.0, "next has a value below 0"),
        ("used", (), 10_000.0, "used has a value above"),
        ("used", (), 0.0, "the next row goes beyond"),
        ("labels.y", 0, 2.0, "a label is not a class"),
        ("labels.y", 0, -1.0, "a label is not a class"),
        ("labels.weight", 0, -1.0, "a sample weight is out of bounds"),
        ("stored", 0, 1e308, "stored has a value above 1"),
        ("moments.m2", 0, -1.0, "m2 is negative"),
        ("moments.missing", 0, 1e9, "more values are missing"),
        ("columns", (), 6.0, "stored has the shape"),
    ],
)
def test_what_the_neighbours_refuse(name, at, value, message):
    arrays, facts = remembered(learned(Neighbours, "logistic"))
    arrays[name][at] = value
    with pytest.raises(Damaged, match=message):
        restore(Neighbours(), arrays, facts)


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("forest.nodes.child", -1, 0, "a walk may never end"),
        ("forest.nodes.child", 0, 2**31 - 1, "a child is missing"),
        ("forest.nodes.column", 0, 9, "a column that is not known"),
        ("forest.nodes.column", 0, -1, "a column is below 0"),
        ("forest.nodes.threshold", -1, 1.0, "a leaf has a split"),
        ("forest.roots", 0, 1, "trees are out of order"),
        ("forest.roots", -1, 10**6, "trees are out of order"),
        ("next.nodes.child", -1, 0, "a walk may never end"),
        ("next.nodes.column", 0, 9, "a column that is not known"),
        ("number", 0, 2, "not numbered one after another"),
        ("number", 0, -1, "number has a value below 0"),
        ("own_unit", 0, 0.0, "the unit of a column is 0"),
        ("width", (), 3.0, "shorter than a row"),
        ("width", (), 40.0, "stored rows and their targets differ"),
        ("width", (), math.nan, "width is not finite"),
        ("rows", 0, 1.0, "a stored row begins with a number other than 0"),
        ("rows", 1, math.inf, "a stored value is too large"),
        ("labels.y", 0, 2.0, "a label is not a class"),
        ("labels.weight", 0, 0.0, "a sample weight is out of bounds"),
        ("labels.chance", 0, 0.0, "the chance of a row is out of bounds"),
        ("labels.chance", 0, 2.0, "the chance of a row is out of bounds"),
        ("share", (), 0.0, "no share of the rows is kept"),
        ("t", (), 100.0, "more rows are stored than were learned"),
        ("begun", (), 301.0, "a forest was begun in a row that is to come"),
        ("begun", (), 0.0, "a forest is grown that was not begun"),
        ("planned", (), 100.0, "too many trees are planned"),
        ("planned", (), 1.0, "a forest has more trees than are planned"),
        ("most_leaves", (), 0.0, "too many leaves are planned"),
        ("most_leaves", (), 1e6, "too many leaves are planned"),
        ("ends", 0, 255, "cuts has the shape"),
        ("ends", 0, 0, "cuts has the shape"),
        ("cuts", 0, math.nan, "cuts is not finite"),
        ("paid", 0, -1.0, "paid has a value below 0"),
    ],
)
def test_what_the_histogram_trees_refuse(name, at, value, message):
    arrays, facts = remembered(learned(HistogramTrees, "logistic"))
    arrays[name][at] = value
    with pytest.raises(Damaged, match=message):
        restore(fresh(HistogramTrees, "logistic"), arrays, facts)


def test_bins_of_more_columns_than_are_known():
    arrays, facts = remembered(learned(HistogramTrees, "logistic"))
    arrays["ends"] = np.append(arrays["ends"], np.uint8(1))
    with pytest.raises(Damaged, match="more columns have bins than are known"):
        restore(fresh(HistogramTrees, "logistic"), arrays, facts)


@pytest.mark.parametrize("ends", [[1, 1, 1, 1, 1], []])
def test_columns_without_cuts_are_harmless(ends):
    """A forest may have been begun before any column was known, or while all were constant."""
    arrays, facts = remembered(learned(HistogramTrees, "logistic"))
    arrays |= {"ends": np.array(ends, np.uint8), "cuts": np.empty(0, np.float32)}
    learner = fresh(HistogramTrees, "logistic")
    restore(learner, arrays, facts)
    assert np.isfinite(learner.learn(stream("logistic"))).all()
