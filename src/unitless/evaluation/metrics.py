"""Running average loss and metrics of the task, in constant memory.

Each prediction was made before its label was used. All averages are by sample weight. The area
under the ROC curve is computed from scores in `BINS` bins, ties counting half: it is exact except
for pairs that share a bin.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import grown
from unitless.losses import Loss

Float = NDArray[np.float64]
BINS, SHARES = 2048, 20
"""Bins of scores for the ROC curve, and of probabilities for the calibration."""

ROWS, WEIGHT, LOSS, RIGHT, BRIER, ABSOLUTE, SQUARE, MEAN_Y, MEAN_P, M2_Y, M2_P, CROSS = range(12)
LABELS = {
    "loss": "average loss",
    "auc": "area under ROC curve",
    "accuracy": "accuracy",
    "calibration_error": "calibration error",
    "brier": "Brier score",
    "r2": "R²",
    "mae": "mean absolute error",
    "rmse": "root mean square error",
    "bias": "mean error",
    "slope": "slope of target on prediction",
    "below": "share of targets below",
}
"""Display names of the metrics."""


class RunningMetrics:
    """Running metrics of the predictions for a stream.

    >>> from unitless import losses
    >>> tally = RunningMetrics("binary", losses.get("logistic"))
    >>> losses = tally.add(np.array([1.0, -1.0, 1.0]), np.array([2.0, 1.0, 3.0]), None)
    >>> {name: round(value, 3) for name, value in tally.metrics().items()}
    {'loss': 0.496, 'auc': 1.0, 'accuracy': 0.667, 'calibration_error': 0.299, 'brier': 0.184}
    """

    def __init__(self, task: str, loss: Loss) -> None:
        self.task, self.loss = task, loss
        self.totals = np.zeros(12)
        self.classes = np.zeros(2 if task == "binary" else 0)
        """Weight of each class."""
        self.ranks = np.zeros((2, BINS) if task == "binary" else (2, 0))
        """Weight of the rows of each class by score."""
        self.calibration = np.zeros((SHARES, 3))
        """Weight, mean probability and mean outcome, by probability."""

    ARRAYS = ("totals", "classes", "ranks", "calibration")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is remembered."""
        return {name: getattr(self, name) for name in self.ARRAYS}

    def add(self, targets: Float, scores: Float, weights: Float | None) -> Float:
        """Add rows that have a target; returns their losses."""
        losses = self.loss.value(targets, scores)
        v = np.ones(len(targets)) if weights is None else weights
        self.totals[ROWS] += len(targets)
        if v.any():
            before, own = float(self.totals[WEIGHT]), float(v.sum())
            self.totals[WEIGHT] += own
            share, v_own = own / (before + own), v / own
            self._mean(LOSS, losses, v_own, share)
            getattr(self, f"_add_{self.task}")(targets, scores, v, v_own, share)
        return losses

    def _mean(self, place: int, values: Any, weights: Float, share: float) -> None:
        """A running mean, not a sum: losses near the largest float stay finite."""
        self.totals[place] += (float(np.sum(values * weights)) - self.totals[place]) * share

    def _add_binary(self, y: Float, p: Float, v: Float, own: Float, share: float) -> None:
        positive = y > 0
        self.classes += [float(v[~positive].sum()), float(v[positive].sum())]
        bins = np.minimum((1 + p / (1 + np.abs(p))) * (BINS / 2), BINS - 1).astype(np.int64)
        for c, rows in enumerate((~positive, positive)):
            self.ranks[c] += np.bincount(bins[rows], v[rows], BINS)
        self._mean(RIGHT, (p >= 0) == positive, own, share)
        if self.loss.name == "logistic":
            chance = self.loss.link(p)
            self._mean(BRIER, (chance - positive) ** 2, own, share)
            self._calibrate(chance, positive, v)

    def _add_multiclass(self, y: Float, p: Float, v: Float, own: Float, share: float) -> None:
        classes = y.astype(np.int64)
        self.classes = grown(self.classes, p.shape[1])
        self.classes += np.bincount(classes, v, len(self.classes))
        best = p.argmax(axis=1)
        self._mean(RIGHT, best == classes, own, share)
        self._calibrate(self.loss.link(p).max(axis=1), best == classes, v)

    def _calibrate(self, chance: Float, happened: NDArray[np.bool_], v: Float) -> None:
        bins = np.minimum((chance * SHARES).astype(np.int64), SHARES - 1)
        for k, values in enumerate((np.ones(len(v)), chance, happened.astype(np.float64))):
            self.calibration[:, k] += np.bincount(bins, v * values, SHARES)

    def _add_regression(self, y: Float, p: Float, v: Float, own: Float, share: float) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            self._mean(ABSOLUTE, np.abs(p - y), own, share)
            self._mean(SQUARE, (p - y) ** 2, own, share)
            self._mean(RIGHT, y < p, own, share)
            self._moments(y, p, float(v.sum()), own, share)

    def _moments(self, y: Float, p: Float, weight: float, own: Float, share: float) -> None:
        """Chan's formulas for means, squares and products about them."""
        mean_y, mean_p = float(np.sum(own * y)), float(np.sum(own * p))
        away_y, away_p = mean_y - self.totals[MEAN_Y], mean_p - self.totals[MEAN_P]
        spread = weight * (1 - share)
        for place, a, b, far in (
            (M2_Y, y - mean_y, y - mean_y, away_y * away_y),
            (M2_P, p - mean_p, p - mean_p, away_p * away_p),
            (CROSS, y - mean_y, p - mean_p, away_y * away_p),
        ):
            self.totals[place] += weight * float(np.sum(own * a * b)) + far * spread
        self.totals[MEAN_Y] += away_y * share
        self.totals[MEAN_P] += away_p * share

    def metrics(self) -> dict[str, float]:
        """Metrics by name (`LABELS`); those that are not defined yet are left out."""
        totals = self.totals
        if totals[WEIGHT] == 0:
            return {}
        made = {"loss": totals[LOSS], **getattr(self, f"_metrics_{self.task}")()}
        return {name: float(value) for name, value in made.items() if math.isfinite(value)}

    def _metrics_binary(self) -> dict[str, float]:
        made = {"auc": self._auc(), "accuracy": self.totals[RIGHT]}
        if self.loss.name == "logistic":
            made |= {"calibration_error": self._off(), "brier": self.totals[BRIER]}
        return made

    def _metrics_multiclass(self) -> dict[str, float]:
        return {"accuracy": self.totals[RIGHT], "calibration_error": self._off()}

    def _metrics_regression(self) -> dict[str, float]:
        totals = self.totals
        spread = totals[M2_Y] / totals[WEIGHT]
        made = {"mae": totals[ABSOLUTE], "rmse": math.sqrt(totals[SQUARE])}
        if spread > 0:
            made["r2"] = 1 - totals[SQUARE] / spread
        made["bias"] = totals[MEAN_P] - totals[MEAN_Y]
        if totals[M2_P] > 0:
            made["slope"] = totals[CROSS] / totals[M2_P]
        if self.loss.name.startswith("quantile"):
            made["below"] = totals[RIGHT]
        return made

    def _auc(self) -> float:
        negative, positive = self.ranks
        pairs = float(negative.sum() * positive.sum())
        below = np.cumsum(negative) - negative / 2
        return float(positive @ below) / pairs if pairs else math.nan

    def _off(self) -> float:
        """The calibration error: mean distance between probability and outcome over the bins."""
        weight, chance, happened = self.calibration.T
        return float(np.abs(chance - happened).sum() / weight.sum()) if weight.any() else math.nan
