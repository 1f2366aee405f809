"""The bound of a learner's theorem, evaluated on the data it has seen.

A theorem speaks of loss / L, so its bound is multiplied by L. There is one function per theorem. A
learner names its own in `Learner.theorem`; if it names none, there is no bound.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.learners.base import Learner, Sums, Weights
from unitless.regret import bounds

__all__ = ["Size", "TheoremBounds", "size_of", "theorem_bounds"]

Float = NDArray[np.float64]


class Size(NamedTuple):
    """How large a comparator is, in numbers without a unit."""

    a: Float
    """|u_i| s_i of the coordinates with s_i > 0."""
    norm: float
    """|u|_S, or its upper bound sum |u_i| s_i where S is not kept."""


class TheoremBounds(NamedTuple):
    """The bound of a theorem: in its sharpest form, and as in the paper (corrected)."""

    sharp: float | None
    theorem: float | None


def size_of(u: Weights, learner: Learner, sums: Sums) -> Size:
    """The size of u on the data this learner has seen."""
    a = np.abs(np.append(u.intercept, u.features)) * sums.s
    norm = _norm(u, learner) if hasattr(learner.state, "R") else float(np.sum(a))
    return Size(a[sums.s > 0], norm)


def _norm(u: Weights, learner: Any) -> float:
    """|u|_S = |R u|, where the columns of R have the units and the order of the learner."""
    state = learner.state
    taken = state.coordinates[state.coordinates >= 0]
    scaled = np.append(u.intercept, u.features)[taken]
    if len(learner._units):
        scaled = scaled / learner._units[taken]
    terms = np.sum(state.R[:, : len(taken)] * scaled, axis=1)
    return float(np.sqrt(np.sum(terms * terms)))


def theorem_bounds(learner: Learner, sums: Sums, size: Size) -> TheoremBounds:
    """The bound on the regret against comparators of that size."""
    theorem = THEOREMS.get(learner.theorem or "")
    if theorem is None:
        return TheoremBounds(None, None)
    sharp, printed = theorem(learner, sums, size)
    lipschitz = learner.loss.lipschitz
    return TheoremBounds(lipschitz * sharp, lipschitz * printed)


def _theorem_1(learner: Any, sums: Sums, size: Size) -> tuple[float, float]:
    data = {
        "d": max(learner.d or sums.dimension, 1),
        "T": sums.trials,
        "alpha": learner.alpha,
        "wealth": learner.wealth,
    }
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
