from typing import Any

from numpy.typing import NDArray

from unitless.core.array import Array
from unitless.core.learner import Learner
from unitless.learners.forest import Forest
from unitless.losses import Loss
from unitless.rows import Rows

class HistogramTrees(Learner):
    first: int
    max_memory: float
    forest: Forest
    next: Forest
    number: Array
    own_unit: Array
    rows: Array
    labels: Array
    share: float
    mean_error: float
    begun: float
    planned: float
    most_leaves: float
    width: float
    cuts: Array
    ends: Array
    paid: Array
    lowest: float
    highest: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        first: int = 512,
        max_memory: float = 256.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None: ...
    def contributions(self, rows: Rows) -> tuple[Any, NDArray[Any]]: ...
