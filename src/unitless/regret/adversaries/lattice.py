"""The exact worst case of Algorithm 1 at d = 1, x = 1, over all 2^T sequences of signs.

The state of the learner is then (t, h), so that the largest loss on the way to h follows from the
largest losses on the way to its two neighbours one trial earlier (docs/explanation/theory.md):

    F_t(h) = max(F_{t-1}(h + 1) + w_t(h + 1), F_{t-1}(h - 1) - w_t(h - 1))

and the worst regret(u) is max_h F_T(h) + h u, for all u at once. O(T^2). Fractional gradients
can be up to 6 % worse.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unitless.regret.bounds import theorem_1, theorem_1_sharp
from unitless.regret.lower_bounds import streeter_mcmahan, streeter_mcmahan_shape
from unitless.state import Float

MAX_POTENTIAL_EXPONENT = 500.0
"""As in `unitless.learners.coordinate`."""


class Lattice(NamedTuple):
    """The largest loss for each h = -sum g."""

    h: Float
    F: Float
    """The largest sum g p over the sign sequences that end in h."""

    def regret(self, u: ArrayLike) -> Float:
        """The largest regret against u, for each u."""
        gains = np.multiply.outer(np.asarray(u, dtype=np.float64), self.h)
        return np.asarray(np.max(self.F + gains, axis=-1))


class WorstCaseCurve(NamedTuple):
    """The worst case of Algorithm 1 over u, between its lower and its upper bounds."""

    u: Float
    shape: Float
    """Lemma 1's |u| sqrt(T log(|u| sqrt(T))), constant left out."""
    lower: Float
    """Lemma 1, exact, for learners whose regret against u = 0 is as small as this one's."""
    worst: Float
    sharp: Float
    theorem_1: Float


def _largest_losses(T: int, alpha: float, wealth: float) -> Float:
    """F_T at h = -T, -T + 2, .., T."""
    F = np.zeros(1)
    for t in range(1, T + 1):
        h = np.arange(1.0 - t, t, 2.0)
        w = wealth / (alpha * t) * _weights(h, t, alpha)
        F = np.maximum(np.append(F + w, -np.inf), np.append(-np.inf, F - w))
    return F


def _weights(h: Float, t: int, alpha: float) -> Float:
    """The weights of Algorithm 1 with s2 = t and x = 1, without their factor eps / (alpha t d)."""
    exponents = (h * h + 1.0) / t * (0.5 / alpha)
    return h / t * np.exp(np.minimum(exponents, MAX_POTENTIAL_EXPONENT))


def lattice(T: int, *, alpha: float = 1.2, wealth: float = 1.0) -> Lattice:
    """The worst case over all sign sequences of length T.

    >>> worst = lattice(100)
    >>> worst.regret([0.0, 1.0, 10.0]).round(3)
    array([  0.465,  34.192, 407.22 ])
    """
    if T < 1:
        raise ValueError(f"T = {T}: there must be at least one trial")
    return Lattice(np.arange(-T, T + 1, 2.0), _largest_losses(T, alpha, wealth))


def curve(u: ArrayLike, T: int, *, alpha: float = 1.2, wealth: float = 1.0) -> WorstCaseCurve:
    """The worst case over u, with the lower and upper bounds.

    >>> c = curve([1.0], 100)
    >>> print(*(f"{field[0]:.1f}" for field in c[2:]))
    13.4 34.2 37.9 4445.4
    """
    u = np.atleast_1d(np.asarray(u, dtype=np.float64))
    worst = lattice(T, alpha=alpha, wealth=wealth)
    at_zero = float(worst.regret(0.0))
    data: dict[str, Any] = {"d": 1, "T": T, "alpha": alpha, "wealth": wealth}
    sizes = np.abs(u) * math.sqrt(T)
    return WorstCaseCurve(
        u,
        shape=streeter_mcmahan_shape(u, T),
        lower=streeter_mcmahan(u, T, at_zero),
        worst=worst.regret(u),
        sharp=np.array([theorem_1_sharp([a], **data) for a in sizes]),
        theorem_1=np.array([theorem_1([a], **data) for a in sizes]),
    )
