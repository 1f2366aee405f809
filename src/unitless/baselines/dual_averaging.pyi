from typing import final

from unitless.baselines.baseline import Baseline
from unitless.baselines.trajectory import Trajectory
from unitless.losses import Loss

@final
class Solo(Baseline):
    """SOLO FTRL: follow the regularised leader, scaled by the gradients so far."""

    rate: float
    squares: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 1.0,
        intercept: bool = True,
    ) -> None: ...
    def regret_bound(self, trajectory: Trajectory) -> float:
        """The paper's Theorem 1."""

@final
class AdagradDa(Baseline):
    """AdaGrad with a diagonal matrix by dual averaging."""

    rate: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 1.0,
        intercept: bool = True,
    ) -> None: ...
    def regret_bound(self, trajectory: Trajectory) -> float:
        """The bound of SOLO in one dimension, summed over features."""

@final
class NormalisedDualAveraging(Baseline):
    """Normalised dual averaging, after Orabona, Crammer and Cesa-Bianchi: a reconstruction."""

    rate: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 1.0,
        intercept: bool = True,
    ) -> None: ...

@final
class Minimax(Baseline):
    """The minimax strategy against an exponential benchmark, for a known number of trials."""

    wealth: float
    bound: float
    horizon: int

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        wealth: float = 1.0,
        bound: float = 1.0,
        horizon: int = 10000,
        intercept: bool = True,
    ) -> None: ...
    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The sum over features, if L was large enough and there were at most T trials."""

@final
class AdaptiveNormal(Baseline):
    """AdaptiveNormal: nearly minimax against a benchmark that grows like exp(theta^2)."""

    wealth: float
    bound: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        wealth: float = 1.0,
        bound: float = 1.0,
        intercept: bool = True,
    ) -> None: ...
