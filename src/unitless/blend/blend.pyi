from typing import Any, Literal

from unitless.blend.experts import Expert
from unitless.blend.grouped_slopes import GroupedSlopes
from unitless.blend.mixture import Guarantee, Mixture
from unitless.core.learner import Learner
from unitless.losses import Loss

class Blend(Learner):
    views: str
    members: list[Expert]
    experts: list[Learner | None]
    features: Any
    shown: Any
    pairs: Any
    mixture: Mixture
    target_scaler: Any
    slopes: GroupedSlopes | None
    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        views: Literal["all", "smooth", "linear"] = "all",
        intercept: bool = True,
        classes: int = 0,
    ) -> None: ...
    def in_regime(self, regime: int) -> Blend: ...
    def mixture_weights(self) -> dict[str, float]: ...
    def history(self) -> list[tuple[int, dict[str, float]]]: ...
    def guarantees(self) -> dict[str, Guarantee]: ...

class LinearBlend(Blend):
    def __init__(
        self, loss: str | Loss = "logistic", *, intercept: bool = True, classes: int = 0
    ) -> None: ...
