"""The result of a comparison, and its table."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.compare.rivals import TITLES
from unitless.regret import Comparator
from unitless.uncertainty import Verdict


class Elsewhere(NamedTuple):
    """The result of an entry on the same rows in other units."""

    loss: float  # NaN if it diverged
    moved: float  # the largest change of a prediction; NaN if it diverged in either units
    diverged: int | None  # the row before which it diverged


class Entry(NamedTuple):
    """One line of the table."""

    learner: str
    loss: float  # average by weight, of predictions made before the label; NaN if it diverged
    rows: int  # those that it learned: all, unless it is a rival that took too long
    seconds: float  # of the pass
    given: dict[str, float]  # parameters that were taken from the stream in hindsight
    diverged: int | None  # the row before which it diverged
    rank: int = 0  # by loss; equal losses share the better rank
    regret: float | None = None  # total loss above that of the best fixed weights in hindsight
    bound: float | None = None  # of a theorem on that regret, if there is one
    rates: Mapping[float, float] = {}  # of tuned lines: average loss by rate
    elsewhere: Elsewhere | None = None
    verdict: Verdict | None = None  # on its loss less that of the learner compared first
    loss_of_first: float | None = None  # on its rows, of the learner compared first, if it stopped


class Comparison(NamedTuple):
    """The table, best first; print it, or use its `cells`."""

    loss: str
    rows: int
    columns: int
    best: Comparator | None  # the best fixed weights in hindsight, if they are known
    factors: NDArray[np.float64] | None  # by which the columns were multiplied for the second run
    entries: list[Entry]
    left_out: dict[str, str]  # learners that could not take part, and why
    first: str  # the learner that was compared first

    def entry(self, learner: str) -> Entry:
        """Return the entry of a learner."""
        return next(entry for entry in self.entries if entry.learner == learner)

    def cells(self) -> list[list[str]]:
        """Return the table as text; the first row has the headings."""
        headings = ["rank", "learner", "loss"]
        if self.best:
            headings += ["regret", "bound"]
        if self.factors is not None:
            headings += ["other units", "moved"]
        return [[*headings, "µs per row"], *map(self._line, self.entries)]

    def _line(self, entry: Entry) -> list[str]:
        line = [str(entry.rank), TITLES.get(entry.learner, entry.learner), _loss(entry)]
        if self.best:
            known = (entry.regret, entry.bound)
            line += ["" if number is None else f"{number:.5g}" for number in known]
        there = entry.elsewhere
        if there is not None:
            moved = "" if math.isnan(there.moved) else f"{there.moved:.2g}"
            line += [_loss(there), "exactly 0" if there.moved == 0 else moved]
        time = f"{entry.seconds / entry.rows * 1e6:.2f}"
        return [*line, time if entry.diverged is None else ""]

    def notes(self) -> list[str]:
        """Return the notes below the table."""
        size = f"{self.rows} rows, {self.columns} columns, {self.loss} loss"
        notes = [f"{size}; each row is predicted before it is learned; scored from row 2 on"]
        if self.best is None:
            notes.append("no regret: the best fixed weights in hindsight were not computed")
        else:
            notes.append(
                f"regret: total loss, with row 1, above that of the best fixed weights, {self.best}"
            )
        if self.factors is not None:
            low = np.abs(self.factors).min(initial=1)
            high = np.abs(self.factors).max(initial=1)
            notes.append(
                f"other units: columns times {low:g} to {high:g}; moved: largest change of a score"
            )
        for entry in self.entries:
            given = ", ".join(f"{name} = {value:.4g}" for name, value in entry.given.items())
            if given:
                notes.append(f"{entry.learner} was given {given}, in hindsight, which favours it")
            if entry.rows < self.rows:
                name = TITLES.get(entry.learner, entry.learner)
                note = f"{name} is slow and stopped after {entry.rows:,} of {self.rows:,} rows"
                if entry.loss_of_first is not None:
                    note += f", on which {self.first} has a loss of {entry.loss_of_first:.5g}"
                notes.append(f"{note} (--learners {entry.learner} lets it finish)")
        notes += [self._verdict(entry) for entry in self.entries if entry.learner != self.first]
        return notes + [f"left out: {name} ({why})" for name, why in self.left_out.items()]

    def _verdict(self, entry: Entry) -> str:
        """Return whether the learner compared first is better than another, in a sentence."""
        first = TITLES.get(self.first, self.first)
        other = TITLES.get(entry.learner, entry.learner)
        made = entry.verdict
        if made is None or not math.isfinite(made.high - made.low):
            return f"{first} and {other}: too few rows to tell which is better"
        level = f"{100 * made.level:g} %, at any time"
        if made.row is None or made.low <= 0 <= made.high:
            return (
                f"which of {first} and {other} is better is not certain ({level}): the loss of "
                f"{other} is {made.low:+.3g} to {made.high:+.3g} larger per row"
            )
        word = "better" if made.low > 0 else "worse"
        ends = sorted((abs(made.low), abs(made.high)))
        return (
            f"{first} is {word} than {other} by {ends[0]:.3g} to {ends[1]:.3g} per row, certain "
            f"({level}) since row {made.row:,}"
        )

    def __str__(self) -> str:
        cells = self.cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for row in cells:
            padded = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
            padded[1] = row[1].ljust(widths[1])
            lines.append("  ".join(padded))
        return "\n".join([*lines, *self.notes()])


def _loss(result: Entry | Elsewhere) -> str:
    if result.diverged is not None:
        return f"diverged in row {result.diverged}"
    return f"{result.loss:.5g}"
