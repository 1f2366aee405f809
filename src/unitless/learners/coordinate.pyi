from unitless.core.array import Array
from unitless.core.coordinatewise import Coordinatewise
from unitless.core.learner import Sums
from unitless.losses import Loss

class Coordinate(Coordinatewise):
    """Algorithm 1 of the paper, invariant to the unit of each feature."""

    alpha: float
    wealth: float
    d: int | None
    seen: float
    A: float
    @property
    def damped_sums(self) -> Array: ...
    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        alpha: float = 1.2,
        wealth: float = 1.0,
        d: int | None = None,
        intercept: bool = True,
    ) -> None: ...
    def sums(self) -> Sums:
        """A, h / s and s, of the loss itself rather than of loss / L."""

class Zero(Coordinate):
    """Always predict 0; by Theorem 3 no learner has a smaller worst-case regret."""

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        intercept: bool = True,
    ) -> None: ...
