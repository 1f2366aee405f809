from typing import final

import numpy as np
from numpy.typing import NDArray

from unitless.core.coordinatewise import Coordinatewise
from unitless.losses import Loss
from unitless.state import Float

@final
class Bayes(Coordinatewise):
    """Naive Bayes on which features are present, damped for features that go together."""

    a: float
    N_positive: float
    N_negative: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        a: float = 0.1,
        intercept: bool = True,
    ) -> None: ...
    def parts(self, present: NDArray[np.bool_]) -> Float:
        """What each coordinate adds to the score of a row in which these are present."""
