"""SciPy's solvers, one call per kind of loss: weights w and derivatives g for predictions Z w.

Nothing relies on them: `unitless.regret.duality` measures how far each answer is from optimal.
`scipy.optimize` and `scipy.sparse.linalg` are imported where they are called, because they are slow
to import and certificates do not need them.
"""

from typing import Any

import numpy as np

from unitless import losses
from unitless.losses import Loss
from unitless.regret.duality import domain
from unitless.state import Float

UNEVEN = 1e4
"""If some rows are this many times larger than others, a linear programme is also tried scaled."""

LARGEST_HESSIAN = 500
"""Up to this number of weights the second derivatives are kept as a matrix."""


def minimised(loss: Loss, Z: Any, y: Float, v: Float) -> tuple[Float, Float]:
    """(w, g): weights that minimise sum v loss(y, Z w), and the derivatives of the loss there."""
    if loss.conjugate == 0:  # piecewise linear
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
        weighted = root[:, None] * Z
        return np.asarray(np.linalg.lstsq(weighted, root * y, rcond=None)[0])
    from scipy.sparse.linalg import lsmr

    weighted = Z.multiply(root[:, None]).tocsr()
    return np.asarray(lsmr(weighted, root * y, atol=1e-14, btol=1e-14)[0])


def _by_newton(loss: Loss, Z: Any, y: Float, v: Float, start: Float) -> Float:
    """SciPy's trust-region methods; weights and losses are scaled to about 1."""
    from scipy.optimize import minimize

    size = float(np.linalg.norm(y)) or 1.0
    worth = float(np.sum(v * loss.value(y, Z @ start))) or 1.0

    def value(w: Float) -> float:
        p = Z @ (size * w)
        return float(np.sum(v * loss.value(y, p))) / worth

    def gradient(w: Float) -> Float:
        p = Z @ (size * w)
        slopes = v * loss.derivative(y, p)
        return np.asarray(Z.T @ slopes) * (size / worth)

    def curvature(w: Float) -> Float:
        p = Z @ (size * w)
        return v * _curvature(loss, y, p) * (size * size / worth)

    how: dict[str, object] = {
        "method": "trust-ncg",
        "hessp": lambda w, direction: Z.T @ (curvature(w) * (Z @ direction)),
    }
    if isinstance(Z, np.ndarray) and Z.shape[1] <= LARGEST_HESSIAN:
        how = {"method": "trust-exact", "hess": lambda w: (Z.T * curvature(w)) @ Z}
    options = {"gtol": 1e-11, "maxiter": 500, "max_trust_radius": 1e9}
    found = minimize(value, start / size, jac=gradient, options=options, **how)
    return size * np.asarray(found.x)


def _curvature(loss: Loss, y: Float, p: Float) -> Float:
    """The second derivative; that of the curved piece where there are pieces."""
    g = loss.derivative(y, p)
    if loss.code == losses.LOGISTIC:
        q = np.abs(g)
        return q * (1 - q)
    low, high = domain(loss, y)
    curved = (g > low) & (g < high)
    return curved.astype(np.float64)


def _by_linear_programme(loss: Loss, Z: Any, y: Float, v: Float) -> tuple[Float, Float]:
    """The dual: maximise -sum v g y subject to Z'(v g) = 0. Its dual solution is the weights.

    For these three losses the conjugate is g y (with labels of +-1 for hinge). The unknown is
    v g rather than g, so that sample weights do not enter the matrix. Beside an outlier the other
    rows can lie below the tolerance of the solver: then rows and columns are scaled first. Where
    the solver gives up, w = 0 is returned, and duality says how good that is.
    """
    zero = np.zeros(Z.shape[1])
    found = [(zero, loss.derivative(y, Z @ zero))]
    rows, columns = _equilibrated(Z)
    found += _solve_dual(loss, Z, y, v, np.ones_like(rows), np.ones_like(columns))
    largest = np.max(rows, initial=1.0)
    if largest > UNEVEN * np.min(rows, initial=1.0):
        found += _solve_dual(loss, Z, y, v, rows, columns)
    paid = [np.sum(v * loss.value(y, Z @ w)) for w, _ in found]
    best = np.flatnonzero(np.equal(paid, np.nanmin(paid)))
    return found[best[-1]]


def _solve_dual(
    loss: Loss,
    Z: Any,
    y: Float,
    v: Float,
    rows: Float,
    columns: Float,
) -> list[tuple[Float, Float]]:
    """[(w, g)] by HiGHS, with rows and columns multiplied by factors; [] if it gives up."""
    from scipy.optimize import linprog

    scale = np.max(np.abs(y), initial=0.0) or 1.0
    low, high = domain(loss, y)
    A = Z * rows[:, None] * columns if isinstance(Z, np.ndarray) else Z
    lowest = v * low / rows
    highest = v * high / rows
    solved = linprog(
        y * rows / scale,
        A_eq=A.T,
        b_eq=np.zeros(Z.shape[1]),
        bounds=np.column_stack([lowest, highest]),
        method="highs",
    )
    if solved.x is None:
        return []
    w = np.asarray(solved.eqlin.marginals * scale * columns)
    g = np.asarray(solved.x) * rows / v
    return [(w, g)]


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
        counts = np.count_nonzero(scaled, axis=0)
        mean_logs = logs.sum(axis=0) / np.maximum(counts, 1)
        columns /= np.exp2(np.round(mean_logs))
        scaled = sizes * rows[:, None] * columns
        _, exponents = np.frexp(scaled.max(axis=1, initial=0.0))  # that of 0 is 0
        rows = np.ldexp(rows, -exponents)
    return rows, columns
