"""What a learner can certify about its own regret while it runs, in O(d).

theory.md 4. By convexity regret(u) <= A + h.u for every u, with A = sum v g p and h = -sum v g x:
sums the learner keeps anyway. So the worst u of a ball is known in closed form:

    ============ ======================= ==========================
    ball         comparators             largest regret
    ============ ======================= ==========================
    box          |u_i| s_i <= B          A + B sum |h_i| / s_i
    simplex      sum |u_i| s_i <= B      A + B max |h_i| / s_i
    ellipsoid    |u|_S <= B              A + B |h|_{S^+} (Full only)
    ============ ======================= ==========================

Beside these facts stands what a theorem had promised in advance, where the learner has one.
"""

import inspect
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.learners.protocol import Learner, Sums, Weights
from unitless.regret.comparator import Comparator, best_comparator
from unitless.regret.design import predictions
from unitless.regret.promise import promised
from unitless.rows import Rows

__all__ = ["Certificate", "Claim", "certificate"]

Float = NDArray[np.float64]


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
        head = f"{self.learner}, {self.loss} loss: {self.trials} trials, {self.dimension} dimensions"
        theorem = self.theorem or "no theorem holds for this learner; its certificate does"
        width = max(len(claim.comparator) for claim in self.claims)
        title = f"{'regret against':<{width}}  {'true':>11}  {'certified':>11}  {'sharp':>11}  theorem"
        lines = [
            f"{claim.comparator:<{width}}  " + "  ".join(_cell(number) for number in claim[1:])
            for claim in self.claims
        ]
        foot = [f"hindsight: {self.hindsight}"] if self.hindsight else []
        return "\n".join([f"{head} ({theorem})", title, *lines, *foot])


def _cell(number: float | None) -> str:
    return f"{'-':>11}" if number is None else f"{number:>11.5g}"


def certificate(
    learner: Learner,
    u: Weights | ArrayLike | None = None,
    rows: Rows | None = None,
    *,
    scores: ArrayLike | None = None,
    ball: float = 1.0,
) -> Certificate:
    """Certify the regret of a learner, at any moment of its life.

    Parameters
    ----------
    learner : Learner
        Only its sums are read.
    u : Weights or array, optional
        A comparator of interest, by column (an array has no intercept).
    rows : Rows, optional
        The rows it learned, all of them and in order, if they are kept: then the best comparator
        in hindsight is found and the true regret is known.
    scores : array, optional
        What `learn` returned for these rows. Without it a fresh learner repeats them.
    ball : float
        The B of the balls; it has no unit, because |u_i| s_i has none.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.learners import Coordinate
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X[:, :2], 2 * y - 1)
    >>> learner = Coordinate()
    >>> scores = learner.learn(rows)
    >>> print(certificate(learner, rows=rows))
    """
    sums = learner.sums()
    losses_ = None if rows is None else _losses(learner, rows, scores, sums)
    hindsight = None
    if rows is not None:
        hindsight = best_comparator(learner.loss, rows, intercept=learner.intercept)
    zero = Weights(0.0, np.zeros(len(sums.s) - 1))
    given = None if u is None else u if isinstance(u, Weights) else Weights(0.0, np.asarray(u))

    def claim(name: str, weights: Weights | None) -> Claim | None:
        return None if weights is None else _claim(name, learner, sums, weights, rows, losses_)

    origin = claim("u = 0", zero)
    assert origin is not None
    return Certificate(
        learner.name, learner.loss.name, sums.trials, sums.dimension, learner.theorem, sums.A,
        origin, claim("u given", given),
        claim("u best in hindsight", hindsight.weights if hindsight else None),
        *_balls(learner, sums, ball), hindsight,
    )  # fmt: skip
