import numpy as np
from numpy.typing import NDArray

from unitless.core.stateful import Stateful

FORECASTER: str
POWERS: int

class GroupedSlopes(Stateful):
    expert: int
    t: float
    def __init__(self, expert: int) -> None: ...
    @property
    def trials(self) -> int: ...
    def reserve(self, trials: float, columns: int) -> None: ...
    def sums_by_group(self) -> NDArray[np.float64]: ...
    def h_by_group(self, width: int) -> NDArray[np.float64]: ...
