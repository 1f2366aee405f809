"""The greedy adversary: given instances, the worse sign for each gradient.

Worse means a larger regret against the worst u of a ball after the trial (theory.md):
sum g p + B sum |h_i| / s_i for |u_i| s_i <= B, or sum g p + B |h|_{S^+} for |u|_S <= B.
No lower bound holds for it; tests use it to search for violations of the theorems.
"""

import numpy as np

from unitless.regret.adversaries.game import Game, trial


def greedy(learner, X, *, B=1.0, ball="box"):
    """Show the rows of X in order, each time with the worse of g = -1 and g = +1."""
    worst = _worst_in_box if ball == "box" else _worst_in_ellipsoid
    g = np.empty(len(X))
    p = np.empty(len(X))
    for t in range(len(X)):
        so_far = slice(t + 1)
        gains = []
        for g[t] in (1.0, -1.0):
            u = worst(X[so_far], g[so_far])
            gains.append(-g[so_far] @ X[so_far] @ u)
        indifferent = B * (gains[1] - gains[0]) / 2  # there p + B up = -p + B down
        p[t], g[t] = trial(learner, X[t : t + 1], 1.0, indifferent)
    u = B * worst(X, g)
    return Game(learner.name, X, g, p, u, None)


def _worst_in_box(X, g):
    """The u with |u_i| s_i <= 1 and the largest h.u: sign(h_i) / s_i."""
    s = np.linalg.norm(X, axis=0)
    h = -g @ X
    return np.divide(np.sign(h), s, out=np.zeros_like(s), where=s > 0)


def _worst_in_ellipsoid(X, g):
    """The u with |u|_S <= 1 and the largest h.u: S^+ h, scaled."""
    u = np.linalg.lstsq(X, -g, rcond=None)[0]
    norm = np.linalg.norm(X @ u)
    return u / (norm or 1.0)
