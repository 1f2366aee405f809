"""SciPy's solvers, one call a kind of loss: weights w and slopes g for predictions Z w.

Nothing here is trusted: `unitless.regret.duality` measures how far each answer is from optimal.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize
from scipy.sparse.linalg import lsmr

from unitless import losses
from unitless.losses import Loss
from unitless.regret.duality import domain

__all__ = ["minimised"]

Float = NDArray[np.float64]


def minimised(loss: Loss, Z: Any, y: Float, v: Float) -> tuple[Float, Float]:
    """(w, g): weights that minimise sum v loss(y, Z w), and the slopes that go with them."""
    if loss.code in (losses.HINGE, losses.ABSOLUTE, losses.QUANTILE):
        return _by_linear_programme(loss, Z, y, v)
    w = _least_squares(Z, y, v) if loss.targets == "reals" else np.zeros(Z.shape[1])
    if loss.code != losses.SQUARED:
        w = _by_newton(loss, Z, y, v, w)
    return w, loss.derivative(y, Z @ w)


def _least_squares(Z: Any, y: Float, v: Float) -> Float:
    root = np.sqrt(v)
    if isinstance(Z, np.ndarray):
        return np.asarray(np.linalg.lstsq(root[:, None] * Z, root * y, rcond=None)[0])
    return np.asarray(lsmr(Z.multiply(root[:, None]).tocsr(), root * y, atol=1e-14, btol=1e-14)[0])


def _by_newton(loss: Loss, Z: Any, y: Float, v: Float, start: Float) -> Float:
    def value(w: Float) -> float:
        return float(np.sum(v * loss.value(y, Z @ w)))

    def gradient(w: Float) -> Float:
        return np.asarray(Z.T @ (v * loss.derivative(y, Z @ w)))

    def hessian(w: Float) -> Float:
        return np.asarray((Z.T * (v * _curvature(loss, y, Z @ w))) @ Z)

    import os
    return np.asarray(
        minimize(
            value, start, jac=gradient, hess=hessian, method=os.environ.get("METH","trust-exact"),
            options={"gtol": 1e-9 , "maxiter": 500},
        ).x
    )  # fmt: skip


def _curvature(loss: Loss, y: Float, p: Float) -> Float:
    """The second derivative, that of the middle piece where there are pieces."""
    g = loss.derivative(y, p)
    if loss.code == losses.LOGISTIC:
        return np.abs(g) * (1 - np.abs(g))
    low, high = domain(loss, y)
    return np.asarray((g > low) & (g < high), dtype=np.float64)


def _by_linear_programme(loss: Loss, Z: Any, y: Float, v: Float) -> tuple[Float, Float]:
    """The dual: the largest -sum v g y with Z'(v g) = 0. Its own multipliers are the weights.

    For these three losses the conjugate is g y (with labels of +-1 for hinge).
    """
    scale = np.max(np.abs(y), initial=0.0) or 1.0
    low, high = domain(loss, y)
    solved = linprog(  # in v g rather than g: the matrix stays free of the weights
        y / scale, A_eq=Z.T, b_eq=np.zeros(Z.shape[1]), bounds=np.column_stack([v * low, v * high]),
        method="highs",
    )  # fmt: skip
    if solved.x is None:
        raise RuntimeError(f"HiGHS found no best comparator: {solved.message}")
    return np.asarray(solved.eqlin.marginals * scale), np.asarray(solved.x) / v
