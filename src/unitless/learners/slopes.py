"""Sums over trials from which certificates with damped slopes follow.

docs/explanation/theory.md, section 4, has the proof. For a loss with conjugate loss*, any slopes g'
in its domain and all weights u, regret(u) <= sum v (loss + loss*(y, g')) - (sum v g' x).u. The
slopes of the learner times any lambda in [0, 1] will do, so all that is needed beside h is
sum v loss*(y, lambda g) as a function of lambda:

- logistic loss: with q = |g|, loss* is a convex function of lambda q. It is bounded by its chord
  over each of 64 bins of the margin y p, from the sum of v and of v q per bin.
- all other losses: lambda sum v g y + lambda^2 c sum v g^2, where c depends on the loss.
"""

import math

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import exp
from unitless.kernels.decorators import inlined
from unitless.losses import LOGISTIC, derivative, value
from unitless.state import Field

ROWS, PAID, PRODUCT, SIZE, GY, GG, BINS = range(7)
"""Trials, loss, product of 1 + exp(-|y p|) not in the loss yet, sum v |g| (|p| + |y|), sum v g y,
sum v g^2, and where the bins begin."""
COUNT = 64
MARGINS_PER_UNIT = 4
FULL_PRODUCT = 2.0**512
SLOPES = Field(
    "_slopes",
    "1",
    "sums for certificates with damped slopes; not finite after losses beyond float64",
    (BINS + 2 * COUNT,),
    may_be_nan=True,
)


def no_slopes() -> NDArray[np.float64]:
    """The sums before the first trial."""
    slopes = np.zeros(BINS + 2 * COUNT)
    slopes[PRODUCT] = 1.0
    return slopes


@inlined
def add_slope(loss, parameter, v, y, p, slopes):
    """Enter one trial."""
    slopes[ROWS] += 1
    if loss == LOGISTIC:
        _add_logistic(v, y * p, slopes)
        return
    g = derivative(loss, parameter, y, p)
    slopes[PAID] += v * value(loss, parameter, y, p)
    slopes[SIZE] += v * abs(g) * (abs(p) + abs(y))
    slopes[GY] += v * g * y
    slopes[GG] += v * g * g


@inlined
def _add_logistic(v, margin, slopes):
    e = exp(-abs(margin))
    inverse = 1.0 / (1.0 + e)
    q = e * inverse if margin >= 0 else inverse  # |g|, to the bit
    slopes[PAID] += v * max(-margin, 0.0)
    if v == 1:  # one logarithm for hundreds of trials
        slopes[PRODUCT] *= 1.0 + e
        if slopes[PRODUCT] > FULL_PRODUCT:
            slopes[PAID] += math.log(slopes[PRODUCT])
            slopes[PRODUCT] = 1.0
    else:
        slopes[PAID] += v * math.log1p(e)
    slopes[SIZE] += v * q * abs(margin)
    place = int(min(max(margin * MARGINS_PER_UNIT + COUNT / 2, 0.0), COUNT - 1.0))
    slopes[BINS + place] += v
    slopes[BINS + COUNT + place] += v * q


@inlined
def add_slopes(task, targets, weights, scores, slopes):
    """Enter the trials of a block: rows with a target and a positive weight; not with softmax."""
    if targets.size != scores.size:
        return
    loss = int(task[0])
    parameter = task[1]
    for r in range(targets.size):
        v = weights[r] if weights.size else 1.0
        if v > 0:
            add_slope(loss, parameter, v, targets[r], scores[r], slopes)
