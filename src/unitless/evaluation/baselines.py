"""What every model has to beat: the best constant, and the label of the row before.

The best constant in hindsight is exact for classes (from their counts) and for the squared loss
(from the targets' moments). For other regression losses it is estimated from every k-th target; k
doubles whenever the sample has `MOST_KEPT` targets. "Last value" predicts the target of the row
before or, if labels are late, the last one known. "Last class" predicts the class of that row with
the best probability in hindsight, and all other classes with equal shares of the rest.
"""

import math
from typing import NamedTuple

import numpy as np

from unitless.evaluation.metrics import (
    FARTHEST_SCORE,
    M2_Y,
    MEAN_Y,
    WEIGHT,
    Float,
    RunningMetrics,
    add_means,
)
from unitless.losses import Loss

MOST_KEPT = 8192


class Constant(NamedTuple):
    """A constant score (one per class for several classes), and its average loss."""

    score: float | list[float]
    loss: float


class Sample:
    """Every k-th row of a stream of numbers, at most `most`; by default targets and weights."""

    def __init__(self, columns: int = 2, most: int = MOST_KEPT) -> None:
        self.kept = np.zeros((0, columns))
        self.places = np.array([0, 1])  # rows so far, and k
        self.most = most

    def add(self, rows: Float) -> None:
        """Count more rows."""
        seen, every = self.places.tolist()
        self.kept = np.concatenate([self.kept, rows[-seen % every :: every]])
        self.places[0] += len(rows)
        while len(self.kept) > self.most:
            self.kept = self.kept[::2].copy()
            self.places[1] *= 2


def best_constant(tally: RunningMetrics, sample: Sample) -> Constant | None:
    """The constant with the smallest loss so far; None before the first target."""
    weight = float(tally.totals[WEIGHT])
    if weight == 0:
        return None
    if tally.task == "regression":
        if tally.loss.name == "squared":
            return Constant(float(tally.totals[MEAN_Y]), float(tally.totals[M2_Y] / weight))
        return _best_number(tally.loss, *sample.kept.T)
    shares = tally.classes / tally.classes.sum()
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(shares), -FARTHEST_SCORE)
    entropy = abs(float(np.sum(shares * logs)))
    if tally.task == "multiclass":
        return Constant(logs.tolist(), entropy)
    if tally.loss.name == "logistic":
        return Constant(float(logs[1] - logs[0]), entropy)
    side = 1.0 if shares[1] >= 0.5 else -1.0
    return Constant(side, float(shares @ tally.loss.value([-1.0, 1.0], [side, side])))


def _best_number(loss: Loss, targets: Float, weights: Float) -> Constant | None:
    if not weights.any():
        return None
    low = float(targets.min())
    high = float(targets.max())
    for _ in range(100):  # the mean slope rises with the constant: halve the range
        middle = low / 2 + high / 2
        slopes = loss.derivative(targets, np.full(len(targets), middle))
        if np.sum(weights * slopes) > 0:
            high = middle
        else:
            low = middle
    losses = loss.value(targets, np.full(len(targets), high))
    average = float(np.sum(weights / weights.sum() * losses))
    return Constant(high, average) if math.isfinite(average) else None


# The label of the row before

PAIRS, SAME, DIFFERENCE, LAST_LOSS = range(4)
"""The fields of `Previous.totals`: the weight of all pairs, and means."""


class Previous:
    """Compares each label with the one before or, if labels are late, the last one known."""

    def __init__(self, delay: int = 0) -> None:
        self.recent = np.full(1 + delay, np.nan)  # the last labels, the newest at the end
        self.totals = np.zeros(4)

    def add(self, targets: Float, weights: Float, loss: Loss) -> None:
        """Count more labels; for numbers also the loss of the last value."""
        labels = np.concatenate([self.recent, targets])
        before = labels[: len(targets)]
        self.recent = labels[len(targets) :].copy()
        pairs = np.flatnonzero(~np.isnan(before))
        before, targets, weights = before[pairs], targets[pairs], weights[pairs]
        if not weights.any():
            return
        with np.errstate(over="ignore", invalid="ignore"):
            values = {SAME: targets == before, DIFFERENCE: (targets - before) ** 2}
            if loss.targets not in ("signs", "classes"):
                values[LAST_LOSS] = loss.value(targets, before)
            add_means(self.totals, PAIRS, values, weights)


def last_label(tally: RunningMetrics, previous: Previous) -> dict[str, float] | None:
    """The loss of the last value or class, and how well it predicts; None before the second row.

    `same` is the share of rows with the class of the row before, and `chance` that share if the
    rows were shuffled. For numbers, `correlation` is that of consecutive targets.
    """
    weight, same, difference, loss = previous.totals.tolist()
    if weight == 0:
        return None
    if tally.task == "regression":
        variance = float(tally.totals[M2_Y] / tally.totals[WEIGHT])
        correlation = 1 - difference / (2 * variance) if variance > 0 else math.nan
        found = {"loss": loss, "correlation": correlation}
        return found if math.isfinite(loss) and math.isfinite(correlation) else None
    shares = tally.classes / tally.classes.sum()
    most = max(same, 1 - same)
    if tally.task == "binary" and tally.loss.name != "logistic":
        loss = float(tally.loss.value([1.0, -1.0], [1.0, 1.0]) @ [most, 1 - most])
    else:
        others = max(int(np.count_nonzero(shares)) - 1, 1)
        loss = sum(-p * math.log(p) for p in (same, 1 - same) if p > 0)
        loss += (1 - same) * math.log(others)
    return {"loss": loss, "same": same, "chance": float(shares @ shares)}
