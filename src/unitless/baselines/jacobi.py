"""Eigenvalues of a small symmetric matrix by Jacobi's rotations: LAPACK's bits are no promise."""

import math

from unitless.numerics import inner

SWEEPS = 30  # convergence is quadratic; six or seven are enough for 20 x 20


@inner
def _turn(K, E, n, i, j):
    """Make K[i, j] vanish; E collects the rotations, row by row."""
    theta = (K[j, j] - K[i, i]) / (2 * K[i, j])
    t = math.copysign(1.0, theta) / (abs(theta) + math.sqrt(theta * theta + 1))
    c = 1 / math.sqrt(t * t + 1)
    s = t * c
    for k in range(n):
        K[k, i], K[k, j] = c * K[k, i] - s * K[k, j], s * K[k, i] + c * K[k, j]
    for k in range(n):
        K[i, k], K[j, k] = c * K[i, k] - s * K[j, k], s * K[i, k] + c * K[j, k]
        E[i, k], E[j, k] = c * E[i, k] - s * E[j, k], s * E[i, k] + c * E[j, k]
    K[i, j] = K[j, i] = 0.0


@inner
def eigen(K, E):
    """K becomes diagonal, E K(old) E' = K, and row i of E the eigenvector of K[i, i]."""
    n = K.shape[0]
    for i in range(n):
        for j in range(n):
            E[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        moved = False
        for i in range(n):
            for j in range(i + 1, n):
                if abs(K[i, j]) > 2.0**-54 * math.sqrt(abs(K[i, i]) * abs(K[j, j])):
                    _turn(K, E, n, i, j)
                    moved = True
        if not moved:
            return
