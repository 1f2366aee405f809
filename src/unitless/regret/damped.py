"""Damped slopes: certificates from the learner's slopes times any lambda between 0 and 1.

For every lambda and every u, regret(u) <= level(lambda) + lambda h.u, where level(1) = A and
level(0) is the loss paid (docs/explanation/theory.md, section 4). The sums are in
`unitless.learners.damped_sums`.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit, xlogy

from unitless import losses
from unitless.core.learner import Sums
from unitless.learners.damped_sums import MARGIN_BINS, MARGINS_PER_UNIT
from unitless.losses import Loss
from unitless.state import Float

LAMBDAS = np.linspace(0.0, 1.0, 129)
ROUNDING = 8 * 2.0**-53
"""Each of T terms of a sum is rounded a few times; the sum of their errors is at most T times this,
relative to the terms."""


class Damped(NamedTuple):
    """Upper bounds on the regret against any u: level + factor h.u, for each factor."""

    factors: Float
    levels: Float
    errors: Float
    """The error of h_i (rounding, directions dropped as noise) is at most this number times s_i."""

    def least(self, product: float, error: float) -> float:
        """The smallest bound where h.u is at most product + error."""
        largest = product + error
        if not math.isfinite(largest):
            return float(self.levels[0]) if self.factors[0] == 0 else math.inf
        return float(np.min(self.levels + self.factors * largest))


def paid(sums: Sums) -> float | None:
    """The loss of the learner, if it was summed from the first trial on."""
    kept = sums.damped
    if kept is None or kept["rows"] != sums.trials:
        return None
    if not all(np.isfinite(kept[name]).all() for name in kept.dtype.names):
        return None
    return float(kept["paid"] + math.log(kept["product"]))


def damped(loss: Loss, sums: Sums) -> Damped:
    """The bounds from the sums of a learner; without sums of slopes only that with lambda = 1."""
    kept = sums.damped
    terms = ROUNDING * (sums.trials + sums.dimension + 8)
    # sum |v g x_i| <= L sqrt(T) s_i
    rounding = terms * loss.lipschitz * math.sqrt(sums.trials)
    errors = np.full(len(sums.s), rounding)
    if sums.lost is not None:
        errors += sums.lost
    total = paid(sums)
    is_unknown = loss.conjugate is None and loss.code != losses.LOGISTIC
    if kept is None or total is None or is_unknown:
        size = abs(sums.A)
        if kept is not None:
            size = max(size, kept["size"]) if math.isfinite(kept["size"]) else math.inf
        level = sums.A + terms * size
        return Damped(np.ones(1), np.array([level]), errors)
    size = total + kept["size"]
    if loss.code == losses.LOGISTIC:
        conjugates = _logistic(kept["count"], kept["slope"])
        size += kept["count"].sum()  # |loss*| < 1
    else:
        assert loss.conjugate is not None
        conjugates = LAMBDAS * kept["gy"] + LAMBDAS**2 * (loss.conjugate * kept["gg"])
    levels = total + conjugates
    levels[-1] = min(levels[-1], sums.A)
    levels[1:] += terms * size
    levels[0] += terms * total
    return Damped(LAMBDAS, levels, errors)


def _logistic(count: Float, total: Float) -> Float:
    """Upper bounds on sum v loss*(y, lambda g) for every lambda, from the bins of q = |g|."""
    margins = (np.arange(MARGIN_BINS + 1) - MARGIN_BINS / 2) / MARGINS_PER_UNIT
    edges = expit(-margins)
    edges[0] = 1.0
    edges[-1] = 0.0
    ends = np.outer(LAMBDAS, edges)
    f = xlogy(ends, ends) + xlogy(1 - ends, 1 - ends)
    # the chord from f(high) to f(low) is above the convex f
    high = edges[:-1]
    low = edges[1:]
    share = np.divide(total - count * low, high - low)
    return f[:, :-1] @ share + f[:, 1:] @ (count - share)
