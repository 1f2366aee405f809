"""Streams at both ends of float64: what was learned can be predicted, weighed and explained."""

import numpy as np
import pytest

from blend.material import FEW_LOSSES, blend, targets_of
from unitless.rows import as_rows

few_losses = pytest.mark.parametrize("loss", FEW_LOSSES)


def climbing(kind, seed=0):
    """Rows whose columns cross float64 in a few steps, or jump between its ends."""
    rng = np.random.default_rng(seed)
    if kind == "steps":
        sizes = np.repeat([1e-300, 1e-150, 1.0, 1e150, 1e300], 4)[:, None]
    elif kind == "falling":
        sizes = np.repeat([1e300, 1e150, 1.0, 1e-150, 1e-300], 4)[:, None]
    elif kind == "denormal":
        sizes = 10.0 ** rng.choice([-320.0, -310.0, 0.0], (20, 3))
    else:
        sizes = 10.0 ** rng.choice([-305.0, 0.0, 305.0], (20, 3))
    return rng.normal(size=(20, 3)) * sizes


each_kind = pytest.mark.parametrize("kind", ["steps", "falling", "denormal", "jumps"])


@few_losses
@each_kind
@pytest.mark.parametrize("seed", range(3))
def test_what_was_learned_can_be_predicted_and_explained(loss, kind, seed):
    X = climbing(kind, seed)
    y = targets_of(loss, np.random.default_rng(seed), len(X))
    probes = np.array([[1e-300] * 3, [1.0] * 3, [1e300] * 3, [0.0, 1e308, -5e-324]])
    learner = blend(loss)
    for t in range(len(X)):
        assert np.isfinite(learner.learn(as_rows(X[t : t + 1], y[t : t + 1]))).all()
        if t % 5 == 4:
            assert np.isfinite(learner.predict(as_rows(probes))).all()
            weights = learner.weights()
            assert np.isfinite(weights.intercept).all()
            assert np.isfinite(weights.features).all()
            for row in (X[t : t + 1], probes[2:3], probes[3:]):
                base, parts = learner.contributions(as_rows(row))
                assert np.isfinite(base).all()
                assert np.isfinite(parts).all()


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_targets_at_the_ends_of_the_range(loss, size):
    X = climbing("steps")
    y = np.random.default_rng(0).normal(size=len(X)) * size
    learner = blend(loss)
    learner.learn(as_rows(X, y))
    assert np.isfinite(learner.weights().features).all()
    for row in (X[:1], X[-1:]):
        base, parts = learner.contributions(as_rows(row))
        assert np.isfinite(base).all()
        assert np.isfinite(parts).all()
