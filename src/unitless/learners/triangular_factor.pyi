from collections.abc import Iterable, Mapping
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray

from unitless.core.array import Array
from unitless.core.learner import GradientLearner
from unitless.core.stateful import Stateful
from unitless.state import Float

class Factor(Stateful):
    """S = U'DU and h = U'Dz; see the module's docstring."""

    U: Array
    D: Array
    z: Array
    squares: Array
    noise: Array
    lost: Array
    places: Array
    coordinates: Array
    rank: int
    n: int

    def __init__(self, columns: int = 0) -> None: ...
    @property
    def R(self) -> Float:
        """The factor itself, S = R'R."""
    @property
    def q(self) -> Float:
        """h = R'q; |q| is the norm of h."""
    def by_coordinate(self, values: Float) -> Float:
        """The values of the first positions in the order of coordinates, with zeros for others."""
    def solution(self) -> Float:
        """S^+ h by coordinate, zero where a feature adds no direction."""
    def take(self, coordinates: NDArray[Any]) -> None:
        """Give positions to these coordinates, which have none."""
    def add_rows(self, W: Iterable[Float], q: Iterable[float], t: float) -> None:
        """Add the rows W of a factor, with h += W'q; `squares` has the squares of its columns."""

class FactorLearner(GradientLearner):
    """Base of learners that keep S = sum x x' and a vector h by a factor: Algorithm 2 and VAW."""

    factor: Factor

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """The same as `Learner.rescale`; with an invertible matrix M, x arrives as M x."""
