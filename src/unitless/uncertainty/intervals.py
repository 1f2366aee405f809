"""Prediction intervals of numbers and prediction sets of classes, around any learner.

`Intervals` stands beside a learner. With each block of rows it gets the scores that were made
before the labels were used, answers with the intervals that would have been given then, and learns
from the labels. How far an interval goes beyond a prediction is learned by `offsets`, from what a
prediction was wrong by:

========= ===================================== ==============================================
task      residual r                            interval with the offsets q
========= ===================================== ==============================================
numbers   y - p                                 from p - q(lower) to p + q(upper)
classes   max_c z_c - z_y, for scores z (>= 0)  all classes c with max z - z_c <= q
========= ===================================== ==============================================

A set always contains the predicted class, since the offset is at least 0. Scores of two classes are
(-z/2, z/2). The size of a residual that is expected from the features is the prediction of boosted
trees, which learn |r| from the features and the prediction itself.

Both answers of a learner, with the last label known and without recent labels, have a calibration
of their own.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.core.learner import Learner
from unitless.core.stateful import Stateful
from unitless.learners.boosted_trees import BoostedTrees
from unitless.rows import Rows
from unitless.state import Component, Field
from unitless.uncertainty.offsets import Offsets

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
Facts = dict[str, object]
Declared = Sequence[float] | float | None
FARTHEST = 2.0**1000
"""Residuals are clipped there, so that sums are finite."""


class Calibration(Stateful):
    """The intervals around one answer of a learner, or its sets."""

    saved = (
        Component("offsets"),
        Component("sizes"),
        Field("unit", "2^k", "factor of |r| for the trees; 0 until one is known", low=0),
    )

    def __init__(self, coverages: Sequence[float], classes: bool) -> None:
        sides, floor = (1, 0.0) if classes else (2, -math.inf)
        self.offsets = Offsets(coverages, sides, floor)
        self.sizes = None if classes else BoostedTrees("squared")
        self.unit = 0.0

    def _arguments(self) -> Facts:
        return {"coverages": self.offsets.coverages, "classes": self.sizes is None}

    def _more(self) -> Facts:
        return {}

    def learn(self, rows: Rows, scores: Float) -> Float:
        """The offsets of each row, which is then learned."""
        targets = np.asarray(rows.targets)
        if self.sizes is None:
            residuals = _excess(scores)[np.arange(len(scores)), _codes(targets)]
            return self.offsets.learn(residuals, np.zeros(len(scores)), rows.weights)
        with np.errstate(over="ignore"):
            residuals = np.clip(targets - scores, -FARTHEST, FARTHEST)
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        learned = np.flatnonzero(weights > 0)
        if self.offsets.known == 0 and len(learned):  # nothing was known for that prediction
            weights = weights.copy()
            weights[learned[0]] = 0
        targets = np.abs(residuals)
        if self.unit == 0 and len(first := np.flatnonzero(targets * (weights > 0))):
            self.unit = math.ldexp(1.0, -math.frexp(targets[first[0]])[1])
        seen = _with_prediction(rows, scores)
        seen = Rows(*seen.parts, targets * (self.unit or 1.0), weights)
        sizes = self.sizes.learn(seen) / (self.unit or 1.0)
        return self.offsets.learn(residuals, sizes, rows.weights)

    def predict(self, rows: Rows, scores: Float) -> Float:
        """The offsets of rows, each as if it were the next one."""
        if self.sizes is None:
            return self.offsets.predict(np.zeros(len(scores)))
        sizes = self.sizes.predict(_with_prediction(rows, scores))
        return self.offsets.predict(sizes / (self.unit or 1.0))


class Intervals(Stateful):
    """Intervals or sets of declared coverages, for both answers of a learner.

    Parameters
    ----------
    coverages : sequence of float
        Shares of rows that are to be covered, between 0 and 1.
    classes : bool, default False
        Whether the scores are those of classes.
    two_answers : bool, default False
        Whether the learner has two answers, with and without recent labels.

    Examples
    --------
    >>> from unitless.rows import as_rows
    >>> y = np.random.default_rng(0).normal(size=3000)
    >>> made = Intervals([0.9])
    >>> fresh, _ = made.learn(as_rows(np.zeros((3000, 1)), y), np.zeros(3000), np.zeros(3000))
    >>> low, high = fresh[2000:].mean(axis=0)
    >>> print(f"{low:.2f} {high:.2f} {made.coverage()[0].share:.3f}")
    -1.68 1.65 0.901
    """

    saved = (Component("fresh"), Component("not_fresh"))

    def __init__(
        self, coverages: Sequence[float], classes: bool = False, two_answers: bool = False
    ) -> None:
        self.coverages = checked_coverages(coverages)
        self.classes = classes
        self.last: tuple[Float | Bool, Float | Bool] = (
            np.empty(0),
            np.empty(0),
        )  # what the last call of `learn` answered
        ascending = sorted(self.coverages)
        self._places = [ascending.index(each) for each in self.coverages]
        self.fresh = Calibration(ascending, classes)
        self.not_fresh = Calibration(ascending, classes) if two_answers else None

    def _arguments(self) -> Facts:
        two_answers = self.not_fresh is not None
        return {"coverages": self.coverages, "classes": self.classes, "two_answers": two_answers}

    def _more(self) -> Facts:
        return {}

    def learn(
        self, rows: Rows, scores: Float, not_fresh: Float
    ) -> tuple[Float | Bool, Float | Bool]:
        """The intervals or sets of both answers before the labels were used, which are learned."""
        found = other = self._answer(self.fresh.learn(rows, scores), scores)
        if self.not_fresh is not None:
            other = self._answer(self.not_fresh.learn(rows, not_fresh), not_fresh)
        self.last = found, other
        return self.last

    def predict(self, rows: Rows, scores: Float, fresh: bool) -> Float | Bool:
        """The intervals or sets around these scores, each as if its row were the next one."""
        calibration = self.fresh if fresh or self.not_fresh is None else self.not_fresh
        return self._answer(calibration.predict(rows, scores), scores)

    def _answer(self, offsets: Float, scores: Float) -> Float | Bool:
        """Intervals (rows, 2), sets (rows, classes); several coverages are one more axis."""
        offsets = offsets[:, :, self._places]
        if self.classes:
            made: Float | Bool = _excess(scores)[:, :, None] <= offsets
        else:
            with np.errstate(over="ignore"):
                ends = scores[:, None] - offsets[:, 1], scores[:, None] + offsets[:, 0]
            made = np.stack(ends, axis=1)
        return made[:, :, 0] if len(self.coverages) == 1 else made

    def chosen(self, found: Float | Bool, coverage: float | None) -> Float | Bool:
        """The intervals or sets of one declared coverage, or of all."""
        self.refuse_undeclared(coverage)
        if coverage is None or len(self.coverages) == 1:
            return found
        return found[..., self.coverages.index(coverage)]

    def refuse_undeclared(self, coverage: float | None) -> None:
        """A coverage that was not declared when the model was made is an error."""
        if coverage is not None and coverage not in self.coverages:
            raise ValueError(
                f"coverage = {coverage!r} was not declared: this model has "
                f"intervals={self.coverages!r}; make one with intervals=({coverage!r},)"
            )

    def coverage(self, *, fresh: bool = True) -> list["Coverage"]:
        """The coverage so far, and its certified limits, by declared coverage."""
        calibration = self.fresh if fresh or self.not_fresh is None else self.not_fresh
        offsets = calibration.offsets
        rows = int(offsets.known)
        pairs = zip(self.coverages, self._places, strict=True)
        return [Coverage(asked, rows, *offsets.coverage(place)) for asked, place in pairs]

    def rescale(self, factors: Float) -> None:
        """From now on column i arrives multiplied by factors[i]."""
        for calibration in filter(None, (self.fresh, self.not_fresh)):
            if calibration.sizes is not None:
                columns = max(calibration.sizes.columns - 1, 0)
                padded = np.ones(1 + columns)
                known = min(columns, len(factors))
                padded[1 : 1 + known] = factors[:known]
                if calibration.sizes.columns:
                    calibration.sizes.rescale(padded)


class Coverage(NamedTuple):
    """How many rows were covered so far, and what is certain about it for every stream."""

    asked: float
    rows: int
    share: float
    low: float
    """The share is at least this, which was certain before the labels were known."""
    high: float
    """The share is at most this, except for targets on the boundary; 1 for sets."""


def intervals_for(coverages: Declared, task: str, learner: Learner) -> Intervals | None:
    """The intervals of a model with that task; None if no coverage is declared."""
    declared = checked_coverages(coverages)
    if not declared:
        return None
    if task in ("multilabel", "multioutput"):
        raise ValueError(
            f"intervals={coverages!r}: a model of several targets has no intervals yet; make one "
            "model per target"
        )
    return Intervals(declared, task != "regression", learner.has_two_answers)


def checked_coverages(coverages: Declared) -> tuple[float, ...]:
    """The declared coverages; what is no share of rows is an error.

    >>> checked_coverages([0.5, 90])
    Traceback (most recent call last):
    ValueError: intervals: 90 is not a share of rows between 0 and 1, such as 0.9
    """
    given = (coverages,) if isinstance(coverages, int | float) else tuple(coverages or ())
    for each in given:
        if isinstance(each, bool) or not isinstance(each, int | float) or not 0 < each < 1:
            raise ValueError(
                f"intervals: {each!r} is not a share of rows between 0 and 1, such as 0.9"
            )
    if len({*given}) < len(given):
        raise ValueError(f"intervals={given!r}: each coverage may be declared once")
    return tuple(map(float, given))


def _excess(scores: Float) -> Float:
    """How far the score of each class is below the largest; of two classes it is one number."""
    if scores.ndim == 1:
        return np.column_stack([np.maximum(scores, 0), np.maximum(-scores, 0)])
    return scores.max(axis=1, keepdims=True) - scores


def _codes(targets: Float) -> NDArray[np.int64]:
    """The class of each row, by number, from signs or class numbers."""
    return np.maximum(targets, 0).astype(np.int64)


def _with_prediction(rows: Rows, scores: Float) -> Rows:
    """The rows with the prediction as their first column."""
    if rows.indices is None or rows.starts is None:
        values = np.column_stack([scores, rows.values])
        return Rows(values, None, None, 1 + rows.columns, None, None)
    starts = rows.starts[:-1]
    values = np.insert(rows.values, starts, scores)
    indices = np.insert(rows.indices + 1, starts, 0).astype(np.int32)
    ends = rows.starts + np.arange(len(rows.starts))
    return Rows(values, indices, ends, 1 + rows.columns, None, None)
