"""What every model has to beat: the best constant, and the label of the row before.

The best constant in hindsight is exact for classes (from their counts) and for the squared loss
(from the targets' moments). For other regression losses it is estimated from every k-th target; k
doubles whenever the sample has `MOST` targets. "Last value" predicts the target of the row before.
"Last class" predicts the class of the row before with the best probability in hindsight, and all
other classes with equal shares of the rest.
"""

import math
from typing import NamedTuple

import numpy as np

from unitless.evaluation.metrics import FARTHEST, M2_Y, MEAN_Y, WEIGHT, Float, RunningMetrics
from unitless.losses import Loss

MOST = 8192


class Constant(NamedTuple):
    """A constant score (one per class for several classes), and its average loss."""

    score: float | list[float]
    loss: float


class Sample:
    """Every k-th row of a stream of numbers, at most `most`.

    >>> sample = Sample(1, 8192)
    >>> sample.add(np.arange(20_000.0)[:, None])
    >>> len(sample.kept), sample.kept[:3, 0].tolist()
    (5000, [0.0, 4.0, 8.0])
    """

    def __init__(self, columns: int = 2, most: int = MOST) -> None:
        self.kept = np.zeros((0, columns))
        """By default targets and weights."""
        self.places = np.array([0, 1])
        """Rows so far, and k."""
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
    """The constant with the smallest loss so far; None before the first target.

    >>> from unitless import losses
    >>> tally = RunningMetrics("binary", losses.get("logistic"))
    >>> losses = tally.add(np.array([1.0, -1.0, 1.0, 1.0]), np.zeros(4), np.ones(4))
    >>> print("%.3f %.3f" % best_constant(tally, Sample()))
    1.099 0.562
    """
    weight = float(tally.totals[WEIGHT])
    if weight == 0:
        return None
    if tally.task == "regression":
        if tally.loss.name == "squared":
            return Constant(float(tally.totals[MEAN_Y]), float(tally.totals[M2_Y] / weight))
        return _best_number(tally, sample)
    shares = tally.classes / tally.classes.sum()
    with np.errstate(divide="ignore"):
        logs = np.log(shares)
    entropy = -float(np.sum(shares[shares > 0] * logs[shares > 0]))
    if tally.task == "multiclass":
        return Constant(np.maximum(logs, -FARTHEST).tolist(), entropy)
    if tally.loss.name == "logistic":
        return Constant(float(np.clip(logs[1] - logs[0], -FARTHEST, FARTHEST)), entropy)
    side = 1.0 if shares[1] >= 0.5 else -1.0
    return Constant(side, float(shares @ tally.loss.value([-1.0, 1.0], [side, side])))


def _best_number(tally: RunningMetrics, sample: Sample) -> Constant | None:
    targets, weights = sample.kept.T
    if not weights.any():
        return None
    low = float(targets.min())
    high = float(targets.max())
    for _ in range(100):  # the mean slope rises with the constant: halve the range
        middle = low / 2 + high / 2
        slopes = tally.loss.derivative(targets, np.full(len(targets), middle))
        if np.sum(weights * slopes) > 0:
            high = middle
        else:
            low = middle
    best = low / 2 + high / 2
    losses = tally.loss.value(targets, np.full(len(targets), best))
    loss = float(np.sum(weights / weights.sum() * losses))
    return Constant(best, loss) if math.isfinite(loss) else None


# The label of the row before

LABEL, PAIRS, SAME, DIFFERENCE, LAST_LOSS = range(5)
"""The fields of `Previous.totals`; the last three are means."""


class Previous:
    """Compares each label with the one before.

    >>> from unitless import losses
    >>> previous = Previous()
    >>> previous.add(np.array([1.0, 1, 1, -1]), np.ones(4), losses.get("hinge"))
    >>> previous.totals[[PAIRS, SAME]].round(3).tolist()
    [3.0, 0.667]
    """

    def __init__(self) -> None:
        self.totals = np.array([np.nan, 0, 0, 0, 0])
        """The last label, the weight of all pairs, and the means over them."""

    def add(self, targets: Float, weights: Float, loss: Loss) -> None:
        """Count more labels; for numbers also the loss of the last value."""
        if not len(targets):
            return
        before = np.append(self.totals[LABEL], targets[:-1])
        self.totals[LABEL] = targets[-1]
        weights = np.where(np.isnan(before), 0, weights)
        own = float(weights.sum())
        if own == 0:
            return
        before = np.where(np.isnan(before), targets, before)
        self.totals[PAIRS] += own
        share = own / self.totals[PAIRS]
        with np.errstate(over="ignore", invalid="ignore"):
            values = {SAME: targets == before, DIFFERENCE: (targets - before) ** 2}
            if loss.targets not in ("signs", "classes"):
                values[LAST_LOSS] = loss.value(targets, before)
            for place, each in values.items():
                mean = float(np.sum(each * (weights / own)))
                self.totals[place] += (mean - self.totals[place]) * share


def last_label(tally: RunningMetrics, previous: Previous) -> dict[str, float] | None:
    """The loss of the last value or class, and how well it predicts; None before the second row.

    `same` is the share of rows with the class of the row before, and `chance` that share if the
    rows were shuffled. For numbers, `correlation` is that of consecutive targets.
    """
    _, weight, same, difference, loss = previous.totals.tolist()
    if weight == 0:
        return None
    if tally.task == "regression":
        variance = float(tally.totals[M2_Y] / tally.totals[WEIGHT])
        correlation = 1 - difference / (2 * variance) if variance > 0 else math.nan
        found = {"loss": loss, "correlation": correlation}
        return found if math.isfinite(loss) and math.isfinite(correlation) else None
    shares = tally.classes / tally.classes.sum()
    chance = float(shares @ shares)
    if tally.task == "binary" and tally.loss.name != "logistic":
        right, wrong = tally.loss.value([1.0, -1.0], [1.0, 1.0]).tolist()
        loss = min(same, 1 - same) * wrong + max(same, 1 - same) * right
    else:
        others = max(int(np.count_nonzero(shares)) - 1, 1)
        loss = sum(-p * math.log(p) for p in (same, 1 - same) if p > 0)
        loss += (1 - same) * math.log(others)
    return {"loss": loss, "same": same, "chance": chance}
