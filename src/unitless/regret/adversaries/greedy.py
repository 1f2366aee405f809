"""The greedy adversary: given instances, the worse sign for each gradient.

Worse means a larger regret against the worst u of a ball after the trial (theory.md):
sum g p + B sum |h_i| / s_i for |u_i| s_i <= B, or sum g p + B |h|_{S^+} for |u|_S <= B.
No lower bound holds for it; tests use it to search for violations of the theorems.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unitless.learners.base import Float, Learner
from unitless.regret.adversaries.game import Game, trial


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
    worst = _worst_in_box if ball == "box" else _worst_in_ellipsoid
    g = np.empty(len(X))
    p = np.empty(len(X))
    for t in range(len(X)):
        shown = X[: t + 1]
        gains = []
        for g[t] in (1.0, -1.0):
            gains.append(-g[: t + 1] @ shown @ worst(shown, g[: t + 1]))
        indifferent = B * (gains[1] - gains[0]) / 2  # there p + B up = -p + B down
        p[t], g[t] = trial(learner, X[t : t + 1], 1.0, indifferent)
    return Game(learner.name, X, g, p, B * worst(X, g), None)


def _worst_in_box(X: Float, g: Float) -> Float:
    """The u with |u_i| s_i <= 1 and the largest h.u: sign(h_i) / s_i."""
    s = np.linalg.norm(X, axis=0)
    return np.sign(-g @ X) * np.divide(1.0, s, out=np.zeros_like(s), where=s > 0)


def _worst_in_ellipsoid(X: Float, g: Float) -> Float:
    """The u with |u|_S <= 1 and the largest h.u: S^+ h, scaled."""
    u = np.linalg.lstsq(X, -g, rcond=None)[0]
    return np.asarray(u / (np.linalg.norm(X @ u) or 1.0))
