"""Centred and squashed views, from running means and variances.

    mean_i, var_i over the rows so far, the current one included;   c_i = x_i - mean_i
    u_i = c_i / sqrt(var_i + c_i^2)                                 0 where that root is 0

Welford's update, which does not cancel::

    n = t - missing_i;   delta = x_i - mean_i;   mean_i += delta / n;   m2_i += delta (x_i - mean_i)

A feature that comes late has been 0 before: mean and m2 start at 0 with n = t - 1.
"""

import math
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from unitless.numerics import flat, fma, grown


class MomentsState(NamedTuple):
    """What the moments remember.

    ========= ================================= =======
    field     meaning                           unit
    ========= ================================= =======
    mean      running mean                      [x_i]
    m2        sum of squared deviations         [x_i]^2
    missing   rows in which x_i was missing     rows
    totals[0] rows                              rows
    ========= ================================= =======
    """

    mean: NDArray[np.float64]
    m2: NDArray[np.float64]
    missing: NDArray[np.float64]
    totals: NDArray[np.float64]


@flat
def _moments(values, width, commit, mean, m2, missing, totals, centred, squashed):
    rows = values.size // width if width else 0
    for r in range(rows):
        t = totals[0] + 1
        x = values[r * width : (r + 1) * width]
        c, u = centred[r * width : (r + 1) * width], squashed[r * width : (r + 1) * width]
        for k in range(width):
            value, old, m = x[k], mean[k], m2[k]
            there = value == value
            n = t - missing[k]
            delta = value - old if there else 0.0
            now = old + delta / n if there else old
            m = fma(delta, value - now, m) if there else m
            away = value - now if there else 0.0
            root = math.sqrt(m / max(n, 1.0) + away * away)
            c[k] = away
            u[k] = away / (root if root > 0 else 1.0)
            if commit:
                mean[k], m2[k] = now, m
                missing[k] += 0.0 if there else 1.0
        if commit:
            totals[0] = t


class Moments:
    """Running means and variances of dense rows.

    >>> moments = Moments()
    >>> moments.reserve(1)
    >>> moments.learn(np.array([1.0, 3.0, 5.0]), 1)[0]
    array([0., 1., 2.])
    """

    def __init__(self) -> None:
        self.state = MomentsState(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(1))

    def reserve(self, columns: int) -> None:
        """Make room for that many columns."""
        if columns > len(self.state.mean):
            mean, m2, missing, totals = self.state
            self.state = MomentsState(
                grown(mean, columns), grown(m2, columns), grown(missing, columns), totals
            )

    def learn(self, values: Any, columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The rows centred and squashed, each with the moments up to itself."""
        return self._run(values, columns, True)

    def look(self, values: Any, columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Each row as if it were the next."""
        return self._run(values, columns, False)

    def _run(self, values: Any, columns: int, commit: bool) -> tuple[NDArray[Any], NDArray[Any]]:
        if commit:
            self.reserve(columns)
        mean, m2, missing, totals = self.state
        if columns > len(mean):
            mean, m2, missing = (grown(a, columns) for a in (mean, m2, missing))
        centred, squashed = np.empty(len(values)), np.empty(len(values))
        _moments(values, columns, commit, mean, m2, missing, totals, centred, squashed)
        return centred, squashed

    def rescale(self, columns: NDArray[Any], factors: NDArray[Any]) -> Self:
        """From now on these columns arrive multiplied by these factors."""
        self.state.mean[columns] *= factors
        self.state.m2[columns] *= factors**2
        return self


class Centred:
    """c = x - mean, affine-invariant up to the unit of x."""

    keeps_unit: ClassVar[bool] = True
    invariance: ClassVar[str] = "affine"
    _which: ClassVar[int] = 0

    def __init__(self) -> None:
        self.moments = Moments()

    def reserve(self, columns: int) -> None:
        """Make room for that many columns."""
        self.moments.reserve(columns)

    def learn(self, values: Any, indices: Any, starts: Any, columns: int) -> NDArray[np.float64]:
        """The rows, shown one after another."""
        return self.moments.learn(values, columns)[self._which]

    def look(self, values: Any, indices: Any, starts: Any, columns: int) -> NDArray[np.float64]:
        """Each row as if it were the next."""
        return self.moments.look(values, columns)[self._which]

    def rescale(self, columns: NDArray[Any], factors: NDArray[Any]) -> Self:
        """From now on these columns arrive multiplied by these factors."""
        self.moments.rescale(columns, factors)
        return self


class Squashed(Centred):
    """u = c / sqrt(var + c^2), which has no unit; a sign may turn with the sign of its column."""

    keeps_unit: ClassVar[bool] = False
    _which: ClassVar[int] = 1
