"""The numbers of a certificate, with their names, and the tables they print as."""

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from unitless.regret.comparator import Comparator

TITLE = ("regret against", "true", "certified", "sharp", "theorem")


class RegretBounds(NamedTuple):
    """The regret against one comparator, or one ball of them, and three bounds on it.

    Each number is at most the next.
    """

    comparator: str
    regret: float | None
    """The regret itself, if the rows were given."""
    certificate: float
    """From the sums of the learner: exact for linear losses, up to rounding."""
    sharp: float | None
    """The theorem in its sharpest form."""
    theorem: float | None
    """The theorem as the paper states it, corrected."""


class Certificate(NamedTuple):
    """Upper bounds on the regret of a learner; print it for a table."""

    learner: str
    loss: str
    trials: int
    dimension: int
    theorem: str | None
    """The theorem that holds for this learner, if one does."""
    A: float
    """sum v g p."""
    origin: RegretBounds
    """u = 0."""
    given: RegretBounds | None
    """The u that was given."""
    best: RegretBounds | None
    """The best u in hindsight, if the rows were given."""
    box: RegretBounds
    simplex: RegretBounds
    ellipsoid: RegretBounds | None
    hindsight: Comparator | None

    @property
    def bounds(self) -> list[RegretBounds]:
        """The lines of the table, in order."""
        lines = (self.origin, self.given, self.best, self.simplex, self.box, self.ellipsoid)
        return [line for line in lines if line is not None]

    def _table(self) -> "BoundsTable":
        theorem = self.theorem or "no theorem holds for this learner; its certificate does"
        counts = f"{self.trials} trials, {self.dimension} dimensions"
        caption = f"{self.learner}, {self.loss} loss: {counts} ({theorem})"
        return BoundsTable(caption, TITLE, self.bounds)

    def _repr_html_(self) -> str:
        return self._table().html()

    def __str__(self) -> str:
        table = str(self._table())
        if self.hindsight is None:
            return table
        return f"{table}\nhindsight: {self.hindsight}"


class BoundsTable(NamedTuple):
    """A table for the terminal (`str`) and for notebooks (`html`)."""

    caption: str
    title: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @property
    def cells(self) -> list[list[str]]:
        """The title and the rows as text."""
        rows = [self.title, *self.rows]
        return [[_cell(value) for value in row] for row in rows]

    def __str__(self) -> str:
        lines = [self.caption]
        first_width = max(len(row[0]) for row in self.cells)
        widths = [max(12, len(name) + 2) for name in self.title[1:]]
        for name, *numbers in self.cells:
            columns = zip(numbers, widths, strict=True)
            line = "".join(number.rjust(width) for number, width in columns)
            lines.append(name.ljust(first_width) + line)
        return "\n".join(lines)

    def html(self) -> str:
        lines = [f"<caption>{escape(self.caption)}</caption>"]
        kind = "th"
        for row in self.cells:
            columns = "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in row)
            lines.append(f"<tr>{columns}</tr>")
            kind = "td"
        return f"<table>{''.join(lines)}</table>"


def _cell(number: float | str | None) -> str:
    if isinstance(number, str):
        return number
    return "-" if number is None else f"{number:.5g}"
