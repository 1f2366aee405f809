"""The numbers of a certificate, with their names, and the table they print as."""

from collections.abc import Iterable, Sequence
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

    @property
    def members(self) -> dict[str, Any]:
        """None: only the certificate of a Blend has members (`BlendCertificate`)."""
        return {}

    @property
    def _head(self) -> str:
        theorem = self.theorem or "no theorem holds for this learner; its certificate does"
        counts = f"{self.trials} trials, {self.dimension} dimensions"
        return f"{self.learner}, {self.loss} loss: {counts} ({theorem})"

    def _repr_html_(self) -> str:
        return html_table(self._head, TITLE, self.bounds)

    def __str__(self) -> str:
        width = max(len(line.comparator) for line in self.bounds)
        table: list[tuple[str | float | None, ...]] = [TITLE, *self.bounds]
        lines = [
            f"{name:<{width}}" + "".join(f"  {_cell(number):>10}" for number in numbers)
            for name, *numbers in table
        ]
        foot = [f"hindsight: {self.hindsight}"] if self.hindsight else []
        return "\n".join([self._head, *lines, *foot])


def html_table(caption: str, title: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A table as notebooks show it."""
    lines = [f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in title)}</tr>"]
    for row in rows:
        cells = "".join(f"<td>{escape(_cell(cell))}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return f"<table><caption>{escape(caption)}</caption>{''.join(lines)}</table>"


def _cell(number: float | str | None) -> str:
    if isinstance(number, str):
        return number
    return "-" if number is None else f"{number:.5g}"
