"""Rows one at a time and dict rows: the same bits as in blocks, whatever happens in between."""

import copy
import pickle

import numpy as np
import pytest

from blend.material import FEW_LOSSES, blend, same_bits, tame, targets_of
from unitless import persistence
from unitless.learners import Blend
from unitless.rows import as_rows

few_losses = pytest.mark.parametrize("loss", FEW_LOSSES)


def stream(loss, n=80, d=6):
    """Rows with zeros and missing values, and sample weights."""
    X, y = tame(loss, n=n, d=d)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.2] = 0
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, rng.choice([0.0, 0.5, 1.0, 3.0], n)


def one_by_one(learner, X, y, v=None):
    """Scores of the rows, each predicted and then learned."""
    scores = []
    for t in range(len(y)):
        own = None if v is None else v[t : t + 1]
        before = learner.predict(as_rows(X[t : t + 1], weights=own))
        scores.append(learner.learn(as_rows(X[t : t + 1], y[t : t + 1], own)))
        if t:  # (the very first score of a number is 0 by definition)
            same_bits(before, scores[-1])
    return np.concatenate(scores)


@few_losses
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_those_of_a_block(loss, weighted):
    X, y, v = stream(loss)
    v = v if weighted else None
    whole, learner = blend(loss), blend(loss)
    scores = whole.learn(as_rows(X, y, v))
    same_bits(one_by_one(learner, X, y, v), scores)
    same_bits(learner.predict(as_rows(X)), whole.predict(as_rows(X)))


def as_dict(row):
    """A row by name; a missing value is None."""
    return {f"x{j:03}": None if x != x else x for j, x in enumerate(row.tolist())}


def dict_by_dict(learner, X, y, v=None):
    """Scores of the rows as dicts, each predicted and then learned."""
    scores = []
    for t, row in enumerate(map(as_dict, X)):
        weight = 1.0 if v is None else v[t]
        before = learner.predict_one(row, weight)
        scores.append(learner.learn_one(row, y[t], weight))
        if t:
            same_bits(before, scores[-1])
    return np.array(scores)


@few_losses
@pytest.mark.parametrize("weighted", [False, True])
def test_dicts_are_those_of_a_block(loss, weighted):
    X, y, v = stream(loss)
    v = v if weighted else None
    whole, learner = blend(loss), blend(loss)
    scores = whole.learn(as_rows(X, y, v))
    same_bits(dict_by_dict(learner, X, y, v), scores)
    same_bits([learner.predict_one(row) for row in map(as_dict, X)], whole.predict(as_rows(X)))


@few_losses
def test_dicts_rows_and_blocks_in_turn(loss):
    X, y, _ = stream(loss, n=120)
    scores = blend(loss).learn(as_rows(X, y))
    learner, parts = blend(loss), []
    ways = (dict_by_dict, one_by_one, lambda own, X, y: own.learn(as_rows(X, y)))
    for k, first in enumerate(range(0, 120, 10)):
        span = slice(first, first + 10)
        parts.append(ways[k % 3](learner, X[span], y[span]))
    same_bits(np.concatenate(parts), scores)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_dicts_in_any_order(loss):
    X, y, _ = stream(loss)
    X = np.nan_to_num(X)
    learner = blend(loss)
    for t, row in enumerate(X):
        names = np.random.default_rng(t).permutation(6)
        learner.learn_one({f"x{j}": row[j] for j in names if row[j]}, y[t])
    order = [int(name[1:]) for name in learner.names.columns]
    other = blend(loss)
    other.learn(as_rows(X[:, order], y))
    probe = {f"x{j}": X[3, j] for j in order}
    assert learner.predict_one(probe) == other.predict(as_rows(X[3:4, order]))[0]


@few_losses
def test_new_features_blocks_and_copies_in_between(loss):
    """Whatever replaces an array of the learner, the next single row finds the new one."""
    X, y, _ = stream(loss, n=120)
    X[:40, 4] = 0
    X[:60, 5] = 0
    whole = blend(loss)
    scores = whole.learn(as_rows(X, y))
    learner, parts = blend(loss), []
    parts.append(one_by_one(learner, X[:70], y[:70]))
    parts.append(learner.learn(as_rows(X[70:80], y[70:80])))
    parts.append(one_by_one(learner, X[80:90], y[80:90]))
    learner = copy.deepcopy(learner)
    parts.append(one_by_one(learner, X[90:100], y[90:100]))
    twin = pickle.loads(pickle.dumps(learner))
    parts.append(one_by_one(learner, X[100:], y[100:]))
    same_bits(np.concatenate(parts), scores)
    same_bits(one_by_one(twin, X[100:], y[100:]), scores[100:])


@few_losses
def test_rescale_in_between(loss):
    X, y, _ = stream(loss)
    factors = np.array([2.0, -4.0, 2.0**-30, 2.0**30, -1.0, 0.5])
    scores = blend(loss).learn(as_rows(X, y))
    learner = blend(loss)
    one_by_one(learner, X[:40], y[:40])
    learner.rescale(factors)
    same_bits(one_by_one(learner, X[40:] * factors, y[40:]), scores[40:])
    named = blend(loss)
    dict_by_dict(named, X[:40], y[:40])
    named.rescale({f"x{j:03}": factor for j, factor in enumerate(factors.tolist())})
    same_bits(dict_by_dict(named, X[40:] * factors, y[40:]), scores[40:])


def test_a_class_in_between():
    X, y, _ = stream("softmax")
    y = np.where(np.arange(len(y)) < 40, y % 2, y)
    learner, other = (Blend("softmax", classes=2) for _ in range(2))
    one_by_one(learner, X[:40], y[:40])
    other.learn(as_rows(X[:40], y[:40]))
    learner.add_class()
    other.add_class()
    same_bits(one_by_one(learner, X[40:], y[40:]), other.learn(as_rows(X[40:], y[40:])))


def test_a_row_that_breaks_a_rule():
    """300 features at once, after single rows of 6: members leave, as in a block."""
    rng = np.random.default_rng(0)
    X = np.zeros((60, 306))
    X[:, :6] = rng.normal(size=(60, 6))
    X[40:, 6:] = rng.normal(size=(20, 300))
    y = targets_of("logistic", rng, 60)
    scores = blend().learn(as_rows(X, y))
    same_bits(one_by_one(blend(), X, y), scores)
    same_bits(dict_by_dict(blend(), X, y), scores)


def test_values_out_of_range():
    X, y, _ = stream("logistic")
    X[50:, 0] *= 1e200
    X[60:, 1] *= 1e-300
    scores = blend().learn(as_rows(X, y))
    same_bits(one_by_one(blend(), X, y), scores)
    same_bits(dict_by_dict(blend(), X, y), scores)


def test_saving_in_between(tmp_path):
    X, y, _ = stream("logistic")
    straight, learner = blend(), blend()
    straight.learn(as_rows(X, y))
    one_by_one(learner, X[:40], y[:40])
    persistence.save(learner, tmp_path / "model")
    learner = persistence.load(tmp_path / "model")
    one_by_one(learner, X[40:], y[40:])
    persistence.save(learner, tmp_path / "model")
    persistence.save(straight, tmp_path / "straight")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "straight").read_bytes()


def test_a_row_of_weight_0_within_a_block():
    """It is only scored; the block's next rows bring new columns."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(80, 2)), np.zeros((80, 6))])
    X[60:, 2:] = rng.normal(size=(20, 6))
    y = np.sign(X[:, 0])
    weights = np.ones(80)
    weights[50] = 0
    scores = blend().learn(as_rows(X, y, weights))
    learner = blend()
    same_bits(one_by_one(learner, X[:50], y[:50]), scores[:50])
    same_bits(learner.learn(as_rows(X[50:], y[50:], weights[50:])), scores[50:])
    same_bits(learner.predict(as_rows(X[:1])), learner.predict(as_rows(X[:2]))[:1])
