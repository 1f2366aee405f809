"""Targets with a unit, counted from the first one in a power of two near their size.

So learners of the squared loss see targets near 1 that start at 0, and nothing they do depends on
the unit or the origin: y -> a y changes no bit for a power of two, from the second prediction on.
"""

import numpy as np
from numpy.typing import NDArray

from unitless.numerics import WIDE
from unitless.units import unit_of

KNOWN, FIRST, UNIT = 0, 1, 2
LARGEST = 2.0**1022  # so that a difference of two targets is finite


class TargetScaler:
    """What the first targets said; a unit that is given stays.

    >>> counted = TargetScaler()
    >>> counted.learn(np.array([100.0, 108.0, 92.0]))
    array([ 0. ,  0.5, -0.5])
    >>> counted.decode(np.array([0.25]))
    array([104.])
    """

    def __init__(self, unit: float = 0.0) -> None:
        self.state = np.array([0.0, 0.0, unit])

    def check(self, targets: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Refuse targets whose squares would leave float64, before anything is learned."""
        other = TargetScaler()
        other.state = self.state.copy()
        counts = weights > 0 if len(weights) else np.ones(len(targets), dtype=bool)
        rows = np.flatnonzero(counts)
        bad = np.abs(targets[rows]) > LARGEST
        if not bad.any():
            with np.errstate(over="ignore"):
                bad = np.abs(other.learn(targets[rows])) > WIDE
        if bad.any():
            row = int(rows[np.argmax(bad)])
            raise ValueError(
                f"row {row}: target {targets[row]:g} is too far from the first ones for the "
                "squared loss; leave the row out, or use the absolute loss"
            )

    def learn(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """The targets counted from the first, in their unit."""
        state = self.state
        if not state[KNOWN] and len(targets):
            state[KNOWN], state[FIRST] = 1, targets[0]
        away = targets - state[FIRST]
        if state[UNIT] == 0 and away.any():
            state[UNIT] = unit_of(away[np.flatnonzero(away)[0]])
        return away * state[UNIT]

    def decode(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores in the targets' own unit and origin; 0 while nothing is known."""
        return scores / (self.state[UNIT] or 1.0) + self.state[FIRST]
