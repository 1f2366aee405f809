from unitless.core.array import Array
from unitless.core.stateful import Stateful

class Past(Stateful):
    """Targets, residuals and answers of the rows up to the last one whose label is known."""

    outputs: int
    signals: Array
    counts: Array
    known: float
    last_target: float
    mean_target: float

class RecentLabels(Stateful):
    """The labels that were learned, those that predictions have seen, and whether they pay."""

    delay: int
    known: Past
    seen: Past | None
    waiting: Array
    rows: float
    product: float
    squares: float
    pays: float
