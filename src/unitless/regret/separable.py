"""Separability: directions along which the logistic loss of some rows falls to 0 for ever.

A direction r separates if y z.r >= 0 on every row and > 0 on some. Then no finite weights are
best. The rows separated by any direction are separated by one (add them up), and what the loss
falls to is its minimum over the other rows, on which it is attained.

By duality, chances c >= 0 with sum c y z = 0 exist that are positive exactly on the rows that no
direction separates: the two linear programmes prove each other's answer.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack

__all__ = ["Separation", "separation"]

Float = NDArray[np.float64]

SURE = 1e-5
"""A slope above this holds its row: a direction with margin m there would cost at least m SURE."""


class Separation(NamedTuple):
    """The rows that a direction separates, and the direction: margins >= 1 on them, else 0."""

    rows: NDArray[np.bool_]
    direction: Float


def separation(Z: Any, y: Float, w: Float, slopes: Float) -> Separation:
    """What can be separated, given weights that (nearly) minimise the loss and its slopes there."""
    margins = y * (Z @ w)
    least = np.min(margins, initial=np.inf)
    if least > SURE * np.max(margins, initial=0.0):  # w itself is the direction
        return Separation(np.ones(len(y), dtype=bool), w / least)
    none = Separation(np.zeros(len(y), dtype=bool), np.zeros(Z.shape[1]))
    if _rank(Z[np.abs(slopes) > SURE]) == Z.shape[1]:
        return none  # a direction is 0 on the rows that hold, and here they span everything
    found = _by_linear_programme(Z, y)
    return found if _holds(found, Z, y) else none


def _rank(Z: Any) -> int:
    return int(np.linalg.matrix_rank(Z)) if isinstance(Z, np.ndarray) else -1


def _by_linear_programme(Z: Any, y: Float) -> Separation:
    """Most rows with chances >= 1 such that sum chances y z = 0; multipliers are the direction.

    A chance is the sum of a part in [0, 1], which counts, and a part that does not.
    """
    from scipy.optimize import linprog  # slow to import, and mostly not needed

    n, k = Z.shape
    signed = (Z.T * y) if isinstance(Z, np.ndarray) else Z.T.multiply(y).tocsr()
    both = np.hstack([signed, signed]) if isinstance(Z, np.ndarray) else hstack([signed, signed])
    for method in ("highs", "highs-ipm"):
        solved = linprog(
            np.repeat([-1.0, 0.0], n), A_eq=both, b_eq=np.zeros(k),
            bounds=np.repeat([[0.0, 1.0], [0.0, np.inf]], n, axis=0), method=method,
        )  # fmt: skip
        if solved.x is not None:
            break
    else:
        raise RuntimeError(f"HiGHS cannot tell whether the rows are separable: {solved.message}")
    return Separation(solved.x[:n] + solved.x[n:] < 0.5, -np.asarray(solved.eqlin.marginals))


def _holds(found: Separation, Z: Any, y: Float) -> bool:
    """Whether the direction does what it says, checked on the rows and not on the solver's word."""
    margins = y * (Z @ found.direction)
    noise = 1e-9 * np.max(np.abs(margins), initial=1.0)
    return bool(np.all(margins[found.rows] > 0.5) and np.all(np.abs(margins[~found.rows]) < noise))
