from unitless.core.array import Array
from unitless.core.learner import Learner
from unitless.losses import Loss
from unitless.rows import Block
from unitless.state import Float

class BoostedTrees(Learner):
    """Online boosted trees, for curves, steps and interactions."""

    trees: int
    rate: float
    leaves: int
    gain: float
    kept: float
    favoured: int
    splits: float
    lowest: float
    highest: float
    @property
    def nodes(self) -> Array: ...
    @property
    def inner(self) -> Array: ...
    @property
    def leaves_of(self) -> Array: ...
    @property
    def values(self) -> Array: ...
    @property
    def candidates(self) -> Array: ...
    @property
    def leaf_sums(self) -> Array: ...
    @property
    def first(self) -> Array: ...
    @property
    def before(self) -> Array: ...
    @property
    def order(self) -> Array: ...
    @property
    def turned(self) -> Array: ...
    @property
    def history(self) -> Array: ...
    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        trees: int = 32,
        rate: float = 0.2,
        leaves: int = 512,
        gain: float = 3.0,
        kept: float = 1.0,
        favoured: int = 0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None: ...
    def parts_of_row(self, block: Block) -> Float: ...
