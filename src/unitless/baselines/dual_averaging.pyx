"""Dual averaging: weights that are a function of theta = -sum g x.

SOLO, AdaGrad and NDA scale theta by the gradients so far. Minimax and AdaptiveNormal are minimax
strategies for each feature, where |q_i| = |g x_i| <= L is known, sample weights included.

>>> from unitless.testing import example_loss
>>> averaging = (Solo(), AdagradDa(), NormalisedDualAveraging(), Minimax(horizon=569))
>>> for learner in (*averaging, AdaptiveNormal()):
...     print(learner.name, example_loss(learner))
solo 0.4334
adagrad_da 0.2885
nda 0.2806
minimax 0.6555
adaptive_normal 0.6866
"""

import math

import numpy as np

cimport cython
from libc.math cimport M_PI, cosh, exp, fabs, isfinite, log, sinh, sqrt

from unitless.baselines.baseline cimport Baseline, descend
from unitless.core.arithmetic cimport Room, Values, dot, fused, lane_sum, total
from unitless.core.row cimport Row
from unitless.learners.nag cimport over_root

from unitless.baselines.baseline import B, G, THETA
from unitless.core.coordinatewise import coordinatewise_state
from unitless.core.parameters import Parameter
from unitless.state import Field


# SOLO: a record is theta

cdef inline void solo_take_in(Room theta, Values x, double g, Room squares) noexcept nogil:
    """theta_i -= q_i;   squares += q_i^2"""
    cdef double q
    cdef int k
    for k in range(8):
        q = g * x[k]
        theta[k] -= q
        squares[k] += q * q


@cython.final
cdef class Solo(Baseline):
    """SOLO FTRL: follow the regularised leader, scaled by the gradients so far.

    Orabona and Pal, "Scale-Free Algorithms for Online Linear Optimization" (2015), with
    1/2 |w|^2 / eta as the regulariser. With q = g x::

        w = eta theta / sqrt(sum |q|^2);   p = w.x;   theta -= q             0 while the sum is 0

    A factor of the loss changes nothing. Checked: `regret_bound` on adversarial streams (tests);
    the formula against the source of its author's library yamall.
    """

    name = "solo"
    invariance = "rotation"
    needs_lipschitz = False
    parameters = (Parameter("rate", 1.0, "eta, the learning rate"),)
    fields = (THETA,)
    saved = coordinatewise_state(
        (THETA,), Field("squares", "1", "sum of squared gradients, sum |q|^2", low=0.0)
    )

    cdef public double rate
    cdef public double squares

    cdef double predict_row(self, const Row* row) noexcept nogil:
        self.p = self.rate * over_root(dot(self.z, self.own, row.slots), self.squares)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double[8] squares = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double vg = self.weight_of(row) * g
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            solo_take_in(self.own + 8 * tile, self.z + 8 * tile, vg, squares)
        self.squares += total(squares)

    cdef bint _is_finite(self, const Row* row) noexcept nogil:
        return isfinite(self.squares) and Baseline._is_finite(self, row)

    def regret_bound(self, trajectory):
        """The paper's Theorem 1.

        (|u|^2 / (2 eta) + 2.75 eta) sqrt(sum |q|^2) + 3.5 eta sqrt(T - 1) max |q|
        """
        return _solo_regret_bound(self.rate, trajectory.gradient_sizes(), trajectory.norm())


def _solo_regret_bound(rate, q, norm):
    """Theorem 1 of the paper on SOLO, from the norms of its gradients and of u."""
    first = (norm**2 / (2 * rate) + 2.75 * rate) * math.sqrt((q**2).sum())
    return first + 3.5 * rate * math.sqrt(max(len(q) - 1, 0)) * float(q.max(initial=0))


# AdaGrad by dual averaging

cdef struct AdagradEight:
    double[8] theta     # -sum q
    double[8] G         # sum q^2


cdef inline void adagrad_look(
    const AdagradEight* own, Values x, double rate, Room p
) noexcept nogil:
    """p += w_i x_i"""
    cdef int k
    for k in range(8):
        p[k] = fused(x[k], rate * over_root(own.theta[k], own.G[k]), p[k])


cdef inline void adagrad_take_in(AdagradEight* own, Values x, double g) noexcept nogil:
    """theta_i -= q_i;   G_i += q_i^2"""
    cdef double q
    cdef int k
    for k in range(8):
        q = g * x[k]
        own.theta[k] -= q
        own.G[k] = fused(q, q, own.G[k])


@cython.final
cdef class AdagradDa(Baseline):
    """AdaGrad with a diagonal matrix by dual averaging.

    Duchi, Hazan, Singer (2011), the paper's other form; McMahan and Streeter, "Adaptive Bound
    Optimization for Online Convex Optimization" (2010). With q_i = g x_i::

        w_i = eta theta_i / sqrt(G_i);   theta_i -= q_i;   G_i += q_i^2            0 while G_i = 0

    A factor of the loss changes nothing. Checked: for each feature it is SOLO in one dimension, and
    the sum of those bounds holds on adversarial streams (tests); it is `PerCoordinateSOLO` of the
    public library yamall.
    """

    name = "adagrad_da"
    needs_lipschitz = False
    parameters = (Parameter("rate", 1.0, "eta, the learning rate"),)
    fields = (THETA, G)
    saved = coordinatewise_state((THETA, G))

    cdef public double rate

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] p = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            adagrad_look(<AdagradEight*>self.own + tile, self.z + 8 * tile, self.rate, p)
        self.p = total(p)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double vg = self.weight_of(row) * g
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            adagrad_take_in(<AdagradEight*>self.own + tile, self.z + 8 * tile, vg)

    def regret_bound(self, trajectory):
        """The bound of SOLO in one dimension, summed over features."""
        q = abs(trajectory.X.multiply(trajectory.g[:, None])).tocsc()
        bound = 0.0
        for j, u in enumerate(np.abs(trajectory.u)):
            part = q.data[q.indptr[j] : q.indptr[j + 1]]
            bound += _solo_regret_bound(self.rate, part, float(u))
        return bound


# NDA

cdef struct NdaEight:
    double[8] theta     # -sum q
    double[8] b         # max |x|
    double[8] G         # sum q^2


cdef inline void nda_look(const NdaEight* own, Values x, double rate, Room p) noexcept nogil:
    """p += w_i x_i"""
    cdef double b, size
    cdef int k
    for k in range(8):
        b = max(own.b[k], fabs(x[k]))
        b = b if b > 0 else 1.0
        size = sqrt(fused(b, b, own.G[k]))
        size = size if size > 0 else 1.0  # b^2 can be too small for float64; theta is 0 then
        p[k] += rate * own.theta[k] / size * (x[k] / b)


cdef inline void nda_take_in(NdaEight* own, Values x, double g) noexcept nogil:
    """theta_i -= q_i;   G_i += q_i^2; b_i is that of the next trial"""
    cdef double q
    cdef int k
    for k in range(8):
        q = g * x[k]
        own.theta[k] -= q
        own.b[k] = max(own.b[k], fabs(x[k]))
        own.G[k] = fused(q, q, own.G[k])


@cython.final
cdef class NormalisedDualAveraging(Baseline):
    """Normalised dual averaging, after Orabona, Crammer and Cesa-Bianchi: a reconstruction.

    "A Generalized Online Mirror Descent with Applications to Classification and Regression" (2015)
    bounds the regret of a method with the regulariser 1/2 sum_i b_i sqrt(b_i^2 + G_i) u_i^2; the
    bound depends on no unit but that of the loss. The method is rebuilt from that bound, because
    the algorithm as its authors print it was not available. With q_i = g x_i::

        b_i = max(b_i, |x_i|);   w_i = C theta_i / (b_i sqrt(b_i^2 + G_i));   p = sum w_i x_i
        theta_i -= q_i;   G_i += q_i^2

    A sample weight scales the instance, so that |q_i| <= b_i. Checked: the units of the fields;
    there is no public code to compare with.
    """

    name = "nda"
    invariance = "unit"
    scales_instance = True
    parameters = (Parameter("rate", 1.0, "C, a factor of all weights"),)
    fields = (THETA, B, G)
    saved = coordinatewise_state((THETA, B, G))

    cdef public double rate

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] p = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            nda_look(<NdaEight*>self.own + tile, self.z + 8 * tile, self.rate, p)
        self.p = total(p)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            nda_take_in(<NdaEight*>self.own + tile, self.z + 8 * tile, g)


# Minimax: a record is theta

@cython.final
cdef class Minimax(Baseline):
    """The minimax strategy against an exponential benchmark, for a known number of trials.

    McMahan and Abernethy, "Minimax Optimal Algorithms for Unconstrained Linear Optimization"
    (2013). With the horizon T and r = 1/sqrt(T)::

        w_i = eps / L cosh(r)^(T - t) sinh(r) sinh(r theta_i / L);  p = sum w_i x_i;  theta_i -= q_i

    Derived again: V_t(theta) = eps cosh(r)^(T - t) cosh(r theta / L) is the mean of V_{t+1} over
    theta +- L, and w the slope of V_t between theta - L and theta + L. V_t is convex, so -q w >=
    V_t(theta - q) - V_{t-1}(theta) for |q| <= L, and the sum over trials gives `regret_bound`,
    which the tests try to violate. It does not hold beyond the horizon.
    """

    name = "minimax"
    needs = ("bound", "horizon")
    parameters = (
        Parameter("wealth", 1.0, "eps, a factor of all weights"),
        Parameter("bound", 1.0, "L, at least |g x_i| for every feature in every trial"),
        Parameter("horizon", 10_000, "T, the number of trials", "whole number >= 1"),
    )
    fields = (THETA,)
    saved = coordinatewise_state((THETA,))

    cdef public double wealth
    cdef public double bound
    cdef public Py_ssize_t horizon

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double T = <double>self.horizon
        cdef double r = 1.0 / sqrt(T)
        cdef double later = exp((T - (self.t + 1)) * log(cosh(r)))  # cosh(r)^(T - t)
        cdef double theta, x
        cdef Py_ssize_t k
        for k in range(row.slots):
            theta = self.own[k]
            x = self.z[k]
            self.work[k] = sinh(r * (theta / self.bound)) * x if x != 0 else 0.0
        self.p = self.wealth / self.bound * later * sinh(r) * lane_sum(self.work, row.slots)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        descend(self.own, self.z, row.slots, self.weight_of(row) * g)

    def regret_bound(self, trajectory):
        """The sum over features, if L was large enough and there were at most T trials.

        sum_i eps (s asinh(s) - sqrt(1 + s^2) + cosh(1 / sqrt(T))^T),   s = L |u_i| sqrt(T) / eps
        """
        largest = trajectory.gradient_sizes(euclidean=False).max(initial=0)
        if largest > self.bound or len(trajectory.g) > self.horizon:
            return None
        root = math.sqrt(self.horizon)
        s = self.bound * np.abs(trajectory.u) * root / self.wealth
        start = math.cosh(1.0 / root) ** self.horizon
        return float(self.wealth * (s * np.arcsinh(s) - np.sqrt(1 + s**2) + start).sum())


# AdaptiveNormal: a record is theta

@cython.final
cdef class AdaptiveNormal(Baseline):
    """AdaptiveNormal: nearly minimax against a benchmark that grows like exp(theta^2).

    McMahan and Orabona, "Unconstrained Online Linear Learning in Hilbert Spaces: Minimax
    Algorithms and Normal Approximations" (2014)::

        w_i = eps / ln^2(t + 1) (f(theta_i + L) - f(theta_i - L)) / (2 L),  f(z) = exp(z^2/(2 a t))
        p = sum w_i x_i;   theta_i -= q_i                                   a = 3 pi L^2 / 4

    The difference is computed as exp((theta^2 + L^2) / (2 a t)) 2 sinh(L theta / (a t)), without
    cancellation. Checked: w is the slope of f between theta - L and theta + L, as the minimax
    strategy for the last trial demands (tests); the public code jongharyu/olo-with-side-information
    has it for a whole vector, with t + 1 for t and a = 1.
    """

    name = "adaptive_normal"
    needs = ("bound",)
    parameters = (
        Parameter("wealth", 1.0, "eps, a factor of all weights"),
        Parameter("bound", 1.0, "L, at least |g x_i| for every feature in every trial"),
    )
    fields = (THETA,)
    saved = coordinatewise_state((THETA,))

    cdef public double wealth
    cdef public double bound

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double L = self.bound
        cdef double t = self.t + 1
        cdef double at = 3 * M_PI / 4 * L * L * t
        cdef double size = self.wealth / (L * (log(t + 1.0) * log(t + 1.0)))
        cdef double theta, x, growth
        cdef Py_ssize_t k
        for k in range(row.slots):
            theta = self.own[k]
            x = self.z[k]
            if x != 0:
                growth = exp((theta * theta + L * L) / (2 * at))
                self.work[k] = size * growth * sinh(L * theta / at) * x
            else:
                self.work[k] = 0.0
        self.p = lane_sum(self.work, row.slots)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        descend(self.own, self.z, row.slots, self.weight_of(row) * g)
