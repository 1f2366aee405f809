from typing import ClassVar, final

from unitless.core.coordinatewise import Coordinatewise
from unitless.losses import Loss

KNOWN: tuple[str, ...]

class NormalisedGradient(Coordinatewise):
    """Base class of NAG and iNAG."""

    rate: float
    N: float

@final
class Nag(NormalisedGradient):
    """NAG, normalised adaptive gradient descent: the algorithm of Vowpal Wabbit."""

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 0.5,
        intercept: bool = True,
    ) -> None: ...

@final
class Inag(NormalisedGradient):
    """NAG with an implicit step: large learning rates are safe."""

    target_invariance: ClassVar[str]
    targets: float
    mean: float
    M2: float
    low: float
    high: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 1.0,
        intercept: bool = True,
    ) -> None: ...
