"""The adversary without growth: a new direction in each trial, d = T, any T.

x_t = e_t and g is the sign of the prediction (docs/theory.md). Then h'S^+h = T exactly, and every
learner has regret at least |u|_S sqrt(T), which is the largest regret of always predicting 0.
"""

import math

import numpy as np
from scipy.sparse import csr_array

from unitless.learners.base import Learner
from unitless.regret.adversaries.game import Game, against, trial

__all__ = ["no_growth"]


def no_growth(learner: Learner, T: int, *, norm: float = 1.0) -> Game:
    """Play T trials in T dimensions; u = norm * h / |h|, because S is the identity.

    >>> from unitless.regret.adversaries import opponent
    >>> game = no_growth(opponent("coordinate"), T=25)
    >>> print(f"{game.regret:.3f} >= {game.bound:.3f}")
    5.000 >= 5.000
    """
    if T < 1 or not 0 < norm < math.inf:
        raise ValueError(f"T = {T}, norm = {norm}: both must be positive and finite")
    trials = [
        trial(learner, csr_array(([1.0], [t], [0, 1]), shape=(1, T)), 1.0, against)
        for t in range(T)
    ]
    p, g = np.array(trials).T
    return Game(learner.name, np.eye(T), g, p, -g * norm / math.sqrt(T), norm * math.sqrt(T))
