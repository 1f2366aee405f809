"""The two running rules: who leaves, and before which row, whatever the storage."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from blend.material import blend, dicts, targets_of, widening
from naive.blend import memberships
from unitless.blend import experts as recipes
from unitless.losses import LOGISTIC
from unitless.rows import as_rows

KINDS = ["small", "dense", "falling"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def left(learner):
    """{name: trials it was there} of the members that have left."""
    last = max(claim.last for claim in learner.guarantees().values())
    return {name: claim.last for name, claim in learner.guarantees().items() if claim.last < last}


def expected(rows):
    """The same from the rules."""
    dense, small = memberships(rows)
    ends = {}
    for member in recipes.BY_VIEWS[LOGISTIC]["all"]:
        own = [row for row, ends_it in ((dense, member.dense), (small, member.small)) if ends_it]
        own = [row for row in own if row is not None]
        if own:
            ends[member.name] = min(own)
    return ends


@each_kind
def test_who_leaves_and_when(kind):
    X, y = widening("logistic", kind)
    ends = expected(dicts(X))
    assert ends  # the streams are made for it
    for block in (1, 7, len(y)):
        learner = blend()
        for t in range(0, len(y), block):
            learner.learn(as_rows(X[t : t + block], y[t : t + block]))
        assert left(learner) == ends


@each_kind
def test_both_rules_are_met(kind):
    """So that the tests above have something to see."""
    dense, small = memberships(dicts(widening("logistic", kind)[0]))
    assert small is not None
    assert (dense is not None) == (kind != "small")
    if kind == "falling":
        assert small == 0
        assert dense > 4


@pytest.mark.parametrize("d", [255, 256, 257])
def test_the_edge_of_small(d):
    """256 features are few, 257 are not; the intercept is not one of them."""
    X = np.ones((3, d))
    learner = blend()
    learner.learn(as_rows(X, [1.0, -1.0, 1.0]))
    assert ("Algorithm 2" in left(learner)) == (d > 256)


@pytest.mark.parametrize("nonzeros", [127, 128, 129])
def test_the_edge_of_dense(nonzeros):
    """After 1024 features in the first row, and 1 more in each of the next: 1/8 is dense enough."""
    d = 1032
    X = np.zeros((2, d))
    X[0, :1032] = 1  # t d / 8 = 258 after two rows
    X = np.vstack([X[:1], np.zeros((7, d))])
    X[1:, : nonzeros - 127] = 1
    ends = memberships(dicts(sp.csr_array(X)))
    learner = blend()
    learner.learn(as_rows(X, targets_of("logistic", np.random.default_rng(0), 8)))
    found = left(learner).get("drift tracker")
    assert found == ends[0]


def test_columns_that_are_never_there_do_not_count():
    rng = np.random.default_rng(0)
    X = np.zeros((20, 3000))
    X[:, 5:2000:400] = rng.normal(size=(20, 5))
    learner = blend()
    learner.learn(as_rows(X, targets_of("logistic", rng, 20)))
    assert not left(learner)


def test_a_missing_value_makes_a_feature_known():
    """That the feature is there is known, only its value is not: d counts it, in every storage."""
    X = np.full((2, 300), np.nan)
    rows = [dict(enumerate(row)) for row in X.tolist()]
    learner, other = blend(), blend()
    learner.learn(as_rows(X, [1.0, -1.0]))
    for row, y in zip(rows, (1.0, -1.0), strict=True):
        other.learn_one(row, y)
    assert left(learner).keys() == left(other).keys() == expected(rows).keys()
    assert memberships(rows) == (None, 0)


def test_rows_left_out_end_nothing():
    X = np.ones((3, 300))
    X[[0, 2], 100:] = 0
    learner = blend()
    scores = learner.learn(as_rows(X, [1.0, 1.0, -1.0], weights=[1, 0, 1]))
    assert not left(learner)
    assert all(map(math.isfinite, scores))


def test_a_claim_that_ended_stays_as_it_was():
    X, y = widening("logistic", "small")
    learner = blend()
    end = memberships(dicts(X))[1]
    learner.learn(as_rows(X[:end], y[:end]))
    kept = learner.guarantees()["Algorithm 2"]
    learner.learn(as_rows(X[end:], y[end:]))
    assert learner.guarantees()["Algorithm 2"] == kept
    assert kept.last == end
    assert learner.mixture_weights()["Algorithm 2"] == 0
    assert sum(learner.mixture_weights().values()) == pytest.approx(1, abs=1e-14)


def test_wide_rows_are_predicted_together():
    """A tile is a number of values, not of columns, once rows are lists."""
    n, d = 500, 100_000
    starts = np.append(0, 1100 + 2 * np.arange(n))  # over 1024 features: a list from now on
    columns = np.arange(starts[-1]) * 97 % d
    X = sp.csr_array((np.ones(len(columns)), columns, starts), (n, d))
    learner = blend()
    learner.learn(as_rows(X, targets_of("logistic", np.random.default_rng(0), n)))
    one_by_one = [float(learner.predict(as_rows(X[[t]]))[0]) for t in range(n)]
    assert learner.predict(as_rows(X)).tolist() == one_by_one
