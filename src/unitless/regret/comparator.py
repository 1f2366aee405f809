"""The best fixed weights in hindsight, with a proof of how close to the best they are.

SciPy finds the weights (`solvers`); duality bounds how much better any others could be
(`duality`); a linear programme recognises data on which no finite weights are best
(`separable`). Columns are scaled first (`design`), so that the result does not depend on units.
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
"""Where the best weights are infinite, separated rows get this margin: a loss of e^-25 each."""


class Comparator(NamedTuple):
    """The best fixed weights found, and a lower bound on the loss of all others."""

    weights: Weights
    loss: float
    """sum v loss(y, x.u) of these weights."""
    infimum: float
    """The smallest loss that weights can reach or approach."""
    lower: float
    """No weights within the radius have a smaller loss: proved by duality, not by the solver."""
    radius: float
    """The largest |u|_S (sqrt(sum u_i^2 s_i^2) for large sparse data) that `lower` covers."""
    attained: bool
    """Whether finite weights reach the infimum."""
    separated: int
    """The number of rows whose loss tends to 0 along `direction`."""
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
    if loss.code == losses.LINEAR:
        return _linear(made, y, v)
    return _best(loss, X, made, y, v)


def _best(loss: Loss, X: Matrix, made: Design, y: Float, v: Float) -> Comparator:
    Z = made.Z
    unit = _power_of_two(v)
    w, g = minimised(loss, Z, y, v * unit)
    separated = np.zeros(len(y), dtype=bool)
    direction = None
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
        weights=weights,
        loss=float(np.sum(each)),
        infimum=float(np.sum(each[~separated])),
        lower=lower,
        radius=radius,
        attained=not separated.any(),
        separated=int(np.sum(separated)),
        direction=direction,
    )


def _far_along(
    direction: Float, w: Float, y: Float, Z: Matrix, separated: NDArray[np.bool_]
) -> Float:
    """w moved along the direction until the separated rows have their margin."""
    missing = MARGIN - y[separated] * (Z[separated] @ w)
    steps = missing / (y[separated] * (Z[separated] @ direction))
    return w + max(float(np.max(steps)), 0.0) * direction


def _linear(made: Design, y: Float, v: Float) -> Comparator:
    """The linear loss is unbounded below, unless it is 0 for all weights."""
    downhill = -(made.Z.T @ (v * y))
    flat = not downhill.any()
    bottom = 0.0 if flat else -np.inf
    zero = made.weights(np.zeros_like(downhill))
    direction = None if flat else made.weights(downhill)
    return Comparator(zero, 0.0, bottom, bottom, np.inf, flat, 0, direction)


def _power_of_two(v: Float) -> float:
    """The factor that brings the largest sample weight near 1."""
    return float(np.ldexp(1.0, -int(np.frexp(np.max(v, initial=0.0))[1])))
