"""The compiled losses: functions of the target y and the score p, chosen by a code.

This is the page of a loss of the package: a code, a branch in `value` and one in `derivative`. Its
line in the list, with what learners and certificates have to know about it, is in
`unitless.losses`. A loss from outside has the code `OUTSIDE` and is a pair of Python functions,
which `GradientLearner` calls.
"""

from libc.math cimport copysign, exp, fabs, log1p

from unitless.core.arithmetic cimport clipped, fast_exp


cpdef enum Code:
    LOGISTIC
    HINGE
    SMOOTHED_HINGE
    ABSOLUTE
    QUANTILE
    HUBER
    SQUARED
    LINEAR
    SOFTMAX
    OUTSIDE


cdef extern from "<float.h>":
    const double LARGEST "DBL_MAX"


cdef inline double sigmoid(double p) noexcept nogil:
    """1 / (1 + exp(-p)) without overflow and without cancellation at either end."""
    cdef double e = fast_exp(-fabs(p))
    return 1.0 / (1.0 + e) if p >= 0 else e / (1.0 + e)


cdef inline double value(int loss, double parameter, double y, double p) noexcept nogil:
    """The loss of score p for target y."""
    cdef double m, r
    if loss == LOGISTIC:
        m = y * p
        return max(-m, 0.0) + log1p(exp(-fabs(m)))
    if loss == HINGE:
        return clipped(max(fabs(y) - copysign(1.0, y) * p, 0.0), LARGEST)
    if loss == SMOOTHED_HINGE:
        m = y * p
        if m >= 1.0:
            return 0.0
        return (1.0 - m) * (1.0 - m) / 2 if m > 0 else 0.5 - m
    if loss == LINEAR:
        return y * p
    r = clipped(p - y, LARGEST)
    if loss == ABSOLUTE:
        return fabs(r)
    if loss == QUANTILE:
        return (1.0 - parameter) * r if r > 0 else -parameter * r
    if loss == HUBER:
        if fabs(r) <= parameter:
            return clipped(r * (r / 2), LARGEST)
        return clipped(parameter * (fabs(r) - parameter / 2), LARGEST)
    return clipped(r * r, LARGEST)


cdef inline double derivative(int loss, double parameter, double y, double p) noexcept nogil:
    """d value / d p; 0 exactly on a kink, which is a subderivative of each loss here."""
    cdef double r
    if loss == LOGISTIC:
        return -y * sigmoid(-y * p)
    if loss == HINGE:  # a target beyond +-1 means a larger margin (blend/hedge.pyx)
        return -copysign(1.0, y) if copysign(1.0, y) * p < fabs(y) else 0.0
    if loss == SMOOTHED_HINGE:
        return -y * min(max(1.0 - y * p, 0.0), 1.0)
    if loss == LINEAR:
        return y
    r = clipped(p - y, LARGEST)
    if loss == ABSOLUTE:
        return (r > 0) - (r < 0)
    if loss == QUANTILE:
        return 1.0 - parameter if r > 0 else (-parameter if r < 0 else 0.0)
    if loss == HUBER:
        return clipped(r, parameter)
    return clipped(2.0 * r, LARGEST)


cdef inline double kept_slope(double g) noexcept nogil:
    """A slope of a bounded loss, or 0 where the digits of g x would depend on the unit of x."""
    return 0.0 if fabs(g) < 2.0**-200 else g


cdef inline void softmax_slopes(const double* p, int classes, int y, double* g) noexcept nogil:
    """g = softmax(p) - e_y, the gradient of the cross-entropy."""
    cdef double top = p[0]
    cdef double total = 0.0
    cdef int c
    for c in range(1, classes):
        top = max(top, p[c])
    for c in range(classes):
        g[c] = fast_exp(p[c] - top)
        total += g[c]
    for c in range(classes):
        g[c] = g[c] / total - (1.0 if c == y else 0.0)
