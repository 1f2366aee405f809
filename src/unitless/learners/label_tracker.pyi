from typing import final

from unitless.core.learner import GradientLearner
from unitless.losses import Loss

@final
class Tracker(GradientLearner):
    """Predict from recent labels or targets; features are ignored."""

    gamma: float
    a: float
    b: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        gamma: float = 0.9,
        intercept: bool = True,
    ) -> None: ...
