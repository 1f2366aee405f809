from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unitless.core.stateful import Stateful

Float = NDArray[np.float64]

class Offsets(Stateful):
    """The offsets of several coverages, in ascending order, on one side or on both."""

    known: float
    mean: float
    recent: float
    trackers: Float
    weights: Float
    gaps: Float
    coins: Float
    gains: Float
    on_boundary: Float
    covered: Float
    @property
    def coverages(self) -> tuple[float, ...]: ...
    @property
    def sides(self) -> int: ...
    @property
    def floor(self) -> float: ...
    @property
    def rates(self) -> Float: ...
    def __init__(self, coverages: Sequence[float], sides: int = 2, floor: float = ...) -> None: ...
    def learn(self, residuals: Float, sizes: Float, weights: Float | None = None) -> Float:
        """The offsets of each row, (rows, sides, coverages), which then learn its residual."""

    def predict(self, sizes: Float) -> Float:
        """The offsets of rows, each as if it were the next one."""

    def coverage(self, place: int) -> tuple[float, float, float]:
        """The share of rows covered so far, and its certified limits (low, high)."""
