"""How well intervals or sets did that were given before each label was used."""

import numpy as np
from numpy.typing import NDArray

from unitless.evaluation.baselines import Sample
from unitless.evaluation.examples import SAMPLED
from unitless.evaluation.metrics import LearningCurve
from unitless.uncertainty import Intervals
from unitless.uncertainty.intervals import Bool, Float

SCORED_ROWS, COVERED, WIDTH, FINITE = range(4)
"""The fields of `IntervalScores.totals`: rows, rows covered, sum and number of finite widths."""
Pair = tuple[Float | Bool, Float | Bool]


class IntervalScores:
    """Coverage and mean width by declared coverage, of both answers.

    >>> made = Intervals([0.9])
    >>> scores = IntervalScores(made)
    >>> two = np.array([[0.0, 2.0], [-1.0, 1.0]])
    >>> scores.add(np.array([2, 3]), np.array([1.0, 3.0]), (two, two))
    >>> [found] = scores.facts(made, fresh=True)
    >>> found["share"], found["width"]
    (0.5, 2.0)
    """

    def __init__(self, intervals: Intervals | None) -> None:
        declared = () if intervals is None else intervals.coverages
        self.totals = np.zeros((2, len(declared), 4))
        self.curve = LearningCurve(len(declared))  # rows covered, by coverage
        self.band = Sample(3, SAMPLED)  # row, low and high of the largest coverage
        self.widest = int(np.argmax(declared)) if declared else 0

    def add(self, numbers: NDArray[np.int64], targets: Float, both: Pair) -> None:
        """Count rows with these numbers, from 1."""
        for answer, found in enumerate(both):
            made = found if found.ndim == 3 else found[:, :, None]
            if made.dtype == np.bool_:
                codes = np.maximum(targets, 0).astype(np.int64)
                codes = np.minimum(codes, made.shape[1] - 1)  # of the only class of a file
                covered = made[np.arange(len(codes)), codes]
                widths = made.sum(axis=1).astype(float)
            else:
                covered = (made[:, 0] <= targets[:, None]) & (targets[:, None] <= made[:, 1])
                with np.errstate(over="ignore"):
                    widths = made[:, 1] - made[:, 0]
            is_finite = np.isfinite(widths)
            totals = self.totals[answer]
            totals[:, SCORED_ROWS] += len(targets)
            totals[:, COVERED] += covered.sum(axis=0)
            totals[:, WIDTH] += np.where(is_finite, widths, 0.0).sum(axis=0)
            totals[:, FINITE] += is_finite.sum(axis=0)
            if answer == 0:
                self.curve.add(covered.astype(float), np.ones(len(targets)))
                if made.dtype != np.bool_:
                    self.band.add(np.column_stack([numbers, made[:, :, self.widest]]))

    def facts(self, intervals: Intervals | None, *, fresh: bool) -> list[dict[str, float]]:
        """By declared coverage: the share of rows covered, the mean width, certified limits."""
        if intervals is None:
            return []
        found = []
        for kept, own in zip(
            self.totals[0 if fresh else 1], intervals.coverage(fresh=fresh), strict=True
        ):
            rows, covered, width, finite = kept.tolist()
            found.append(
                {
                    "asked": own.asked,
                    "share": covered / max(rows, 1),
                    "width": width / max(finite, 1),
                    "low": own.low,
                    "high": own.high,
                }
            )
        return found
