"""What comparators have in common that a change of units moves: they see values as they come.

Such a learner meets numbers it cannot hold as soon as a unit is far off; it then says `Diverged`,
and is as it was before the call. Nor can it be told that a unit changed: in other units it would
have made other predictions, so its whole past would have to be lived through again.
"""

from typing import Any, ClassVar

from unitless.baselines.trajectory import Played
from unitless.learners.coordinatewise import Rowwise


class Raw(Rowwise):
    """Base of the coordinate-wise learners that depend on units."""

    invariance: ClassVar[Any] = "none"
    units: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()
    """What must be known beforehand, as names of parameters."""
    bound_is_euclidean: ClassVar[bool] = False
    """Whether `bound`, where there is one, is on |g x| or on every |g x_i|."""

    def promised(self, played: Played) -> float | None:
        """The most that could be lost to u, in units of L, if there is a bound and it applies."""
        return None
