"""The numbers of a certificate, with their names, and the table they print as."""

from typing import NamedTuple

from unitless.regret.comparator import Comparator

__all__ = ["Certificate", "RegretBounds"]


class RegretBounds(NamedTuple):
    """The regret against one comparator, or one ball of them, and three bounds on it.

    Each number is at most the next.
    """

    comparator: str
    regret: float | None
    """The regret itself, if the rows were given."""
    certificate: float
    """A + h.u: exact for linear losses, an upper bound for convex ones."""
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

    def __str__(self) -> str:
        head = (
            f"{self.learner}, {self.loss} loss: {self.trials} trials, {self.dimension} dimensions"
        )
        theorem = self.theorem or "no theorem holds for this learner; its certificate does"
        width = max(len(line.comparator) for line in self.bounds)
        title = ("regret against", "true", "certified", "sharp", "theorem")
        table: list[tuple[str | float | None, ...]] = [title, *self.bounds]
        lines = [
            f"{name:<{width}}" + "".join(f"  {_cell(number):>10}" for number in numbers)
            for name, *numbers in table
        ]
        foot = [f"hindsight: {self.hindsight}"] if self.hindsight else []
        return "\n".join([f"{head} ({theorem})", *lines, *foot])


def _cell(number: float | str | None) -> str:
    if isinstance(number, str):
        return number
    return "-" if number is None else f"{number:.5g}"
