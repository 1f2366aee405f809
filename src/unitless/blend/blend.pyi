from typing import Any, Literal

from unitless.blend.experts import Expert
from unitless.blend.grouped_slopes import GroupedSlopes
from unitless.blend.mixture import Guarantee, Mixture
from unitless.blend.recent_labels import RecentLabels
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
    grouped_slopes: GroupedSlopes | None
    recent: RecentLabels
    delay: int
    max_memory: float
    fresh_members: list[Expert]
    followers: list[Learner | None]
    fresh_mixture: Mixture
    loss_before: float
    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        views: Literal["all", "smooth", "linear"] = "all",
        intercept: bool = True,
        classes: int = 0,
        delay: int = 0,
        max_memory: float = 256.0,
    ) -> None: ...
    def in_regime(self, regime: int) -> Blend: ...
    def mixture_weights(self, fresh: bool = False) -> dict[str, float]: ...
    def history(self) -> list[tuple[int, dict[str, float]]]: ...
    def guarantees(self, fresh: bool = False) -> dict[str, Guarantee]: ...

class LinearBlend(Blend):
    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        intercept: bool = True,
        classes: int = 0,
        delay: int = 0,
    ) -> None: ...
