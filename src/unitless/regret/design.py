"""Rows as a matrix Z for a solver, free of units: predictions are Z w for some w.

Columns are divided by a power of two and by their norm. Where the matrix is small enough to be
dense, they are then replaced by an orthonormal basis of their span (pivoted QR), so that correlated
or linearly dependent features do not slow down a solver, and |w| = |u|_S.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from unitless.core.learner import Weights
from unitless.rows import Rows
from unitless.state import Float

Matrix = Any  # a dense array or a SciPy sparse array

LARGEST_DENSE = 30_000_000
"""Sparse rows are made dense up to this number of entries: 240 MB."""


class Design(NamedTuple):
    """Predictions of weights u are Z w; `weights` converts w to u."""

    Z: Matrix
    R: Float | None
    """Upper triangular with scaled columns[order] = Z R; None where Z has the scaled columns."""
    order: NDArray[np.intp]
    exponents: NDArray[np.int64]
    norms: Float
    columns: Matrix
    """All columns that are not 0, each of norm 1."""

    def weights(self, w: Float) -> Weights:
        """The weights by feature (0 for a feature that depends linearly on others)."""
        from scipy.linalg import solve_triangular

        u = np.zeros(len(self.norms))
        u[self.order] = w if self.R is None else solve_triangular(self.R, w)
        u[self.order] /= self.norms[self.order]
        u = np.ldexp(u, -self.exponents)
        return Weights(float(u[0]), u[1:])

    def size(self, weights: Weights) -> float:
        """sum |u_i| s_i, which has no unit."""
        u = np.append(weights.intercept, weights.features)
        scaled = np.abs(np.ldexp(u, self.exponents))
        return float(np.sum(scaled * self.norms))


def predictions(rows: Rows, weights: Weights) -> Float:
    """x.u of each row; missing values count as 0.

    >>> from unitless.rows import as_rows
    >>> predictions(as_rows([[1.0, 2.0], [3.0, float("nan")]]), Weights(1.0, np.array([1.0, 1.0])))
    array([4., 4.])
    """
    return np.asarray(matrix(rows) @ weights.features + weights.intercept)


def matrix(rows: Rows) -> Matrix:
    """The values as a NumPy or SciPy matrix, missing ones 0."""
    rows.refuse_infinity()
    values = np.nan_to_num(rows.values, nan=0.0)
    if rows.indices is None or rows.starts is None:
        return values
    return csr_array((values, rows.indices, rows.starts), shape=(len(rows), rows.columns))


def design(X: Matrix, *, intercept: bool) -> Design:
    """The design of a matrix; coordinate 0 is the constant 1, without an intercept 0.

    >>> made = design(np.array([[1e-200, 2e200], [3e-200, 1e200]]), intercept=False)
    >>> print(*(f"{w:.3g}" for w in made.weights(made.Z.T @ [5.0, 5.0]).features))
    1e+200 2e-200
    """
    scaled, exponents = _without_units(with_constant(X, intercept))
    if not isinstance(scaled, np.ndarray) and np.prod(scaled.shape) <= LARGEST_DENSE:
        scaled = scaled.toarray()
    squares = (scaled * scaled).sum(axis=0)
    norms = np.sqrt(np.asarray(squares).ravel())
    seen = np.flatnonzero(norms)
    columns = scaled[:, seen] * (1 / norms[seen])
    if not isinstance(columns, np.ndarray):
        columns = columns.tocsr()
        return Design(columns, None, seen, exponents, norms, columns)
    from scipy.linalg import qr  # slow to import, and certificates do not need it

    Q, R, pivots = qr(columns, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))  # decreasing; rounding errors as in NumPy's matrix_rank
    noise = max(columns.shape) * np.finfo(np.float64).eps
    largest = diagonal.max(initial=0.0)
    rank = int(np.sum(diagonal > noise * largest))
    order = seen[pivots[:rank]]
    return Design(Q[:, :rank], R[:rank, :rank], order, exponents, norms, columns)


def with_constant(X: Matrix, intercept: bool) -> Matrix:
    """The matrix with a first column of 1, without an intercept 0."""
    constant = np.full((X.shape[0], 1), 1.0 if intercept else 0.0)
    if isinstance(X, np.ndarray):
        return np.hstack([constant, X])
    return hstack([csr_array(constant), X], format="csr")


def _without_units(X: Matrix) -> tuple[Matrix, NDArray[np.int64]]:
    """Every column divided by the power of two that brings its largest entry into [1/2, 1)."""
    if isinstance(X, np.ndarray):
        largest = np.max(np.abs(X), axis=0, initial=0.0)
    else:
        largest = abs(X).max(axis=0).toarray().ravel()
    _, powers = np.frexp(largest)
    exponents = powers.astype(np.int64)
    if isinstance(X, np.ndarray):
        return np.ldexp(X, -exponents), exponents
    X.data = np.ldexp(X.data, -exponents[X.indices])
    return X, exponents
