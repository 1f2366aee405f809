"""SciPy's solvers, one call per kind of loss: weights w and derivatives g for predictions Z w.

Nothing relies on them: `unitless.regret.duality` measures how far each answer is from optimal.
`scipy.optimize` and `scipy.sparse.linalg` are imported where they are called, because they are slow
to import and certificates do not need them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless import losses
from unitless.losses import Loss
from unitless.regret.duality import domain

__all__ = ["minimised"]

Float = NDArray[np.float64]

LARGEST_HESSIAN = 500
"""Up to this number of weights the second derivatives are kept as a matrix."""


def minimised(loss: Loss, Z: Any, y: Float, v: Float) -> tuple[Float, Float]:
    """(w, g): weights that minimise sum v loss(y, Z w), and the derivatives of the loss there."""
    if loss.code in (losses.HINGE, losses.ABSOLUTE, losses.QUANTILE):
        return _by_linear_programme(loss, Z, y, v)
    if loss.code == losses.SQUARED:
        w = _least_squares(Z, y, v)
    else:
        start = np.zeros(Z.shape[1])
        if loss.code == losses.HUBER:  # far from its kinks it is the absolute loss
            start = _by_linear_programme(losses.get("absolute"), Z, y, v)[0]
        w = _by_newton(loss, Z, y, v, start)
    return w, loss.derivative(y, Z @ w)


def _least_squares(Z: Any, y: Float, v: Float) -> Float:
    root = np.sqrt(v)
    if isinstance(Z, np.ndarray):
        return np.asarray(np.linalg.lstsq(root[:, None] * Z, root * y, rcond=None)[0])
    from scipy.sparse.linalg import lsmr

    return np.asarray(lsmr(Z.multiply(root[:, None]).tocsr(), root * y, atol=1e-14, btol=1e-14)[0])


def _by_newton(loss: Loss, Z: Any, y: Float, v: Float, start: Float) -> Float:
    """SciPy's trust-region methods; weights and losses are scaled to about 1."""
    from scipy.optimize import minimize

    size = float(np.linalg.norm(y)) or 1.0
    worth = float(np.sum(v * loss.value(y, Z @ start))) or 1.0

    def value(w: Float) -> float:
        return float(np.sum(v * loss.value(y, Z @ (size * w)))) / worth

    def gradient(w: Float) -> Float:
        return np.asarray(Z.T @ (v * loss.derivative(y, Z @ (size * w)))) * (size / worth)

    def curvature(w: Float) -> Float:
        return v * _curvature(loss, y, Z @ (size * w)) * (size * size / worth)

    how: dict[str, Any] = {
        "method": "trust-ncg",
        "hessp": lambda w, direction: Z.T @ (curvature(w) * (Z @ direction)),
    }
    if isinstance(Z, np.ndarray) and Z.shape[1] <= LARGEST_HESSIAN:
        how = {"method": "trust-exact", "hess": lambda w: (Z.T * curvature(w)) @ Z}
    options = {"gtol": 1e-11, "maxiter": 500, "max_trust_radius": 1e9}
    return size * np.asarray(minimize(value, start / size, jac=gradient, options=options, **how).x)


def _curvature(loss: Loss, y: Float, p: Float) -> Float:
    """The second derivative; that of the curved piece where there are pieces."""
    g = loss.derivative(y, p)
    if loss.code == losses.LOGISTIC:
        return np.abs(g) * (1 - np.abs(g))
    low, high = domain(loss, y)
    return np.asarray((g > low) & (g < high), dtype=np.float64)


def _by_linear_programme(loss: Loss, Z: Any, y: Float, v: Float) -> tuple[Float, Float]:
    """The dual: maximise -sum v g y subject to Z'(v g) = 0. Its dual solution is the weights.

    For these three losses the conjugate is g y (with labels of +-1 for hinge). The unknown is
    v g rather than g, so that sample weights do not enter the matrix.
    """
    from scipy.optimize import linprog

    scale = np.max(np.abs(y), initial=0.0) or 1.0
    low, high = domain(loss, y)
    solved = linprog(
        y / scale,
        A_eq=Z.T,
        b_eq=np.zeros(Z.shape[1]),
        bounds=np.column_stack([v * low, v * high]),
        method="highs",
    )
    if solved.x is None:
        raise RuntimeError(f"HiGHS found no best comparator: {solved.message}")
    return np.asarray(solved.eqlin.marginals * scale), np.asarray(solved.x) / v
