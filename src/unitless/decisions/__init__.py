"""Decisions: a contextual bandit, and what other policies would have earned.

`bandit` has `OnlineBandit`, which is built on `Model` and the Blend and draws its actions by
`exploration`; `off_policy` values policies from logged decisions. It may import everything below
`unitless.evaluation`.
"""

from unitless.decisions.bandit import OnlineBandit

__all__ = ["OnlineBandit"]


def __dir__() -> list[str]:
    return sorted(__all__)
