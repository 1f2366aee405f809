from typing import final

from unitless.baselines.baseline import Baseline
from unitless.baselines.trajectory import Trajectory
from unitless.losses import Loss

@final
class Ogd(Baseline):
    """Online gradient descent, on a ball if a radius is given."""

    rate: float
    radius: float
    shrinkage: float
    norm2: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 1.0,
        radius: float = ...,
        intercept: bool = True,
    ) -> None: ...
    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """Zinkevich's Theorem 1 for these rates, with the norms of the gradients, if |u| <= D."""

@final
class Adagrad(Baseline):
    """AdaGrad with a diagonal matrix: each feature has its own rate, from its past gradients."""

    rate: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 1.0,
        intercept: bool = True,
    ) -> None: ...

@final
class Ftrl(Baseline):
    """FTRL-proximal: a rate per feature, and weights that are 0 without enough evidence."""

    rate: float
    beta: float
    l1: float
    l2: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 0.5,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        intercept: bool = True,
    ) -> None: ...

@final
class NormalisedGradientDescent(Baseline):
    """NG, normalised gradient descent: the simplest of the three scale-invariant algorithms."""

    rate: float
    N: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 0.5,
        intercept: bool = True,
    ) -> None: ...

@final
class Snag(Baseline):
    """sNAG: NAG with the average size of a feature in place of its largest."""

    rate: float
    N: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 0.5,
        intercept: bool = True,
    ) -> None: ...
