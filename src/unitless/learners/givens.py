"""Givens rotations of a row into a triangular factor, without square roots.

Gentleman (1973), Hammarling (1974): the factor is R = D^(1/2) U with D diagonal and ones on the
diagonal of U, and q = D^(1/2) z is one more column of it. The row that is rotated into it is
delta^(1/2) (w, wz, we): the instance, its entry in the column q, and its entry in the last column
of the identity matrix. One rotation makes w_k vanish, with row k of U, z_k and a_k as u::

    d = D_k + delta w_k^2;   c = D_k / d;   s = delta w_k / d;   D_k <- d

    w <- w - w_k u;     u <- u + s w (new);    delta <- c delta          if c >= 1/2
    w <- w / w_k - u;   u <- c u + s w (old);  delta <- D_k s w_k        if c < 1/2

This takes two operations per number instead of four. The two lines are the same rotation up to the
scale of w; choosing by c keeps delta and w bounded.
"""

import math

from numba import carray  # type: ignore[attr-defined]

from unitless.kernels.decorators import inlined
from unitless.kernels.simd import fma, pointer

MIN_DELTA = 2.0**-100  # a row with less is rescaled before it reaches the end of float64


@inlined
def root_unit(d):
    """A power of two near sqrt(d), for d > 0."""
    _, exponent = math.frexp(d)
    return math.ldexp(1.0, exponent // 2)


@inlined
def _scaled_rotation(D, d, delta, c_delta, s, wk):
    """(c, m, n, delta) of a rotation that multiplies w by m; n is m w_k."""
    if d <= 2 * D:
        m = root_unit(MIN_DELTA)
        return c_delta / delta, m, wk * m, c_delta / m / m
    unit = root_unit(D)  # w / w_k - u in a unit that brings delta near 1
    return D / d, unit / wk, unit, D / unit / unit * (s * wk)


@inlined
def rotate(U, D, z, w, start, rank, a, keep):
    """Rotate a row, `start` = (delta, wz) and w, into the first `rank` rows of the factor.

    Afterwards w is zero before position `rank`, and a is the last column of the identity matrix
    (without we), in units of D^(1/2). Returns (delta, wz, we), the same to the bit if not `keep`;
    then U, D and z stay as they are.
    """
    delta, wz = start
    we = 1.0
    stride = U.strides[0] // U.itemsize
    for k in range(rank):
        wk = w[k]
        if wk == 0:
            a[k] = 0.0
            continue
        t = delta * wk
        d = fma(t, wk, D[k])
        s = t * (1 / d)
        c_delta = fma(-t, s, delta)
        a[k] = s * we
        # u, rest = U[k, k + 1 :], w[k + 1 :]; slices would count references, which is slow
        u = carray(pointer(U, k * stride + k + 1), (w.size - k - 1,))
        rest = carray(pointer(w, k + 1), u.shape)
        if d <= 2 * D[k] and c_delta >= MIN_DELTA:
            for j in range(u.size):
                rest[j] = fma(-wk, u[j], rest[j])
                if keep:
                    u[j] = fma(s, rest[j], u[j])
            wz = fma(-wk, z[k], wz)
            new = fma(s, wz, z[k])
            delta = c_delta
        else:
            c, m, n, delta = _scaled_rotation(D[k], d, delta, c_delta, s, wk)
            for j in range(u.size):
                old = u[j]
                if keep:
                    u[j] = fma(c, old, s * rest[j])
                rest[j] = fma(m, rest[j], -n * old)
            new = fma(c, z[k], s * wz)
            wz = fma(m, wz, -n * z[k])
            we *= m
        w[k] = 0.0
        if keep:
            D[k] = d
            z[k] = new
    return delta, wz, we
