"""The adversary of Theorem 3: every learner has regret at least |u|_S sqrt(T/2) against it.

Kotlowski (2017), section 4.1 and appendix C, made numerically sound. It shows x_t = e_t for
t <= d, then x with h'S^-1 x = 0 and x'S^-1 x = c. g is the sign of the prediction, so that
h'S^-1 h = t c / (1 + c) while the loss of the learner never decreases. The paper has c = 1.
"""

import math

import numpy as np
from numpy.typing import NDArray

from unitless.learners.base import Learner
from unitless.regret.adversaries.game import Game, GameFactor, against, trial
from unitless.regret.lower_bounds import theorem_3 as lower_bound

__all__ = ["DOUBLINGS", "longest", "theorem_3"]

Float = NDArray[np.float64]

DOUBLINGS = 35
"""S may grow by 2^35 in each of d - 1 directions before h'S^-1 h is wrong in the ninth digit."""


def longest(d: int, c: float = 1.0) -> int:
    """The largest T for which h'S^-1 h stays t c / (1 + c) within 1e-9 in float64.

    The first d trials are exact for any c.

    >>> longest(2), longest(5), longest(5, c=3.0)
    (35, 140, 70)
    """
    return max(d, int(DOUBLINGS * (d - 1) / math.log2(1 + c)))


def theorem_3(learner: Learner, d: int, T: int, *, c: float = 1.0, norm: float = 1.0) -> Game:
    """Play T trials in d dimensions and choose u with |u|_S = norm; the learner learns along.

    >>> from unitless.regret.adversaries import opponent
    >>> game = theorem_3(opponent("coordinate"), d=2, T=32)
    >>> print(f"{game.regret:.3f} >= {game.bound:.3f}")
    4.477 >= 4.000
    """
    _refuse(d, T, c, norm)
    state = GameFactor(d)
    shown = []
    for t in range(T):
        x = np.eye(d)[t] if t < d else _instance(state, c)
        size = math.sqrt(c / (1 + c)) if t < d else 1.0
        p, g = trial(learner, x[None], size, against)
        state.append(x, g)
        shown.append((x, p, g))
    X, predictions, gradients = (np.array(column) for column in zip(*shown, strict=True))
    u = _comparator(state, norm)
    return Game(learner.name, X, gradients, predictions, u, lower_bound(norm, T, c))


def _instance(state: GameFactor, c: float) -> Float:
    """x = sqrt(c) R'b with |b| = 1 and b orthogonal to q: of these, the shortest.

    The shortest makes S grow where it is smallest. With any other choice one direction grows faster
    than the others, and precision is lost by T = 50 in every dimension.
    """
    complement = np.linalg.qr(state.q[:, None], mode="complete")[0][:, 1:]
    candidates = state.R.T @ complement
    _, _, right = np.linalg.svd(candidates)
    return math.sqrt(c) * (candidates @ right[-1])


def _comparator(state: GameFactor, norm: float) -> Float:
    """u along S^+ h, where h.u / |u|_S is largest."""
    u = np.linalg.lstsq(state.R, state.q, rcond=None)[0]
    return np.asarray(u * (norm / np.linalg.norm(state.R @ u)))


def _refuse(d: int, T: int, c: float, norm: float) -> None:
    if d < 2:
        raise ValueError(f"d = {d}: Theorem 3 needs two dimensions, for x orthogonal to S^-1 h")
    if T < 1 or not 0 < c < math.inf or not 0 < norm < math.inf:
        raise ValueError(f"T = {T}, c = {c}, norm = {norm}: all three must be positive and finite")
    limit = longest(d, c)
    if limit < T:
        raise ValueError(
            f"T = {T} is beyond {limit}, the most in {d} dimensions: each trial multiplies det S "
            f"by 1 + c = {1 + c:g}, and past {DOUBLINGS} doublings in each of d - 1 directions x "
            f"cannot be shown precisely enough; use d >= {_dimension(T, c)}, a smaller c, or the "
            "no_growth adversary, which takes any T"
        )


def _dimension(T: int, c: float) -> int:
    d = 2
    while longest(d, c) < T:
        d += 1
    return d
