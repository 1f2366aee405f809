"""Base class of the scale-dependent baselines, which get values in their original units.

Values in an unsuitable unit can drive such a learner beyond float64. It then refuses the row with
`Diverged` and is as it was before the call. It cannot follow a change of units either: in other
units all its past predictions would have been different.
"""

from typing import Any, ClassVar

import numpy as np

from unitless.baselines.declared_parameters import Declared
from unitless.baselines.trajectory import Trajectory


class ScaleDependent(Declared):
    """Base of the scale-dependent baselines, beside `Coordinatewise` or `DenseLearner`."""

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

    def _rescale(self, columns: Any, factors: Any) -> None:
        raise NotImplementedError("a scale-dependent learner cannot follow a change of units")

    def _coefficients(self) -> Any:
        """Finite, even where float64 cannot hold a weight."""
        with np.errstate(all="ignore"):
            return np.nan_to_num(super()._coefficients())  # type: ignore[misc]
