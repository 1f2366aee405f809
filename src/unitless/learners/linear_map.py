"""Let the state of Algorithm 2 and of VAW follow a linear map of the features, x -> M x.

A diagonal M is a change of units. For others S becomes M S M', so the rows of R M' are factored
again; h and the exponent belong to the rows and do not change.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.learners.triangular_factor import MIN_D, OLD_RULE, RANK, FactorState, add_rows
from unitless.state import Float

NO_EXPONENT = -(2**20)
"""The exponent of 0, far below that of any number."""


def rescale(state: FactorState, columns: NDArray[np.int64], factors: Float) -> None:
    """Let the state follow columns that are multiplied by nonzero factors.

    D stays at MIN_D at least, as if the past of the column had been larger: that is still far below
    the last digit of the value for which a unit changes that much.
    """
    D = state.D
    positions = state.places[columns + 1]
    seen = positions >= 0
    factor = np.ones(len(D))
    factor[positions[seen]] = factors[seen]
    state.squares[:] = state.squares * factor * factor
    state.noise[:] *= np.abs(factor)
    state.lost[:] *= np.abs(factor)
    _, exponents = np.frexp(D)
    least = np.ldexp(math.sqrt(MIN_D), -(exponents // 2))
    least[D == 0] = 0.0
    pivots = np.copysign(np.maximum(np.abs(factor), least), factor)
    D[:] = D * pivots * pivots
    state.z[:] /= pivots
    state.U[:] *= factor / pivots[:, None]
    np.fill_diagonal(state.U[: int(state.totals[RANK])], 1.0)


def checked_matrix(given: ArrayLike, columns: int) -> Float:
    """The matrix of an invertible map of that many columns; others are refused."""
    matrix = np.asarray(given, dtype=np.float64)
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
    return matrix


def mapped(state: FactorState, units: Float, matrix: Float) -> tuple[FactorState, Float]:
    """(state, units) for features M x; each gets the power of two that fits its row of M."""
    rank = int(state.totals[RANK])
    positions = np.flatnonzero(state.coordinates > 0)
    columns = state.coordinates[positions] - 1
    own = units[1:][columns] if len(units) else None
    M, used, exponents = _in_units(matrix[:, columns], own)
    W = np.einsum("kn,in->ki", state.R[:rank, positions], M)
    lost = np.abs(M) @ state.lost[positions]
    coordinates = used + 1
    if state.places[0] >= 0:
        lost = np.append(state.lost[state.places[0]], lost)
        W = np.column_stack([state.R[:rank, state.places[0]], W])
        coordinates = np.append(0, coordinates)
    new = FactorState.empty(len(matrix)).with_coordinates(coordinates)
    new.totals[:RANK] = state.totals[:RANK]
    new.totals[OLD_RULE] = state.totals[OLD_RULE]
    new.lost[:] = lost
    new.slopes[:] = state.slopes
    new.squares[:] = (W * W).sum(axis=0)
    add_rows(np.ascontiguousarray(W), state.q[:rank], np.sqrt(new.squares), tuple(new))
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
