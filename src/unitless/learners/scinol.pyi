from typing import final

from unitless.core.coordinatewise import Coordinatewise
from unitless.losses import Loss

@final
class Scinol1(Coordinatewise):
    """ScInOL1: scale-invariant, without a learning rate, weights grow exponentially."""

    wealth: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        wealth: float = 1.0,
        intercept: bool = True,
    ) -> None: ...

@final
class Scinol2(Coordinatewise):
    """ScInOL2: scale-invariant coin betting, without a learning rate."""

    wealth: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        wealth: float = 1.0,
        intercept: bool = True,
    ) -> None: ...
