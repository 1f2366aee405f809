"""Alarms of drift: the mean loss of a learner has risen, and chance does not explain it.

Every 8 rows a test begins of whether the mean changed there. With n rows before and m since, means
a and b, and k = n m / (n + m), the wealth of the bets exp(l S - l^2 V / 2), S = k (b - a), mixed
over l ~ N(0, 1 / rho), is sqrt(rho / (V + rho)) exp(S^2 / 2 (V + rho)); the mean before drops out.
There is an alarm when it reaches 1/alpha and b > a. The variance is V = k (2 s^2 + q) / 3, with
the variance s^2 before and the mean square q of later losses about a (Delyon 2009, for which no
symmetry is needed), and rho is 16 s^2. For each power of two, only about four tests of that age are
kept, so that memory and time are logarithmic.

When b < a reaches the limit, the learner has improved, and what came before is forgotten. After an
alarm the detector begins again.

**False alarms.** Each test reaches 1/alpha with a probability of at most alpha if the mean is
constant (Ville's inequality). Of the tests that begin up to a row, the expected number of those
that ever fail is therefore at most their number times alpha, however they depend on each other: the
mean number of rows to a false alarm is at least 8 / alpha (Shekhar and Ramdas 2024, "Reducing
sequential change detection to sequential estimation"), by default 100,000. This is exact for normal
losses of known variance, and asymptotic for others. A mean that falls makes alarms rarer.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.uncertainty.drift_search import FIELDS, ROOM, STREAM_FIELDS, STRIDE, search

Float = NDArray[np.float64]
FIRST_ROW, SUM_BEFORE, VARIANCE, RUN_ROWS, RUN_SUM, RUN_SQUARES = range(FIELDS)
FALSE_ALARMS = 1e-5
"""The expected number per row."""


class Drift(NamedTuple):
    """An alarm: where the loss has risen, and by how much.

    >>> print(Drift(5120, 5001, 0.1, 0.3))
    from about row 5,001 on, the mean loss is 0.3 instead of 0.1 (noticed at row 5,120)
    """

    row: int
    """Where it was noticed, from 1."""
    start: int
    """Where the change seems to have begun."""
    before: float
    """The mean loss before that row."""
    now: float
    """The mean loss since."""

    def __str__(self) -> str:
        return (
            f"from about row {self.start:,} on, the mean loss is {self.now:.4g} instead of "
            f"{self.before:.4g} (noticed at row {self.row:,})"
        )


class DriftDetector:
    """Watches a stream of losses, and reports when their mean has risen.

    Parameters
    ----------
    false_alarms : float, default 1e-5
        The largest expected number of false alarms per row.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> losses = rng.exponential(np.repeat([1.0, 1.5], 4000))
    >>> [found] = DriftDetector().add(losses)
    >>> print(found)
    from about row 3,993 on, the mean loss is 1.433 instead of 1.02 (noticed at row 4,232)
    """

    def __init__(self, false_alarms: float = FALSE_ALARMS) -> None:
        if not 0 < false_alarms <= 0.01:
            raise ValueError(f"false_alarms = {false_alarms!r}: it is above 0 and at most 0.01")
        self.false_alarms = false_alarms
        self.rows = np.zeros(1)  # taken in
        self._begin()

    def _begin(self) -> None:
        self.starts = np.zeros((ROOM, FIELDS))
        self.stream = np.zeros(STREAM_FIELDS)

    def add(self, losses: Float) -> list[Drift]:
        """Take in more losses; returns the alarms among them."""
        losses = np.ascontiguousarray(losses, dtype=float)
        found: list[Drift] = []
        at = 0
        alpha = STRIDE * self.false_alarms
        while True:
            at, place = search(self.starts, self.stream, losses, alpha, at)
            if place < 0:
                self.rows[0] += len(losses)
                return found
            start = self.starts[place]
            rows = int(self.rows[0]) + at
            before = start[SUM_BEFORE] / start[FIRST_ROW]
            now = start[RUN_SUM] / start[RUN_ROWS]
            found.append(Drift(rows, rows - int(start[RUN_ROWS]) + 1, float(before), float(now)))
            self._begin()
