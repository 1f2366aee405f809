"""Running average loss, learning curve and metrics of the task, in constant memory.

Each prediction was made before its label was used. All averages are by sample weight. The area
under the ROC curve is computed from scores in `ROC_BINS` bins, ties counting half: it is exact
except for pairs that share a bin.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.losses import Loss

Float = NDArray[np.float64]
Facts = dict[str, Any]  # a JSON object
ROC_BINS = 2048  # bins of scores for the ROC curve
SHARES = 20  # bins of probabilities for the calibration
ROWS, WEIGHT, LOSS, RIGHT, BRIER, ABSOLUTE = range(6)
SQUARE, MEAN_Y, MEAN_P, M2_Y, M2_P, CROSS = range(6, 12)
"""The fields of `RunningMetrics.totals`: rows, their weight, means, and from M2_Y on sums."""
MAX_CLASSES = 32  # classes of a confusion matrix; later ones are counted in its last row and column
MAX_THRESHOLDS = 200
FARTHEST_SCORE = 1e3  # a score of (almost) certainty, used where a finite number is needed
MAX_WINDOWS = 512  # windows of the learning curve, however long the stream
LABELS = {
    "loss": "average loss",
    "auc": "area under ROC curve",
    "accuracy": "accuracy",
    "precision": "precision, rarer class",
    "recall": "recall, rarer class",
    "average_precision": "average precision, rarer class",
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


def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array with at least that many rows, new ones 0; a fifth is spare, so growth is linear."""
    if len(array) >= size:
        return array
    room = size if len(array) == 0 else max(size, len(array) + len(array) // 5)
    larger = np.zeros((room, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def add_means(
    totals: Float, weight: int, values: dict[int, Any], weights: Float
) -> dict[int, float]:
    """Update running means, at these places, of which `weight` is the sum of weights so far.

    Returns the means of these rows. Means, not sums: losses near the largest float stay finite.
    """
    own = float(weights.sum())
    totals[weight] += own
    shares = weights / own
    means = {place: float(np.sum(each * shares)) for place, each in values.items()}
    for place, mean in means.items():
        totals[place] += (mean - totals[place]) * (own / totals[weight])
    return means


class RunningMetrics:
    """Running metrics of the predictions for a stream.

    >>> from unitless import losses
    >>> tally = RunningMetrics("binary", losses.get("logistic"))
    >>> losses = tally.add(np.array([1.0, -1.0, 1.0]), np.array([2.0, 1.0, 3.0]), np.ones(3))
    >>> {name: round(value, 3) for name, value in tally.metrics().items() if name != "auc"}
    {'loss': 0.496, 'accuracy': 0.667, 'recall': 0.0, 'average_precision': 1.0,
    'calibration_error': 0.299, 'brier': 0.184}
    """

    def __init__(self, task: str, loss: Loss) -> None:
        self.task = task
        self.loss = loss
        self.totals = np.zeros(12)
        self.classes = np.zeros(2 if task == "binary" else 0)  # weight of each class
        self.ranks = np.zeros((2, ROC_BINS if task == "binary" else 0))  # weight by class and score
        self.calibration = np.zeros((SHARES, 3))  # by probability: weight, its sum, outcomes
        side = MAX_CLASSES if task == "multiclass" else 0
        self.confusion = np.zeros((side, side))  # weight by actual and predicted class

    def add(self, targets: Float, scores: Float, weights: Float) -> Float:
        """Add rows that have a target; returns their losses."""
        losses = self.loss.value(targets, scores)
        self.totals[ROWS] += len(targets)
        if weights.any():
            add = {"binary": self._add_signs, "multiclass": self._add_codes}
            with np.errstate(over="ignore", invalid="ignore"):
                add.get(self.task, self._add_numbers)(losses, targets, scores, weights)
        return losses

    def _add_numbers(self, losses: Float, y: Float, p: Float, weights: Float) -> None:
        totals = self.totals
        before = totals.copy()
        errors = p - y
        values = {LOSS: losses, MEAN_Y: y, MEAN_P: p, RIGHT: errors > 0}
        values |= {ABSOLUTE: np.abs(errors), SQUARE: errors**2}
        means = add_means(totals, WEIGHT, values, weights)
        # Squares about the means of these rows, and of the difference to the mean before (Chan).
        own = totals[WEIGHT] - before[WEIGHT]
        v = np.append(weights, own * (before[WEIGHT] / totals[WEIGHT]))
        y = np.append(y - means[MEAN_Y], means[MEAN_Y] - before[MEAN_Y])
        p = np.append(p - means[MEAN_P], means[MEAN_P] - before[MEAN_P])
        totals[M2_Y] += np.sum(v * y * y)
        totals[M2_P] += np.sum(v * p * p)
        totals[CROSS] += np.sum(v * y * p)

    def _add_codes(self, losses: Float, y: Float, p: Float, weights: Float) -> None:
        codes = y.astype(np.int64)
        predicted = p.argmax(axis=1)
        self.classes = grown(self.classes, p.shape[1])
        self.classes += np.bincount(codes, weights, len(self.classes))
        pair = np.minimum([codes, predicted], MAX_CLASSES - 1)
        np.add.at(self.confusion, tuple(pair), weights)
        self._calibrate(self.loss.link(p).max(axis=1), predicted == codes, weights)
        add_means(self.totals, WEIGHT, {LOSS: losses, RIGHT: predicted == codes}, weights)

    def _add_signs(self, losses: Float, y: Float, p: Float, weights: Float) -> None:
        positive = y > 0
        bins = np.minimum((1 + p / (1 + np.abs(p))) * (ROC_BINS / 2), ROC_BINS - 1).astype(np.int64)
        np.add.at(self.ranks, (positive.astype(int), bins), weights)
        self.classes += np.bincount(positive, weights, 2)
        values = {LOSS: losses, RIGHT: (p >= 0) == positive}
        if self.loss.name == "logistic":
            chance = self.loss.link(p)
            self._calibrate(chance, positive, weights)
            values[BRIER] = (chance - positive) ** 2
        add_means(self.totals, WEIGHT, values, weights)

    def _calibrate(self, chance: Float, happened: NDArray[np.bool_], weights: Float) -> None:
        bins = np.minimum((chance * SHARES).astype(np.int64), SHARES - 1)
        for k, values in enumerate((np.ones(len(bins)), chance, happened * 1.0)):
            self.calibration[:, k] += np.bincount(bins, weights * values, SHARES)

    def metrics(self) -> dict[str, float]:
        """Metrics by name (`LABELS`); those that are not defined yet are left out."""
        totals = self.totals
        if totals[WEIGHT] == 0:
            return {}
        made = {"loss": totals[LOSS]}
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.task == "regression":
                made["mae"] = totals[ABSOLUTE]
                made["rmse"] = math.sqrt(totals[SQUARE])
                made["r2"] = 1 - totals[SQUARE] / (totals[M2_Y] / totals[WEIGHT])
                made["bias"] = totals[MEAN_P] - totals[MEAN_Y]
                made["slope"] = totals[CROSS] / totals[M2_P]
                if self.loss.name.startswith("quantile"):
                    made["below"] = totals[RIGHT]
            else:
                if self.task == "binary":
                    negative, positive = self.ranks
                    below = positive @ (np.cumsum(negative) - negative / 2)
                    made["auc"] = below / (negative.sum() * positive.sum())
                made["accuracy"] = totals[RIGHT]
                if self.task == "binary":
                    made |= self._of_rarer_class()
                weight, chance, happened = self.calibration.T
                made["calibration_error"] = np.abs(chance - happened).sum() / weight.sum()
                if self.loss.name == "logistic":
                    made["brier"] = totals[BRIER]
        return {name: float(value) for name, value in made.items() if math.isfinite(value)}

    def _of_rarer_class(self) -> dict[str, float]:
        """Precision and recall at a probability of 1/2, and the average precision.

        The rarer class is the second one if both are equally frequent. The average precision is
        exact except for pairs of rows that share a bin of scores.
        """
        rare = int(self.classes[1] <= self.classes[0])
        others, own = self.ranks[1 - rare], self.ranks[rare]
        if rare:  # the scores of the second class are high
            others, own = others[::-1], own[::-1]
        chosen = slice(None, ROC_BINS // 2)
        found, total = own[chosen].sum(), own.sum()
        predicted = found + others[chosen].sum()
        above = np.cumsum(own)
        precisions = above / (above + np.cumsum(others))
        return {
            "precision": found / predicted,
            "recall": found / total,
            "average_precision": np.sum(own * np.nan_to_num(precisions)) / total,
        }

    def confusion_matrix(self) -> list[list[float]]:
        """Weight by actual (rows) and predicted class (columns)."""
        if self.task == "binary":
            return self.ranks.reshape(2, 2, ROC_BINS // 2).sum(axis=2).tolist()
        size = min(len(self.classes), MAX_CLASSES)
        return self.confusion[:size, :size].tolist()

    def thresholds(self) -> list[list[float]]:
        """[score, weight of negatives, weight of positives with at least this score]."""
        bins = np.flatnonzero(self.ranks.sum(axis=0))
        if not len(bins):
            return []
        above = np.cumsum(self.ranks[:, ::-1], axis=1)[:, ::-1]
        shares = np.linspace(0, len(bins) - 1, min(len(bins), MAX_THRESHOLDS))
        places = np.union1d(bins[shares.astype(np.int64)], [ROC_BINS // 2])
        edges = places / (ROC_BINS / 2) - 1
        with np.errstate(divide="ignore"):
            scores = np.maximum(edges / (1 - np.abs(edges)), -FARTHEST_SCORE)
        return np.column_stack([scores, *above[:, places]]).tolist()


class LearningCurve:
    """Losses summed over windows of equal numbers of rows, which double when there are too many."""

    def __init__(self, columns: int = 1) -> None:
        self.sums = np.zeros((MAX_WINDOWS, 1 + columns))  # weight and losses of each window
        self.places = np.array([0, 1])  # rows so far, and rows in a window

    def add(self, losses: Float, weights: Float) -> None:
        """Count rows with one loss per column."""
        rows = self.places[0] + np.arange(len(losses))
        self.places[0] += len(losses)
        while self.places[0] > MAX_WINDOWS * self.places[1]:
            pairs = self.sums[::2] + self.sums[1::2]
            self.sums = np.concatenate([pairs, np.zeros_like(pairs)])
            self.places[1] *= 2
        window = rows // self.places[1]
        self.sums[:, 0] += np.bincount(window, weights, MAX_WINDOWS)
        for k, column in enumerate(np.atleast_2d(losses.T), start=1):
            self.sums[:, k] += np.bincount(window, weights * column, MAX_WINDOWS)

    def points(self) -> list[list[float]]:
        """[rows at the end of the window, average losses in it], for windows with any weight."""
        rows, width = self.places.tolist()
        points = []
        for k, (weight, *losses) in enumerate(self.sums.tolist(), start=1):
            if weight > 0:
                points.append([min(k * width, rows), *(loss / weight for loss in losses)])
        return points
