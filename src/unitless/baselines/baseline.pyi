from typing import ClassVar

from unitless.baselines.trajectory import Trajectory
from unitless.core.coordinatewise import Coordinatewise
from unitless.state import Field

THETA: Field
G: Field
B: Field

class Baseline(Coordinatewise):
    """Base of the baselines that keep a few numbers per feature."""

    bound_is_euclidean: ClassVar[bool]
    inverse_rate: ClassVar[str]
    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The largest possible regret against u, in units of L; None where no bound applies."""
