"""ScInOL1 and ScInOL2: scale-invariant online learning, O(nonzeros) per row.

Kempka, Kotlowski, Warmuth, "Adaptive Scale-Invariant Online Algorithms for Learning Linear Models"
(2019), algorithms 1 and 2. Both have, with initial wealth eps::

    M_i     = max(M_i, |x_i|);   D_i = sqrt(S2_i + M_i^2);   theta_i = G_i / D_i
    p       = sum w_i x_i;   g = loss'(y, p) / L
    G_i    -= g x_i;   S2_i += (g x_i)^2

The authors' code adds 1e-15 to a scale, which would break the invariance; it is left out here. A
sample weight v scales the instance, as in Algorithm 1.
"""

cimport cython
from libc.math cimport copysign, expm1, fabs, sqrt

from unitless.core.arithmetic cimport Room, Values, clipped, fast_exp, fused, lane_sum, total
from unitless.core.coordinatewise cimport Coordinatewise
from unitless.core.row cimport Row

from unitless.core.coordinatewise import coordinatewise_state
from unitless.core.parameters import Parameter
from unitless.state import Field

cdef double MAX_GRADIENT_EXPONENT = 600.0    # gradients of a caller could raise exponents without end
cdef double MAX_WEALTH = 2.0**500   # or double the wealth

FIELDS = (
    Field("G", "x", "negative sum of gradients, -sum g x_i"),
    Field("S2", "x^2", "sum of squared gradients, sum (g x_i)^2"),
    Field("M", "|x|", "largest absolute value, max |x_i|"),
)
FIELDS_1 = (*FIELDS, Field("C", "1", "initial wealth over its divisor, eps / beta_i; 0 at the start"))
FIELDS_2 = (*FIELDS, Field("eta", "1", "wealth won, beyond the initial eps"))


cdef struct Eight1:
    double[8] G     # -sum g x
    double[8] S2    # sum (g x)^2
    double[8] M     # max |x|
    double[8] C     # eps / beta, or 0 at the start


cdef inline double exp_minus_1(double x) noexcept nogil:
    """exp(x) - 1 for x >= 0, without cancellation near 0."""
    return fast_exp(min(x, MAX_GRADIENT_EXPONENT)) - 1.0 if x > 0.5 else expm1(x)


cdef inline double size_of(double M, double S2) noexcept nogil:
    """D_i; 1 where it would be 0."""
    cdef double D2 = fused(M, M, S2)
    return sqrt(D2 if D2 > 0 else 1.0)


cdef inline double largest_c(double C, double ratio, double t) noexcept nogil:
    """eps / beta_i with the trial at hand; ratio is x_i / D_i."""
    return max(C, ratio * ratio * t)


cdef inline void look_1(
    const Eight1* own, Values x, double wealth, double t, Room wx
) noexcept nogil:
    """wx = w_i x_i"""
    cdef double D, ratio, theta, size
    cdef int k
    for k in range(8):
        D = size_of(max(own.M[k], fabs(x[k])), own.S2[k])
        ratio = x[k] / D
        theta = own.G[k] / D
        size = wealth / max(largest_c(own.C[k], ratio, t), 1.0) / 2
        wx[k] = copysign(1.0, theta) * (size * ratio * exp_minus_1(fabs(theta) / 2))


cdef inline void take_in_1(Eight1* own, Values x, double t, double g) noexcept nogil:
    """M, C, G and S2 of the next trial"""
    cdef double q
    cdef int k
    for k in range(8):
        q = g * x[k]
        own.M[k] = max(own.M[k], fabs(x[k]))
        own.C[k] = largest_c(own.C[k], x[k] / size_of(own.M[k], own.S2[k]), t)
        own.G[k] -= q
        own.S2[k] = fused(q, q, own.S2[k])


@cython.final
cdef class Scinol1(Coordinatewise):
    """ScInOL1: scale-invariant, without a learning rate, weights grow exponentially.

    w_i is 0 while M_i = 0, and beta_i starts at eps::

        beta_i = min(beta_i, eps (S2_i + M_i^2) / (x_i^2 t))     where x_i is not 0
        w_i    = beta_i sgn(theta_i) / (2 D_i) (exp(|theta_i| / 2) - 1)

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Scinol1()))
    0.6364
    """

    name = "scinol1"
    invariance = "unit"
    scales_instance = True
    parameters = (Parameter("wealth", 1.0, "eps, the initial wealth of each feature"),)
    fields = FIELDS_1
    saved = coordinatewise_state(FIELDS_1)

    cdef public double wealth

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double t = self.t + 1
        cdef Py_ssize_t tile, first
        for tile in range(row.slots // 8):
            first = 8 * tile
            look_1(<Eight1*>self.own + tile, self.z + first, self.wealth, t, self.work + first)
        self.p = lane_sum(self.work, row.slots)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double t = self.t + 1
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            take_in_1(<Eight1*>self.own + tile, self.z + 8 * tile, t, g)


cdef struct Eight2:
    double[8] G     # -sum g x
    double[8] S2    # sum (g x)^2
    double[8] M     # max |x|
    double[8] eta   # wealth, beyond eps


cdef inline void look_2(
    const Eight2* own, Values x, double wealth, Room wx, Room p
) noexcept nogil:
    """wx = w_i x_i;   p += w_i x_i"""
    cdef double D, theta
    cdef int k
    for k in range(8):
        D = size_of(max(own.M[k], fabs(x[k])), own.S2[k])
        theta = clipped(own.G[k] / D, 1.0)
        wx[k] = theta / (2.0 * D) * (wealth + own.eta[k]) * x[k]
        p[k] += wx[k]


cdef inline void take_in_2(Eight2* own, Values x, Values wx, double g) noexcept nogil:
    """G, S2, M and eta of the next trial"""
    cdef double q
    cdef int k
    for k in range(8):
        q = g * x[k]
        own.G[k] -= q
        own.S2[k] = fused(q, q, own.S2[k])
        own.M[k] = max(own.M[k], fabs(x[k]))
        own.eta[k] = min(own.eta[k] - g * wx[k], MAX_WEALTH)


@cython.final
cdef class Scinol2(Coordinatewise):
    """ScInOL2: scale-invariant coin betting, without a learning rate.

    w_i is 0 while M_i = 0, and eta_i starts at eps::

        w_i    = sgn(theta_i) min(|theta_i|, 1) / (2 D_i) eta_i
        eta_i -= g x_i w_i

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Scinol2()))
    0.3833
    """

    name = "scinol2"
    invariance = "unit"
    scales_instance = True
    parameters = Scinol1.parameters
    fields = FIELDS_2
    saved = coordinatewise_state(FIELDS_2)

    cdef public double wealth

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] p = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile, first
        for tile in range(row.slots // 8):
            first = 8 * tile
            look_2(<Eight2*>self.own + tile, self.z + first, self.wealth, self.work + first, p)
        self.p = total(p)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef Py_ssize_t tile, first
        for tile in range(row.slots // 8):
            first = 8 * tile
            take_in_2(<Eight2*>self.own + tile, self.z + first, self.work + first, g)
