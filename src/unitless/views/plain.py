"""Views without a state: the row itself, and which of its features are there."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unitless.numerics import flat


@flat
def _presence(values, out):
    for k in range(values.size):
        out[k] = 1.0 if values[k] != 0 and values[k] == values[k] else 0.0


class Raw:
    """The row itself."""

    keeps_unit: ClassVar[bool] = True
    invariance: ClassVar[str] = "linear"

    def reserve(self, columns: int) -> None:
        """Make room for that many columns."""

    def learn(self, values: Any, indices: Any, starts: Any, columns: int) -> NDArray[np.float64]:
        """The rows, shown one after another."""
        return self.look(values, indices, starts, columns)

    def look(self, values: Any, indices: Any, starts: Any, columns: int) -> NDArray[np.float64]:
        """Each row as if it were the next."""
        return values

    def rescale(self, columns: NDArray[Any], factors: NDArray[Any]) -> Self:
        """From now on these columns arrive multiplied by these factors."""
        return self


class Presence(Raw):
    """1 where a feature is there.

    >>> Presence().look(np.array([3.0, 0.0, -1e-9, np.nan]), None, None, 2)
    array([1., 0., 1., 0.])
    """

    keeps_unit: ClassVar[bool] = False
    invariance: ClassVar[str] = "unit"

    def look(self, values: Any, indices: Any, starts: Any, columns: int) -> NDArray[np.float64]:
        """Each row as if it were the next."""
        out = np.empty(len(values))
        _presence(values, out)
        return out
