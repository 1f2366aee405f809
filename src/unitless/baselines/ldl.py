"""A positive definite matrix A = a I + sum r r' kept as U'DU, and never inverted.

U has 1s on its diagonal and D is diagonal; a vector r enters by the rotations of `rotations`, and
A z = x is two triangular systems. Both are O(d^2) and lose no more digits than A itself has lost.
"""

from unitless.learners.givens import turn_one
from unitless.numerics import fma, inner


@inner
def add(matrix, D, r, scale, work, turns):
    """A <- A + scale^2 r r', in place."""
    n, width = D.size - 8, matrix.shape[1]
    for j in range(D.size):
        work[j] = scale * r[j]
    turn_one(matrix.reshape(-1), D, width, n, work, n, turns, True)


@inner
def halfway(matrix, x, y):
    """y with U'y = x: then x'A^-1 x = sum y_k^2 / D_k."""
    n = x.size - 8
    for k in range(x.size):
        y[k] = x[k]
    for k in range(n):
        if y[k] != 0:
            row, a = matrix[k], -y[k]
            for j in range(k + 1, n):
                y[j] = fma(a, row[j], y[j])


@inner
def solve(matrix, D, x, z):
    """z = A^-1 x; returns x'z, a sum of squares."""
    halfway(matrix, x, z)
    n, form = x.size - 8, 0.0
    for k in range(n):
        share = z[k] / D[k]
        form = fma(z[k], share, form)
        z[k] = share
    for k in range(n - 1, -1, -1):
        row, rest = matrix[k], z[k]
        for j in range(k + 1, n):
            rest = fma(-row[j], z[j], rest)
        z[k] = rest
    return form
