from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.blend.experts import Expert
from unitless.core.stateful import Stateful
from unitless.losses import Loss
from unitless.state import Fact

CLOSED_FORM: float
DOUBLINGS: int
ENDED: Fact

class Guarantee(NamedTuple):
    member: str
    loss: float
    member_loss: float
    overhead: float
    last: int
    def times(self, factor: float) -> Guarantee: ...

def cost_of_shares(prior: float, first: float, last: float) -> float: ...

class Mixture(Stateful):
    members: list[Expert]
    loss: Loss
    ended: dict[str, Guarantee]
    def __init__(self, members: list[Expert], loss: Loss, classes: int = 1) -> None: ...
    @property
    def names(self) -> list[str]: ...
    def scores(self, Z: Any) -> NDArray[np.float64]: ...
    def last_step(self) -> tuple[NDArray[np.float64], NDArray[np.float64], float]: ...
    def present(self) -> NDArray[np.bool_]: ...
    def mixture_weights(self) -> dict[str, float]: ...
    def weight_history(self) -> list[tuple[int, dict[str, float]]]: ...
    def guarantees(self) -> dict[str, Guarantee]: ...
    def drop(self, alive: NDArray[np.bool_]) -> None: ...

class StackedMixture(Mixture): ...
