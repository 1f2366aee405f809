"""The ranks of Algorithm 2 and of VAW are exact where rounding makes them hard to tell."""

import math
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.rank_streams import STREAMS, exact_ranks
from naive.full import full
from unitless.learners import get
from unitless.learners.triangular_factor import Factor
from unitless.rows import as_rows
from unitless.state import remembered

each_stream = pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
NOISE = 128 * 2.0**-53
MANY_ROWS = 64 * 100.0**2


def rank(learner):
    return learner.factor.rank


def shuffled(make, seed, T):
    """(X, y, exact ranks), the columns in any order."""
    rng = np.random.default_rng(seed)
    X = make(rng, T)
    X = X[:, rng.permutation(X.shape[1])]
    return X.astype(float), rng.choice([-1.0, 1.0], len(X)), exact_ranks(X)


@each_stream
@pytest.mark.parametrize("name", ["full", "vaw"])
def test_the_rank_is_exact_after_every_part(make, name):
    for seed in range(12):
        X, y, exact = shuffled(make, seed, 400)
        learner = get(name)(intercept=False)
        for start in range(0, len(X), 25):
            learner.learn(as_rows(X[start : start + 25], y[start : start + 25]))
            assert rank(learner) == exact[min(start + 25, len(X)) - 1]


@each_stream
def test_predict_is_what_learn_uses_where_directions_open(make):
    X, y, _ = shuffled(make, 0, 120)
    learner = get("full")(intercept=False)
    for x, target in zip(X, y, strict=True):
        before, _ = remembered(learner)
        promised = learner.predict(as_rows(x[None]))
        after, _ = remembered(learner)
        for name, array in before.items():
            np.testing.assert_array_equal(after[name], array)
        np.testing.assert_array_equal(learner.learn(as_rows(x[None], [target])), promised)


def test_predict_is_what_learn_uses_where_a_row_decides_its_own_noise():
    """The second row changes the combination that column 1 is of column 0 from 1 to 3."""
    scores = []
    for size in np.linspace(0.25, 0.8, 23) / NOISE:
        learner = get("full")(intercept=False)
        learner.learn(as_rows([[1.0, 1.0]], [1.0]))
        row = [[size, 3 * size]]
        promised = learner.predict(as_rows(row))
        np.testing.assert_array_equal(learner.learn(as_rows(row, [1.0])), promised)
        scores.append(promised[0])
    assert scores[0] == 0  # a new direction
    assert scores[-1] > 0  # noise


@each_stream
def test_scores_are_those_of_exact_arithmetic(make):
    X, y, _ = shuffled(make, 3, 40)
    exact = np.array(full(X.tolist(), y, "logistic", intercept=False), dtype=float)
    scores = get("full")(intercept=False).learn(as_rows(X, y))
    np.testing.assert_allclose(scores, exact, rtol=0, atol=1e-8 * np.abs(exact).max())


def test_four_rows():
    """theory: the fourth score is 0.0986, in every order of the columns."""
    X = STREAMS["four_rows"](None, 4).astype(float)
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        scores = get("full")(intercept=False).learn(as_rows(X[:, order], np.ones(4)))
        assert scores[3] == pytest.approx(0.0986, abs=5e-5)


@given(st.integers(0, 10**9))
def test_random_dependent_columns(seed):
    """Columns of widely different sizes, their sums and differences, drifting."""
    rng = np.random.default_rng(seed)
    T, d = int(rng.integers(5, 200)), int(rng.integers(1, 5))
    drift = np.geomspace(1, 10.0 ** rng.uniform(-3, 3), T)[:, None]
    X = rng.integers(-50, 51, (T, d)) * 10.0 ** rng.integers(0, 5, d) * drift
    X = X.astype(int)
    X = np.column_stack([X, X @ rng.integers(-3, 4, (d, int(rng.integers(1, 4))))])
    X = X[:, rng.permutation(X.shape[1])]
    for name in ("full", "vaw"):
        learner = get(name)(intercept=False)
        learner.learn(as_rows(X.astype(float), rng.choice([-1.0, 1.0], T)))
        assert rank(learner) == exact_ranks(X)[-1]


def test_the_first_value_of_a_feature_always_opens_a_direction():
    """Nothing was cancelled in its column, however small it is beside the rest of its row."""
    for order in ([0, 1], [1, 0]):
        learner = get("full")(intercept=False)
        X = np.array([[1.0, 0.0], [2.0**80, 1.0]])[:, order]
        learner.learn(as_rows(X, np.ones(2)))
        assert rank(learner) == 2


@pytest.mark.parametrize("condition", [1e6, 1e9, 1e12])
def test_real_directions_are_not_lost(condition):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 5))
        X[:, 4] = X[:, :4].sum(axis=1) + X[:, 4] / condition
        learner = get("full")(intercept=False)
        learner.learn(as_rows(X, np.sign(X[:, 0])))
        assert rank(learner) == 5


def factor_of(U, rank):
    """The factor of columns of norm 1."""
    made = Factor(len(U))
    made.take(1 + np.arange(len(U)))
    made.write("U", U.ravel())
    made.write("D", np.where(np.arange(len(U)) < rank, 1.0, 0.0))
    made.write("squares", np.ones(len(U)))
    made.rank = rank
    made._loaded()
    return made


def equal_columns():
    """A factor of rank 1 in which column 1 equals column 0, both of norm 1."""
    return factor_of(np.array([[1.0, 1.0], [0.0, 0.0]]), rank=1)


def opens(factor, rest, size=1.0, t=0.0):
    """Whether this rest of a row, relative to NOISE, opens a direction in column 1.

    The rest of the row's part of h has this size, at least 1.
    """
    factor.add_rows([np.array([0.0, rest * NOISE])], [size - 1.0], t)
    return factor.rank == 2


def test_a_heavy_row_late_in_the_stream_shows_more_noise():
    """After t rows, errors of the factor have grown like sqrt(t)."""
    assert opens(equal_columns(), 50)
    assert not opens(equal_columns(), 50, t=MANY_ROWS)


def test_noise_that_was_found_once_is_remembered():
    """The noise of column 1 is that of two columns, and decides later rows without a solve."""
    factor = equal_columns()
    assert not opens(factor, 1.5)
    assert factor.read("noise")[1] == 2
    assert opens(deepcopy(factor), 2.5)
    factor.write("noise", np.array([0.0, 5.0]))  # found when it was a larger combination
    assert not opens(factor, 4.0)
    assert not opens(factor, 5.5, t=MANY_ROWS)
    assert factor.read("noise")[1] == 5  # the larger one is kept


def test_what_is_dropped_is_entered_as_lost():
    """Below the noise of the column alone, and of the column and its pivot."""
    factor = equal_columns()
    for rest, size, lost in ((0.5, 3.0, 1.5), (1.5, 2.0, 4.5), (1.25, 2.0, 7.0)):
        assert not opens(factor, rest, size)
        assert factor.read("lost")[1] == lost * NOISE


def test_a_hundred_roundings_of_a_column_are_noise():
    """No stream tried so far needs more than 8; a real direction of 10^4 is not lost."""
    for roundings, is_open in ((100, False), (1e4, True)):
        assert opens(equal_columns(), roundings * 2.0**-53 / NOISE) == is_open


def test_a_row_may_shrink_beyond_float64():
    """Each of 1600 rotations leaves 0.6 of its weight: 0.6^1600 is no float64."""
    n = 1600
    factor = factor_of(np.eye(n), rank=n)
    w = math.sqrt(2 / 3) * 0.6 ** (-np.arange(n) / 2)
    factor.add_rows([w], [0.0], 0.0)
    np.testing.assert_allclose(factor.read("D"), 1 / 0.6, rtol=1e-9)
