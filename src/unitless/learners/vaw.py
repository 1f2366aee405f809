"""VAW: online least squares, invariant to linear maps of the features and units of the target.

The forecaster of Vovk (2001) and of Azoury and Warmuth (2001), unregularised: with b = sum y x over
the past and S = sum x x' with the row to be scored in it, p = x'S^+ b. It is for the squared loss
what Algorithm 2 is for Lipschitz losses, and it is Algorithm 2: for alpha = eps -> infinity the
exponential there is 1, and a linear loss with slope -y makes h = b. So this file has no kernel and
handles only the targets. They are measured from the first one, predictions are clipped to the range
of those seen, and the very first prediction is 0.

A sample weight v multiplies the row's square: (x, y) enters as sqrt(v) (x, y). The state is that of
Algorithm 2, with h = b, and five numbers about the targets.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unitless.learners.base import LARGEST, Block, Float
from unitless.learners.declared import Parameter
from unitless.learners.full import Full
from unitless.losses import LINEAR
from unitless.state import Field
from unitless.units import MAX_VALUE, unit_of

Bool = NDArray[np.bool_]
COUNT, FIRST, UNIT, LOW, HIGH = range(5)
LIMIT = 2.0**1000
"""alpha and eps: every exponent divided by it is 0, and eps / alpha = 1."""


class Vaw(Full):
    """The forecaster of Vovk, Azoury and Warmuth: least squares, for the squared loss.

    >>> from sklearn.datasets import load_diabetes
    >>> from unitless.rows import as_rows
    >>> X, y = load_diabetes(return_X_y=True)
    >>> rows = as_rows(X, y)
    >>> learner = Vaw()
    >>> print(f"{learner.loss.value(y, learner.learn(rows)).mean() / y.var():.3f}")
    0.559
    """

    name = "vaw"
    target_invariance = "affine"
    needs_lipschitz = False
    default_loss = "squared"
    takes_losses = ("squared",)
    theorem = None
    saved = (
        *Full.saved,
        Field("_targets", "y", "number, first, power of two near 1/size, lowest, highest", (5,)),
    )

    declared: ClassVar[dict[str, Parameter]] = {}
    alpha = LIMIT
    wealth = LIMIT

    def _prepare(self) -> None:
        super()._prepare()
        self._settings = (LIMIT, LIMIT, LINEAR, 0.0, 1.0, float(self.intercept), 0.0)
        self._targets = np.zeros(5)

    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        super()._predict(block, np.sqrt(weights), scores)
        known = self._targets
        scores[:] = self._clipped(scores, known[COUNT] > 0, known[LOW], known[HIGH])
        return scores

    def _clipped(self, s: Float, known: Any, low: Any, high: Any) -> Float:
        """Predictions in the unit of the target, from those that count from the first target."""
        unit = self._targets[UNIT] or 1.0
        with np.errstate(over="ignore"):
            p = self._targets[FIRST] + s / unit
        p = np.clip(p, low, high)
        return np.where(known, p, 0.0) + 0.0  # no -0

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        roots = np.sqrt(weights)
        learns = weights > 0 if len(weights) else np.ones(len(scores), dtype=bool)
        first = 0
        while first < len(scores):
            last = first + self._choose_unit(targets[first:], learns[first:])
            has_outgrown = last == first
            if has_outgrown:  # its score must not lose digits in the unit of its target
                last += 1
            own = slice(first, last)
            part = block.cut(first, last)
            if has_outgrown:
                score = self._predict(part, weights[own], np.empty(1))
                self._grow_unit(targets[first])
            self._learn_cut(part, targets[own], learns[own], roots[own], scores[own])
            if has_outgrown:
                scores[own] = score
            first = last
        return scores

    def _learn_cut(self, block: Block, y: Float, learns: Bool, roots: Float, scores: Float) -> None:
        """Learn rows whose targets fit their unit, with the square roots of their weights."""
        slopes = -self._in_unit(y, learns)
        if len(roots):
            slopes *= roots
        super()._learn(block, slopes, roots, scores)
        seen, lows, highs = self._ranges(y, learns)
        known = seen[:-1] > 0
        scores[:] = self._clipped(scores, known, lows[:-1], highs[:-1])
        if seen[-1]:
            self._targets[[COUNT, LOW, HIGH]] = seen[-1], lows[-1], highs[-1]

    def _choose_unit(self, y: Float, learns: Bool) -> int:
        """Choose the unit of the targets, if need be; for how many rows it will do."""
        known = self._targets
        if known[COUNT] == 0 and learns.any():
            known[FIRST] = y[np.argmax(learns)]
        with np.errstate(over="ignore"):
            deviations = np.clip(y - known[FIRST], -LARGEST, LARGEST)
        deviations *= learns
        if known[UNIT] == 0 and deviations.any():
            known[UNIT] = unit_of(deviations[np.argmax(deviations != 0)])
        outgrown = np.abs(self._in_unit(y, learns)) > MAX_VALUE
        return int(np.argmax(outgrown)) if outgrown.any() else len(y)

    def _grow_unit(self, y: float) -> None:
        """Choose the unit in which this target is no longer out of range."""
        known = self._targets
        with np.errstate(over="ignore"):
            unit = unit_of(np.clip(y - known[FIRST], -LARGEST, LARGEST))
        self.state.z[:] *= unit / known[UNIT]
        known[UNIT] = unit

    def _in_unit(self, y: Float, learns: Bool) -> Float:
        """Targets from the first one on, in their unit; 0 in rows that are not learned."""
        unit = self._targets[UNIT]
        with np.errstate(over="ignore"):
            scaled = y * unit - self._targets[FIRST] * unit
        return np.where(learns, scaled, 0.0)

    def _ranges(self, y: Float, learns: Bool) -> tuple[Float, Float, Float]:
        """How many targets were seen, the lowest and the highest, before each row and after."""
        count, _, _, low, high = self._targets.tolist()
        if count == 0:
            low = np.inf
            high = -np.inf
        seen = count + np.append(0, np.cumsum(learns))
        lows = np.append(low, np.where(learns, y, np.inf))
        highs = np.append(high, np.where(learns, y, -np.inf))
        return seen, np.minimum.accumulate(lows), np.maximum.accumulate(highs)

    def _coefficients(self) -> Float:
        """S^+ b by coordinate, and the first target; clipping is left out."""
        unit = self._targets[UNIT] or 1.0
        with np.errstate(over="ignore"):
            w = super()._coefficients() / unit
        w[0] += self._targets[FIRST]
        return np.clip(w, -LARGEST, LARGEST)

    def sums(self) -> None:  # type: ignore[override]
        """VAW has no regret certificate."""
        return
