"""What a policy would have earned, from decisions that another policy made.

A log has, for row i, the action, its reward r_i and the probability p_i with which the action was
drawn. A policy that would have drawn it with probability pi_i has the weight w_i = pi_i / p_i. With
an estimate q(x, a) of rewards::

    ips     mean of w r                                   inverse propensity
    snips   sum of w r / sum of w                         self-normalised
    dr      mean of sum_a pi(a) q(x, a) + w (r - q(x, a_i))    doubly robust

**Confidence sequence.** With rewards scaled to [0, 1], z = w r is at least 0, and its mean is the
value v of the policy. With m_i, the mean of the earlier z, at most 1, and psi(l) = -ln(1 - l) - l,

    exp(sum_i l (z_i - v_i) - psi(l) (z_i - m_i)^2)

is a supermartingale for any 0 < l < 1 that starts at 1 (Howard, Ramdas, McAuliffe and Sekhon 2021,
section 3.3). By Ville's inequality, with probability 1 - a, *at all times at once*,

    mean of v >= mean of z - (ln(1 / (a W_k)) + psi(l_k) V) / (l_k t),    V = sum (z - m)^2

for all l_k = 2^-k with shares W_k = 1 / (k (k + 1)) of a. The same with w (1 - r) gives the upper
end. The values v_i may change from row to row, so it also holds for a policy that learns. This is
the empirical Bernstein sequence of Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro (2022)
with constant bets instead of predictable ones. It needs no bound on the weights.

Assumed are the probabilities of the log, rewards within the range that is given, and that a reward
depends on the context and the action only, not on earlier actions.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
BETS = 30
"""Bets 1/2, 1/4, ...: enough for any number of rows that float64 counts."""


class Value(NamedTuple):
    """The value of a policy, per decision."""

    rows: int
    ips: float
    snips: float
    """NaN if no row has a positive weight."""
    dr: float
    """NaN without estimates of rewards."""
    low: float
    high: float
    """The confidence sequence after the last row."""
    effective: float
    """Rows that would tell as much if the policy had made the decisions: (sum w)^2 / sum w^2."""


def value(
    weights: Float,
    rewards: Float,
    direct: Float | None = None,
    *,
    bounds: tuple[float, float],
    alpha: float = 0.05,
) -> Value:
    """Estimate the value of a policy from logged decisions.

    Parameters
    ----------
    weights : by row, pi / p
    rewards : by row
    direct : by row, sum_a pi(a) q(x, a) - w q(x, a_i), optional
        The part of the doubly robust estimate that does not depend on the reward.
    bounds : the least and the largest reward that is possible
    alpha : the probability that the confidence sequence is wrong at any time

    Examples
    --------
    Two actions were drawn by a coin; the second, which is clicked twice as often, is valued:

    >>> rng = np.random.default_rng(0)
    >>> shown = rng.integers(0, 2, 5000)
    >>> clicked = (rng.random(5000) < 0.1 * (1 + shown)).astype(float)
    >>> found = value(shown / 0.5, clicked, bounds=(0.0, 1.0))
    >>> print(f"{found.ips:.3f}, from {found.low:.3f} to {found.high:.3f}")
    0.198, from 0.165 to 0.246
    """
    rows = len(rewards)
    total = weights.sum()
    squares = float(np.square(weights).sum())
    low, high = bounds
    ends = sequence(weights, rewards, bounds=bounds, alpha=alpha)
    products = weights * rewards
    return Value(
        rows,
        float(products.mean()) if rows else math.nan,
        float(products.sum() / total) if total > 0 else math.nan,
        math.nan if direct is None or not rows else float((products + direct).mean()),
        float(ends[0][-1]) if rows else low,
        float(ends[1][-1]) if rows else high,
        float(total**2 / squares) if squares > 0 else 0.0,
    )


def sequence(
    weights: Float, rewards: Float, *, bounds: tuple[float, float], alpha: float = 0.05
) -> tuple[Float, Float]:
    """Return the ends of the confidence sequence after each row."""
    low, high = bounds
    if len(rewards) and not (low <= rewards.min() and rewards.max() <= high):
        raise ValueError(f"rewards lie outside of the range from {low:g} to {high:g}")
    spread = high - low
    if not spread > 0:
        return np.full(len(rewards), low), np.full(len(rewards), high)
    scaled = (rewards - low) / spread
    lower = lower_ends(weights * scaled, alpha / 2)
    upper = 1.0 - lower_ends(weights * (1.0 - scaled), alpha / 2)
    return low + spread * lower, low + spread * upper


def lower_ends(z: Float, alpha: float) -> Float:
    """Return lower bounds on the mean of the expectations of z >= 0, after each row.

    All of them hold at once with probability 1 - alpha.

    >>> lower_ends(np.full(1000, 0.5), 0.05)[[9, 99, 999]].round(2)
    array([0.  , 0.43, 0.49])
    """
    rows = np.arange(1, len(z) + 1)
    sums = np.cumsum(z)
    before = np.append(0.0, sums[:-1]) / np.maximum(rows - 1, 1)
    squares = np.cumsum(np.square(z - np.minimum(before, 1.0)))
    best = np.zeros(len(z))
    for k in range(1, BETS + 1):
        bet = 2.0**-k
        psi = -math.log1p(-bet) - bet
        cost = math.log(k * (k + 1) / alpha) + psi * squares
        best = np.maximum(best, (sums - cost / bet) / rows)
    return np.minimum(best, 1.0)
