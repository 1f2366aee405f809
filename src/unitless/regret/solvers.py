"""SciPy's solvers, one call per kind of loss: weights w and derivatives g for predictions Z w.

Nothing relies on them: `unitless.regret.duality` measures how far each answer is from optimal.
`scipy.optimize` and `scipy.sparse.linalg` are imported where they are called, because they are slow
to import and certificates do not need them.
"""

from typing import Any

import numpy as np

from unitless import losses
from unitless.learners.base import Float
from unitless.losses import Loss
from unitless.regret.duality import domain

UNEVEN = 1e4
"""If some rows are this many times larger than others, a linear programme is also tried scaled."""

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
    v g rather than g, so that sample weights do not enter the matrix. Beside an outlier the other
    rows can lie below the tolerance of the solver: then rows and columns are scaled first. Where
    the solver gives up, w = 0 is returned, and duality says how good that is.
    """
    w = np.zeros(Z.shape[1])
    best = (w, loss.derivative(y, Z @ w))
    least = float(np.sum(v * loss.value(y, Z @ w)))
    rows, columns = _equilibrated(Z)
    scalings = [(np.ones(len(y)), np.ones(Z.shape[1]))]
    if np.max(rows, initial=1.0) > UNEVEN * np.min(rows, initial=1.0):
        scalings.append((rows, columns))
    for factors in scalings:
        found = _solve_dual(loss, Z, y, v, factors)
        if found is None:
            continue
        paid = float(np.sum(v * loss.value(y, Z @ found[0])))
        if paid <= least:
            least = paid
            best = found
    return best


def _solve_dual(
    loss: Loss, Z: Any, y: Float, v: Float, factors: tuple[Float, Float]
) -> tuple[Float, Float] | None:
    """(w, g) by HiGHS, with rows and columns multiplied by factors; None if it gives up."""
    from scipy.optimize import linprog

    rows, columns = factors
    scale = np.max(np.abs(y), initial=0.0) or 1.0
    low, high = domain(loss, y)
    A = Z * rows[:, None] * columns if isinstance(Z, np.ndarray) else Z
    solved = linprog(
        y * rows / scale,
        A_eq=A.T,
        b_eq=np.zeros(Z.shape[1]),
        bounds=np.column_stack([v * low / rows, v * high / rows]),
        method="highs",
    )
    if solved.x is None:
        return None
    w = np.asarray(solved.eqlin.marginals * scale * columns)
    return w, np.asarray(solved.x) * rows / v


def _equilibrated(Z: Any) -> tuple[Float, Float]:
    """Factors of rows and columns, powers of two, that bring most entries of Z near 1."""
    rows = np.ones(Z.shape[0])
    columns = np.ones(Z.shape[1])
    if not isinstance(Z, np.ndarray):  # large sparse data: columns are of norm 1 already
        return rows, columns
    sizes = np.abs(Z)
    for _ in range(3):
        scaled = sizes * rows[:, None] * columns
        logs = np.log2(scaled, out=np.zeros_like(scaled), where=scaled > 0)
        counts = np.maximum(np.count_nonzero(scaled, axis=0), 1)
        columns /= np.exp2(np.round(logs.sum(axis=0) / counts))
        largest = (sizes * rows[:, None] * columns).max(axis=1, initial=0.0)
        exponents = np.frexp(largest)[1]
        rows = np.ldexp(rows, -np.where(largest > 0, exponents, 0))
    return rows, columns
