from typing import ClassVar

from unitless.core.array import Array
from unitless.core.learner import GradientLearner
from unitless.state import Component, Fact, Field

class Coordinatewise(GradientLearner):
    """Base class of learners that keep a record of a few fields per feature."""

    fields: ClassVar[tuple[Field, ...]]
    @property
    def records(self) -> Array: ...

def coordinatewise_state(
    fields: tuple[Field, ...], *more: Field | Fact | Component
) -> tuple[Field | Fact | Component, ...]:
    """`saved` of a coordinate-wise learner: its fields by coordinate, and more."""
