"""Rows that would drive a baseline beyond float64: refused, or scored with finite numbers.

Most of these failed in 0.1.0; the cases of nda and snag are reported ones that no test reproduced.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from unitless import persistence
from unitless.core.learner import Diverged
from unitless.learners import REGISTRY, get
from unitless.learners.one_vs_rest import with_classes
from unitless.rows import as_rows

BASELINES = [name for name, path in REGISTRY.items() if ".baselines." in path]
SCALE_DEPENDENT = [name for name in BASELINES if get(name).invariance in ("none", "rotation")]
RNG = np.random.default_rng(3)
SIGNS = RNG.choice([-1.0, 1.0], 40)
STREAMS = {
    "growing": RNG.normal(size=(40, 3)) * np.geomspace(1, 1e300, 40)[:, None],
    "all sizes": RNG.normal(size=(40, 3)) * 10.0 ** RNG.uniform(-160, 160, (40, 3)),
    "large": RNG.normal(size=(40, 3)) * 1e155,
    "one large row": np.where(np.arange(40)[:, None] == 20, 1e200, RNG.normal(size=(40, 3))),
}


def trained(name, X, **parameters):
    """The learner after all rows that it does not refuse."""
    learner = get(name)(**parameters)
    for x, y in zip(X, SIGNS, strict=True):
        try:
            learner.learn(as_rows([x], [y]))
        except Diverged:
            assert name in SCALE_DEPENDENT
    return learner


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("name", BASELINES)
def test_saved_learners_load_and_answer(name, stream, tmp_path):
    """The state stays finite, so a saved learner loads; predictions and weights are finite."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = trained(name, STREAMS[stream])
        file = tmp_path / "model"
        persistence.save(learner, file)
        again = persistence.load(file)
        probes = as_rows([[1.0, -1.0, 0.0], [1e300, 1e300, -1e300], [1e-300, 0.0, 1e200]])
        scores = learner.predict(probes)
        weights = again.weights()
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(again.predict(probes), scores)
    assert np.isfinite(weights.features).all()
    assert np.isfinite(weights.intercept)


def test_a_class_added_late_meets_small_values():
    """Its records are empty, while the unit of the column is that of larger values."""
    learner = with_classes(get("nda"), 2)
    learner.learn(as_rows([[1.0], [1e200]], [0, 1]))
    learner.add_class()
    assert np.isfinite(learner.learn(as_rows([[1e-200], [2e-200]], [2, 0]))).all()


@pytest.mark.parametrize("seed", range(20))
def test_snag_in_other_units(seed):
    """Sparse rows around 1e150: weights grow until terms of a score reach their limit."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-160, 160, (40, 4)) * (rng.random((40, 4)) < 0.4)
    X = sp.csr_array(sizes * rng.choice([-1, 1], (40, 4)))
    factors = 2.0 ** rng.integers(-300, 300, 4)
    plain, scaled = (get("snag")().learn(as_rows(Z, SIGNS)) for Z in (X, X * factors))
    np.testing.assert_array_equal(plain, scaled)
