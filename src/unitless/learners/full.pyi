from unitless.core.array import Array
from unitless.core.learner import Sums
from unitless.learners.triangular_factor import FactorLearner
from unitless.losses import Loss

class Full(FactorLearner):
    """Algorithm 2 of the paper, invariant to every invertible linear map of the features."""

    alpha: float
    wealth: float
    E: float
    A: float
    damped_sums: Array

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        alpha: float = 1.125,
        wealth: float = 1.0,
        intercept: bool = True,
    ) -> None: ...
    def sums(self) -> Sums:
        """A, h / s and s, of the loss itself rather than of loss / L."""
    def potential(self) -> float:
        """psi = eps exp((h'S^+h - Gamma) / (2 alpha)): the wealth still to be lost."""
    def norm_h(self) -> float:
        """|h| in the norm of S^+, of the loss itself: regret(u) <= A + |u|_S norm_h()."""
    def gamma(self) -> float:
        """Gamma = sum g^2 x'S^+x with g = loss' / L, the logarithmic term of Theorem 2."""
