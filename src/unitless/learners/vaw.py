"""VAW: least squares that no linear map of the features can move, and no unit of the target either.

The forecaster of Vovk (2001) and of Azoury and Warmuth (2001), unregularised: with b = sum y x
over the past and S = sum x x' with the row to be scored in it, p = x'S^+ b. For squared loss it
is what Algorithm 2 is for Lipschitz losses, and it is Algorithm 2: for alpha = eps -> infinity
the exponential there is 1, and a linear loss with slope -y makes h = b. So this file has no
kernel; it has the targets. They count from the first one, predictions are clipped to the range of
those seen, and the very first prediction is 0.

A sample weight v multiplies the row's square: (x, y) enters as sqrt(v) (x, y), p with v in S.

The state is that of Algorithm 2 (`FullState`), with h = b, and:

===== ========== ======================================================= =====
paper field      meaning                                                 unit
===== ========== ======================================================= =====
--    targets[0] how many were seen                                      1
--    targets[1] the first                                               [y]
--    targets[2] a power of two near 1/|first deviation from it|, or 0   1/[y]
--    targets[3] the lowest                                              [y]
--    targets[4] the highest                                             [y]
===== ========== ======================================================= =====
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.learners.base import Float, Weights
from unitless.learners.full import Full
from unitless.learners.transitional import OldLearner, cut
from unitless.losses import SQUARED, Loss
from unitless.numerics import WIDE
from unitless.units import factors_by_column as unit_factors
from unitless.units import unit_of

COUNT, FIRST, UNIT, LOW, HIGH = range(5)
LIMIT = 2.0**1000  # alpha and eps: beside it every exponent is 0, and eps / alpha = 1
LARGEST = float(np.finfo(np.float64).max)


class VawState(NamedTuple):
    """All that VAW remembers: `FullState`, with h = sum y x in the unit of targets, and targets.

    U, D, z, squares, units, places, coordinates and totals are the fields of that table, with their
    units; targets is explained in the table of this module.
    """

    U: NDArray[np.float64]
    D: NDArray[np.float64]
    z: NDArray[np.float64]
    squares: NDArray[np.float64]
    units: NDArray[np.float64]
    places: NDArray[np.int64]
    coordinates: NDArray[np.int64]
    totals: NDArray[np.float64]
    targets: NDArray[np.float64]


class Vaw(OldLearner):
    """The forecaster of Vovk, Azoury and Warmuth, for squared loss.

    >>> from sklearn.datasets import load_diabetes
    >>> from unitless.rows import as_rows
    >>> X, y = load_diabetes(return_X_y=True)
    >>> rows = as_rows(X, y)
    >>> learner = Vaw()
    >>> print(f"{learner.loss.value(y, learner.learn(rows)).mean() / y.var():.3f}")
    0.559
    """

    name: ClassVar[str] = "vaw"
    invariance: ClassVar[Any] = "linear"
    target_invariance: ClassVar[Any] = "affine"
    needs_lipschitz: ClassVar[bool] = False

    def __init__(self, loss: str | Loss = "squared", *, intercept: bool = True) -> None:
        super().__init__(loss, intercept=intercept)
        if self.loss.code != SQUARED:
            raise ValueError(
                f"VAW is made for squared loss, not for the {self.loss.name} loss: use 'full', "
                "which is the same for losses with a bounded derivative"
            )
        self._full = Full("linear", alpha=LIMIT, wealth=LIMIT, intercept=intercept)
        self._targets = np.zeros(5)

    @property
    def state(self) -> VawState:
        """What is remembered; the arrays are the learner's own."""
        return VawState(*self._full.state, self._targets)

    def _reserve(self, columns: int) -> None:
        self._full._reserve(columns)

    def _predict(self, values, indices, starts, columns, weights, scores):
        self._full._predict(values, indices, starts, columns, np.sqrt(weights), scores)
        known = self._targets
        scores[:] = self._in_range(scores, known[COUNT] > 0, known[LOW], known[HIGH])
        return scores

    def _in_range(self, s: Float, known: Any, low: Any, high: Any) -> Float:
        """Scores in the unit of the target: s counts from the first target, in units of [UNIT]."""
        unit = self._targets[UNIT] or 1.0
        with np.errstate(over="ignore"):
            p = np.clip(self._targets[FIRST] + s / unit, low, high)
        return np.where(known | np.isnan(s), p, 0.0) + 0.0  # no -0

    def _learn(self, values, indices, starts, columns, targets, weights, scores):
        if np.isinf(values).any():  # a dict row, to be refused by whoever reads it
            scores[:] = np.nan
            return scores
        block, first, rows = (values, indices, starts, columns), 0, len(scores)
        counts = weights > 0 if len(weights) else np.ones(rows, dtype=bool)
        while first < rows:
            last = first + self._fit(targets[first:], counts[first:])
            part = cut(*block, weights, first, last)
            own = slice(first, last)
            self._learn_in_unit(part, targets[own], counts[own], scores[own])
            first = last
        return scores

    def _fit(self, y: Float, counts: NDArray[np.bool_]) -> int:
        """Choose the unit of the targets, if need be; for how many rows it will do."""
        known = self._targets
        if known[COUNT] == 0 and counts.any():
            known[FIRST] = y[np.argmax(counts)]
        with np.errstate(over="ignore"):
            far = np.clip(y - known[FIRST], -LARGEST, LARGEST) * counts
        if known[UNIT] == 0 and far.any():
            known[UNIT] = unit_of(far[np.argmax(far != 0)])
        wide = np.abs(self._scaled(y, counts)) > WIDE
        if wide[0]:
            unit = unit_of(far[0])
            self._full.state.z[:] *= unit / known[UNIT]
            known[UNIT] = unit
            return self._fit(y, counts)
        return int(np.argmax(wide)) if wide.any() else len(y)

    def _scaled(self, y: Float, counts: NDArray[np.bool_]) -> Float:
        """Targets from the first one on, in their unit; 0 in rows that are left out."""
        unit = self._targets[UNIT]
        with np.errstate(over="ignore"):
            return np.where(counts, y * unit - self._targets[FIRST] * unit, 0.0)

    def _learn_in_unit(self, part: Any, y: Float, counts: NDArray[np.bool_], scores: Float) -> None:
        """Learn rows whose targets fit the unit."""
        values, indices, starts, columns, weights = part
        known, roots = self._targets, np.sqrt(weights)
        slopes = -self._scaled(y, counts) * (roots if len(roots) else 1.0)
        self._full._learn(values, indices, starts, columns, slopes, roots, scores)
        before, low, high = (np.inf if known[COUNT] == 0 else 0.0), known[LOW], known[HIGH]
        lows = np.minimum.accumulate(np.append(low + before, np.where(counts, y, np.inf)))
        highs = np.maximum.accumulate(np.append(high - before, np.where(counts, y, -np.inf)))
        seen = known[COUNT] + np.append(0, np.cumsum(counts))
        scores[:] = self._in_range(scores, seen[:-1] > 0, lows[:-1], highs[:-1])
        known[COUNT] = seen[-1]
        if seen[-1]:
            known[LOW], known[HIGH] = lows[-1], highs[-1]

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on x arrives as factors * x, or as M x for an invertible matrix M."""
        if isinstance(factors, Mapping):
            columns = len(self._full.state.places) - 1
            factors = unit_factors(factors, self.names.columns, columns)
        self._full.rescale(factors)
        return self

    def weights(self) -> Weights:
        """S^+ b by column, and the first target; clipping is left out."""
        w, unit = self._full.weights(), self._targets[UNIT] or 1.0
        return Weights(w.intercept / unit + self._targets[FIRST], w.features / unit)
