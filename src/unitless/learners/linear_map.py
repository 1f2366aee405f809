"""Apply a linear map of the features, x -> M x, to the state of Algorithm 2 and of VAW.

S becomes M S M', so the rows of R M' are factored again; h and the exponent belong to the rows and
do not change.
"""

import numpy as np

from unitless.learners.triangular_factor import (
    ACTIVE,
    RANK,
    FactorState,
    Float,
    add_rows,
    empty_state,
)

NO_EXPONENT = -(2**20)
"""The exponent of 0, far below that of any number."""


def check_invertible(matrix: Float, columns: int) -> None:
    """Refuse a matrix that is not an invertible map of that many columns."""
    if matrix.shape != (columns, columns):
        raise ValueError(
            f"{columns} features need a {columns} x {columns} matrix, got {matrix.shape}"
        )
    scaled = matrix  # so that the rank does not depend on the units of rows and columns
    for axis in (1, 0):
        largest = np.abs(scaled).max(axis=axis, keepdims=True, initial=0)
        scaled = scaled / np.where(largest > 0, largest, 1)
    if not np.isfinite(matrix).all() or np.linalg.matrix_rank(scaled) < columns:
        raise ValueError("the matrix is not invertible, so the features cannot be recovered")


def mapped(state: FactorState, units: Float, matrix: Float) -> tuple[FactorState, Float]:
    """(state, units) for features M x; each gets the power of two that fits its row of M."""
    rank = int(state.totals[RANK])
    active = int(state.totals[ACTIVE])
    positions = np.flatnonzero(state.coordinates[:active] > 0)
    columns = state.coordinates[positions] - 1
    M, used, exponents = _in_units(matrix[:, columns], units[1:][columns] if len(units) else None)
    W = np.einsum("kn,in->ki", state.R[:rank, positions], M)
    lost = np.abs(M) @ state.lost[positions]
    coordinates = used + 1
    if state.places[0] >= 0:
        lost = np.append(state.lost[state.places[0]], lost)
        W = np.column_stack([state.R[:rank, state.places[0]], W])
        coordinates = np.append(0, coordinates)
    count = len(coordinates)
    new = empty_state(max(count, 1), len(matrix))
    new.coordinates[:count] = coordinates
    new.places[coordinates] = np.arange(count)
    new.totals[:] = state.totals
    new.totals[RANK] = 0
    new.totals[ACTIVE] = count
    new.lost[:count] = lost
    new.slopes[:] = state.slopes
    new.squares[:count] = (W * W).sum(axis=0)
    add_rows(np.ascontiguousarray(W), state.q[:rank], np.sqrt(new.squares[:count]), tuple(new))
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
