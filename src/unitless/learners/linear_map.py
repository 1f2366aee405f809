"""Let the state of Algorithm 2 and of VAW follow a linear map of the features, x -> M x.

A diagonal M is a change of units. For others S becomes M S M', so the rows of R M' are factored
again; h and the exponent belong to the rows and do not change.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.state import Float

if TYPE_CHECKING:
    from unitless.learners.triangular_factor import Factor

MIN_D = 2.0**-1000
"""The end of float64, not a tolerance."""
NO_EXPONENT = -(2**20)
"""The exponent of 0, far below that of any number."""


def rescale(factor: "Factor", columns: NDArray[np.int64], factors: Float) -> None:
    """Let a factor follow columns that are multiplied by nonzero factors.

    D stays at MIN_D at least, as if the past of the column had been larger: that is still far below
    the last digit of the value for which a unit changes that much.
    """
    positions = factor.read("places")[columns + 1]
    seen = positions >= 0
    by_position = np.ones(factor.n)
    by_position[positions[seen]] = factors[seen]
    factor.write("squares", factor.read("squares") * by_position * by_position)
    factor.write("noise", factor.read("noise") * np.abs(by_position))
    factor.write("lost", factor.read("lost") * np.abs(by_position))
    D = factor.read("D")
    _, exponents = np.frexp(D)
    least = np.ldexp(math.sqrt(MIN_D), -(exponents // 2))
    least[D == 0] = 0.0
    pivots = np.copysign(np.maximum(np.abs(by_position), least), by_position)
    factor.write("D", D * pivots * pivots)
    factor.write("z", factor.read("z") / pivots)
    U = factor.read("U").reshape(factor.n, factor.n)
    U *= by_position / pivots[:, None]
    np.fill_diagonal(U[: factor.rank], 1.0)
    factor.write("U", U.ravel())


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


def mapped(factor: "Factor", units: Float, matrix: Float, t: float) -> tuple["Factor", Float]:
    """(factor, units) for features M x after t rows; each gets the power of two of its row of M."""
    by_coordinate = factor.read("coordinates")
    positions = np.flatnonzero(by_coordinate > 0)
    columns = by_coordinate[positions] - 1
    own = units[1:][columns] if len(units) else None
    M, used, exponents = _in_units(matrix[:, columns], own)
    R = factor.R[: factor.rank]
    W = np.einsum("kn,in->ki", R[:, positions], M)
    lost = factor.read("lost")
    dropped = np.abs(M) @ lost[positions]
    coordinates = used + 1
    constant = factor.read("places")[0]
    if constant >= 0:
        dropped = np.append(lost[constant], dropped)
        W = np.column_stack([R[:, constant], W])
        coordinates = np.append(0, coordinates)
    new = type(factor)(len(matrix))
    new.take(coordinates)
    new.write("lost", dropped)
    new.write("squares", (W * W).sum(axis=0))
    new.add_rows(W, factor.q[: factor.rank], t)
    new_units = np.zeros(1 + len(matrix))
    new_units[0] = 1.0
    new_units[used + 1] = np.ldexp(1.0, -exponents)
    return new, new_units


def _in_units(matrix: Float, units: Float | None) -> tuple[Float, NDArray[Any], NDArray[Any]]:
    """The rows of M that are not 0, each near 1; their numbers, and the exponents taken out."""
    mantissas, exponents = np.frexp(matrix)
    if units is not None:
        exponents = exponents - (np.frexp(units)[1] - 1)
    exponents = np.where(mantissas != 0, exponents, NO_EXPONENT)
    largest = exponents.max(axis=1, initial=NO_EXPONENT)
    used = np.flatnonzero(largest > NO_EXPONENT)
    largest = largest[used]
    return np.ldexp(mantissas[used], exponents[used] - largest[:, None]), used, largest
