"""The mixture over ten million rows: `python benchmarks/mixture.py [rows]`.

For each loss a table of six experts who are extremely sure and wrong now and then, the best of whom
changes every million rows. After every hundred thousand rows all claims must hold, all weights must
be finite, and no weight may have fallen to 0 (in the domain of logarithms none does).
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from blend.material import mixed, mixer_of, targets_of
from blend.test_guarantee import ROLES, holds, shaped

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
BLOCK, CHANGE = 100_000, 1_000_000


def run(loss: str) -> None:
    """One loss; an AssertionError at the first block that breaks a claim."""
    rng, mixer, begin = np.random.default_rng(0), mixer_of(loss, ROLES), time.perf_counter()
    least = 1.0
    for first in range(0, ROWS, BLOCK):
        y = targets_of(loss, rng, BLOCK)
        right = np.ones(BLOCK) if loss == "softmax" else np.sign(y)
        wrong = np.roll([0.01, 0.1, 0.2, 0.5, 0.9, 1.0], first // CHANGE)
        signs = np.where(rng.random((BLOCK, len(ROLES))) < wrong, -1, 1)
        scores = mixed(mixer, shaped(loss, 30.0 * signs * right[:, None], y), y)
        assert np.isfinite(scores).all()
        holds(mixer.guarantees())
        weights = np.array(list(mixer.mixture_weights().values()))
        assert np.isfinite(weights).all()
        assert (weights > 0).all()
        least = min(least, weights.min())
    seconds = time.perf_counter() - begin
    print(f"{loss:<14} {ROWS:,} rows, {seconds:.0f} s: all claims hold, least weight {least:.1e}")


for name in ("logistic", "squared", "softmax", "hinge", "absolute"):
    run(name)
