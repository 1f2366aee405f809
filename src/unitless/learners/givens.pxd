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

from libc.math cimport frexp, ldexp

from unitless.core.arithmetic cimport Room, Values, fused


cdef struct Rest:
    # What rotations leave of a row beside w: delta^(1/2) (wz, we).
    double delta
    double wz
    double we


cdef inline double root_unit(double d) noexcept nogil:
    """A power of two near sqrt(d), for d > 0."""
    cdef int exponent
    frexp(d, &exponent)
    return ldexp(1.0, exponent >> 1)


cdef inline void turn(Room u, Room w, Py_ssize_t n, double wk, double s) noexcept nogil:
    """w <- w - w_k u;   u <- u + s w"""
    cdef Py_ssize_t j
    for j in range(n):
        w[j] = fused(-wk, u[j], w[j])
        u[j] = fused(s, w[j], u[j])


cdef inline void turn_row(Values u, Room w, Py_ssize_t n, double wk) noexcept nogil:
    """w <- w - w_k u"""
    cdef Py_ssize_t j
    for j in range(n):
        w[j] = fused(-wk, u[j], w[j])


cdef inline void turn_scaled(
    Room u, Room w, Py_ssize_t n, double c, double s, double m, double mk
) noexcept nogil:
    """u <- c u + s w;   w <- m w - m_k u, both from the values before"""
    cdef Py_ssize_t j
    cdef double old
    for j in range(n):
        old = u[j]
        u[j] = fused(c, old, s * w[j])
        w[j] = fused(m, w[j], -mk * old)


cdef inline void turn_row_scaled(
    Values u, Room w, Py_ssize_t n, double m, double mk
) noexcept nogil:
    """w <- m w - m_k u"""
    cdef Py_ssize_t j
    for j in range(n):
        w[j] = fused(m, w[j], -mk * u[j])


cdef inline Rest rotate(
    double* U, Py_ssize_t stride, double* D, double* z, Py_ssize_t rank,
    double* w, Py_ssize_t n, double wz, double* a, bint keep,
) noexcept nogil:
    """Rotate the row w of n entries, with the entry wz, into the first `rank` rows of the factor.

    Afterwards w is zero before position `rank`, and a is the last column of the identity matrix
    (without we), in units of D^(1/2). The result is the same to the bit if not `keep`; then U, D
    and z stay as they are.
    """
    cdef double MIN_DELTA = 2.0**-100  # a row with less is rescaled, far from the end of float64
    cdef double delta = 1.0
    cdef double we = 1.0
    cdef double wk, t, d, s, c, c_delta, m, mk, unit, new
    cdef double* u
    cdef Py_ssize_t k, rest
    for k in range(rank):
        wk = w[k]
        if wk == 0:
            a[k] = 0.0
            continue
        t = delta * wk
        d = fused(t, wk, D[k])
        s = t * (1.0 / d)
        c_delta = fused(-t, s, delta)
        a[k] = s * we
        u = U + k * stride + k + 1
        rest = n - k - 1
        if d <= 2 * D[k] and c_delta >= MIN_DELTA:
            if keep:
                turn(u, w + k + 1, rest, wk, s)
            else:
                turn_row(u, w + k + 1, rest, wk)
            wz = fused(-wk, z[k], wz)
            new = fused(s, wz, z[k])
            delta = c_delta
        else:
            if d <= 2 * D[k]:
                m = root_unit(MIN_DELTA)
                mk = wk * m
                c = c_delta / delta
                delta = c_delta / m / m
            else:
                unit = root_unit(D[k])  # w / w_k - u in a unit that brings delta near 1
                m = unit / wk
                mk = unit
                c = D[k] / d
                delta = D[k] / unit / unit * (s * wk)
            if keep:
                turn_scaled(u, w + k + 1, rest, c, s, m, mk)
            else:
                turn_row_scaled(u, w + k + 1, rest, m, mk)
            new = fused(c, z[k], s * wz)
            wz = fused(m, wz, -mk * z[k])
            we *= m
        w[k] = 0.0
        if keep:
            D[k] = d
            z[k] = new
    return Rest(delta, wz, we)
