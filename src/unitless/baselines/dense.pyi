from typing import ClassVar

from unitless.baselines.trajectory import Trajectory
from unitless.core.array import Array
from unitless.core.learner import GradientLearner

class DenseLearner(GradientLearner):
    """Base of the baselines with a dense vector or matrix."""

    needs: ClassVar[tuple[str, ...]]
    inverse_rate: ClassVar[str]
    max_columns: ClassVar[int]
    w: Array
    n: int

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The largest possible regret against u, in units of L; None where no bound applies."""
