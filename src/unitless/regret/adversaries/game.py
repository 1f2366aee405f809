"""The game of the paper's Figure 1 with linear losses: x is shown, p predicted, g revealed.

The loss is g p. A learner of the linear loss gets g itself; one that takes labels gets
y = -sign(g) with sample weight |g|. The lower bounds hold whatever it learns from that.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless import learners
from unitless.learners.base import Learner
from unitless.rows import as_rows

__all__ = ["Game", "opponent"]

Float = NDArray[np.float64]


class Game(NamedTuple):
    """A finished game, and what it cost the learner."""

    learner: str
    X: Float
    """The instances, row t of trial t."""
    g: Float
    """The gradients."""
    p: Float
    """The predictions."""
    u: Float
    """The comparator that the adversary chose."""
    bound: float | None
    """The regret against u that the adversary forces, if a theorem says so."""

    @property
    def norm(self) -> float:
        """|u|_S = sqrt(sum (x.u)^2), of the instances as they were shown."""
        return float(np.linalg.norm(self.X @ self.u))

    @property
    def regret(self) -> float:
        """sum g (p - x.u)."""
        return float(np.sum(self.g * (self.p - self.X @ self.u)))


class GameFactor:
    """R and q with S = R'R = sum x x' and h = R'q = -sum g x, so that |q| = |h|_{S^+}."""

    def __init__(self, d: int) -> None:
        self.R, self.q = np.zeros((0, d)), np.zeros(0)

    def append(self, x: Float, g: float) -> None:
        """Add one trial: [R; x] = Q R_new and h = [R; x]'[q; -g]."""
        Q, self.R = np.linalg.qr(np.vstack([self.R, x]))
        self.q = Q.T @ np.append(self.q, -g)


def opponent(name: str, **parameters: Any) -> Learner:
    """A learner by name for these games: with the linear loss if it takes it, no intercept.

    >>> opponent("coordinate", alpha=1.5).loss.name
    'linear'
    """
    learner = learners.get(name)
    try:
        return learner(loss="linear", intercept=False, **parameters)
    except ValueError:
        return learner(intercept=False, **parameters)


def trial(
    learner: Learner, x: Any, size: float, choose: Callable[[float], float]
) -> tuple[float, float]:
    """One trial: (p, g), g = size * choose(p) with choose(p) = +1 or -1. `x` is one row, 2-d."""
    slopes = learner.loss.targets == "slopes"
    weights = None if slopes else [size]
    p = float(learner.predict(as_rows(x, weights=weights))[0])
    sign = choose(p)
    learner.learn(as_rows(x, [size * sign if slopes else -sign], weights))
    return p, size * sign


def against(p: float) -> float:
    """The sign of g that makes the loss g p positive (or 0); + where p = 0."""
    return 1.0 if p >= 0 else -1.0
