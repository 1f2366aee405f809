from typing import final

from unitless.baselines.baseline import Baseline
from unitless.baselines.trajectory import Trajectory
from unitless.losses import Loss

@final
class Dfeg(Baseline):
    """DFEG, dimension-free exponentiated gradient: weights that grow like exp(|theta|)."""

    a: float
    H: float
    norm2: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        a: float = 1.0,
        intercept: bool = True,
    ) -> None: ...
    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The paper's Theorem 1, for the a that it allows."""

@final
class Eg(Baseline):
    """EG+-: exponentiated gradient, weights in a ball of the 1-norm; O(columns) per row."""

    radius: float
    bound: float
    horizon: int

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        radius: float = 1.0,
        bound: float = 1.0,
        horizon: int = 10000,
        intercept: bool = True,
    ) -> None: ...
    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """If |u|_1 <= U and all d features were in the first row."""
