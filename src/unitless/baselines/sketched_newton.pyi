from unitless.baselines.dense import DenseLearner
from unitless.baselines.full_matrix import FullMatrixLearner
from unitless.core.array import Array
from unitless.losses import Loss

class Son(FullMatrixLearner):
    """SON: the projected online Newton step with the full matrix."""

    C: float
    rate: float

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        C: float = 1.0,
        rate: float = 1.0,
        a: float = 1.0,
        intercept: bool = True,
    ) -> None: ...

class SketchedSon(DenseLearner):
    """Base of the two forms that keep a sketch of A with a few rows."""

    C: float
    rate: float
    a: float
    m: int
    rows: int

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        C: float = 1.0,
        rate: float = 1.0,
        a: float = 1.0,
        m: int = 10,
        intercept: bool = True,
    ) -> None: ...

class FdSon(SketchedSon):
    """FD-SON: online Newton whose matrix is a sketch of 2 m rows, by frequent directions."""

    S: Array
    L: Array

class OjaSon(SketchedSon):
    """Oja-SON: online Newton whose matrix is a sketch of m directions, by Oja's rule."""

    V: Array
    e: Array
