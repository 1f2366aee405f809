"""Lower bounds on the regret, which hold for every learner.

Kotlowski (2017), Theorem 3 and Lemma 1; Streeter and McMahan (2012), Theorem 7.
The games that prove them are in `unitless.regret.adversaries`.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from unitless.state import Float


def theorem_3(norm: float, T: int, c: float = 1.0) -> float:
    """Theorem 3: every learner has regret |u|_S sqrt(T c / (1 + c)) on some data with d >= 2.

    c is x'S^-1 x of the instances; the paper has c = 1. As c grows the constant approaches 1. It
    cannot be larger, as the learner that always predicts 0 shows (`bounds.zero`).

    >>> theorem_3(1.0, 50), round(theorem_3(1.0, 50, c=100.0), 3)
    (5.0, 7.036)
    """
    return norm * math.sqrt(T * c / (1 + c))


def streeter_mcmahan(u: ArrayLike, T: int, wealth: float = 1.0) -> Float:
    """Lemma 1 without its Omega: d = 1, x = 1, any learner whose regret against 0 is <= wealth.

    For some signs g_1..g_T regret(u) is at least the number returned, and this is the best possible
    bound: on fair coins every learner gains 0 on average, and must end with at least both -wealth
    and u h - regret(u). So regret(u) = wealth + c where E max(0, |u| h - c) = wealth.

    >>> streeter_mcmahan([0.0, 1.0, 10.0], T=100).round(2)
    array([  0.  ,  10.05, 194.58])
    """
    size = np.abs(np.asarray(u, dtype=np.float64))
    moves = size > 0
    tails = np.arange(T + 1.0)
    at_least = bdtr(tails, T, 0.5)  # the chance that h >= T - 2 tails
    # E max(0, h - m) is linear between the values m = T, T - 2, .. of h; below -T it is -m.
    excess = np.append(0.0, 2 * np.cumsum(at_least)[:-1])
    need = np.divide(wealth, size, out=np.zeros_like(size), where=moves)
    inside = np.interp(need, excess, T - 2 * tails)
    m = np.where(need < T, inside, -need)
    return np.where(moves, wealth + size * m, 0.0)


def streeter_mcmahan_shape(u: ArrayLike, T: int) -> Float:
    """Lemma 1's shape |u| sqrt(T) sqrt(log(|u| sqrt(T))), 0 where |u| sqrt(T) <= 1 (erratum 14).

    >>> streeter_mcmahan_shape([0.1, 1.0, 10.0], T=100).round(2)
    array([  0.  ,  15.17, 214.6 ])
    """
    size = np.abs(np.asarray(u, dtype=np.float64))
    a = size * math.sqrt(T)
    logarithm = np.log(np.maximum(a, 1.0))
    return np.asarray(a * np.sqrt(logarithm))
