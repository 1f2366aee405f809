from unitless.learners.triangular_factor import FactorLearner
from unitless.losses import Loss

class Vaw(FactorLearner):
    """The forecaster of Vovk, Azoury and Warmuth: least squares, for the squared loss."""

    first: float
    unit: float
    low: float
    high: float

    def __init__(self, loss: str | Loss = "squared", *, intercept: bool = True) -> None: ...
