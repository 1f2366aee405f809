"""Is one forecaster better than another? An answer that holds at any time, however often one looks.

Let d_t be the loss of A less that of B in row t. With S = sum v (d - m) and V = sum v^2 (d - m)^2,
where m is the mean difference, the bets exp(l S - l^2 V / 2), mixed over l ~ N(0, 1 / rho), have
the wealth sqrt(rho / (V + rho)) exp(S^2 / 2 (V + rho)). By Ville's inequality, the probability that
it ever reaches 1/alpha is at most alpha. The confidence sequence has all m that are not excluded::

    S^2 <= (V + rho) log((V + rho) / (rho alpha^2))

**What is assumed.** Given the past, differences lie symmetrically about their means (de la Pena
1999), as those of two forecasters that err alike do. Otherwise the level is asymptotic, as in
Choe and Ramdas ("Comparing sequential forecasters") and Waudby-Smith et al. (2024), for finite
variances. Rows may depend on each other, and the mean may change: the interval is one for the mean
of the expected differences so far.

The first 32 differences that are not 0 only set rho, 1024 times the median of their squares: so no
unit matters, and the interval is narrowest after some thousand rows. What follows them is
tested. All sums are in the order of the rows.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
FIRST = 32
"""Differences that set the unit."""
RHO = 32.0
LARGEST_DIFFERENCE = 1e150  # of a difference, so that squares are finite
ROWS, WEIGHT, WEIGHT2, SUM, SUM2, SQUARES = range(6)
"""The fields of `LossDifference.sums`: rows, and sums of v, v^2, v d, v^2 d and v^2 d^2."""


class Verdict(NamedTuple):
    """The mean difference of two losses, an interval for it, and since when it is decided."""

    mean: float
    low: float
    high: float
    row: int | None
    """The number of the row, from 1, at which 0 was excluded for the first time."""
    level: float = 0.95


class LossDifference:
    """The confidence sequence for a mean difference; call `add` as rows arrive.

    >>> rng = np.random.default_rng(0)
    >>> test = LossDifference()
    >>> test.add(rng.normal(-0.2, 1, 5000))
    >>> made = test.verdict()
    >>> print(f"{made.low:.2f} to {made.high:.2f}, decided at row {made.row}")
    -0.25 to -0.16, decided at row 383
    """

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = alpha
        self.first = np.zeros(0)  # the differences that set the unit
        self.sums = np.zeros(6)
        self.state = np.zeros(4)  # rho, the row of the decision, its sign, and rows so far

    def add(self, differences: Float, weights: Float | None = None) -> None:
        """Take in more rows; those of weight 0 only count as rows."""
        v = np.ones(len(differences)) if weights is None else np.asarray(weights, dtype=float)
        d = np.clip(np.nan_to_num(differences), -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE)
        numbers = self.state[3] + 1 + np.arange(len(d))
        self.state[3] += len(d)
        kept = v > 0
        d, v, numbers = d[kept], v[kept], numbers[kept]
        missing = FIRST - len(self.first)
        if missing > 0:
            places = np.flatnonzero(d)[:missing]
            self.first = np.concatenate([self.first, d[places]])
            if len(self.first) < FIRST:
                return
            self.state[0] = RHO * FIRST * float(np.median(self.first**2))
            start = places[-1] + 1
            d, v, numbers = d[start:], v[start:], numbers[start:]
        if not len(d):
            return
        terms = np.column_stack([np.ones(len(d)), v, v**2, v * d, v**2 * d, (v * d) ** 2])
        sums = np.cumsum(np.vstack([self.sums, terms]), axis=0)[1:]
        self.sums = sums[-1].copy()
        if not self.state[1]:
            beyond = np.abs(sums[:, SUM]) > self._bound(sums[:, SQUARES])
            if beyond.any():
                row = int(np.argmax(beyond))
                self.state[1] = numbers[row]
                self.state[2] = np.sign(sums[row, SUM])

    def _bound(self, squares: Float) -> Float:
        rho = self.state[0]
        with np.errstate(over="ignore"):
            return np.sqrt((squares + rho) * np.log((squares / rho + 1) / self.alpha**2))

    def verdict(self) -> Verdict | None:
        """What is known now; None while the unit is not known."""
        rows, weight, weight2, total, total2, squares = self.sums.tolist()
        if rows == 0:
            return None
        mean = total / weight
        ends = []
        for side in (-1, 1):
            beyond = 0.0
            for _ in range(100):  # a fixed point: the squares are about the end itself
                end = mean + side * beyond
                about = max(squares - 2 * end * total2 + end**2 * weight2, 0.0)
                beyond, before = float(self._bound(np.array([about]))[0]) / weight, beyond
                if not math.isfinite(beyond) or beyond > LARGEST_DIFFERENCE:
                    beyond = math.inf
                    break
                if abs(beyond - before) <= 1e-9 * beyond:
                    break
            ends.append(mean + side * beyond)
        row = int(self.state[1])
        return Verdict(mean, ends[0], ends[1], row or None, 1 - self.alpha)
