"""Separability: directions along which the logistic loss of some rows tends to 0.

A direction r separates if y z.r >= 0 on every row and > 0 on some. One direction separates all
separable rows, because the sum of two separates the rows of both. The infimum of the loss is its
minimum over the other rows, which is attained. By duality, there are multipliers c >= 0 with
sum c y z = 0 that are positive exactly on those.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack

from unitless.state import Float

SURE = 1e-5
"""A row with a larger derivative is not separable: margin m there would cost at least m SURE."""


class Separation(NamedTuple):
    """The rows that a direction separates, and the direction: margins >= 1 on them, else 0."""

    rows: NDArray[np.bool_]
    direction: Float


def separation(Z: Any, y: Float, w: Float, slopes: Float) -> Separation:
    """The separable rows, given weights that (nearly) minimise the loss and its derivatives."""
    margins = y * (Z @ w)
    least = np.min(margins, initial=np.inf)
    if least > SURE * np.max(margins, initial=0.0):  # w itself is the direction
        every = np.ones(len(y), dtype=bool)
        return Separation(every, w / least)
    none = Separation(np.zeros(len(y), dtype=bool), np.zeros(Z.shape[1]))
    # A direction is 0 on rows that are not separable: there is none if they span everything.
    inseparable = Z[np.abs(slopes) > SURE]
    if isinstance(Z, np.ndarray) and np.linalg.matrix_rank(inseparable) == Z.shape[1]:
        return none
    found = _by_linear_programme(Z, y)
    return found if _holds(found, Z, y) else none


def _by_linear_programme(Z: Any, y: Float) -> Separation:
    """Most rows with c >= 1 such that sum c y z = 0; the dual solution is the direction.

    c is the sum of a part in [0, 1], which is in the objective, and a part that is not.
    """
    from scipy.optimize import linprog  # slow to import, and rarely needed

    n, k = Z.shape
    if isinstance(Z, np.ndarray):
        signed = Z.T * y
        both = np.hstack([signed, signed])
    else:
        signed = Z.T.multiply(y).tocsr()
        both = hstack([signed, signed])
    for method in ("highs", "highs-ipm"):
        solved = linprog(
            np.repeat([-1.0, 0.0], n),
            A_eq=both,
            b_eq=np.zeros(k),
            bounds=np.repeat([[0.0, 1.0], [0.0, np.inf]], n, axis=0),
            method=method,
        )
        if solved.x is not None:
            c = solved.x[:n] + solved.x[n:]
            return Separation(c < 0.5, -np.asarray(solved.eqlin.marginals))
    # undecided: the gap says how much better other weights could be
    return Separation(np.zeros(n, dtype=bool), np.zeros(k))


def _holds(found: Separation, Z: Any, y: Float) -> bool:
    """Whether the direction separates these rows and no others, checked without the solver."""
    margins = y * (Z @ found.direction)
    noise = 1e-9 * np.max(np.abs(margins), initial=1.0)
    separated = margins[found.rows] > 0.5
    flat = np.abs(margins[~found.rows]) < noise
    return bool(separated.all() and flat.all())
