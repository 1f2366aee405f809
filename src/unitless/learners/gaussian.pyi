from unitless.core.array import Array
from unitless.core.stateful import Stateful

class Posterior(Stateful):
    """P = U D U', the weights of each class, and the sizes of the features."""

    U: Array
    D: Array
    w: Array
    s2: Array
    woke: Array
    prior: Array
    m: int
    classes: int
    strength: float

    def __init__(self, m: int, strength: float = 1.0, classes: int = 1) -> None: ...
