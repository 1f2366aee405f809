"""What the scale-dependent baselines share: they see values as they come, in whatever unit.

Values in an unsuitable unit can drive such a learner beyond float64. It then refuses the row with
`Diverged` and is as it was before the call. It cannot follow a change of units either: in other
units all its past predictions would have been different.
"""

import math
from typing import Any, ClassVar

from unitless.baselines.trajectory import Trajectory
from unitless.losses import Loss


class ScaleDependent:
    """What `compare` asks of a baseline beside what every learner has."""

    invariance: ClassVar[Any] = "none"
    needs: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters whose right values are known only in hindsight."""
    bound_is_euclidean: ClassVar[bool] = False
    """Whether the parameter `bound`, if there is one, bounds |g x| or every |g x_i|."""
    inverse_rate: ClassVar[str] = ""
    """Name of the parameter that is the inverse of a learning rate, if there is one."""

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The largest possible regret against u, in units of L; None where no bound applies."""
        return None


def checked_positive(name: str, value: float) -> float:
    """A parameter that is a finite number > 0, as a float."""
    if not 0 < value < math.inf:
        raise ValueError(f"{name} = {value}: it is a finite number > 0")
    return float(value)


def checked_count(name: str, value: int, meaning: str) -> int:
    """A parameter that is a whole number >= 1."""
    if value < 1 or value != int(value):
        raise ValueError(f"{name} = {value}: {meaning} is a whole number >= 1")
    return int(value)


def require_signs(loss: Loss, who: str) -> None:
    """Methods that learn from mistakes need two classes."""
    if loss.targets != "signs":
        raise ValueError(
            f"{who} learns from wrong signs, and the {loss.name} loss has no signs: use "
            "'logistic' or 'hinge'"
        )
