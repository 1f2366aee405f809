"""The learner that always says 0: the one Theorem 3 shows nobody can beat in the worst case.

Its regret is at most |u|_S sqrt(T) for every u (section 4.1 of the paper), and it is invariant
under everything. It is Algorithm 1 with no wealth to bet: eps = 0 makes every weight 0, while h
and s2, the sums of a certificate, are kept as ever.
"""

from typing import Any, ClassVar

from unitless.learners.coordinate import Coordinate
from unitless.losses import Loss


class Zero(Coordinate):
    """Predict 0, always.

    >>> Zero().learn_one({"height": 1.8}, 1)
    0.0
    """

    name: ClassVar[str] = "zero"
    invariance: ClassVar[Any] = "linear"
    theorem: ClassVar[str | None] = "section 4.1"

    def __init__(self, loss: str | Loss = "logistic", *, intercept: bool = True) -> None:
        super().__init__(loss, intercept=intercept)
        self.wealth = 0.0
        self._prepare()
