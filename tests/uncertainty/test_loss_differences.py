"""Verdicts: false ones are rare, true ones come, and no unit or split of the rows matters."""

import numpy as np
import pytest

from unitless.compare import compare
from unitless.rows import as_rows
from unitless.uncertainty import LossDifference


def verdict_on(differences, weights=None):
    test = LossDifference()
    test.add(differences, weights)
    return test.verdict()


LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_t(2, n),
    "wandering variance": lambda rng, n: (
        rng.normal(size=n) * np.exp(np.cumsum(0.05 * rng.normal(size=n)))
    ),
    "accuracy": lambda rng, n: 1.0 * (rng.random(n) < 0.1) - (rng.random(n) < 0.1),
}


@pytest.mark.parametrize("law", LAWS)
def test_false_verdicts_are_rare(law):
    decided = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = 4000
        d = LAWS[law](rng, n)
        decided += verdict_on(d).row is not None
    assert decided <= 0.05 * 200


def test_a_difference_is_found_and_its_interval_has_the_mean():
    rng = np.random.default_rng(0)
    for shift in (-0.3, 0.3):
        made = verdict_on(rng.normal(shift, 1, 3000))
        assert made.row < 1500
        assert made.low < shift < made.high
        assert made.low * made.high > 0


def test_the_decision_and_the_interval_agree():
    """0 is in the interval of each moment before the decision, and not at it."""
    d = np.random.default_rng(1).normal(0.2, 1, 2000)
    row = verdict_on(d).row
    before, at = verdict_on(d[: row - 1]), verdict_on(d[:row])
    assert before.row is None
    assert before.low <= 0 <= before.high
    assert not at.low <= 0 <= at.high


def test_units_blocks_and_rows_of_weight_0():
    d = np.random.default_rng(2).normal(0.2, 1, 2000)
    whole = verdict_on(d)
    assert verdict_on(d * 2.0**40)[:3] == tuple(2.0**40 * end for end in whole[:3])
    parts = LossDifference()
    for start in range(0, 2000, 7):
        parts.add(d[start : start + 7])
    assert parts.verdict() == whole
    doubled = np.repeat(d, 2)
    weights = np.tile([1.0, 0.0], 2000)
    made = verdict_on(doubled, weights)
    assert made[:3] == whole[:3]
    assert made.row == 2 * whole.row - 1


def test_equal_losses_decide_nothing():
    assert verdict_on(np.zeros(1000)) is None
    assert verdict_on(np.r_[np.ones(10), np.zeros(1000)]) is None


def test_compare_tells_which_is_better():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=2000) > 0, 1.0, -1.0)
    made = compare(as_rows(X, y), ["full", "coordinate", "zero"], regret=False)
    zero = made.entry("zero").verdict
    assert zero.low > 0
    assert zero.row < 500
    text = str(made)
    assert "full is better than zero by" in text
    assert "certain (95 %, at any time) since row" in text
