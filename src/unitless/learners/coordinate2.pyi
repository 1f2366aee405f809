from typing import final

from unitless.learners.coordinate import Coordinate
from unitless.losses import Loss
from unitless.state import Float

@final
class Coordinate2(Coordinate):
    """Algorithm 2 of the paper per coordinate, invariant to the unit of each feature."""

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        alpha: float = 1.125,
        wealth: float = 1.0,
        d: int | None = None,
        intercept: bool = True,
    ) -> None: ...
    def gammas(self) -> Float:
        """Gamma_i by coordinate, the logarithmic terms of the theorem."""
