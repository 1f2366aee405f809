"""NAG, normalised adaptive gradient, and iNAG: scale-invariant gradient descent.

Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 2; the update that Vowpal
Wabbit uses by default. With a rate, and g the derivative of the loss::

    M_i = max(M_i, |x_i|)                       a weight w_i shrinks by M_old/M_new when M_i grows
    N  += sum (x_i / M_i)^2;   p = sum w_i x_i
    S_i += (g x_i)^2
    w_i -= rate sqrt(t / N) g x_i / (M_i sqrt(S_i))

The state has B_i = w_i M_i, the weight of x_i / M_i, which does not change when M_i grows. A sample
weight v multiplies g. Checked against Vowpal Wabbit itself (tests), which takes an importance-aware
step in place of the last line. That of `Inag` never overshoots.
"""

cimport cython
from libc.math cimport copysign, fabs, log, sqrt

from unitless.core.arithmetic cimport Room, Values, clipped, fast_exp, fused, total
from unitless.core.coordinatewise cimport Coordinatewise
from unitless.core.losses cimport ABSOLUTE, HINGE, HUBER, LOGISTIC, QUANTILE, SMOOTHED_HINGE, SQUARED
from unitless.core.row cimport Row

from unitless.core.coordinatewise import coordinatewise_state
from unitless.core.parameters import Parameter
from unitless.state import Field, count

cdef double MAX_GRADIENT = 2.0**480     # a sum of 2^60 squares of gradients stays finite
KNOWN = ("logistic", "hinge", "smoothed_hinge", "absolute", "quantile", "huber", "squared")
"""Losses for which the implicit step has a formula."""
FIELDS = (
    Field("M", "|x|", "largest absolute value, max |x_i|"),
    Field("B", "sign", "weight times largest value, w_i M_i"),
    Field("S", "x^2", "sum of squared gradients, sum (g x_i)^2"),
)


cdef struct Eight:
    double[8] M     # max |x|
    double[8] B     # w M
    double[8] S     # sum (g x)^2


cdef inline double gradient(double v, double g, double x) noexcept nogil:
    """v g x, the gradient of one weight; within bounds, where v, g and x are each at their end."""
    return clipped(v * g * x, MAX_GRADIENT)


cdef inline double ratio_of(double x, double M) noexcept nogil:
    """x / M, 0 while M is 0."""
    return x / (M if M > 0 else 1.0)


cdef inline void look(const Eight* own, Values x, Room p, Room squares) noexcept nogil:
    """p += w_i x_i;   squares += (x_i / M_i)^2"""
    cdef double ratio
    cdef int k
    for k in range(8):
        ratio = ratio_of(x[k], max(own.M[k], fabs(x[k])))
        squares[k] += ratio * ratio
        p[k] += own.B[k] * ratio


cdef inline void take_in(Eight* own, Values x, double rate, double v, double g) noexcept nogil:
    """S_i += (v g x_i)^2;   B_i -= rate v g x_i / sqrt(S_i)"""
    cdef double q
    cdef int k
    for k in range(8):
        q = gradient(v, g, x[k])
        own.M[k] = max(own.M[k], fabs(x[k]))
        own.S[k] = fused(q, q, own.S[k])
        own.B[k] -= rate * over_root(q, own.S[k])


cdef class NormalisedGradient(Coordinatewise):
    """Base class of NAG and iNAG."""

    invariance = "unit"
    needs_lipschitz = False
    fields = FIELDS
    saved = coordinatewise_state(
        FIELDS, Field("N", "1", "sum of squared ratios, sum (x_i / M_i)^2", low=0.0)
    )

    cdef public double rate
    cdef public double N            # sum of (x_i / M_i)^2
    cdef double squares             # the same of the row at hand

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] p = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double[8] squares = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            look(<Eight*>self.own + tile, self.z + 8 * tile, p, squares)
        self.squares = total(squares)
        self.p = total(p)
        return self.p


@cython.final
cdef class Nag(NormalisedGradient):
    """NAG, normalised adaptive gradient descent: the algorithm of Vowpal Wabbit.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Nag()))
    0.3727
    """

    name = "nag"
    parameters = (Parameter("rate", 0.5, "Vowpal Wabbit's `-l`, and its default"),)

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double v = self.weight_of(row)
        cdef double rate
        cdef Py_ssize_t tile
        self.N += self.squares
        rate = self.rate * root_of_ratio(self.t + 1, self.N)
        for tile in range(row.slots // 8):
            take_in(<Eight*>self.own + tile, self.z + 8 * tile, rate, v, g)


cdef inline double wright_omega(double x) noexcept nogil:
    """The w with w + ln w = x, by three steps of Fritsch, Shafer and Crowley."""
    cdef double e = fast_exp(min(x, 1.0))
    cdef double w = x - log(x) if x > 1 else e / (1 + e)
    cdef double z, q
    cdef int k
    for k in range(3):
        if w <= 0:
            return 0.0
        z = x - w - log(w)
        q = 2 * (1 + w) * (1 + w + z * (2.0 / 3.0))
        w *= 1 + z / (1 + w) * (q - z) / (q - 2 * z)
    return w


cdef inline double logistic_move(double margin, double s) noexcept nogil:
    """delta >= 0 with delta (1 + e^(margin + delta)) = s."""
    cdef double growth
    if margin > 15:  # the 1 is lost beside e^15, and s + e^margin would lose delta
        return wright_omega(log(s) - margin)
    growth = fast_exp(margin)
    return s + growth - wright_omega(s + margin + growth)


cdef inline double implicit_step(
    int loss, double y, double p, double g, double s, double v
) noexcept nogil:
    """a, the step along k: the implicit gradient, with its sign turned, at most v |g|."""
    cdef double a
    if loss == LOGISTIC:
        a = y * logistic_move(y * p, v * s) / s
    elif loss == SQUARED:
        a = -g * (1 - fast_exp(-v * s)) / s
    elif loss == SMOOTHED_HINGE or loss == HUBER:
        return -g * v / (1 + v * s)
    elif loss == HINGE:
        return -g * min(v, (1 - y * p) / s)
    else:
        return -g * min(v, fabs(p - y) / (s * fabs(g)))
    return copysign(min(fabs(a), v * fabs(g)), -g)


cdef inline void look_along(
    Eight* own, Values x, double v, double g, Room along, Room moves
) noexcept nogil:
    """along = k_i;   moves += k_i x_i / M_i; M_i is that of the next trial"""
    cdef double q
    cdef int k
    for k in range(8):
        q = gradient(v, g, x[k])
        own.M[k] = max(own.M[k], fabs(x[k]))
        along[k] = over_root(x[k], fused(q, q, own.S[k]))
        moves[k] += along[k] * ratio_of(x[k], own.M[k])


cdef inline void move(
    Eight* own, Values x, Values along, double step, double counted
) noexcept nogil:
    """B_i += step k_i;   S_i += (counted x_i)^2"""
    cdef double c
    cdef int k
    for k in range(8):
        c = gradient(1.0, counted, x[k])
        own.B[k] += step * along[k]
        own.S[k] = fused(c, c, own.S[k])


@cython.final
cdef class Inag(NormalisedGradient):
    """NAG with an implicit step: large learning rates are safe.

    The step goes along the gradient at the prediction p' that it leads to (Karampatziakis and
    Langford, "Online Importance Weight Aware Updates", 2011, integrate it instead; both agree to
    first order)::

        B_i' = B_i + rho k_i a,   k_i = x_i / sqrt(S_i),   rho = rate sqrt(t / N) (times sd(y)
        p'   = p + s a,           s = rho sum k_i x_i / M_i        where targets have a unit)

        logistic   a = y sigma(-y p'):  delta = y (p' - p) solves delta (1 + e^(y p + delta)) = s
        squared    a = (y - clip(p)) (1 - e^-s)/s,  clipped to the targets seen
        others     the gradient at p, cut where p' would cross the kink

    With a sample weight v, s becomes v s and a at most v |g|. Real targets are measured from the
    first one. At a kink S counts a, the part of the gradient that was used: a step ends exactly
    there, and a rounding error decides on which side the next slope is taken.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Inag(rate=3)))
    0.2606
    """

    name = "inag"
    takes_losses = KNOWN
    target_invariance = "unit"
    parameters = (Parameter("rate", 1.0, "the learning rate"),)
    saved = (
        *NormalisedGradient.saved,
        count("targets", "targets so far"),
        Field("mean", "1", "mean of the targets"),
        Field("M2", "1", "sum of squared deviations of the targets", low=0.0),
        Field("low", "1", "the lowest target"),
        Field("high", "1", "the highest target"),
    )

    cdef public double targets
    cdef public double mean
    cdef public double M2
    cdef public double low
    cdef public double high

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double[8] moves = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double v = self.weight_of(row)
        cdef double rho, s, counted
        cdef double a = 0.0
        cdef int loss = self.code
        cdef Py_ssize_t tile, first
        self.N += self.squares
        rho = self.rate * root_of_ratio(self.t + 1, self.N)
        if loss == SQUARED:
            g = min(max(self.p, self.low), self.high) - y
        if loss == SQUARED or loss == ABSOLUTE or loss == QUANTILE or loss == HUBER:
            self.see_target(y)
            rho *= sqrt(self.M2 / self.targets)
        for tile in range(row.slots // 8):
            first = 8 * tile
            look_along(<Eight*>self.own + tile, self.z + first, v, g, self.work + first, moves)
        s = rho * total(moves)
        if s > 0 and g != 0:
            a = implicit_step(loss, y, self.p, g, s, v)
        counted = v * g
        if s > 0 and (loss == HINGE or loss == ABSOLUTE or loss == QUANTILE):
            counted = a
        for tile in range(row.slots // 8):
            first = 8 * tile
            move(<Eight*>self.own + tile, self.z + first, self.work + first, rho * a, counted)

    cdef void see_target(self, double y) noexcept nogil:
        """Count a target: running mean, sum of squared deviations (Welford), range."""
        cdef double before = y - self.mean
        self.targets += 1
        self.mean += before / self.targets
        self.M2 = fused(before, y - self.mean, self.M2)
        self.low = min(self.low, y)
        self.high = max(self.high, y)
