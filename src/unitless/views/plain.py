"""Views without a state: the row itself, and which of its features are not 0."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unitless.numerics import kernel
from unitless.rows import Block

Float = NDArray[np.float64]


@kernel
def show(values, out):
    """out = 1 where a value is neither 0 nor missing."""
    for k in range(values.size):
        out[k] = 1.0 if values[k] != 0 and values[k] == values[k] else 0.0


class Raw:
    """The row itself."""

    keeps_unit: ClassVar[bool] = True
    invariance: ClassVar[str] = "linear"

    def reserve(self, columns: int) -> None:
        """Make room for that many columns."""

    def learn(self, block: Block) -> Float:
        """The values of the rows."""
        return self.transform(block)

    def transform(self, block: Block) -> Float:
        """The values of the rows."""
        return block.values

    def rescale(self, columns: NDArray[Any], factors: NDArray[Any]) -> Self:
        """From now on these columns arrive multiplied by these factors."""
        return self


class Presence(Raw):
    """1 where a feature is neither 0 nor missing.

    >>> none = np.empty(0, np.int32), np.empty(0, np.int64)
    >>> Presence().transform(Block(np.array([3.0, 0.0, -1e-9, np.nan]), *none, 2))
    array([1., 0., 1., 0.])
    """

    keeps_unit: ClassVar[bool] = False
    invariance: ClassVar[str] = "unit"

    def transform(self, block: Block) -> Float:
        """1 or 0 for each value."""
        out = np.empty(len(block.values))
        show(block.values, out)
        return out
