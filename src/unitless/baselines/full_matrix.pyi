from unitless.baselines.dense import DenseLearner
from unitless.core.array import Array
from unitless.losses import Loss
from unitless.state import Field

SIGNS: tuple[str, ...]
WEIGHTS: Field
MATRIX: tuple[Field, ...]

class FullMatrixLearner(DenseLearner):
    """Base of the baselines with a d x d matrix, which starts as a times the identity."""

    a: float
    U: Array
    D: Array

class Ons(FullMatrixLearner):
    """ONS: the online Newton step, for exp-concave losses."""

    gamma: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        gamma: float = 1.0,
        a: float = 1.0,
        intercept: bool = True,
    ) -> None: ...

class Arow(FullMatrixLearner):
    """AROW: a Gaussian distribution over the weights, changed as little as a margin of 1 needs."""

    r: float

    def __init__(
        self, loss: str | Loss = "logistic", *, r: float = 1.0, intercept: bool = True
    ) -> None: ...

class SecondOrderPerceptron(FullMatrixLearner):
    """The second-order perceptron, which whitens the rows on which it made mistakes."""

    def __init__(
        self, loss: str | Loss = "logistic", *, a: float = 1.0, intercept: bool = True
    ) -> None: ...
