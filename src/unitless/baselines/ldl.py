"""A positive definite matrix A = a I + sum r r' kept as U'DU, never inverted.

U has 1s on its diagonal and D is diagonal. Adding r r' is a sequence of rotations without square
roots (Gentleman 1973; see `unitless.learners.givens`), and A z = x is two triangular systems. Both
cost O(d^2) and lose no more digits than A itself has lost.
"""

import math

from unitless.baselines.dense import MARGIN
from unitless.kernels.decorators import inlined
from unitless.kernels.simd import fma


@inlined
def add(U, D, r, scale, w):
    """A <- A + scale^2 r r', in place; w is scratch memory."""
    n = D.size - MARGIN
    for j in range(w.size):
        w[j] = scale * r[j]
    delta = 1.0  # what is left to be added is delta w w'
    for k in range(n):
        d, wk = D[k], w[k]
        if wk == 0:
            continue
        D[k] = fma(delta * wk, wk, d)
        s = delta * wk * (1 / D[k])
        if D[k] <= 2 * d:
            delta = fma(-delta * wk, s, delta)
            _rotate(U[k, k + 1 : n], w[k + 1 : n], wk, s)
        else:
            unit = math.ldexp(1.0, math.frexp(d)[1] // 2)  # a power of two near sqrt(d)
            delta = d / unit / unit * (s * wk)
            _rotate_far(U[k, k + 1 : n], w[k + 1 : n], unit / wk, unit, d / D[k], s)


# The two forms are the same rotation; chosen by its angle, neither delta nor w runs away.


@inlined
def _rotate(row, w, wk, s):
    for j in range(w.size):
        w[j] = fma(-wk, row[j], w[j])
        row[j] = fma(s, w[j], row[j])


@inlined
def _rotate_far(row, w, up, down, c, s):
    for j in range(w.size):
        u = row[j]
        row[j] = fma(c, u, s * w[j])
        w[j] = fma(up, w[j], -down * u)


@inlined
def solve(U, D, x, z):
    """z = A^-1 x; returns x'z, a sum of squares."""
    n = D.size - MARGIN
    z[:] = x
    for k in range(n):
        if z[k] != 0:
            row, rest, a = U[k, k + 1 : n], z[k + 1 : n], -z[k]
            for j in range(rest.size):
                rest[j] = fma(a, row[j], rest[j])
    form = 0.0
    for k in range(n):
        share = z[k] / D[k]
        form = fma(z[k], share, form)
        z[k] = share
    for k in range(n - 1, -1, -1):
        row, rest, total = U[k, k + 1 : n], z[k + 1 : n], z[k]
        for j in range(rest.size):
            total = fma(-row[j], rest[j], total)
        z[k] = total
    return form
