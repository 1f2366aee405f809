"""Finished runs, on which the regret bounds of the baselines are computed."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import norm

Float = NDArray[np.float64]


class Trajectory(NamedTuple):
    """The rows and gradients of a finished run, and the weights it is compared with.

    >>> from scipy.sparse import csr_array
    >>> run = Trajectory(csr_array([[1.0, 3.0], [1.0, -4.0]]), np.array([0.5, 1.0]), np.zeros(2))
    >>> run.gradient_sizes().tolist(), run.gradient_sizes(euclidean=False).tolist()
    ([1.5811388300841898, 4.123105625617661], [1.5, 4.0])
    """

    X: Any
    """A SciPy CSR array whose column 0 is the constant: 1, or 0 without an intercept."""
    g: Float
    """The derivative of each trial: sample weight times loss' / L."""
    u: Float
    """The comparator, its intercept first."""

    def gradient_sizes(self, euclidean: bool = True) -> Float:
        """|g x| of each trial, or max |g x_i|."""
        size = norm(self.X, axis=1) if euclidean else abs(self.X).max(axis=1).toarray().ravel()
        return np.abs(self.g) * size

    def norm(self) -> float:
        """|u|."""
        return float(np.linalg.norm(self.u))

    def features_in_first_row(self) -> NDArray[Any] | None:
        """The coordinates with nonzero values; None if one comes after the first row."""
        seen = np.unique(self.X.nonzero()[1])
        return seen if len(self.X[:1].nonzero()[1]) == len(seen) else None
