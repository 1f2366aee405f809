"""Offsets against their twin, the wealth of the bettor, and the certificate on any stream."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import offsets as naive
from unitless.uncertainty.betting import fewest_events, log_wealth, most_events
from unitless.uncertainty.offsets import Offsets


def residuals_of(seed, n=400):
    """Residuals of a stream that changes, and sizes that are expected of them."""
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.normal(size=n))
    sizes[n // 2 :] *= 10
    return sizes * rng.standard_t(3, n), sizes


@pytest.mark.parametrize(
    ("coverages", "sides", "floor"),
    [((0.9,), 2, -math.inf), ((0.2, 0.5, 0.95), 2, -math.inf), ((0.8, 0.9), 1, 0.0)],
)
def test_twin(coverages, sides, floor):
    r, sizes = residuals_of(1)
    r = np.maximum(r, 0) if sides == 1 else r
    ours = Offsets(coverages, sides, floor).learn(r, sizes)
    slow = naive.Offsets(coverages, sides, floor)
    theirs = np.array([slow.learn(*pair) for pair in zip(r.tolist(), sizes.tolist(), strict=True)])
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@given(st.lists(st.booleans(), max_size=60), st.floats(0.01, 0.99))
def test_the_wealth_depends_on_counts_only(events, rate):
    bettor = naive.Bettor(rate)
    for happened in events:
        bettor.settle(happened)
    closed = log_wealth(sum(events), len(events), rate)
    assert math.log(bettor.wealth) == pytest.approx(closed, abs=1e-8)


@given(st.integers(1, 300), st.floats(0.01, 0.99), st.floats(0, 8))
def test_limits_of_events_are_exact(rows, rate, limit):
    within = [m for m in range(rows + 1) if log_wealth(m, rows, rate) <= limit]
    inside = [m for m in within if m >= rate * rows]
    assert most_events(rows, rate, limit) == max(inside, default=math.floor(rate * rows))
    below = [m for m in within if m <= rate * rows]
    assert fewest_events(rows, rate, limit) == min(below, default=math.floor(rate * rows))


def adversary(offsets, rng, n):
    """Residuals that are chosen after the offsets are known."""
    made = []
    kind = rng.integers(5)
    scale = 10.0 ** rng.integers(-5, 6)
    for t in range(n):
        upper, lower = offsets.predict(np.zeros(1))[0][:, 0]
        upper = min(upper, 1e6 * scale)
        r = {
            0: upper + rng.choice([-1, 1]) * 1e-9 * scale,  # just outside or just inside
            1: upper * 1.01 if t % 3 else 0.0,
            2: rng.choice([-lower, upper]) if np.isfinite(lower) else scale,  # on the boundary
            3: scale * rng.standard_cauchy(),
            4: scale * 2.0 ** (t // 50) * rng.normal(),  # ever larger
        }[int(kind)]
        made.append(min(max(r, -1e12 * scale), 1e12 * scale))
        offsets.learn(np.array(made[-1:]), np.zeros(1))
    return np.array(made)


@pytest.mark.parametrize("seed", range(40))
def test_the_certificate_holds_on_adversarial_streams(seed):
    rng = np.random.default_rng(seed)
    coverage = rng.choice([0.5, 0.8, 0.9])
    offsets = Offsets([coverage])
    adversary(offsets, rng, 300)
    share, low, high = offsets.coverage(0)
    assert low <= share
    assert share - offsets.on_boundary.sum() / offsets.known <= high


def test_the_certificate_closes_in():
    """With residuals of bounded size, both limits come near to the coverage that was asked for."""
    widths = []
    for n in (1000, 10_000, 100_000):
        offsets = Offsets([0.9])
        offsets.learn(np.random.default_rng(0).uniform(-1, 1, n), np.ones(n))
        _, low, high = offsets.coverage(0)
        assert low < 0.9 < high
        widths.append(high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_intervals_of_several_coverages_never_cross_and_none_is_empty():
    r, sizes = residuals_of(2, 3000)
    q = Offsets([0.05, 0.1, 0.5, 0.9, 0.99]).learn(r, sizes)
    assert (q[1:, 0] + q[1:, 1] >= 0).all()
    assert (q[1:, :, 1:] >= q[1:, :, :-1]).all()


def test_exact_predictions_cover():
    offsets = Offsets([0.9])
    q = offsets.learn(np.zeros(100), np.zeros(100))
    assert np.isinf(q[:2]).all()
    assert (q[2:] == 0).all()
    assert offsets.coverage(0)[0] == 1


def test_sets_grow_again_after_a_time_without_errors():
    """The bettor does not win on rows that are covered by force, so it has nothing to lose."""
    rng = np.random.default_rng(0)
    r = np.where(rng.random(8000) < 0.3, rng.exponential(size=8000), 0.0)
    r[:6000] = 0
    q = Offsets([0.9], 1, 0.0).learn(r, np.zeros(8000))[:, 0, 0]
    assert (q[6500:] >= r[6500:]).mean() >= 0.87
