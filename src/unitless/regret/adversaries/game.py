"""The game of the paper's Figure 1 with linear losses: x is shown, p predicted, g revealed.

The loss is g p. A learner of the linear loss gets g itself; one that takes labels gets
y = -sign(g) with sample weight |g|. The lower bounds hold whatever it learns from that.
"""

from typing import Any, NamedTuple

import numpy as np

from unitless import learners
from unitless.core.learner import Learner
from unitless.rows import as_rows
from unitless.state import Float


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
        better = self.p - self.X @ self.u
        return float(self.g @ better)


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
    learner: Learner, x: object, size: float = 1.0, limit: float = 0.0
) -> tuple[float, float]:
    """One trial: (p, g), g = size if p >= limit, else -size. `x` is one row, 2-d.

    At the limit 0 the loss g p is never negative.
    """
    slopes = learner.loss.targets == "slopes"
    weights = None if slopes else [size]
    shown = as_rows(x, weights=weights)
    p = float(learner.predict(shown)[0])
    g = size if p >= limit else -size
    target = g if slopes else -np.sign(g)
    learner.learn(as_rows(x, [target], weights))
    return p, g
