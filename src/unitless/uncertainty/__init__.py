"""How sure it is: intervals that cover, verdicts that hold at any time, alarms of drift.

`intervals` are prediction intervals and sets beside a learner, whose offsets are learned by the one
betting primitive in `betting`. This package may import learners and what is below them.
"""

from unitless.uncertainty.drift import Drift, DriftDetector
from unitless.uncertainty.intervals import Coverage, Intervals, intervals_for
from unitless.uncertainty.loss_differences import LossDifference, Verdict

__all__ = [
    "Coverage",
    "Drift",
    "DriftDetector",
    "Intervals",
    "LossDifference",
    "Verdict",
    "intervals_for",
]
