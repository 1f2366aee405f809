from typing import ClassVar, final

from unitless.core.coordinatewise import Coordinatewise
from unitless.losses import Loss

CURVED: tuple[str, ...]

@final
class Diagonal(Coordinatewise):
    """Online Newton with one variance per feature; uncertain scores are drawn towards 0."""

    target_invariance: ClassVar[str]
    strength: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        strength: float = 1.0,
        intercept: bool = True,
    ) -> None: ...
