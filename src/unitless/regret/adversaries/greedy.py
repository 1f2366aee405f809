"""The greedy adversary: given instances, the worse sign for each gradient.

Worse means a larger regret against the worst u of a ball after the trial (docs/theory.md):
sum g p + B sum |h_i| / s_i for |u_i| s_i <= B, or sum g p + B |h|_{S^+} for |u|_S <= B.
No lower bound holds for it; tests use it to search for violations of the theorems.
"""

from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.learners.base import Learner
from unitless.regret.adversaries.game import Game, GameFactor, trial

__all__ = ["greedy"]

Float = NDArray[np.float64]


class _Box:
    """|u_i| s_i <= 1 for every i: the worst u is sign(h_i) / s_i."""

    def __init__(self, d: int) -> None:
        self.h, self.s2 = np.zeros(d), np.zeros(d)

    def sizes(self, x: Float) -> tuple[float, float]:
        """The largest h.u after g = +1 and after g = -1."""
        scale = _inverse_root(self.s2 + x * x)
        up, down = np.abs(self.h - x) @ scale, np.abs(self.h + x) @ scale
        return float(up), float(down)

    def append(self, x: Float, g: float) -> None:
        self.h, self.s2 = self.h - g * x, self.s2 + x * x

    def worst(self) -> Float:
        return np.sign(self.h) * _inverse_root(self.s2)


class _Ellipsoid(GameFactor):
    """|u|_S <= 1: the worst u is S^+ h, scaled."""

    def sizes(self, x: Float) -> tuple[float, float]:
        Q = np.linalg.qr(np.vstack([self.R, x]))[0]
        up, down = (np.linalg.norm(Q.T @ np.append(self.q, -g)) for g in (1.0, -1.0))
        return float(up), float(down)

    def worst(self) -> Float:
        u = np.linalg.lstsq(self.R, self.q, rcond=None)[0]
        return np.asarray(u / (np.linalg.norm(self.R @ u) or 1.0))


def _inverse_root(s2: Float) -> Float:
    return np.divide(1.0, np.sqrt(s2), out=np.zeros_like(s2), where=s2 > 0)


def _above(limit: float, p: float) -> float:
    return 1.0 if p >= limit else -1.0


def greedy(
    learner: Learner, X: ArrayLike, *, B: float = 1.0, ball: Literal["box", "S"] = "box"
) -> Game:
    """Show the rows of X in order, each time with the worse of g = -1 and g = +1.

    >>> from unitless.regret.adversaries import opponent
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> game = greedy(opponent("coordinate"), X)
    >>> round(game.regret, 3)
    5.476
    """
    X = np.asarray(X, dtype=np.float64)
    state = _Box(X.shape[1]) if ball == "box" else _Ellipsoid(X.shape[1])
    trials = []
    for x in X:
        up, down = state.sizes(x)
        indifferent = B * (down - up) / 2  # there p + B up = -p + B down
        p, g = trial(learner, x[None], 1.0, partial(_above, indifferent))
        state.append(x, g)
        trials.append((p, g))
    predictions, gradients = np.array(trials).T
    return Game(learner.name, X, gradients, predictions, B * state.worst(), None)
