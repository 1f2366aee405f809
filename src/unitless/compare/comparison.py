"""The result of a comparison, and its table."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.regret import Comparator

Float = NDArray[np.float64]

TUNED = ", best rate"
"""End of the names of lines with a tuned learning rate."""


class Elsewhere(NamedTuple):
    """The result of an entry on the same rows in other units."""

    loss: float
    """Average loss; NaN if it diverged."""
    moved: float
    """The largest change of a prediction; NaN if it diverged in either units."""
    diverged: int | None
    """The row before which it diverged."""


class Entry(NamedTuple):
    """One line of the table."""

    learner: str
    loss: float
    """Average loss, by sample weight, of predictions made before the label; NaN if it diverged."""
    regret: float | None
    """Total loss above that of the best fixed weights in hindsight, where these are known."""
    bound: float | None
    """The bound of a theorem on that regret, if there is one."""
    rank: int
    """Rank by loss; equal losses share the better rank."""
    seconds: float
    """Time of the pass, without compiling."""
    given: dict[str, float]
    """Parameters that were taken from the stream in hindsight."""
    rates: dict[float, float]
    """Average loss by rate of those tried, NaN where it diverged; of tuned lines only."""
    diverged: int | None
    """The row before which it diverged."""
    elsewhere: Elsewhere | None


class Comparison(NamedTuple):
    """The table, best first; print it, or use its `cells`."""

    loss: str
    rows: int
    columns: int
    best: Comparator | None
    """The best fixed weights in hindsight; None where they are not known."""
    factors: Float | None
    """By which the columns were multiplied for the second run."""
    entries: list[Entry]
    left_out: dict[str, str]
    """Learners that could not take part, and why."""

    def entry(self, learner: str) -> Entry:
        """Return the entry of a learner."""
        return next(entry for entry in self.entries if entry.learner == learner)

    def cells(self) -> list[list[str]]:
        """Return the table as text; the first row has the headings."""
        return [_headings(self), *(_line(self, entry) for entry in self.entries)]

    def notes(self) -> list[str]:
        """Return the notes below the table."""
        return list(_notes(self))

    def __str__(self) -> str:
        cells = self.cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if place in (1, len(row) - 1) else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, *self.notes()])


# The table as text


def _headings(made: Comparison) -> list[str]:
    known = ["regret", "bound"] if made.best else []
    units = ["other units", "moved"] if made.factors is not None else []
    return ["rank", "learner", "loss", *known, *units, "µs per row", "given"]


def _line(made: Comparison, entry: Entry) -> list[str]:
    known = [_number(entry.regret), _number(entry.bound)] if made.best else []
    units = [] if made.factors is None else _units(entry)
    given = ", ".join(f"{name} = {value:.4g}" for name, value in entry.given.items())
    time = "" if entry.diverged is not None else f"{entry.seconds / made.rows * 1e6:.2f}"
    return [
        str(entry.rank),
        entry.learner,
        _loss(entry.loss, entry.diverged),
        *known,
        *units,
        time,
        given,
    ]


def _units(entry: Entry) -> list[str]:
    there = entry.elsewhere
    assert there is not None
    moved = "exactly 0" if there.moved == 0 else f"{there.moved:.2g}"
    return [_loss(there.loss, there.diverged), "" if math.isnan(there.moved) else moved]


def _loss(loss: float, diverged: int | None) -> str:
    return f"{loss:.5g}" if diverged is None else f"diverged in row {diverged}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def _notes(made: Comparison) -> Iterator[str]:
    size = f"{made.rows} rows, {made.columns} columns, {made.loss} loss"
    yield f"{size}; each row is predicted before it is learned"
    if made.best is not None:
        yield f"regret: total loss above that of the best fixed weights, {made.best}"
    else:
        yield "no regret: the best fixed weights in hindsight were not computed"
    if made.factors is not None:
        low, high = np.abs(made.factors).min(initial=1), np.abs(made.factors).max(initial=1)
        yield f"other units: columns times {low:g} to {high:g}; moved: largest change of a score"
    if any(entry.given for entry in made.entries):
        yield "given: parameters taken from the rows in hindsight, which favours these methods"
    for name, why in made.left_out.items():
        yield f"left out: {name} ({why})"
