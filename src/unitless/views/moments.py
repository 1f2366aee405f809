"""Centred and squashed views, from running means and variances.

    mean_i, var_i over the rows so far, the current one included;   c_i = x_i - mean_i
    u_i = c_i / sqrt(var_i + c_i^2)                                 0 where that root is 0

Welford's update, which does not cancel::

    n = t - missing_i;   delta = x_i - mean_i;   mean_i += delta / n;   m2_i += delta (x_i - mean_i)

A feature that comes late has been 0 before: mean and m2 start at 0 with n = t - 1.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import grown
from unitless.kernels.decorators import kernel
from unitless.kernels.simd import fma

Float = NDArray[np.float64]


class MomentsState(NamedTuple):
    """The state of the moments.

    ========= ================================= =======
    field     meaning                           unit
    ========= ================================= =======
    mean      running mean                      [x_i]
    m2        sum of squared deviations         [x_i]^2
    missing   rows in which x_i was missing     rows
    totals[0] rows                              rows
    ========= ================================= =======
    """

    mean: Float
    m2: Float
    missing: Float
    totals: Float


@kernel
def show(values, width, learns, moments, centred, squashed):
    """Fill in the rows centred and squashed; with `learns`, bring the moments up to date."""
    mean, m2, missing, totals = moments
    for r in range(values.size // max(width, 1)):
        t = totals[0] + 1
        x = values[r * width : (r + 1) * width]
        c = centred[r * width : (r + 1) * width]
        u = squashed[r * width : (r + 1) * width]
        for k in range(width):
            value = x[k]
            old = mean[k]
            present = value == value
            n = t - missing[k]
            delta = value - old if present else 0.0
            now = old + delta / n if present else old
            m = fma(delta, value - now, m2[k]) if present else m2[k]
            away = value - now if present else 0.0
            root = math.sqrt(m / max(n, 1.0) + away * away)
            c[k] = away
            u[k] = away / (root if root > 0 else 1.0)
            if learns:
                mean[k] = now
                m2[k] = m
                missing[k] += 0.0 if present else 1.0
        if learns:
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
            self.state = self._grown(columns)

    def _grown(self, columns: int) -> MomentsState:
        mean, m2, missing, totals = self.state
        return MomentsState(
            grown(mean, columns), grown(m2, columns), grown(missing, columns), totals
        )

    def learn(self, values: Float, columns: int) -> tuple[Float, Float]:
        """The rows centred and squashed, each with the moments up to itself."""
        self.reserve(columns)
        centred, squashed = np.empty(len(values)), np.empty(len(values))
        show(values, columns, True, tuple(self.state), centred, squashed)
        return centred, squashed

    def transform(self, values: Float, columns: int) -> tuple[Float, Float]:
        """Each row centred and squashed as if it were the next."""
        state = self.state if columns <= len(self.state.mean) else self._grown(columns)
        centred, squashed = np.empty(len(values)), np.empty(len(values))
        show(values, columns, False, tuple(state), centred, squashed)
        return centred, squashed

    def rescale(self, columns: NDArray[Any], factors: NDArray[Any]) -> Self:
        """From now on these columns arrive multiplied by these factors."""
        self.state.mean[columns] *= factors
        self.state.m2[columns] *= factors**2
        return self
