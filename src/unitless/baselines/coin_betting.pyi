from typing import final

from unitless.baselines.baseline import Baseline
from unitless.baselines.trajectory import Trajectory
from unitless.losses import Loss

@final
class KrichevskyTrofimov(Baseline):
    """KT: coin betting with the estimator of Krichevsky and Trofimov, for the whole vector."""

    wealth: float
    bound: float
    R: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        wealth: float = 1.0,
        bound: float = 1.0,
        intercept: bool = True,
    ) -> None: ...
    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The paper's corollary 5, if L was large enough."""

@final
class Coin(Baseline):
    """Coin betting: each feature bets a share of its wealth on the sign of its next gradient."""

    wealth: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        wealth: float = 1.0,
        intercept: bool = True,
    ) -> None: ...

@final
class Pistol(Baseline):
    """PiSTOL for each feature: weights that grow like exp(theta^2)."""

    a: float
    scale: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        a: float = 2.0,
        scale: float = 1.0,
        intercept: bool = True,
    ) -> None: ...

@final
class RewardDoubling(Baseline):
    """Reward doubling: gradient descent whose tiny rate doubles when its reward is large enough."""

    wealth: float
    squares: float
    d: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        wealth: float = 1.0,
        squares: float = 1.0,
        intercept: bool = True,
    ) -> None: ...
    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The paper's Theorem 1, if H was never too small and no feature came late."""
