"""Scale regression targets: shifted by the first one, times a power of two near 1/size.

Experts of the squared loss see targets near 1 that start at 0, so results do not depend on unit or
origin of the targets: y -> a y, a power of two, changes no bit from the second prediction on.
"""

from copy import copy

import numpy as np

from unitless.state import Field, Float, Stateful
from unitless.units import MAX_VALUE, unit_of

KNOWN, FIRST, UNIT = range(3)
MAX_TARGET = 2.0**1022
"""So that a difference of two targets is finite."""


class TargetScaler(Stateful):
    """The origin and the unit of the targets; a unit that is given stays.

    >>> scaler = TargetScaler()
    >>> scaler.learn(np.array([100.0, 108.0, 92.0]), np.empty(0))
    array([ 0. ,  0.5, -0.5])
    >>> scaler.decode(np.array([0.25]))
    array([104.])
    """

    saved = (Field("state", "y", "whether a target is known, the first, the unit or 0", (3,)),)

    def __init__(self, unit: float = 0.0) -> None:
        self.state = np.array([0.0, 0.0, unit])

    @property
    def unit(self) -> float:
        """Scaled targets are those given, less the first, times this."""
        return float(self.state[UNIT] or 1.0)

    def check(self, targets: Float, weights: Float) -> None:
        """Refuse targets whose squares would leave float64, before anything is learned."""
        known, first, unit = self.state.tolist()
        if len(targets) == 1 and known and unit:  # fast path for single rows
            y = float(targets[0])
            if abs(y) <= MAX_TARGET and abs(y - first) * unit <= MAX_VALUE:
                return
        counts = weights > 0 if len(weights) else np.ones(len(targets), dtype=bool)
        bad = counts & (np.abs(targets) > MAX_TARGET)
        if not bad.any():
            bad = counts & (np.abs(copy(self).learn(targets, weights)) > MAX_VALUE)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"row {row}: target {targets[row]:g} is too far from the first ones for the "
                "squared loss; leave the row out, or use the absolute loss"
            )

    def rows_before_first(self, weights: Float, rows: int) -> int:
        """How many of the next rows are scored before any target is known."""
        if self.state[KNOWN]:
            return 0
        counts = np.flatnonzero(weights) if len(weights) else np.arange(min(rows, 1))
        return int(counts[0]) + 1 if len(counts) else rows

    def learn(self, targets: Float, weights: Float) -> Float:
        """The scaled targets; those of rows of weight 0 are ignored."""
        known, first, unit = self.state.tolist()
        if not known or not unit:
            counted = targets[weights > 0] if len(weights) else targets
            if not known and len(counted):
                known = 1.0
                first = counted[0]
            others = counted[counted != first]
            if not unit and len(others):
                unit = unit_of(others[0] - first)
            self.state = np.array([known, first, unit])  # not in place: copies keep theirs
        with np.errstate(over="ignore"):  # of rows of weight 0
            return (targets - first) * unit

    def decode(self, scores: Float) -> Float:
        """Scores in the unit of the targets given; 0 while none is known."""
        return scores / self.unit + self.state[FIRST]
