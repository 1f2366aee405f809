"""A Gaussian posterior over the weights of a linear model, updated in O(d^2) per row.

The covariance is P = U D U' with U unit upper triangular and D diagonal (Bierman 1977). It stays
positive in spite of rounding, while P itself would lose all digits after a sample weight of 1e9. A
row x whose loss has the slope -e and the curvature c at its score moves the posterior by::

    f = U'x;   S_j = sum_{i < j} D_i f_i^2;   s = x'P x = S_d
    w += P x e / (1 + c s);   P -= c / (1 + c s) P x x'P

Each feature has the prior precision lambda s2/n: its mean square over the n rows since it was first
nonzero. It is part of P, and updated from time to time, as the estimate s2/n improves.

Functions here take plain tuples of arrays::

    posterior = (U, D, W)           flat: column after column of U, one class after another of W
    sizes     = (s2, woke, prior)   sum x^2, the first trial with x != 0, s2/n as it is in P
    scratch   = (f, S, Px)          see `workspace`

The number of coordinates is a multiple of LANES.
"""

import numpy as np

from unitless.kernels.arithmetic import clipped, lane_dot
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, fma

FAR = 2.0**26
"""Ratio of squares: weights learned from values 2^13 times smaller do not apply."""
CERTAIN = 2.0**100
"""A precision larger by this factor leaves no digit of the variance."""
MIN_SQUARE = 2.0**-1000
"""The end of float64: squares below it count as 0."""
MAX_WEIGHT = 2.0**600
"""Limit of weights: a column that grows 2^9 times per row could raise them without end."""
EARLY = 256
EARLY_GROWTH = 1.25
GROWTH = 2.0
"""The prior is updated when t has grown by this factor, at first by EARLY_GROWTH."""


@kernel
def workspace(m):
    """Arrays for f = U'x, S and P x, of a posterior with m coordinates."""
    return np.empty(m), np.empty(m + 1), np.empty(m)


@inlined
def project(U, x, f):
    """f = U'x."""
    m = x.size
    for j in range(m):
        f[j] = lane_dot(U, j * m, x, (j // LANES + 1) * LANES)


@inlined
def leverage(D, f, S):
    """Fill in S_j = sum_{i < j} D_i f_i^2; returns the last, x'P x.

    Where D is 0, nothing is left to learn: f becomes 0, so that U stops growing there.
    """
    S[0] = 0.0
    for j in range(f.size):
        f[j] = f[j] if D[j] > 0 else 0.0
        S[j + 1] = fma(D[j] * f[j], f[j], S[j])
    return S[f.size]


@kernel
def _downdate(U, D, c, first, scratch):
    """P -= c / (1 + c s) P x x'P, and Px = P x as it was; f is 0 before `first`.

    Column by column, each from the values before::

        U_j -= c f_j / (1 + c S_j) Px;   Px += D_j f_j U_j;   D_j *= (1 + c S_j) / (1 + c S_j+1)
    """
    f, S, Px = scratch
    m = f.size
    for i in range(m):
        Px[i] = 0.0
    for j in range(first // 2 * 2, m, 2):  # two columns at a time: Px is read half as often
        n = (j // LANES + 1) * LANES  # below the diagonal are zeros, and Px_i is 0 until column i
        left = U[j * m : j * m + n]
        right = U[(j + 1) * m : (j + 1) * m + n]
        px = Px[:n]
        shift_left = -c * f[j] / (1.0 + c * S[j])
        shift_right = -c * f[j + 1] / (1.0 + c * S[j + 1])
        gain_left = D[j] * f[j]
        gain_right = D[j + 1] * f[j + 1]
        for i in range(n):
            old_left = left[i]
            old_right = right[i]
            left[i] = fma(shift_left, px[i], old_left)
            middle = fma(gain_left, old_left, px[i])
            right[i] = fma(shift_right, middle, old_right)
            px[i] = fma(gain_right, old_right, middle)
    for j in range(first, m):
        D[j] *= (1.0 + c * S[j]) / (1.0 + c * S[j + 1])


@inlined
def step(posterior, e, c, first, scratch):
    """One Newton step from slopes -e, one per class, and the curvature c; f is 0 before `first`."""
    U, D, W = posterior
    f, S, Px = scratch
    m = f.size
    _downdate(U, D, c, first, scratch)
    for k in range(e.size):
        w = W[k * m : (k + 1) * m]
        rate = e[k] / (1.0 + c * S[m])
        for i in range(m):
            w[i] = clipped(fma(rate, Px[i], w[i]), MAX_WEIGHT)


@inlined
def _unit_vector(U, D, i, scratch):
    """Prepare a step in the direction of coordinate i; returns its variance."""
    f, S, _ = scratch
    m = f.size
    for j in range(m):
        f[j] = U[j * m + i]
    return leverage(D, f, S)


@inlined
def is_out_of_range(x, s2):
    """Whether a value is far beyond all before it, as the first nonzero value always is."""
    return x * x > max(FAR * s2, MIN_SQUARE)


@kernel
def initialise(posterior, sizes, strength, i, x, t, scratch):
    """Start coordinate i with the prior of the value x; its former weight is forgotten.

    The other weights stay, as if the former weight of coordinate i had been known exactly.
    """
    U, D, W = posterior
    s2, woke, prior = sizes
    m = s2.size
    variance = _unit_vector(U, D, i, scratch)
    if variance > 0:
        _downdate(U, D, CERTAIN / variance, i, scratch)
    for j in range(m):
        U[i * m + j] = 0.0
        U[j * m + i] = 0.0
    U[i * m + i] = 1.0
    for k in range(i, W.size, m):
        W[k] = 0.0
    s2[i] = x * x
    prior[i] = x * x
    woke[i] = t
    D[i] = 1.0 / (strength * prior[i])


@inlined
def is_due(t, last, s2):
    """Whether the prior should be updated: often at first, then when t has doubled.

    But not within d / 16 rows, since it costs as much as d of them; d features are in use.
    """
    if t < (EARLY_GROWTH if t <= EARLY else GROWTH) * last:
        return False
    d = 0
    for i in range(s2.size):
        d += s2[i] > 0
    return t - last >= d / 16


@kernel
def refresh_prior(posterior, sizes, strength, t, e, scratch):
    """Update the prior to the current s2/n: one step in the direction of each feature.

    P^-1 grows by lambda times the change of s2/n. P^-1 w stays, so the slope is that of the change,
    c w_i^2 / 2.
    """
    U, D, W = posterior
    s2, woke, prior = sizes
    m = s2.size
    for i in range(m):
        new = s2[i] / (t - woke[i] + 1) if s2[i] > 0 else 0.0
        c = strength * (new - prior[i])
        if c == 0:
            continue
        variance = _unit_vector(U, D, i, scratch)
        if c < 0 and (1.0 + c * variance) * prior[i] < new / 2:
            continue  # variance < 1 / (lambda prior) was lost in rounding
        for k in range(e.size):
            e[k] = clipped(-c * W[k * m + i], MAX_WEIGHT)
        step(posterior, e, c, i, scratch)
        prior[i] = new
