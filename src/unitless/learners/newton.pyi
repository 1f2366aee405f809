from unitless.core.learner import Learner
from unitless.learners.gaussian import Posterior
from unitless.losses import Loss

class Newton(Learner):
    """Online Newton with a covariance matrix; uncertain scores are drawn towards 0."""

    strength: float
    posterior: Posterior
    last: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        strength: float = 3.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None: ...

class Ridge(Newton):
    """Ridge regression in one pass: online Newton for the squared loss, which is exact there."""

    def __init__(
        self, loss: str | Loss = "squared", *, strength: float = 1.0, intercept: bool = True
    ) -> None: ...
