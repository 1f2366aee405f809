"""Would a calibration step after the Blend pay? `python benchmarks/calibration.py`

On the binary data sets, at most 20 000 rows in random order, the progressive scores of the default
are passed through

    platt        online logistic regression on the score (Platt scaling)
    platt, bins  the same, followed by calibeating: what the mean label of a bin of probabilities
                 was above the mean forecast there is added to the next forecast in that bin
    bins         calibeating alone

and log loss and calibration error (the mean distance of forecasts and labels by bin) are printed
as ratios to those of the default. A step would be worth having if the log loss rose by at most
0.1 % and the calibration error fell by a third.
"""

import math

import numpy as np
from data import sets
from numpy.typing import NDArray

from unitless.learners import Blend
from unitless.rows import as_rows

Float = NDArray[np.float64]
ROWS = 20_000
LEAST_ROWS = 2000
BINS = 20
PRIOR = 10.0  # precision of both coefficients of Platt scaling, around the score as it is
SHRINK = 20.0  # rows that a bin counts as calibrated before it has any
CLIP = 8.0


def platt(scores: Float, labels: Float) -> Float:
    """Return the scores after online logistic regression on them, by Newton's method."""
    precision = np.diag([PRIOR, PRIOR])
    weights = np.array([0.0, 1.0])
    made = np.empty(len(scores))
    for t, score in enumerate(np.clip(scores, -CLIP, CLIP)):
        x = np.array([1.0, score])
        made[t] = weights @ x
        p = 1 / (1 + math.exp(-made[t]))
        precision += max(p * (1 - p), 1e-3) * np.outer(x, x)
        weights = weights - np.linalg.solve(precision, (p - labels[t]) * x)
    return made


def calibeaten(p: Float, labels: Float) -> Float:
    """Return probabilities moved by what their bins were wrong so far."""
    counts = np.zeros(BINS)
    excess = np.zeros(BINS)
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    made = np.empty(len(p))
    for t, k in enumerate(bins):
        moved = p[t] + excess[k] / (counts[k] + SHRINK)
        made[t] = min(max(moved, p[t] / 2), (1 + p[t]) / 2)
        counts[k] += 1
        excess[k] += labels[t] - p[t]
    return made


def log_loss(p: Float, labels: Float) -> float:
    right = np.where(labels > 0, p, 1 - p)
    return float(-np.log(np.maximum(right, 1e-9)).mean())


def calibration_error(p: Float, labels: Float) -> float:
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, p - labels, BINS)).sum() / len(p))


def main() -> None:
    found = []
    for data in sets("binary"):
        if len(data.y) < LEAST_ROWS:
            continue
        order = np.random.default_rng(0).permutation(len(data.y))[:ROWS]
        labels = (data.y[order] > 0).astype(float)
        scores = Blend().learn(as_rows(data.X[order], data.y[order]))
        plain = 1 / (1 + np.exp(-scores))
        scaled = 1 / (1 + np.exp(-platt(scores, labels)))
        steps = {
            "platt": scaled,
            "platt, bins": calibeaten(scaled, labels),
            "bins": calibeaten(plain, labels),
        }
        ratios = {
            name: (
                log_loss(p, labels) / log_loss(plain, labels),
                calibration_error(p, labels) / calibration_error(plain, labels),
            )
            for name, p in steps.items()
        }
        found.append(ratios)
        print(data.name, *(f"{name}: {a:.4f} {b:.2f}" for name, (a, b) in ratios.items()), sep="; ")
    for name in found[0]:
        loss, error = np.exp(np.mean([np.log(each[name]) for each in found], axis=0))
        print(f"{name}: log loss {loss:.4f}, calibration error {error:.3f} (geometric means)")


if __name__ == "__main__":
    main()
