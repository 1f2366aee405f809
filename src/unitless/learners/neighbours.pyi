from unitless.core.array import Array
from unitless.core.learner import Learner
from unitless.core.moments import Moments
from unitless.losses import Loss

class Neighbours(Learner):
    """Nearest neighbours among the rows that were hard to predict."""

    used: float
    next: float
    @property
    def moments(self) -> Moments: ...
    @property
    def stored(self) -> Array: ...
    @property
    def labels(self) -> Array: ...
    def __init__(
        self, loss: str | Loss = "logistic", *, intercept: bool = True, classes: int = 0
    ) -> None: ...
