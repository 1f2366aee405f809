"""Apply a linear map of the features, x -> M x, to the state of Algorithm 2 and of VAW.

S becomes M S M', so the rows of R M' are factored again; h and the exponent belong to the rows and
do not change.
"""

import numpy as np

from unitless.kernels.decorators import kernel
from unitless.kernels.simd import fma
from unitless.learners.givens import rotate
from unitless.learners.triangular_factor import (
    ACTIVE,
    RANK,
    FactorState,
    Float,
    empty_state,
    exchange,
    find_pivot,
    open_row,
)

NO_EXPONENT = -(2**20)
"""The exponent of 0, far below that of any number."""


def check_invertible(matrix: Float, columns: int) -> None:
    """Refuse a matrix that is not an invertible map of that many columns."""
    if matrix.shape != (columns, columns):
        raise ValueError(
            f"{columns} features need a {columns} x {columns} matrix, got {matrix.shape}"
        )
    if not np.isfinite(matrix).all() or _rank(matrix) < columns:
        raise ValueError("the matrix is not invertible, so the features cannot be recovered")


def _rank(matrix: Float) -> int:
    """The rank of a matrix; it does not depend on the units of rows and columns."""
    for axis in (1, 0):
        largest = np.abs(matrix).max(axis=axis, keepdims=True, initial=0)
        matrix = matrix / np.where(largest > 0, largest, 1)
    return int(np.linalg.matrix_rank(matrix))


def mapped(state: FactorState, units: Float, matrix: Float) -> tuple[FactorState, Float]:
    """(state, units) for features M x; each gets the power of two that fits its row of M."""
    rank = int(state.totals[RANK])
    active = int(state.totals[ACTIVE])
    positions = np.flatnonzero(state.coordinates[:active] > 0)
    columns = state.coordinates[positions] - 1
    M, used, exponents = _in_units(matrix[:, columns], units[1:][columns] if len(units) else None)
    W = np.einsum("kn,in->ki", state.R[:rank, positions], M)
    coordinates = used + 1
    if state.places[0] >= 0:
        W = np.column_stack([state.R[:rank, state.places[0]], W])
        coordinates = np.append(0, coordinates)
    count = len(coordinates)
    new = empty_state(max(count, 1), len(matrix))
    new.coordinates[:count] = coordinates
    new.places[coordinates] = np.arange(count)
    new.totals[:] = state.totals
    new.totals[RANK] = 0
    new.totals[ACTIVE] = count
    _refactor(np.ascontiguousarray(W), state.q[:rank], tuple(new))
    new_units = np.zeros(1 + len(matrix))
    new_units[0] = 1.0
    new_units[used + 1] = np.ldexp(1.0, -exponents)
    return new, new_units


def _in_units(matrix, units):
    """The rows of M that are not 0, each near 1; their numbers, and the exponents taken out."""
    mantissas, exponents = np.frexp(matrix)
    if units is not None:
        exponents = exponents - (np.frexp(units)[1] - 1)
    exponents = np.where(mantissas != 0, exponents, NO_EXPONENT)
    largest = exponents.max(axis=1, initial=NO_EXPONENT)
    used = np.flatnonzero(largest > NO_EXPONENT)
    largest = largest[used]
    return np.ldexp(mantissas[used], exponents[used] - largest[:, None]), used, largest


@kernel
def _refactor(W, q, state):
    """Factor W'W, with h = W'q, from an empty state."""
    U, D, z, squares, places, _, totals = state
    rows, active = W.shape
    a = np.zeros(active)
    c2 = np.zeros(active)
    for row in range(rows):
        rank = int(totals[RANK])
        w = W[row].copy()
        for n in range(active):
            c2[n] = fma(w[n], w[n], squares[n])
        delta, wz, _ = rotate(U, D, z, w, (1.0, q[row]), rank, a, True)
        pivot = find_pivot(w, delta, squares, c2, rank, places[0])
        for n in range(active):
            squares[n] = c2[n]
        if pivot >= 0:
            open_row(state, pivot, w, delta)
            z[rank] = wz / w[rank]
            for later in range(row + 1, rows):
                exchange(W[later], rank, pivot)
