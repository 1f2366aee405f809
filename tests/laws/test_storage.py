"""How a row is stored does not matter: dense, CSR or dict, zeros written out or not."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from laws.streams import (
    PAIRS,
    PAPER,
    Stream,
    cases,
    close,
    dicts,
    each_form,
    each_learner,
    each_pair,
    late,
    learn_dicts,
    outlook,
    same_bits,
    tame,
)
from unitless.learners import get
from unitless.rows import as_rows

papers_learners = pytest.mark.parametrize("name", PAPER)


def csr_with_zeros(stream):
    """Every entry stored."""
    n, d = stream.X.shape
    starts, columns = np.arange(n + 1) * d, np.tile(np.arange(d), n)
    matrix = sp.csr_array((stream.X.ravel(), columns, starts), shape=(n, d))
    assert matrix.nnz == n * d
    return as_rows(matrix, stream.y, stream.v)


@each_pair
@pytest.mark.parametrize("weighted", [False, True])
def test_dense_is_csr(name, loss, weighted):
    stream = tame(loss, d=10, weighted=weighted)
    dense, sparse = get(name)(loss), get(name)(loss)
    same_bits(dense.learn(stream.rows()), sparse.learn(stream.rows("csr")))
    same_bits(outlook(dense, 10), outlook(sparse, 10))


@each_learner
@given(st.data())
def test_dense_is_csr_is_dict_on_nasty_streams(name, data):
    case = data.draw(cases(name))
    stream = case.stream
    scores = case.learner().learn(stream.rows())
    same_bits(case.learner().learn(stream.rows("csr")), scores)
    same_bits(case.learner().learn(csr_with_zeros(stream)), scores)
    same_bits(learn_dicts(case.learner(), dicts(stream.X), stream.y, stream.v), scores)


@each_pair
def test_dict_is_dense(name, loss):
    """To the bit when the keys come in the order of the columns."""
    stream = tame(loss, d=10, weighted=True)
    learner = get(name)(loss)
    scores = learner.learn(stream.rows())
    rows = dicts(stream.X, absent=(0,))
    rows[0] = dicts(stream.X)[0]  # all keys, so that columns are numbered alike
    one = get(name)(loss)
    same_bits(learn_dicts(one, rows, stream.y, stream.v), scores)
    same_bits(outlook(one, 10), outlook(learner, 10))


@each_pair
def test_dict_in_any_order_is_dense(name, loss):
    stream, rng = tame(loss, d=10), np.random.default_rng(1)
    scores = get(name)(loss).learn(stream.rows())
    shuffled = [
        dict(rng.permutation(list(row.items())).tolist()) for row in dicts(stream.X, absent=(0,))
    ]
    close(learn_dicts(get(name)(loss), shuffled, stream.y), scores, 1e-12)


# Absent is zero


@each_pair
def test_zeros_may_be_stored(name, loss):
    stream = tame(loss, d=10, density=0.3)
    stored, absent = get(name)(loss), get(name)(loss)
    same_bits(stored.learn(csr_with_zeros(stream)), absent.learn(stream.rows("csr")))
    same_bits(outlook(stored, 10), outlook(absent, 10))


@each_pair
@each_form
def test_columns_may_come_late(name, loss, form):
    """A block without the last columns is a block with zeros in them."""
    stream = tame(loss, n=60, d=10)
    stream = stream._replace(X=late(stream.X))
    early = stream[:30]._replace(X=stream.X[:30, :7])
    at_once, grown = get(name)(loss), get(name)(loss)
    scores = np.concatenate([grown.learn(early.rows(form)), grown.learn(stream[30:].rows(form))])
    same_bits(scores, at_once.learn(stream.rows(form)))
    same_bits(outlook(grown, 10), outlook(at_once, 10))


@each_pair
@each_form
def test_columns_may_vanish(name, loss, form):
    stream = tame(loss, n=60, d=10)
    stream.X[30:, 7:] = 0
    narrow = stream[30:]._replace(X=stream.X[30:, :7])
    wide, shrunk = get(name)(loss), get(name)(loss)
    scores = np.concatenate([shrunk.learn(stream[:30].rows(form)), shrunk.learn(narrow.rows(form))])
    same_bits(scores, wide.learn(stream.rows(form)))
    same_bits(outlook(shrunk, 10), outlook(wide, 10))


@each_pair
def test_zeros_in_dicts(name, loss):
    """Column numbers follow the first appearance, so sums run in another order."""
    stream = tame(loss, d=10, density=0.3)
    zeros = learn_dicts(get(name)(loss), dicts(stream.X), stream.y)
    absent = learn_dicts(get(name)(loss), dicts(stream.X, absent=(0,)), stream.y)
    close(absent, zeros, 1e-12)


@each_learner
def test_empty_rows_are_zeros(name):
    one, two = get(name)(), get(name)()
    scores = [one.learn_one({}, y) for y in (1, 1, -1, 1)]
    same_bits(two.learn(as_rows(np.zeros((4, 3)), [1, 1, -1, 1])), scores)
    same_bits(get(name)().learn(as_rows(np.zeros((4, 0)), [1, 1, -1, 1])), scores)
    assert name == "zero" or scores[-1] > 0


# Only NaN and None are missing


def with_gaps(stream):
    """A fifth of the numbers replaced by NaN."""
    X = stream.X.copy()
    X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    return stream._replace(X=X)


@each_pair
def test_missing_in_every_storage(name, loss):
    stream = with_gaps(tame(loss, d=10))
    learner = get(name)(loss)
    scores = learner.learn(stream.rows())
    assert np.isfinite(scores).all()
    sparse = get(name)(loss)
    same_bits(sparse.learn(stream.rows("csr")), scores)
    same_bits(outlook(sparse, 10), outlook(learner, 10))
    nothing = [{j: None if x != x else x for j, x in row.items()} for row in dicts(stream.X)]
    for rows in (dicts(stream.X), nothing):
        same_bits(learn_dicts(get(name)(loss), rows, stream.y), scores)


@pytest.mark.parametrize(("name", "loss"), [pair for pair in PAIRS if pair[0] in PAPER])
@each_form
def test_missing_contributes_nothing(name, loss, form):
    """The paper's algorithms know no mean, so for them missing and zero are the same."""
    stream = with_gaps(tame(loss, d=10))
    missing, zero = get(name)(loss), get(name)(loss)
    scores = missing.learn(stream.rows(form))
    same_bits(scores, zero.learn(stream._replace(X=np.nan_to_num(stream.X)).rows(form)))
    same_bits(outlook(missing, 10), outlook(zero, 10))


@papers_learners
@each_form
def test_a_feature_seen_only_as_missing_is_not_seen(name, form):
    stream = Stream(np.array([[1.0, np.nan], [2.0, np.nan]]), np.array([1.0, -1.0]))
    learner = get(name)()
    learner.learn(stream.rows(form))
    assert learner.sums().dimension == 2  # the constant and the first column
    assert learner.sums().s[2] == 0
