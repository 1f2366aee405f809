"""Sums from which the certificate of a Blend follows (docs/explanation/theory.md, section 4).

Any slopes g within the domain of the loss's conjugate give a bound on the regret. Two forecasters
provide slopes: the Blend itself and its linear Newton expert. The trials are divided into groups,
by time (each period twice as long as the one before), by label and by the margin of the Blend. Per
group and forecaster are kept h = -sum v g x and, with q = |g|, the sums of v q^k and v q ln q, from
which the sum of conjugates at any multiple of g follows. The certificate then chooses for each
group the forecaster and the multiple that are best for the comparator asked for.
"""

import math

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import exp
from unitless.kernels.decorators import inlined, kernel, shared
from unitless.rows import Block, row_span
from unitless.state import Field, Float, Stateful, checked_count

FORECASTER = "Newton, centred"
"""The expert whose slopes are kept beside those of the Blend."""
NARROW = 256
"""With more features, all further trials are one group: h takes memory per group and feature."""
FIRST = 5
"""The first period has 2^5 - 1 trials."""
GROUPS = 8
"""Groups per period: two labels times four ranges of the margin."""
POWERS = 9
"""sum v q^k is kept for k = 1 to this, in place k; sum v q ln q is in place 0."""


@shared
def groups_of(trials):
    """The number of groups that this many trials fill."""
    return GROUPS * (max(math.frexp(trials)[1] - FIRST, 0) + 1)


@inlined
def add_trial(block, r, trial, place, sums, narrow, wide):
    """Enter row r as the number `trials`, into its group or into the first one.

    `trial` is (v, y, score of the Blend, score of the expert).
    """
    values, indices, starts, _ = block
    trials, intercept, is_narrow = place
    v, y, score, other = trial
    group = -1
    if is_narrow:
        margin = y * score
        group = groups_of(trials) - (GROUPS if y <= 0 else GROUPS // 2)
        group += (margin > -0.5) + (margin > 0.5) + (margin > 2.0)
    start, stop = row_span(block, r)
    for j in range(2):
        margin = y * (other if j else score)
        e = exp(-abs(margin))
        q = (e if margin >= 0 else 1.0) / (1.0 + e)
        own = sums[group + 1, j]
        own[0] -= v * q * (max(margin, 0.0) + math.log1p(e))
        power = v
        for k in range(1, POWERS + 1):
            power *= q
            own[k] += power
        slope = v * y * q
        h = narrow[group, j] if is_narrow else wide[j]
        h[0] += slope * intercept
        for k in range(start, stop):
            if values[k] == values[k]:
                i = indices[k] if starts.size else k - start
                h[i + 1] += slope * values[k]


@kernel
def add(block, targets, weights, forecasts, place, sums, narrow, wide):
    """Enter the trials of a block; `forecasts` are the scores of the Blend and of an expert."""
    scores, others = forecasts
    trials, intercept, is_narrow = place
    for r in range(scores.size):
        v = weights[r] if weights.size else 1.0
        if v > 0:
            trials += 1
            trial = v, targets[r], scores[r], others[r]
            now = trials, intercept, is_narrow
            add_trial(block, r, trial, now, sums, narrow, wide)


class BlendSlopes(Stateful):
    """The sums of all groups, those of the trials with many features first."""

    saved = (
        Field("_slopes", "1", "sum v q ln q, sum v q^k", ("sums", 2, 1 + POWERS)),
        Field("_slopes_narrow", "", "h of the groups but the first", ("groups", 2, "narrow")),
        Field("_slopes_wide", "", "h of the first group", (2, "wide")),
        Field("_slopes_trials", "1", "trials", (1,)),
    )

    def __init__(self, expert: int, intercept: bool) -> None:
        self.expert = expert
        self.intercept = float(intercept)
        self._slopes = np.zeros((1, 2, 1 + POWERS))
        self._slopes_narrow = np.zeros((0, 2, 1))
        self._slopes_wide = np.zeros((2, 0))
        self._slopes_trials = np.zeros(1)

    @property
    def state(self) -> tuple[Float, ...]:
        """All arrays."""
        return tuple(field.of(self) for field in self.saved)

    @property
    def trials(self) -> int:
        """Rows entered."""
        return int(self._slopes_trials[0])

    def _sizes(self) -> dict[str, int]:
        groups, _, narrow = self._slopes_narrow.shape
        wide = self._slopes_wide.shape[1]
        return {"sums": groups + 1, "groups": groups, "narrow": narrow, "wide": wide}

    def _loaded(self) -> None:
        checked_count(self._slopes_trials[0], 2**53)

    def learn(self, block: Block, targets: Float, weights: Float, scores: Float, Z: Float) -> None:
        """Enter trials: rows by feature, the scores of the Blend and those of its experts."""
        trials = np.count_nonzero(weights) if len(weights) else len(scores)
        self.reserve(int(trials), block.columns)
        forecasts = scores, np.ascontiguousarray(Z[:, self.of_expert(Z.shape[1])])
        place = float(self.trials), self.intercept, block.columns <= NARROW
        add(tuple(block), targets, weights, forecasts, place, *self.state[:3])
        self._slopes_trials += trials

    def of_expert(self, experts: int) -> int:
        """The number of the expert whose slopes are kept; any is right."""
        return min(self.expert, experts - 1)

    def reserve(self, trials: int, columns: int) -> None:
        """Make room for that many trials and columns."""
        if columns > NARROW:
            if self._slopes_wide.shape[1] <= columns:
                room = columns + columns // 5  # growth stays linear
                self._slopes_wide = _widened(self._slopes_wide, (2, 1 + room))
            return
        known, _, width = self._slopes_narrow.shape
        groups = max(groups_of(self.trials + trials), known)
        if groups > known or columns >= width:
            self._slopes = _widened(self._slopes, (1 + groups, 2, 1 + POWERS))
            shape = groups, 2, max(1 + columns, width)
            self._slopes_narrow = _widened(self._slopes_narrow, shape)

    def rescale(self, ids: NDArray[np.integer], factors: Float) -> None:
        """From now on these features arrive multiplied by these factors."""
        for h in (self._slopes_narrow, self._slopes_wide):
            known = ids + 1 < h.shape[-1]
            h[..., ids[known] + 1] *= factors[known]

    def total(self, width: int) -> Float:
        """h of all groups, the first included, by forecaster and coordinate."""
        wide = _widened(self._slopes_wide, (2, max(width, self._slopes_wide.shape[1])))[None]
        shape = (len(self._slopes_narrow), 2, max(width, self._slopes_narrow.shape[2]))
        narrow = _widened(self._slopes_narrow, shape)
        return np.concatenate([wide[..., :width], narrow[..., :width]])


def _widened(array: Float, shape: tuple[int, ...]) -> Float:
    """The array with zeros behind it on each axis."""
    bigger = np.zeros(shape)
    bigger[tuple(slice(size) for size in array.shape)] = array
    return bigger
