"""The row-normalised view: rows of about the same norm, independent of units.

M_i = max |x_i| so far, this one included;   x_i / sqrt(sum_j (x_j / M_j)^2)   0 for an empty row
"""

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import grown
from unitless.kernels.decorators import kernel
from unitless.kernels.simd import prefetch
from unitless.rows import Block

AHEAD = 32  # stored values between a prefetch and its use
Float = NDArray[np.float64]


@kernel
def show(block, learns, M, out):
    """Fill in the rows normalised; with `learns`, bring the largest values up to date."""
    values, indices, starts, width = block
    sparse = starts.size > 0
    rows = starts.size - 1 if sparse else values.size // max(width, 1)
    for r in range(rows):
        start = starts[r] if sparse else r * width
        stop = starts[r + 1] if sparse else start + width
        total = 0.0
        for k in range(start, stop):
            if sparse:
                prefetch(M, np.int64(indices[min(k + AHEAD, indices.size - 1)]))
            i = indices[k] if sparse else k - start
            size = abs(values[k]) if values[k] == values[k] else 0.0
            largest = max(M[i] if i < M.size else 0.0, size)
            if learns:
                M[i] = largest
            ratio = size / (largest if largest > 0 else 1.0)
            total += ratio * ratio
        factor = 1.0 / math.sqrt(total) if total > 0 else 0.0
        for k in range(start, stop):
            out[k] = values[k] * factor if values[k] == values[k] else 0.0


class Normalised:
    """x divided by the norm of its row in units of the largest values.

    >>> view = Normalised()
    >>> none = np.empty(0, np.int32), np.empty(0, np.int64)
    >>> view.learn(Block(np.array([3.0, 0.0, 3.0, 7.0]), *none, 2))
    array([3.        , 0.        , 2.12132034, 4.94974747])
    """

    def __init__(self) -> None:
        self.state = np.zeros(0)
        """M_i = max |x_i|, unit [x_i]."""

    def reserve(self, columns: int) -> None:
        """Make room for that many columns."""
        self.state = grown(self.state, columns)

    def learn(self, block: Block) -> Float:
        """The rows one after another, each with the largest values up to itself."""
        self.reserve(block.columns)
        out = np.empty(len(block.values))
        show(tuple(block), True, self.state, out)
        return out

    def transform(self, block: Block) -> Float:
        """Each row as if it were the next."""
        out = np.empty(len(block.values))
        show(tuple(block), False, self.state, out)
        return out

    def rescale(self, columns: NDArray[Any], factors: NDArray[Any]) -> Self:
        """From now on these columns arrive multiplied by these factors."""
        self.state[columns] *= np.abs(factors)
        return self
