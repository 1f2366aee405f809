"""The test of information: its level under null hypotheses of many kinds, and its power."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from unitless.regret import InformationTest, information_test
from unitless.rows import as_rows


def null_features(rng, T, kind):
    """Features that say nothing about exchangeable targets."""
    Z = rng.normal(size=(T, 3))
    kinds = {
        "plain": lambda: Z,
        "units": lambda: Z * [1e6, 1e-6, 1.0],
        "cauchy": lambda: rng.standard_cauchy((T, 3)),
        "random walks": lambda: np.cumsum(Z, axis=0),
        "nearly constant": lambda: 1 + 1e-3 * Z,  # like an intercept
    }
    return kinds[kind]()


@pytest.mark.parametrize("kind", ["plain", "units", "cauchy", "random walks", "nearly constant"])
@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_without_information_the_wealth_rarely_reaches_20(kind, rate):
    """At most 1 stream in 20, on average over streams; 3 of 40 or more would be surprising."""
    reached = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = null_features(rng, 400, kind)
        y = np.where(rng.random(400) < rate, 1.0, -1.0)
        reached += information_test(as_rows(X, y)).largest >= 20
    assert reached <= 3


@pytest.mark.parametrize("T", [1, 4, 9])
def test_the_wealth_is_a_martingale(T):
    """Over all 2^T signs: its mean is 1, and it reaches 1/a in at most a share a of them."""
    moves = np.random.default_rng(T).standard_cauchy((T, 2))
    X = np.zeros((2 * T, 2))
    X[::2] = moves
    found = []
    for signs in itertools.product([-1.0, 1.0], repeat=T):
        y = np.full(2 * T, 5.0)
        y[::2] += signs
        found.append(information_test(as_rows(X, y)))
    assert {one.pairs for one in found} == {T}
    assert np.mean([one.wealth for one in found]) == pytest.approx(1.0, rel=1e-12)
    largest = np.array([one.largest for one in found])
    for reached in largest:
        assert np.mean(largest >= reached) <= 1 / reached
    assert [one.p_value for one in found] == [1 / reached for reached in largest]
    assert T == 1 or any(one.wealth < one.largest for one in found)


def test_the_labels_themselves_would_reject_at_a_base_rate_of_nine_tenths():
    """Why pairs: betting on labels, a constant column is information about the base rate."""
    from unitless.learners import get

    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.9, 1.0, -1.0)
    learner = get("full")("linear", intercept=False)
    learner.learn(as_rows(np.ones((400, 1)), -y))
    assert 1 - learner.sums().A > 20
    assert information_test(as_rows(np.ones((400, 1)), y)).largest == 1.0


@pytest.mark.parametrize("regression", [False, True])
def test_information_is_found(regression):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 3)) * [1e-9, 1.0, 1e9]
    score = X[:, 0] * 1e9 + 2 * rng.normal(size=2000)
    y = score if regression else np.sign(score)
    found = information_test(as_rows(X, y))
    assert found.largest > 1000
    assert found.p_value < 1e-3
    assert "the features carry information: e-value" in str(found)


def test_blocks_are_one_stream_and_units_do_not_matter():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(301, 4))
    y = np.sign(X[:, 0] + rng.normal(size=301))
    whole = information_test(as_rows(X, y))
    test = InformationTest()
    for start in range(0, 301, 7):
        test.add(as_rows(X[start : start + 7], y[start : start + 7]))
    assert test.result == whole
    assert information_test(as_rows(X * [2.0**40, 1, 2.0**-40, 8], y)) == whole
    assert information_test(as_rows(sp.csr_array(X), y)) == whole


def test_the_wealth_never_falls_below_0():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_cauchy((200, 2))
        assert information_test(as_rows(X, rng.normal(size=200))).wealth >= 0


def test_rows_without_target_or_weight_are_left_out():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(100, 2)), rng.normal(size=100)
    known = rng.random(100) < 0.7
    holes = np.where(known, y, np.nan)
    expected = information_test(as_rows(X[known], y[known]))
    assert information_test(as_rows(X, y, known.astype(float))) == expected
    test = InformationTest()
    test.add(as_rows(X, holes))
    assert test.result == expected


def test_it_stops_when_certain_and_leaves_wide_rows_out():
    X = np.random.default_rng(4).normal(size=(4000, 1))
    whole = information_test(as_rows(X, X[:, 0]))
    test = InformationTest()
    for start in range(0, 4000, 100):
        test.add(as_rows(X[start : start + 100], X[start : start + 100, 0]))
    assert test.result == whole  # it does not depend on the size of blocks
    assert whole.largest >= 1e6
    assert whole.pairs < 1000
    wide = np.random.default_rng(5).normal(size=(10, 101))
    assert information_test(as_rows(wide, wide[:, 0])).pairs == 0


def test_the_largest_values_are_fine():
    X = np.array([[1.7e308], [-1.7e308], [1.0], [2.0]])
    assert information_test(as_rows(X, [1.7e308, -1.7e308, 0.0, 1.0])).pairs == 2


def test_targets_are_needed():
    with pytest.raises(ValueError, match="needs targets"):
        information_test(as_rows(np.ones((2, 1))))
