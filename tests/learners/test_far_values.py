"""Streams near the ends of float64: one unit as good as another, and weights that are finite.

On the tiny streams, version 0.1.0 had weights that are not finite, for all of these learners.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from unitless.learners import get
from unitless.learners.one_vs_rest import with_classes
from unitless.rows import as_rows

ROWS, COLUMNS = 30, 3
EXPONENTS = {"tiny": (-323, -300), "huge": (140, 235), "any": (-160, 235)}
SHIFTS = {"tiny": (0, 1000), "huge": (-600, 200), "any": (-600, 200)}
SEEDS = [0, 1, 2, 15, 40, 68, 146, 232]
"""The last five are of streams on which 0.1.0 failed for learners other than sNAG."""


def stream(kind, seed):
    """Rows of sizes far apart, many of them zero, and powers of two that change no digit."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(*EXPONENTS[kind], (ROWS, COLUMNS))
    signs = rng.choice([-1.0, 1.0], (ROWS, COLUMNS))
    X = sizes * signs * (rng.random((ROWS, COLUMNS)) < rng.choice([0.3, 0.7, 1.0]))
    labels = rng.integers(0, 3, ROWS).astype(float)
    shifts = rng.integers(*SHIFTS[kind], COLUMNS)
    return X, labels, shifts


@pytest.mark.parametrize("kind", EXPONENTS)
@pytest.mark.parametrize(
    ("name", "loss"),
    [("coordinate", "logistic"), ("vaw", "squared"), ("snag", "logistic"), ("nda", "softmax")],
)
def test_streams_near_the_ends_of_float64(name, loss, kind):
    for seed in SEEDS:
        X, labels, shifts = stream(kind, seed)
        Z = np.ldexp(X, shifts)
        if not np.isfinite(Z).all() or not np.array_equal(np.ldexp(Z, -shifts), X):
            continue  # not the same rows in another unit
        targets = labels if loss == "softmax" else np.where(labels > 0, 1.0, -1.0)
        one, other = (
            with_classes(get(name), 3) if loss == "softmax" else get(name)(loss) for _ in range(2)
        )
        scores = []
        for i in range(ROWS):
            row = as_rows(sp.csr_array(X[i : i + 1]), targets[i : i + 1])
            predicted = one.predict(row)
            scores.append(one.learn(row))
            np.testing.assert_array_equal(predicted, scores[-1])
        np.testing.assert_array_equal(
            np.concatenate(scores), other.learn(as_rows(sp.csr_array(Z), targets))
        )
        weights = one.weights()
        assert np.isfinite(weights.features).all()
        assert np.isfinite(weights.intercept).all()
