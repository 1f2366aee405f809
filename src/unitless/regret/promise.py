"""What a learner's theorem promised in advance, on the data it has actually seen.

A theorem speaks of loss / L, so its bound is multiplied by L. One function a theorem; a learner
names its own in `Learner.theorem`, and one that names none is promised nothing.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.learners.base import Learner, Sums, Weights
from unitless.regret import bounds

__all__ = ["Promise", "Size", "promised", "size_of"]

Float = NDArray[np.float64]


class Size(NamedTuple):
    """How large a comparator is, in numbers without a unit."""

    a: Float
    """|u_i| s_i of the coordinates with s_i > 0."""
    norm: float
    """|u|_S, or its upper bound sum |u_i| s_i where S is not kept."""


class Promise(NamedTuple):
    """A theorem's bound: the sharpest form, and the paper's (corrected)."""

    sharp: float | None
    theorem: float | None


def size_of(u: Weights, learner: Learner, sums: Sums) -> Size:
    """The size of u to this learner."""
    a = np.abs(np.append(u.intercept, u.features)) * sums.s
    norm = _norm(u, learner.state) if hasattr(learner.state, "R") else float(np.sum(a))
    return Size(a[sums.s > 0], norm)


def _norm(u: Weights, state: Any) -> float:
    """|u|_S = |R u|, R's columns having the units and the order of the learner."""
    taken = state.coordinates[state.coordinates >= 0]
    scaled = np.append(u.intercept, u.features)[taken] / state.units[: len(taken)]
    terms = np.sum(state.R[:, : len(taken)] * scaled, axis=1)
    return float(np.sqrt(np.sum(terms * terms)))


def promised(learner: Learner, sums: Sums, size: Size) -> Promise:
    """The bound on the regret against comparators of that size."""
    theorem = THEOREMS.get(learner.theorem or "")
    if theorem is None:
        return Promise(None, None)
    sharp, printed = theorem(learner, sums, size)
    return Promise(learner.loss.lipschitz * sharp, learner.loss.lipschitz * printed)


def _theorem_1(learner: Any, sums: Sums, size: Size) -> tuple[float, float]:
    d, T, alpha, wealth = learner.d or sums.dimension, sums.trials, learner.alpha, learner.wealth
    data = {"d": max(d, 1), "T": T, "alpha": alpha, "wealth": wealth}
    sharp = bounds.theorem_1_sharp(size.a, growing=learner.d is None, **data)
    return sharp, bounds.theorem_1(size.a, **data)


def _theorem_2(learner: Any, sums: Sums, size: Size) -> tuple[float, float]:
    data = {"gamma": learner.gamma(), "alpha": learner.alpha, "wealth": learner.wealth}
    return bounds.theorem_2_sharpest(size.norm, **data), bounds.theorem_2(size.norm, **data)


def _zero(learner: Learner, sums: Sums, size: Size) -> tuple[float, float]:
    bound = bounds.zero(size.norm, sums.trials)
    return bound, bound


THEOREMS: dict[str, Callable[[Any, Sums, Size], tuple[float, float]]] = {
    "Theorem 1": _theorem_1,
    "Theorem 2": _theorem_2,
    "section 4.1": _zero,
}
