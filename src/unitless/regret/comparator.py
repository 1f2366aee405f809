"""The best fixed weights in hindsight, with a proof of how good they are.

SciPy finds the weights (`solvers`); duality says how much better any others could be
(`duality`); a linear programme recognises data on which no finite weights are best
(`separable`). Units are taken off first (`design`), so they change nothing.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless import losses
from unitless.learners.base import Weights
from unitless.losses import Loss
from unitless.regret.design import Design, Matrix, design, matrix
from unitless.regret.duality import lower_bound
from unitless.regret.separable import separation
from unitless.regret.solvers import minimised
from unitless.rows import Rows

__all__ = ["Comparator", "best_comparator"]

Float = NDArray[np.float64]

RADIUS = 1e3
"""The proof covers comparators this many times larger than the one found."""

MARGIN = 25.0
"""Weights that stand for infinite ones give separated rows this margin: a loss of e^-25 each."""


class Comparator(NamedTuple):
    """The best fixed weights found, and what is known about all others."""

    weights: Weights
    loss: float
    """sum v loss(y, x.u) of these weights."""
    infimum: float
    """What the loss of the best weights, or of ever better ones, comes to."""
    lower: float
    """No weights within the radius have a smaller loss: proved by duality, not by the solver."""
    radius: float
    """Of |u|_S (of sqrt(sum u_i^2 s_i^2) for large sparse data)."""
    attained: bool
    """Whether finite weights reach the infimum."""
    separated: int
    """Rows whose loss falls to 0 for ever along `direction`."""
    direction: Weights | None

    @property
    def gap(self) -> float:
        """How far the weights can be from the best: their loss minus the lower bound."""
        return self.loss - self.lower

    def __str__(self) -> str:
        kind = "attained" if self.attained else f"{self.separated} rows separable, not attained"
        return f"loss {self.loss:.6g}, infimum {self.infimum:.6g} ({kind}), gap {self.gap:.1e}"


def best_comparator(loss: str | Loss, rows: Rows, *, intercept: bool = True) -> Comparator:
    """The weights u that minimise sum v loss(y, x.u) over the rows.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> best = best_comparator("logistic", as_rows(X[:, :5], 2 * y - 1))
    >>> round(best.loss, 3), best.attained, best.gap < 1e-8
    (84.612, True, True)
    >>> best = best_comparator("logistic", as_rows(X, 2 * y - 1))
    >>> best.infimum, best.attained, best.separated
    (0.0, False, 569)
    """
    loss = losses.get(loss)
    if rows.targets is None:
        raise ValueError("a comparator in hindsight needs targets: as_rows(X, targets)")
    losses.check_targets(loss, rows.targets)
    v = np.ones(len(rows)) if rows.weights is None else rows.weights
    kept = v > 0
    X, y, v = matrix(rows)[kept], rows.targets[kept], v[kept]
    made = design(X, intercept=intercept)
    return _slope(made, y, v) if loss.code == losses.LINEAR else _best(loss, X, made, y, v)


def _best(loss: Loss, X: Matrix, made: Design, y: Float, v: Float) -> Comparator:
    Z, unit = made.Z, _power_of_two(v)
    w, g = minimised(loss, Z, y, v * unit)
    separated, direction = np.zeros(len(y), dtype=bool), None
    if loss.code == losses.LOGISTIC:
        found = separation(Z, y, w, g)
        if found.rows.any():
            separated, direction = found.rows, made.weights(found.direction)
            w = _far_along(found.direction, w, y, Z, separated)
            g = np.where(separated, 0.0, g)
    radius = RADIUS * float(max(np.linalg.norm(w), np.linalg.norm(y)))
    lower = max(lower_bound(loss, Z, y, v * unit, g, radius) / unit, 0.0)
    weights = made.weights(w)
    each = v * loss.value(y, X @ weights.features + weights.intercept)
    return Comparator(
        weights, float(np.sum(each)), float(np.sum(each[~separated])), lower, radius,
        not separated.any(), int(np.sum(separated)), direction,
    )  # fmt: skip


def _far_along(
    direction: Float, w: Float, y: Float, Z: Matrix, separated: NDArray[np.bool_]
) -> Float:
    """w moved along the direction until the separated rows have their margin."""
    missing = MARGIN - y[separated] * (Z[separated] @ w)
    steps = missing / (y[separated] * (Z[separated] @ direction))
    return w + max(float(np.max(steps)), 0.0) * direction


def _slope(made: Design, y: Float, v: Float) -> Comparator:
    """The linear loss has no best weights, unless all of them are."""
    downhill = -(made.Z.T @ (v * y))
    flat = not downhill.any()
    bottom = 0.0 if flat else -np.inf
    zero = made.weights(np.zeros_like(downhill))
    direction = None if flat else made.weights(downhill)
    return Comparator(zero, 0.0, bottom, bottom, np.inf, flat, 0, direction)


def _power_of_two(v: Float) -> float:
    """What brings the largest sample weight near 1."""
    return float(np.ldexp(1.0, -int(np.frexp(np.max(v, initial=0.0))[1])))
