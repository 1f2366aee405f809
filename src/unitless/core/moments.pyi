from typing import Any

from numpy.typing import NDArray

from unitless.core.array import Array
from unitless.core.stateful import Stateful
from unitless.state import Float

class Moments(Stateful):
    """Running means and variances of columns."""

    rows: float
    @property
    def mean(self) -> Array: ...
    @property
    def m2(self) -> Array: ...
    @property
    def missing(self) -> Array: ...
    def rescale(self, columns: NDArray[Any], factors: Float) -> None: ...
    def seen(self) -> NDArray[Any]: ...
