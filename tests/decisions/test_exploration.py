"""Probabilities of actions: the twin, invariances and draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.exploration import probabilities as naive
from unitless.decisions.exploration import draw, greedy, probabilities

pytestmark = pytest.mark.quick
NUMBERS = st.floats(-1e3, 1e3)
LINES = st.lists(st.tuples(NUMBERS, st.integers(0, 50)), min_size=1, max_size=6)


@given(LINES, st.integers(0, 500), NUMBERS, st.floats(0, 100))
def test_twin(line, rewards, low, spread):
    estimates, counts = map(list, zip(*line, strict=True))
    found = probabilities(np.array([estimates]), np.array(counts), rewards, low, low + spread)[0]
    np.testing.assert_allclose(
        found, naive(estimates, counts, rewards, low, low + spread), rtol=1e-9, atol=1e-12
    )
    assert found.sum() == pytest.approx(1)


@given(LINES, st.integers(0, 500), st.integers(-60, 60))
def test_a_power_of_two_changes_no_bit(line, rewards, power):
    estimates, counts = map(np.array, zip(*line, strict=True))
    first = probabilities(estimates[None], counts, rewards, -1.5, 2.25)
    unit = 2.0**power
    again = probabilities(estimates[None] * unit, counts, rewards, -1.5 * unit, 2.25 * unit)
    assert first.tobytes() == again.tobytes()


@given(LINES, st.integers(1, 10**6))
def test_every_action_has_a_positive_probability(line, rewards):
    estimates, counts = map(np.array, zip(*line, strict=True))
    estimates = np.clip(estimates, -2.0, 2.0)
    assert (probabilities(estimates[None], counts, rewards, -2.0, 2.0) > 0).all()


def test_ties_go_to_the_first_action():
    assert greedy(np.array([[0.5, 0.7, 0.7]])).tolist() == [[0, 1, 0]]


def test_shares_of_draws_are_the_probabilities():
    drawn = np.tile([0.1, 0.2, 0.7], (20_000, 1))
    shares = np.bincount(draw(drawn, 0, 0)) / len(drawn)
    assert shares == pytest.approx([0.1, 0.2, 0.7], abs=0.01)


def test_draws_of_a_block_are_those_of_single_decisions():
    drawn = np.tile([0.1, 0.2, 0.7], (50, 1))
    whole = draw(drawn, 7, 3)
    single = [draw(drawn[:1], 7 + k, 3)[0] for k in range(50)]
    assert whole.tolist() == single
    assert whole.tolist() != draw(drawn, 7, 4).tolist()


def test_an_action_of_probability_zero_is_never_drawn():
    assert {*draw(np.tile([0.0, 1.0, 0.0], (1000, 1)), 0, 0).tolist()} == {1}
