"""The rule of the house's own coordinate-wise learners: one type, so one kernel for them all.

Each baseline has a rule of a type of its own, and so a kernel of its own (`rowwise.rule_for`). The
members of the Blend are needed together, and compiling one kernel takes a fifth of the time of
five.
"""

from typing import NamedTuple

SCINOL2, NAG, INAG, DIAGONAL, BAYES, TRACKER = range(6)


class House(NamedTuple):
    """Which of the house's learners, and its parameters."""

    kind: int
    knob: float
    """The one number the learner has: wealth, rate, strength, starting count, memory."""
    loss: int
    parameter: float
    """Of the loss."""
