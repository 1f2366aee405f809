"""The base class of the baselines, and regret bounds of finished runs.

In all formulas g is the derivative of the loss divided by its Lipschitz constant. A sample weight
multiplies g, or where `scales_instance` is set the instance.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import norm

from unitless.kernels.decorators import inlined
from unitless.learners.base import Field, Float
from unitless.learners.declared import Declared
from unitless.learners.declared import parameter as parameter

THETA = Field("theta", "x", "-sum q_i")
G = Field("G", "x^2", "sum q_i^2")
B = Field("b", "|x|", "max |x_i|")


@inlined
def descend(parameters, totals, trial, x, f, scratch):
    """theta_i -= q_i, an update that learners whose first field is theta share."""
    theta = f[0]
    for k in range(x.size):
        theta[k] -= trial.v * trial.g * x[k]


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


class Baseline(Declared):
    """Base of the baselines, beside `Coordinatewise` or `Learner`."""

    invariance: ClassVar[Any] = "none"
    needs: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters whose right values are known only in hindsight."""
    bound_is_euclidean: ClassVar[bool] = False
    """Whether the parameter `bound`, if there is one, bounds |g x| or every |g x_i|."""
    inverse_rate: ClassVar[str] = ""
    """Name of the parameter that is the inverse of a learning rate, if there is one."""

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The largest possible regret against u, in units of L; None where no bound applies."""
        return None
