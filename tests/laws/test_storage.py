"""How a row is stored does not matter: dense, CSR or dict, zeros written out or not."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cases import in_one_test
from laws.streams import (
    AFTER_TEN_ROWS,
    SILENT,
    Stream,
    cases,
    close,
    dicts,
    each_form,
    each_group,
    each_learner,
    each_learner_where,
    each_pair,
    each_pair_where,
    keeps_sums,
    late,
    learn_dicts,
    make,
    missing_is_zero,
    outlook,
    same_bits,
    shuffled,
    symmetric,
    tame,
)
from unitless.rows import as_rows


def stored(stream):
    """CSR rows with every entry stored, zeros too."""
    n, d = stream.X.shape
    starts, columns = np.arange(n + 1) * d, np.tile(np.arange(d), n)
    matrix = sp.csr_array((stream.X.ravel(), columns, starts), shape=(n, d))
    assert matrix.nnz == n * d
    return as_rows(matrix, stream.y, stream.v)


@each_pair
@in_one_test("weighted", [False, True])
def test_dense_is_csr(name, loss, weighted):
    """To the bit where the sums run in the same order, to rounding where zeros are left out."""
    stream = tame(name, loss, d=20, weighted=weighted)
    dense, full, sparse = (make(name, loss) for _ in range(3))
    scores = dense.learn(stream.rows())
    same_bits(full.learn(stored(stream)), scores)
    same_bits(outlook(full, 20), outlook(dense, 20))
    close(sparse.learn(stream.rows("csr")), scores, 1e-12)


@each_group
@given(st.data())
def test_dense_is_csr_is_dict_on_nasty_streams(names, data):
    case = data.draw(cases(names))
    stream = case.stream
    scores = case.learner().learn(stream.rows())
    same_bits(case.learner().learn(stored(stream)), scores)
    same_bits(learn_dicts(case.learner(), dicts(stream.X), stream.y, stream.v), scores)


@each_pair
def test_dict_is_dense(name, loss):
    """To the bit when the keys come in the order of the columns; and dict is CSR."""
    stream = tame(name, loss, d=20, weighted=True)
    dense, sparse = make(name, loss), make(name, loss)
    one, two = make(name, loss), make(name, loss)
    scores = dense.learn(stream.rows())
    same_bits(learn_dicts(one, dicts(stream.X), stream.y, stream.v), scores)
    same_bits(outlook(one, 20), outlook(dense, 20))
    stream.X[0] = 1  # all keys, so that columns are numbered alike
    scores = sparse.learn(stream.rows("csr"))
    same_bits(learn_dicts(two, dicts(stream.X, absent=(0,)), stream.y, stream.v), scores)
    same_bits(outlook(two, 20), outlook(sparse, 20))


@each_pair_where(symmetric)
def test_dict_in_any_order_is_dense(name, loss):
    stream = tame(name, loss, d=20)
    scores = make(name, loss).learn(stream.rows())
    rows = shuffled(dicts(stream.X, absent=(0,)))
    close(learn_dicts(make(name, loss), rows, stream.y), scores, 1e-12)


# Absent is zero


@each_pair
def test_zeros_may_be_stored(name, loss):
    stream = tame(name, loss, d=20, density=0.3)
    close(make(name, loss).learn(stored(stream)), make(name, loss).learn(stream.rows("csr")), 1e-12)


@each_pair
@each_form
def test_columns_may_come_late(name, loss, form):
    """A block without the last columns is a block with zeros in them."""
    stream = tame(name, loss, n=60, d=10)
    stream = stream._replace(X=late(stream.X))
    early = stream[:30]._replace(X=stream.X[:30, :7])
    at_once, grown = make(name, loss), make(name, loss)
    scores = grown.learn(early.rows(form))
    looked = grown.predict(stream[30:].rows(form))
    scores = np.concatenate([scores, grown.learn(stream[30:].rows(form))])
    same_bits(scores, at_once.learn(stream.rows(form)))
    same_bits(looked[:1], scores[30:31])
    same_bits(outlook(grown, 10), outlook(at_once, 10))


@each_pair
@each_form
def test_columns_may_vanish(name, loss, form):
    stream = tame(name, loss, n=60, d=10)
    stream.X[30:, 7:] = 0
    narrow = stream[30:]._replace(X=stream.X[30:, :7])
    wide, shrunk = make(name, loss), make(name, loss)
    scores = np.concatenate([shrunk.learn(stream[:30].rows(form)), shrunk.learn(narrow.rows(form))])
    same_bits(scores, wide.learn(stream.rows(form)))
    same_bits(outlook(shrunk, 10), outlook(wide, 10))


@each_pair
def test_zeros_in_dicts(name, loss):
    """Column numbers follow the first appearance, so sums run in another order."""
    stream = tame(name, loss, d=10, density=0.3)
    zeros = learn_dicts(make(name, loss), dicts(stream.X), stream.y)
    absent = learn_dicts(make(name, loss), dicts(stream.X, absent=(0,)), stream.y)
    close(absent, zeros, 1e-12)


@each_learner
def test_empty_rows_are_zeros(name):
    one, two = make(name), make(name)
    scores = [one.learn_one({}, y) for y in (1, 1, -1, 1)]
    same_bits(two.learn(as_rows(np.zeros((4, 3)), [1, 1, -1, 1])), scores)
    same_bits(make(name).learn(as_rows(np.zeros((4, 0)), [1, 1, -1, 1])), scores)
    assert name in (*SILENT, *AFTER_TEN_ROWS) or scores[1] > 0


# Only NaN and None are missing


def with_gaps(stream):
    """A fifth of the numbers replaced by NaN."""
    X = stream.X.copy()
    X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    return stream._replace(X=X)


@each_pair
def test_missing_in_every_storage(name, loss):
    stream = with_gaps(tame(name, loss, d=20))
    dense, sparse = make(name, loss), make(name, loss)
    scores = dense.learn(stream.rows())
    assert np.isfinite(scores).all()
    same_bits(sparse.learn(stored(stream)), scores)
    same_bits(outlook(sparse, 20), outlook(dense, 20))
    close(make(name, loss).learn(stream.rows("csr")), scores, 1e-12)
    nothing = [{j: None if x != x else x for j, x in row.items()} for row in dicts(stream.X)]
    for rows in (dicts(stream.X), nothing):
        same_bits(learn_dicts(make(name, loss), rows, stream.y), scores)


@each_pair_where(missing_is_zero)
@in_one_test("rows_of", {"dense": Stream.rows, "csr": stored})
def test_missing_contributes_nothing(name, loss, rows_of):
    """Where no mean is known, missing and zero are the same."""
    stream = with_gaps(tame(name, loss, d=20))
    missing, zero = make(name, loss), make(name, loss)
    scores = missing.learn(rows_of(stream))
    same_bits(scores, zero.learn(rows_of(stream._replace(X=np.nan_to_num(stream.X)))))
    same_bits(outlook(missing, 20), outlook(zero, 20))


@each_pair
@each_form
def test_a_column_of_missing_values_is_no_column(name, loss, form):
    """Nothing is learned of it, by any learner, nor anything of others from it."""
    stream = tame(name, loss, d=6)
    without, within = make(name, loss), make(name, loss)
    scores = without.learn(stream.rows(form))
    X = np.insert(stream.X, 2, np.nan, axis=1)
    close(within.learn(stream._replace(X=X).rows(form)), scores, 1e-12)
    assert not np.any(within.weights().features[2])


@each_learner_where(keeps_sums)
@each_form
def test_a_feature_seen_only_as_missing_is_not_counted(name, form):
    stream = Stream(np.array([[1.0, np.nan], [2.0, np.nan]]), np.array([1.0, -1.0]))
    learner = make(name)
    learner.learn(stream.rows(form))
    assert learner.sums().dimension == 2  # the constant and the first column
    assert learner.sums().s[2] == 0
