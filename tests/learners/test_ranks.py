"""The ranks of Algorithm 2 and of VAW are exact where rounding makes them hard to tell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from learners.rank_streams import STREAMS, exact_ranks
from naive.full import full
from unitless.distributed.merging import continued, merged
from unitless.learners import get
from unitless.learners.givens import rotate
from unitless.learners.triangular_factor import (
    NOISE,
    OLD_RULE,
    RANK,
    FactorState,
    T,
    find_pivot,
)
from unitless.learners.vaw import Vaw
from unitless.rows import as_rows

each_stream = pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)


def rank(learner):
    return int(learner.state.totals[RANK])


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
def test_the_rank_of_merged_shards_is_exact(make):
    for seed in range(6):
        X, y, exact = shuffled(make, seed, 400)
        half = len(X) // 2
        one, two = Vaw(intercept=False), continued(Vaw(intercept=False), y[0])
        one.learn(as_rows(X[:half], y[:half]))
        two.learn(as_rows(X[half:], y[half:]))
        assert rank(merged(one, two)) == exact[-1]


@each_stream
def test_predict_is_what_learn_uses_where_directions_open(make):
    X, y, _ = shuffled(make, 0, 120)
    learner = get("full")(intercept=False)
    for x, target in zip(X, y, strict=True):
        before = [array.copy() for array in learner.state]
        promised = learner.predict(as_rows(x[None]))
        for array, old in zip(learner.state, before, strict=True):
            np.testing.assert_array_equal(array, old)
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


def test_a_model_of_0_1_0_keeps_its_rule():
    wrong = []
    for seed in range(12):
        X, y, exact = shuffled(STREAMS["squares_of_time"], seed, 400)
        learner = get("full")(intercept=False)
        learner.state.totals[OLD_RULE] = 1.0
        learner.learn(as_rows(X, y))
        wrong.append(rank(learner) != exact[-1])
    assert any(wrong)


def equal_columns():
    """A state of rank 1 in which column 1 equals column 0, both of norm 1."""
    state = FactorState.empty(2).with_coordinates(np.array([1, 2]))
    state.U[0] = 1.0
    state.D[0] = 1.0
    state.squares[:] = 1.0
    state.totals[RANK] = 1
    return state


def opens(state, rest, size):
    """Whether this rest of a row, relative to NOISE, opens a direction in column 1."""
    ones = np.ones(2)
    w = np.array([0.0, rest * NOISE])
    return find_pivot(w, 1.0, state, state.U, ones, ones, size) >= 0


def test_a_heavy_row_late_in_the_stream_shows_more_noise():
    """After t rows, errors of the factor have grown like sqrt(t)."""
    state = equal_columns()
    assert opens(state, 50, size=0.0)
    state.totals[T] = 64 * 100**2
    assert not opens(state, 50, size=0.0)


def test_noise_that_was_found_once_is_remembered():
    """The noise of column 1 is that of two columns, and decides later rows without a solve."""
    state = equal_columns()
    assert not opens(state, 1.5, size=0.0)
    assert state.noise[1] == 0  # predictions leave no trace
    assert not opens(state, 1.5, size=1.0)
    assert state.noise[1] == 2
    assert opens(state, 2.5, size=1.0)
    state.noise[1] = 5.0  # found when the column was a larger combination of the pivots
    assert not opens(state, 4.0, size=1.0)
    state.totals[T] = 64 * 100**2
    assert not opens(state, 5.5, size=1.0)
    assert state.noise[1] == 5  # the larger one is kept


def test_what_is_dropped_is_entered_as_lost():
    """Below the noise of the column alone, of the column and its pivot, and in predictions."""
    state = equal_columns()
    for rest, size, lost in ((0.5, 3.0, 1.5), (1.5, 2.0, 4.5), (1.5, 0.0, 4.5), (1.25, 2.0, 7.0)):
        assert not opens(state, rest, size)
        assert state.lost[1] == lost * NOISE


def test_a_hundred_roundings_of_a_column_are_noise():
    """No stream tried so far needs more than 8; a real direction of 10^4 is not lost."""
    for roundings, is_open in ((100, False), (1e4, True)):
        assert opens(equal_columns(), roundings * 2.0**-53 / NOISE, size=0.0) == is_open


@njit
def rotated(U, D, z, w):
    return rotate(U, D, z, w, (1.0, 0.0), D.size, np.zeros(D.size), True)


def test_a_row_may_shrink_beyond_float64():
    """Each of 1600 rotations leaves 0.6 of its weight: 0.6^1600 is no float64."""
    n = 1600
    D = np.ones(n)
    w = math.sqrt(2 / 3) * 0.6 ** (-np.arange(n) / 2)
    rotated(np.eye(n), D, np.zeros(n), w)
    np.testing.assert_allclose(D, 1 / 0.6, rtol=1e-9)
