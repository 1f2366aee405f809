"""How sure it is: intervals that cover, verdicts that hold at any time, alarms of drift.

`intervals` are prediction intervals and sets beside a learner, whose offsets are learned by the one
betting primitive in `betting`. This package may import learners and what is below them.
"""

from unitless.uncertainty.intervals import Coverage, Intervals, intervals_for

__all__ = ["Coverage", "Intervals", "intervals_for"]
