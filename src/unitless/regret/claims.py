"""The numbers of a certificate, with their names, and the table they print as."""

from typing import NamedTuple

from unitless.regret.comparator import Comparator

__all__ = ["Certificate", "Claim"]


class Claim(NamedTuple):
    """Four numbers about one comparator, or one ball of them, each at most the next."""

    comparator: str
    regret: float | None
    """The regret itself, where rows are kept."""
    certificate: float
    """A + h.u: exact for linear losses, an upper bound for convex ones."""
    sharp: float | None
    """The theorem in its sharpest form."""
    theorem: float | None
    """The theorem as the paper states it, corrected."""


class Certificate(NamedTuple):
    """What is certain about a learner's regret; print it for a table."""

    learner: str
    loss: str
    trials: int
    dimension: int
    theorem: str | None
    """The theorem that holds for this learner, if one does."""
    A: float
    """sum v g p."""
    origin: Claim
    """u = 0."""
    given: Claim | None
    """The u that was asked about."""
    best: Claim | None
    """The best u in hindsight, where rows are kept."""
    box: Claim
    simplex: Claim
    ellipsoid: Claim | None
    hindsight: Comparator | None

    @property
    def claims(self) -> list[Claim]:
        """All claims made, in order."""
        made = (self.origin, self.given, self.best, self.simplex, self.box, self.ellipsoid)
        return [claim for claim in made if claim is not None]

    def __str__(self) -> str:
        head = (
            f"{self.learner}, {self.loss} loss: {self.trials} trials, {self.dimension} dimensions"
        )
        theorem = self.theorem or "no theorem holds for this learner; its certificate does"
        width = max(len(claim.comparator) for claim in self.claims)
        title = ("regret against", "true", "certified", "sharp", "theorem")
        table: list[tuple[str | float | None, ...]] = [title, *self.claims]
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
