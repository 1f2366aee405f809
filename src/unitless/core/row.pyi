from typing import Any

from unitless.rows import Block, Float

class RowReader:
    """Finds the rows of a block, with targets and weights if there are."""

    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    def __init__(
        self,
        block: Block,
        rows: int,
        targets: Float | None = None,
        weights: Float | None = None,
    ) -> None: ...

def extent(values: Any) -> tuple[float, float]:
    """The smallest and the largest size of a value that is neither 0 nor NaN; (1, 0) if none is."""
