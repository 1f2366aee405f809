"""Sums over trials, from which certificates with damped slopes follow; see damped_sums.py."""

from libc.math cimport fabs, log, log1p

from unitless.core.arithmetic cimport fast_exp
from unitless.core.losses cimport LOGISTIC, derivative, value


cdef struct DampedSums:
    double rows             # trials
    double paid             # sum v loss, without `product`
    double product          # of 1 + exp(-|y p|) that is not in `paid` yet
    double size             # sum v |g| (|p| + |y|)
    double gy               # sum v g y
    double gg               # sum v g^2
    double[64] count        # by margin y p: sum v
    double[64] slope        # by margin y p: sum v |g|


cdef inline void add_trial(
    DampedSums* sums, int loss, double parameter, double v, double y, double p
) noexcept nogil:
    """Enter one trial."""
    cdef double g
    sums.rows += 1
    if loss == LOGISTIC:
        add_logistic_trial(sums, v, y * p)
        return
    g = derivative(loss, parameter, y, p)
    sums.paid += v * value(loss, parameter, y, p)
    sums.size += v * fabs(g) * (fabs(p) + fabs(y))
    sums.gy += v * g * y
    sums.gg += v * g * g


cdef inline void add_logistic_trial(DampedSums* sums, double v, double margin) noexcept nogil:
    cdef double e = fast_exp(-fabs(margin))
    cdef double inverse = 1.0 / (1.0 + e)
    cdef double q = e * inverse if margin >= 0 else inverse  # |g|, to the bit
    cdef int place = <int>min(max(0.0, margin * 4 + 32), 63.0)  # 0 for NaN, in this order
    sums.paid += v * max(-margin, 0.0)
    if v == 1:  # one logarithm for hundreds of trials
        sums.product *= 1.0 + e
        if sums.product > 2.0**512:
            sums.paid += log(sums.product)
            sums.product = 1.0
    else:
        sums.paid += v * log1p(e)
    sums.size += v * q * fabs(margin)
    sums.count[place] += v
    sums.slope[place] += v * q
