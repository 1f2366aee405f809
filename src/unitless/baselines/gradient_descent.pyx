"""Gradient descent: one rate (OGD), a rate per feature (AdaGrad, FTRL), normalised (NG, sNAG).

NG and sNAG are the siblings of NAG (`unitless.learners.nag`) in the paper of Ross, Mineiro and
Langford.

>>> from unitless.testing import example_loss
>>> for learner in (Ogd(), Adagrad(), Ftrl(), NormalisedGradientDescent(), Snag()):
...     print(learner.name, example_loss(learner))
ogd 0.3720
adagrad 0.2576
ftrl 0.3190
ng 0.4395
snag 0.3360
"""

import math

import numpy as np

cimport cython
from libc.math cimport INFINITY, copysign, fabs, isfinite, log, sqrt

from unitless.baselines.baseline cimport Baseline
from unitless.core.arithmetic cimport Room, Values, clipped, dot, fast_exp, fused, total
from unitless.core.row cimport Row
from unitless.learners.nag cimport over_root, root_of_ratio

from unitless.baselines.baseline import G
from unitless.core.coordinatewise import coordinatewise_state
from unitless.core.parameters import Parameter
from unitless.state import Field

cdef double MAX_TERM = 2.0**500         # of |w_i x_i|, which has no unit: sums of terms stay finite
cdef double MIN_GRADIENT = 2.0**-250    # of |q_i| / sqrt(V_i): less could round to 0 in some units


# OGD

cdef struct OgdEight:
    double[8] w         # weight, before the projections since it was last touched
    double[8] shrunk    # log of the product of projections when it was last touched


cdef inline void ogd_look(
    const OgdEight* own, Values x, double shrinkage, Room w, Room p
) noexcept nogil:
    """w = w_i after all projections;   p += w_i x_i"""
    cdef int k
    for k in range(8):
        w[k] = own.w[k] * fast_exp(shrinkage - own.shrunk[k])
        p[k] += w[k] * x[k]


cdef inline void ogd_take_in(
    OgdEight* own, Values x, Values w, double shrinkage, double a, Room change
) noexcept nogil:
    """w_i -= a x_i;   change += the change of w_i^2"""
    cdef double new
    cdef int k
    for k in range(8):
        new = w[k] - a * x[k]
        change[k] += (new - w[k]) * (new + w[k])
        own.w[k] = new
        own.shrunk[k] = shrinkage


OGD_FIELDS = (
    Field("w", "1/x", "weight, before the projections since it was last touched"),
    Field("shrunk", "1", "log of the product of projections when it was last touched"),
)


@cython.final
cdef class Ogd(Baseline):
    """Online gradient descent, on a ball if a radius is given.

    Zinkevich, "Online Convex Programming and Generalized Infinitesimal Gradient Ascent" (2003)::

        w <- w - eta / sqrt(t) g x;   if |w| > D:  w <- w D / |w|

    A projection multiplies all weights by the same factor. To keep a row O(nonzeros), `shrinkage`
    has the product of these factors, and each weight remembers the product it was last multiplied
    by. Checked: `regret_bound`, on adversarial streams (tests).
    """

    name = "ogd"
    invariance = "rotation"
    needs_lipschitz = False
    parameters = (
        Parameter("rate", 1.0, "eta, the learning rate"),
        Parameter("radius", math.inf, "D, the radius of the ball", "number > 0"),
    )
    fields = OGD_FIELDS
    saved = coordinatewise_state(
        OGD_FIELDS,
        Field("shrinkage", "1", "log of the product of all projections"),
        Field("norm2", "1", "squared norm of the weights, |w|^2; kept only if there is a radius"),
    )

    cdef public double rate
    cdef public double radius
    cdef public double shrinkage
    cdef public double norm2

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] p = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile, k
        for tile in range(row.slots // 8):
            k = 8 * tile
            ogd_look(<OgdEight*>self.own + tile, self.z + k, self.shrinkage, self.work + k, p)
        self.p = total(p)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double[8] change = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double a = self.rate / sqrt(self.t + 1) * self.weight_of(row) * g
        cdef Py_ssize_t tile, k
        for tile in range(row.slots // 8):
            k = 8 * tile
            ogd_take_in(
                <OgdEight*>self.own + tile, self.z + k, self.work + k, self.shrinkage, a, change
            )
        if self.radius < INFINITY:
            self.norm2 += total(change)
            if self.norm2 > self.radius * self.radius:
                self.shrinkage += log(self.radius / sqrt(self.norm2))
                self.norm2 = self.radius * self.radius

    cdef bint _is_finite(self, const Row* row) noexcept nogil:
        return isfinite(self.shrinkage + self.norm2) and Baseline._is_finite(self, row)

    def regret_bound(self, trajectory):
        """Zinkevich's Theorem 1 for these rates, with the norms of the gradients, if |u| <= D.

        (2 D)^2 sqrt(T) / (2 eta) + (eta / 2) sum |g_t x_t|^2 / sqrt(t)
        """
        if not trajectory.norm() <= self.radius < math.inf:
            return None
        norms = trajectory.gradient_sizes()
        t = np.arange(1, len(norms) + 1)
        start = 2 * self.radius**2 / self.rate * math.sqrt(len(norms))
        return start + self.rate / 2 * float((norms**2 / np.sqrt(t)).sum())


# AdaGrad

cdef struct AdagradEight:
    double[8] w     # weight
    double[8] G     # sum q^2


cdef inline void adagrad_look(const AdagradEight* own, Values x, Room p) noexcept nogil:
    """p += w_i x_i"""
    cdef int k
    for k in range(8):
        p[k] = fused(x[k], own.w[k], p[k])


cdef inline void adagrad_take_in(
    AdagradEight* own, Values x, double rate, double g
) noexcept nogil:
    """G_i += q_i^2;   w_i -= eta q_i / sqrt(G_i)"""
    cdef double q
    cdef int k
    for k in range(8):
        q = g * x[k]
        own.G[k] = fused(q, q, own.G[k])
        own.w[k] -= rate * over_root(q, own.G[k])


ADAGRAD_FIELDS = (Field("w", "1", "weight"), G)


@cython.final
cdef class Adagrad(Baseline):
    """AdaGrad with a diagonal matrix: each feature has its own rate, from its past gradients.

    Duchi, Hazan, Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic
    Optimization" (2011), by mirror descent. With q_i = g x_i::

        G_i += q_i^2;   w_i -= eta q_i / sqrt(G_i)                                 0 while G_i = 0

    A factor of the loss changes nothing. Checked: the paper's Theorem 5, with the largest
    distance from u in place of a bounded domain, on adversarial streams (tests).
    """

    name = "adagrad"
    needs_lipschitz = False
    parameters = (Parameter("rate", 1.0, "eta, the learning rate"),)
    fields = ADAGRAD_FIELDS
    saved = coordinatewise_state(ADAGRAD_FIELDS)

    cdef public double rate

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] p = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            adagrad_look(<AdagradEight*>self.own + tile, self.z + 8 * tile, p)
        self.p = total(p)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double vg = self.weight_of(row) * g
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            adagrad_take_in(<AdagradEight*>self.own + tile, self.z + 8 * tile, self.rate, vg)


# FTRL

cdef struct FtrlEight:
    double[8] z     # sum of q - sigma w
    double[8] G     # sum q^2


cdef inline void ftrl_look(
    const FtrlEight* own, double rate, double beta, double l1, double l2, Room w
) noexcept nogil:
    """w = w_i"""
    cdef double excess, size
    cdef int k
    for k in range(8):
        excess = max(fabs(own.z[k]) - l1, 0.0)
        size = l2 + (beta + sqrt(own.G[k])) / rate
        w[k] = -copysign(excess / (size if size > 0 else 1.0), own.z[k])


cdef inline void ftrl_take_in(
    FtrlEight* own, Values x, Values w, double rate, double g
) noexcept nogil:
    """z_i += q_i - sigma_i w_i;   G_i += q_i^2"""
    cdef double q, new, sigma
    cdef int k
    for k in range(8):
        q = g * x[k]
        new = fused(q, q, own.G[k])
        sigma = (sqrt(new) - sqrt(own.G[k])) / rate
        own.z[k] += q - sigma * w[k]
        own.G[k] = new


FTRL_FIELDS = (Field("z", "x", "gradients less corrections, sum of q_i - sigma w_i"), G)


@cython.final
cdef class Ftrl(Baseline):
    """FTRL-proximal: a rate per feature, and weights that are 0 without enough evidence.

    McMahan et al., "Ad Click Prediction: a View from the Trenches" (2013), algorithm 1; Vowpal
    Wabbit's `--ftrl`. With q_i = g x_i::

        w_i = -(z_i - sgn(z_i) l1) / (l2 + (beta + sqrt(G_i)) / eta)           0 where |z_i| <= l1
        z_i += q_i - (sqrt(G_i + q_i^2) - sqrt(G_i)) / eta * w_i;   G_i += q_i^2

    G_i is the paper's n_i. Checked against Vowpal Wabbit itself (tests), whose defaults these are.
    """

    name = "ftrl"
    needs_lipschitz = False
    parameters = (
        Parameter("rate", 0.5, "eta: the rate of a feature is eta / (beta + sqrt(G_i))"),
        Parameter("beta", 1.0, "see rate", "finite number >= 0"),
        Parameter("l1", 0.0, "regularisation", "finite number >= 0"),
        Parameter("l2", 0.0, "regularisation", "finite number >= 0"),
    )
    fields = FTRL_FIELDS
    saved = coordinatewise_state(FTRL_FIELDS)

    cdef public double rate
    cdef public double beta
    cdef public double l1
    cdef public double l2

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef const FtrlEight* own = <FtrlEight*>self.own
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            ftrl_look(own + tile, self.rate, self.beta, self.l1, self.l2, self.work + 8 * tile)
        self.p = dot(self.z, self.work, row.slots)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double vg = self.weight_of(row) * g
        cdef Py_ssize_t tile, k
        for tile in range(row.slots // 8):
            k = 8 * tile
            ftrl_take_in(<FtrlEight*>self.own + tile, self.z + k, self.work + k, self.rate, vg)


# NG

cdef struct NgEight:
    double[8] M     # max |x|
    double[8] B     # w M^2


cdef inline void ng_look(const NgEight* own, Values x, Room p, Room squares) noexcept nogil:
    """p += w_i x_i;   squares += (x_i / M_i)^2"""
    cdef double largest, scale, ratio
    cdef int k
    for k in range(8):
        largest = max(own.M[k], fabs(x[k]))
        scale = largest if largest > 0 else 1.0
        ratio = x[k] / scale
        squares[k] += ratio * ratio
        p[k] += own.B[k] / scale * ratio


cdef inline void ng_take_in(NgEight* own, Values x, double a) noexcept nogil:
    """B_i -= a x_i; M_i is that of the next trial"""
    cdef int k
    for k in range(8):
        own.M[k] = max(own.M[k], fabs(x[k]))
        own.B[k] -= a * x[k]


NG_FIELDS = (
    Field("M", "|x|", "largest absolute value, max |x_i|"),
    Field("B", "x", "weight times squared largest value, w_i M_i^2"),
)


@cython.final
cdef class NormalisedGradientDescent(Baseline):
    """NG, normalised gradient descent: the simplest of the three scale-invariant algorithms.

    Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 1::

        M_i = max(M_i, |x_i|)                 a weight w_i shrinks by (M_old/M_new)^2 when M_i grows
        N  += sum (x_i / M_i)^2;   p = sum w_i x_i
        w_i -= eta (t / N) g x_i / M_i^2

    M_i is the paper's s_i. The state has B_i = w_i M_i^2, which is -eta sum (t / N) g x_i and does
    not change when M_i grows. Checked: the units of the fields, and Vowpal Wabbit's source, which
    shrinks by the square without `--adaptive`.
    """

    name = "ng"
    invariance = "unit"
    parameters = (Parameter("rate", 0.5, "eta, the learning rate"),)
    fields = NG_FIELDS
    saved = coordinatewise_state(
        NG_FIELDS, Field("N", "1", "sum of squared ratios, sum (x_i / M_i)^2", low=0.0)
    )

    cdef public double rate
    cdef public double N
    cdef double squares         # what the row at hand adds to N

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] p = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double[8] squares = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            ng_look(<NgEight*>self.own + tile, self.z + 8 * tile, p, squares)
        self.squares = total(squares)
        self.p = total(p)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double rate
        cdef Py_ssize_t tile
        self.N += self.squares
        rate = self.rate * (self.t + 1) / self.N if self.N > 0 else 0.0
        for tile in range(row.slots // 8):
            ng_take_in(
                <NgEight*>self.own + tile, self.z + 8 * tile, rate * self.weight_of(row) * g
            )


# sNAG

cdef struct SnagEight:
    double[8] w     # weight
    double[8] V     # sum x^2
    double[8] G     # sum q^2


cdef inline void snag_look(const SnagEight* own, Values x, Room p, Room shares) noexcept nogil:
    """p += w_i x_i;   shares += x_i^2 / V_i"""
    cdef double V
    cdef int k
    for k in range(8):
        V = fused(x[k], x[k], own.V[k])
        shares[k] += x[k] / (V if V > 0 else 1.0) * x[k]
        p[k] += clipped(own.w[k] * x[k], MAX_TERM)


cdef inline void snag_take_in(SnagEight* own, Values x, double rate, double g) noexcept nogil:
    """V_i += x_i^2;   G_i += q_i^2;   w_i -= rate q_i / sqrt(G_i V_i)"""
    cdef double q
    cdef int k
    for k in range(8):
        own.V[k] = fused(x[k], x[k], own.V[k])
        q = g * x[k]
        q = q if fabs(q) >= MIN_GRADIENT * sqrt(own.V[k]) else 0.0
        own.G[k] = fused(q, q, own.G[k])
        own.w[k] -= rate * over_root(over_root(q, own.G[k]), own.V[k])


SNAG_FIELDS = (Field("w", "1/x", "weight"), Field("V", "x^2", "sum of squares, sum x_i^2"), G)


@cython.final
cdef class Snag(Baseline):
    """sNAG: NAG with the average size of a feature in place of its largest.

    Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 3. With q_i = g x_i::

        V_i += x_i^2;   N += t sum x_i^2 / V_i;   p = sum w_i x_i
        G_i += q_i^2;   w_i -= eta sqrt(t / N) q_i / sqrt(V_i G_i / t)

    No weight is ever shrunk: when a feature grows far beyond its past, so do predictions. Each term
    of a score is limited to 2^500. Checked by dimensions; and where |x_i| never changes, V_i / t =
    M_i^2 and it is `nag` (tests), which is Vowpal Wabbit's.
    """

    name = "snag"
    invariance = "unit"
    parameters = (Parameter("rate", 0.5, "eta, the learning rate"),)
    fields = SNAG_FIELDS
    saved = coordinatewise_state(
        SNAG_FIELDS, Field("N", "1", "sum of weighted ratios, sum t x_i^2 / V_i", low=0.0)
    )

    cdef public double rate
    cdef public double N
    cdef double shares          # sum x_i^2 / V_i of the row at hand

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] p = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double[8] shares = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            snag_look(<SnagEight*>self.own + tile, self.z + 8 * tile, p, shares)
        self.shares = total(shares)
        self.p = total(p)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double vg = self.weight_of(row) * g
        cdef double t = self.t + 1
        cdef double rate
        cdef Py_ssize_t tile
        self.N += t * self.shares
        rate = self.rate * root_of_ratio(t, self.N) * sqrt(t)
        for tile in range(row.slots // 8):
            snag_take_in(<SnagEight*>self.own + tile, self.z + 8 * tile, rate, vg)
