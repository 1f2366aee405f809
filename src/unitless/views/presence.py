"""The presence view: which features of a row are neither 0 nor missing."""

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import kernel
from unitless.rows import Block


@kernel
def show(values, out):
    """out = 1 where a value is neither 0 nor missing."""
    for k in range(values.size):
        out[k] = 1.0 if values[k] != 0 and values[k] == values[k] else 0.0


def presence_of(block: Block) -> NDArray[np.float64]:
    """1 where a feature is neither 0 nor missing, else 0. There is no state.

    >>> none = np.empty(0, np.int32), np.empty(0, np.int64)
    >>> presence_of(Block(np.array([3.0, 0.0, -1e-9, np.nan]), *none, 2))
    array([1., 0., 1., 0.])
    """
    out = np.empty(len(block.values))
    show(block.values, out)
    return out
