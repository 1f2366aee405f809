"""The learner that always predicts 0: a reference that no learner beats in the worst case."""

from typing import ClassVar

from unitless.learners.coordinate import Coordinate
from unitless.learners.declared import Parameter


class Zero(Coordinate):
    """Always predict 0; by Theorem 3 no learner has a smaller worst-case regret.

    It is Algorithm 1 with wealth eps = 0, which makes every weight 0, while h and s2, the sums of a
    certificate, are still kept. Its regret is at most |u|_S sqrt(T) (section 4.1 of the paper).

    >>> Zero().learn_one({"height": 1.8}, 1)
    0.0
    """

    name = "zero"
    invariance = "linear"
    theorem = "section 4.1"
    declared: ClassVar[dict[str, Parameter]] = {}
    alpha = 1.2
    wealth = 0.0
    d = None
