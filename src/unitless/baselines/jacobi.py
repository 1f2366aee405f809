"""Eigenvalues of a small symmetric matrix by Jacobi rotations, reproducible to the bit."""

import math

from unitless.kernels.decorators import inlined

MAX_SWEEPS = 30  # convergence is quadratic; six or seven are enough for 20 x 20


@inlined
def _rotate(K, E, i, j):
    """Make K[i, j] vanish; E collects the rotations, row by row."""
    theta = (K[j, j] - K[i, i]) / (2 * K[i, j])
    t = math.copysign(1.0, theta) / (abs(theta) + math.sqrt(theta * theta + 1))
    c = 1 / math.sqrt(t * t + 1)
    s = t * c
    _combine(K[:, i], K[:, j], c, s)
    _combine(K[i], K[j], c, s)
    _combine(E[i], E[j], c, s)
    K[i, j] = 0.0
    K[j, i] = 0.0


@inlined
def _combine(a, b, c, s):
    """(a, b) <- (c a - s b, s a + c b)."""
    for k in range(a.size):
        old = a[k]
        a[k] = c * old - s * b[k]
        b[k] = s * old + c * b[k]


@inlined
def diagonalise(K, E):
    """K becomes diagonal, E K(old) E' = K, and row i of E the eigenvector of K[i, i]."""
    n = K.shape[0]
    E[:] = 0.0
    for i in range(n):
        E[i, i] = 1.0
    for _ in range(MAX_SWEEPS):
        rotated = False
        for i in range(n):
            for j in range(i + 1, n):
                if abs(K[i, j]) > 2.0**-54 * math.sqrt(abs(K[i, i]) * abs(K[j, j])):
                    _rotate(K, E, i, j)
                    rotated = True
        if not rotated:
            return
