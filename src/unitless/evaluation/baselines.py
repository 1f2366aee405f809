"""The best constant prediction in hindsight, which every model has to beat.

It is exact for classes (from their counts) and for the squared loss (from the targets' moments).
For other regression losses it is estimated from every k-th target; k doubles whenever the sample
has `MOST` targets.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.evaluation.metrics import M2_Y, MEAN_Y, WEIGHT, RunningMetrics

Float = NDArray[np.float64]
MOST = 8192
FARTHEST = 1e3
"""The score of a class that all rows or no rows have; the optimum would be infinite."""


class Constant(NamedTuple):
    """A constant score (one per class for several classes), and its average loss."""

    score: float | list[float]
    loss: float


class Sample:
    """Every k-th target of a stream, at most `MOST`.

    >>> sample = Sample()
    >>> sample.add(np.arange(20_000.0), None)
    >>> len(sample.kept), sample.kept[:3, 0].tolist()
    (5000, [0.0, 4.0, 8.0])
    """

    def __init__(self) -> None:
        self.kept = np.zeros((0, 2))
        """Targets and weights."""
        self.places = np.array([0, 1])
        """Rows so far, and k."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is remembered."""
        return {"kept": self.kept, "places": self.places}

    def add(self, targets: Float, weights: Float | None) -> None:
        """Count more targets."""
        v = np.ones(len(targets)) if weights is None else weights
        done, every = self.places.tolist()
        chosen = np.arange(-done % every, len(targets), every)
        self.kept = np.concatenate([self.kept, np.column_stack([targets, v])[chosen]])
        self.places[0] += len(targets)
        while len(self.kept) > MOST:
            self.kept = self.kept[::2].copy()
            self.places[1] *= 2


def best_constant(tally: RunningMetrics, sample: Sample) -> Constant | None:
    """The constant with the smallest loss so far; None before the first target.

    >>> from unitless import losses
    >>> tally = RunningMetrics("binary", losses.get("logistic"))
    >>> losses = tally.add(np.array([1.0, -1.0, 1.0, 1.0]), np.zeros(4), None)
    >>> print("%.3f %.3f" % best_constant(tally, Sample()))
    1.099 0.562
    """
    if tally.totals[WEIGHT] == 0:
        return None
    if tally.task == "regression":
        return _of_numbers(tally, sample)
    shares = tally.classes / tally.classes.sum()
    with np.errstate(divide="ignore"):
        logs = np.log(shares)
    entropy = -float(np.sum(shares[shares > 0] * logs[shares > 0]))
    if tally.task == "multiclass":
        return Constant(np.maximum(logs, -FARTHEST).tolist(), entropy)
    if tally.loss.name == "logistic":
        odds = float(logs[1] - logs[0])
        return Constant(min(max(odds, -FARTHEST), FARTHEST), entropy)
    side = 1.0 if shares[1] >= 0.5 else -1.0
    loss = tally.loss.value([-1.0, 1.0], [side, side])
    return Constant(side, float(shares @ loss))


def _of_numbers(tally: RunningMetrics, sample: Sample) -> Constant | None:
    if tally.loss.name == "squared":
        return Constant(
            float(tally.totals[MEAN_Y]), float(tally.totals[M2_Y] / tally.totals[WEIGHT])
        )
    y, v = sample.kept.T
    if not v.any():
        return None
    low, high = float(y.min()), float(y.max())
    for _ in range(100):  # the mean slope rises with the constant: halve the range
        middle = low / 2 + high / 2
        rising = float(np.sum(v * tally.loss.derivative(y, np.full(len(y), middle)))) > 0
        low, high = (low, middle) if rising else (middle, high)
    best = low / 2 + high / 2
    loss = float(np.sum(v / v.sum() * tally.loss.value(y, np.full(len(y), best))))
    return Constant(best, loss) if math.isfinite(loss) else None
