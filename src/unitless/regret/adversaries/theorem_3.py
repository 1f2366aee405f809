"""The adversary of Theorem 3: every learner has regret at least |u|_S sqrt(T/2) against it.

Kotlowski (2017), section 4.1 and appendix C, made numerically sound. It shows x_t = e_t for
t <= d, then x with h'S^-1 x = 0 and x'S^-1 x = c. g is the sign of the prediction, so that
h'S^-1 h = t c / (1 + c) while the loss of the learner never decreases. The paper has c = 1.

`no_growth` needs a new direction in each trial, d = T, and takes any T: x_t = e_t, and g is the
sign of the prediction. Then h'S^+h = T exactly, and every learner has regret at least
|u|_S sqrt(T), which is the largest regret of always predicting 0.
"""

import math

import numpy as np
from scipy.sparse import csr_array

from unitless.core.learner import Learner
from unitless.regret.adversaries.game import Game, trial
from unitless.regret.lower_bounds import theorem_3 as lower_bound
from unitless.state import Float

EXACT_DOUBLINGS = 35
"""S may grow by 2^35 in each of d - 1 directions before h'S^-1 h is wrong in the ninth digit."""


def longest(d: int, c: float = 1.0) -> int:
    """The largest T for which h'S^-1 h stays t c / (1 + c) within 1e-9 in float64.

    The first d trials are exact for any c.

    >>> longest(2), longest(5), longest(5, c=3.0)
    (35, 140, 70)
    """
    doublings = EXACT_DOUBLINGS * (d - 1)
    return max(d, int(doublings / math.log2(1 + c)))


def theorem_3(learner: Learner, d: int, T: int, *, c: float = 1.0, norm: float = 1.0) -> Game:
    """Play T trials in d dimensions and choose u with |u|_S = norm; the learner learns along.

    >>> from unitless.regret.adversaries import opponent
    >>> game = theorem_3(opponent("coordinate"), d=2, T=32)
    >>> print(f"{game.regret:.3f} >= {game.bound:.3f}")
    4.477 >= 4.000
    """
    _refuse(d, T, c, norm)
    R = np.zeros((0, d))  # S = R'R = sum x x'
    q = np.zeros(0)  # h = R'q = -sum g x, so that |q| = |h|_{S^+}
    X = np.eye(T, d)
    p = np.empty(T)
    g = np.empty(T)
    for t in range(T):
        size = math.sqrt(c / (1 + c))
        if t >= d:
            size = 1.0
            X[t] = _instance(R, q, c)
        p[t], g[t] = trial(learner, X[t : t + 1], size)
        Q, R = np.linalg.qr(np.vstack([R, X[t]]))  # h = [R; x]'[q; -g]
        q = Q.T @ np.append(q, -g[t])
    along = np.linalg.lstsq(R, q, rcond=None)[0]  # S^+ h, where h.u is largest
    u = along * (norm / np.linalg.norm(R @ along))
    return Game(learner.name, X, g, p, u, lower_bound(norm, T, c))


def _instance(R: Float, q: Float, c: float) -> Float:
    """x = sqrt(c) R'b with |b| = 1 and b orthogonal to q: of these, the shortest.

    It makes S grow where it is smallest; otherwise precision is lost by T = 50 in any dimension.
    """
    complement = np.linalg.qr(q[:, None], mode="complete")[0][:, 1:]
    candidates = R.T @ complement
    _, _, right = np.linalg.svd(candidates)
    return math.sqrt(c) * (candidates @ right[-1])


def _refuse(d: int, T: int, c: float, norm: float) -> None:
    if d < 2:
        raise ValueError(f"d = {d}: Theorem 3 needs two dimensions, for x orthogonal to S^-1 h")
    if T < 1 or not 0 < c < math.inf or not 0 < norm < math.inf:
        raise ValueError(f"T = {T}, c = {c}, norm = {norm}: all three must be positive and finite")
    limit = longest(d, c)
    if limit < T:
        doublings = T * math.log2(1 + c)
        enough = min(T, 1 + math.ceil(doublings / EXACT_DOUBLINGS))
        raise ValueError(
            f"T = {T} is beyond {limit}, the most in {d} dimensions: each trial multiplies det S "
            f"by 1 + c = {1 + c:g}, and past {EXACT_DOUBLINGS} doublings in each of d - 1 "
            f"directions x cannot be shown precisely enough; use d >= {enough}, a smaller c, or "
            "the no_growth adversary, which takes any T"
        )


def no_growth(learner: Learner, T: int, *, norm: float = 1.0) -> Game:
    """Play T trials in T dimensions; u = norm * h / |h|, because S is the identity.

    >>> from unitless.regret.adversaries import opponent
    >>> game = no_growth(opponent("coordinate"), T=25)
    >>> print(f"{game.regret:.3f} >= {game.bound:.3f}")
    5.000 >= 5.000
    """
    if T < 1 or not 0 < norm < math.inf:
        raise ValueError(f"T = {T}, norm = {norm}: both must be positive and finite")
    p = np.empty(T)
    g = np.empty(T)
    for t in range(T):
        x = csr_array(([1.0], [t], [0, 1]), shape=(1, T))
        p[t], g[t] = trial(learner, x)
    u = -g * norm / math.sqrt(T)
    return Game(learner.name, np.eye(T), g, p, u, norm * math.sqrt(T))
