from typing import Any

from numpy.typing import NDArray

from unitless.core.array import Array
from unitless.core.stateful import Stateful

class Forest(Stateful):
    classes: int
    base: Array
    roots: Array
    nodes: Array
    values: Array

    def __init__(self, classes: int = 1) -> None: ...
    def most_column(self) -> int: ...
    def add_class(self) -> None: ...
    def parts_of_row(self, x: NDArray[Any]) -> NDArray[Any]: ...
