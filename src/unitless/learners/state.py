"""Declarations of a learner's state: name, unit and meaning of each field.

Saving, checking and `rescale` are derived from them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
LARGEST = float(np.finfo(np.float64).max)
SMALLEST = float(np.finfo(np.float64).smallest_normal)


class Field(NamedTuple):
    """One field of the state, per feature or global; declared in the class of the learner."""

    name: str
    unit: str
    """How it follows its feature's unit: "1" (not at all), "sign", "x", "|x|", "x^2" or "1/x"."""
    meaning: str

    def rescaled(self, values: Float, factors: Float) -> Float:
        """The values when the feature is multiplied by these factors, last axis by last axis."""
        if self.unit == "1":
            return values
        if self.unit == "sign":
            return values * np.sign(factors)
        if self.unit == "x":
            return values * factors
        if self.unit == "1/x":
            with np.errstate(over="ignore"):
                return np.clip(values / factors, -LARGEST, LARGEST)
        size = np.abs(factors) if self.unit == "|x|" else factors**2
        scaled = values * size  # a feature that was seen stays seen
        return np.where((values > 0) & (scaled < SMALLEST), SMALLEST, scaled)
