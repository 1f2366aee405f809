"""Drift alarms: against their twin, few false ones, delays, units, blocks, River."""

import numpy as np
import pytest

from naive.drift import first_alarm
from unitless.uncertainty import DriftDetector

LAWS = {
    "errors": lambda rng, n: 1.0 * (rng.random(n) < 0.1),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "normal": lambda rng, n: rng.normal(5, 1, n),
    "learning": lambda rng, n: 1.0 * (rng.random(n) < 0.1 + 0.4 / np.sqrt(1 + np.arange(n) / 50)),
}


@pytest.mark.parametrize("seed", range(6))
def test_twin(seed):
    """The twin keeps all starts; ours drops some, so that an alarm may come a little later."""
    rng = np.random.default_rng(seed)
    losses = rng.exponential(np.repeat([1.0, [0.5, 3.0][seed % 2], 4.0], [150, 100, 120]))
    row, start = first_alarm(losses.tolist(), 1e-4)
    found = DriftDetector(1e-4).add(losses)[0]
    assert row <= found.row <= row + 16
    assert abs(found.start - start) <= 24


@pytest.mark.parametrize("law", LAWS)
def test_false_alarms_are_rare(law):
    """At most one per 10,000 rows is allowed here, and 400,000 rows are seen."""
    count = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = 20_000
        losses = LAWS[law](rng, n)
        count += len(DriftDetector(1e-4).add(losses))
    assert count <= 40


@pytest.mark.parametrize(("before", "after", "most"), [(0.1, 0.4, 150), (0.1, 0.2, 700)])
def test_delay(before, after, most):
    delays = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        losses = 1.0 * (rng.random(6000) < np.repeat([before, after], 3000))
        [found, *_] = DriftDetector().add(losses)
        assert found.row > 3000
        assert abs(found.start - 3000) < 300
        assert found.now > found.before
        delays.append(found.row - 3000)
    assert np.mean(delays) < most


def test_a_fall_is_no_alarm_and_a_later_rise_is():
    rng = np.random.default_rng(0)
    losses = rng.exponential(np.repeat([4.0, 1.0, 2.0], 2000))
    [found] = DriftDetector().add(losses)
    assert 4000 < found.row < 4400
    assert found.before < 1.2


def test_units_and_blocks():
    losses = np.random.default_rng(0).exponential(np.repeat([1.0, 2.0, 4.0], 1000))
    whole = DriftDetector().add(losses)
    assert len(whole) == 2
    parts = DriftDetector()
    found = [each for start in range(0, 3000, 7) for each in parts.add(losses[start : start + 7])]
    assert found == whole
    moved = DriftDetector().add(losses * 2.0**-30)
    assert [each.row for each in moved] == [each.row for each in whole]
    assert [each.now * 2.0**30 for each in moved] == [each.now for each in whole]


def test_errors_after_rows_without_any():
    losses = np.r_[np.zeros(3000), 1.0 * (np.random.default_rng(0).random(1000) < 0.3)]
    [found, *_] = DriftDetector().add(losses)
    assert 3000 < found.row < 3300


def test_a_rate_that_is_none_is_refused():
    with pytest.raises(ValueError, match="false_alarms = 2"):
        DriftDetector(2)


def test_as_rivers_drift_detector():
    from river import base

    from unitless.river import LossDriftDetector

    losses = 1.0 * (np.random.default_rng(0).random(4000) < np.repeat([0.1, 0.4], 2000))
    detector = LossDriftDetector()
    assert isinstance(detector, base.DriftDetector)
    rows = []
    for t, loss in enumerate(losses.tolist(), start=1):
        detector.update(loss)
        if detector.drift_detected:
            rows.append(t)
    assert rows == [each.row for each in DriftDetector().add(losses)]
    assert detector.clone().drift is None
