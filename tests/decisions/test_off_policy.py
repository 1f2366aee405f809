"""Values of policies from logs: the formulas, coverage at all times, and what is refused."""

import numpy as np
import pytest

from unitless.decisions.off_policy import lower_ends, sequence, value

pytestmark = pytest.mark.quick


def log(rows, seed, least=0.02):
    """A log of two actions whose probabilities vary from row to row, and the true values."""
    rng = np.random.default_rng(seed)
    x = rng.random(rows)
    p = np.clip(rng.random(rows), least, 1 - least)  # of action 1
    shown = rng.random(rows) < p
    rate = np.where(shown, 0.2 + 0.5 * x, 0.4)
    rewards = (rng.random(rows) < rate).astype(float)
    weights = shown / p  # the policy that always chooses action 1
    return weights, rewards, 0.2 + 0.5 * x


def test_estimates_are_their_formulas():
    w, r, _ = log(200, 0)
    direct = np.linspace(-1, 1, 200)
    found = value(w, r, direct, bounds=(0, 1))
    assert found.ips == pytest.approx(sum(w * r) / 200)
    assert found.snips == pytest.approx(sum(w * r) / sum(w))
    assert found.dr == pytest.approx(sum(w * r + direct) / 200)
    assert found.effective == pytest.approx(sum(w) ** 2 / sum(w**2))


def naive_lower_end(z, alpha):
    """The lower end after the last row, as the docstring has it."""
    m, total, V = 0.0, 0.0, 0.0
    for i, each in enumerate(z):
        V += (each - min(m, 1.0)) ** 2
        total += each
        m = total / (i + 1)
    ends = [0.0]
    for k in range(1, 31):
        bet = 2.0**-k
        psi = -np.log(1 - bet) - bet
        ends.append((total - (np.log(k * (k + 1) / alpha) + psi * V) / bet) / len(z))
    return min(max(ends), 1.0)


@pytest.mark.parametrize("rows", [1, 7, 300])
def test_twin_of_the_lower_end(rows):
    w, r, _ = log(rows, 1)
    assert lower_ends(w * r, 0.05)[-1] == pytest.approx(naive_lower_end(w * r, 0.05))


def test_ends_follow_the_unit_and_the_origin_of_rewards():
    w, r, _ = log(500, 2)
    low, high = sequence(w, r, bounds=(0, 1))
    other = sequence(w, 8.0 * r, bounds=(0, 8))
    assert other[0].tolist() == (8.0 * low).tolist()
    assert other[1] == pytest.approx(8.0 * high)
    shifted = sequence(w, r - 3, bounds=(-3, -2))
    assert shifted[0] == pytest.approx(low - 3)


def test_coverage_at_all_times():
    """At most 5 of 100 runs; 1000 runs of 1000 rows are in the benchmark."""
    wrong = 0
    for seed in range(100):
        w, r, true = log(1000, seed)
        low, high = sequence(w, r, bounds=(0, 1))
        running = np.cumsum(true) / np.arange(1, 1001)
        wrong += bool(((running < low) | (running > high)).any())
    assert wrong <= 5


def test_the_interval_shrinks():
    w, r, true = log(20_000, 0, least=0.2)
    low, high = sequence(w, r, bounds=(0, 1))
    assert high[-1] - low[-1] < 0.1
    assert low[-1] < true.mean() < high[-1]


def test_rewards_outside_of_their_range_are_refused():
    with pytest.raises(ValueError, match="outside of the range from 0 to 1"):
        sequence(np.ones(2), np.array([0.5, 2.0]), bounds=(0, 1))


def test_without_rows_nothing_is_known():
    found = value(np.empty(0), np.empty(0), bounds=(0, 1))
    assert (found.low, found.high) == (0, 1)
    assert np.isnan(found.ips)
