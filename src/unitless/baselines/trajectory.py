"""What a comparator's regret bound is told of a run: rows, slopes, and the weights to be met."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import norm

Float = NDArray[np.float64]


class Played(NamedTuple):
    """A run that is over, and the weights it is compared with.

    >>> from scipy.sparse import csr_array
    >>> run = Played(csr_array([[1.0, 3.0], [1.0, -4.0]]), np.array([0.5, 1.0]), np.zeros(2))
    >>> run.largest().tolist(), run.largest(euclidean=False).tolist()
    ([1.5811388300841898, 4.123105625617661], [1.5, 4.0])
    """

    X: Any
    """A SciPy CSR array whose column 0 is the constant: 1, or 0 without an intercept."""
    g: Float
    """The slope of each trial: sample weight times loss' / L."""
    u: Float
    """The comparator, its intercept first."""

    def largest(self, euclidean: bool = True) -> Float:
        """|g x| of each trial, or max |g x_i|."""
        size = norm(self.X, axis=1) if euclidean else abs(self.X).max(axis=1).toarray().ravel()
        return np.abs(self.g) * size
