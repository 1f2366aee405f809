"""The best fixed weights in hindsight, with a proof of how close to the best they are.

SciPy finds the weights (`solvers`); duality bounds how much better any others could be
(`duality`); a linear programme recognises data on which no finite weights are best
(`separable`). Columns are scaled first (`design`), so that the result does not depend on units.
"""

from typing import NamedTuple

import numpy as np

from unitless import losses
from unitless.core.learner import Weights
from unitless.losses import Loss
from unitless.regret.design import Design, Matrix, design, matrix
from unitless.regret.duality import has_known_conjugate, lower_bound
from unitless.regret.separable import separation
from unitless.regret.solvers import minimised
from unitless.rows import Rows
from unitless.state import Float

RADIUS = 10.0
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
    """The largest sum |u_i| s_i that `lower` covers, s_i^2 = sum x_i^2."""
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
        return (
            f"loss {self.loss:.6g}, infimum {self.infimum:.6g} ({kind}), gap {self.gap:.1e} "
            f"for sum |u_i| s_i <= {self.radius:.1e}"
        )


def best_comparator(loss: str | Loss, rows: Rows, *, intercept: bool = True) -> Comparator:
    """The weights u that minimise sum v loss(y, x.u) over the rows.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> best = best_comparator("logistic", as_rows(X[:, :5], 2 * y - 1))
    >>> round(best.loss, 3), best.attained, best.gap < 1e-6
    (84.612, True, True)
    >>> best = best_comparator("logistic", as_rows(X, 2 * y - 1))
    >>> best.infimum, best.attained, best.separated
    (0.0, False, 569)
    """
    loss = losses.get(loss)
    if not has_known_conjugate(loss):
        raise ValueError(
            f"no best comparator for the {loss.name} loss: only losses of this package with one "
            "score have one, because its proof needs their conjugates"
        )
    if rows.targets is None:
        raise ValueError("a comparator in hindsight needs targets: as_rows(X, targets)")
    losses.check_targets(loss, rows.targets)
    v = np.ones(len(rows)) if rows.weights is None else rows.weights
    kept = v > 0
    X = matrix(rows)[kept]
    y = rows.targets[kept]
    v = v[kept]
    made = design(X, intercept=intercept)
    if loss.code == losses.LINEAR:
        return _linear(made, y, v)
    return _best(loss, X, made, y, v)


def _best(loss: Loss, X: Matrix, made: Design, y: Float, v: Float) -> Comparator:
    Z = made.Z
    _, exponent = np.frexp(np.max(v, initial=0.0))
    unit = float(np.ldexp(1.0, -exponent))
    near_one = v * unit
    w, g = minimised(loss, Z, y, near_one)
    separated = np.zeros(len(y), dtype=bool)
    direction = None
    if loss.code == losses.LOGISTIC:
        found = separation(Z, y, w, g)
        if found.rows.any():
            separated = found.rows
            direction = made.weights(found.direction)
            # w moves along the direction until the separated rows have their margin
            margins = y * (Z @ w)
            growth = y * (Z @ found.direction)
            steps = (MARGIN - margins[separated]) / growth[separated]
            longest = float(np.max(steps))
            w = w + max(longest, 0.0) * found.direction
            g = np.where(separated, 0.0, g)
    weights = made.weights(w)
    size = max(made.size(weights), float(np.linalg.norm(y)))
    radius = RADIUS * size
    lower = lower_bound(loss, Z, made.columns, y, near_one, g, radius) / unit
    each = v * loss.value(y, X @ weights.features + weights.intercept)
    return Comparator(
        weights=weights,
        loss=float(np.sum(each)),
        infimum=float(np.sum(each[~separated])),
        lower=max(lower, 0.0),
        radius=radius,
        attained=not separated.any(),
        separated=int(np.sum(separated)),
        direction=direction,
    )


def _linear(made: Design, y: Float, v: Float) -> Comparator:
    """The linear loss is unbounded below, unless it is 0 for all weights."""
    downhill = -(made.Z.T @ (v * y))
    flat = not downhill.any()
    bottom = 0.0 if flat else -np.inf
    zero = made.weights(np.zeros_like(downhill))
    direction = None if flat else made.weights(downhill)
    return Comparator(zero, 0.0, bottom, bottom, np.inf, flat, 0, direction)
