"""Exponentiated gradient: on a ball of the 1-norm (EG), and without dimension or ball (DFEG).

>>> from unitless.testing import example_loss
>>> for learner in (Dfeg(), Eg(radius=10, horizon=569)):
...     print(learner.name, example_loss(learner))
dfeg 0.6928
eg 0.5179
"""

import math

import numpy as np

cimport cython
from libc.math cimport exp, fabs, isfinite, log, sqrt

from unitless.baselines.baseline cimport Baseline
from unitless.core.arithmetic cimport Room, Values, dot, lane_sum, total
from unitless.core.array cimport Array, numbers
from unitless.core.row cimport Row

from unitless.baselines.baseline import THETA
from unitless.core.coordinatewise import coordinatewise_state
from unitless.core.parameters import Parameter
from unitless.state import Field, count


# DFEG: a record is theta

cdef inline void dfeg_take_in(Room theta, Values x, double g, Room change) noexcept nogil:
    """theta_i -= q_i;   change += the change of theta_i^2"""
    cdef double new
    cdef int k
    for k in range(8):
        new = theta[k] - g * x[k]
        change[k] += (new - theta[k]) * (new + theta[k])
        theta[k] = new


@cython.final
cdef class Dfeg(Baseline):
    """DFEG, dimension-free exponentiated gradient: weights that grow like exp(|theta|).

    Orabona, "Dimension-Free Exponentiated Gradient" (2013), algorithm 1, for a loss with |g| <= 1.
    With q = g x::

        H += max(|x|, |x|^2);   w = theta / |theta| H^(-3/2) exp(|theta| / (a sqrt(H)))
        p = w.x;   theta -= q

    H starts at 1, and w = 0 while theta = 0. Checked: the formula is that of the public code
    jongharyu/olo-with-side-information, where |x| = 1; w is the gradient of f(theta) = (a / H)
    exp(|theta| / (a sqrt(H))), whose conjugate is the first term of `regret_bound`, and that bound
    holds on adversarial streams (tests).
    """

    name = "dfeg"
    invariance = "rotation"
    scales_instance = True
    parameters = (
        Parameter("a", 1.0, "the larger, the more careful; in the paper 0.882 to 1.109"),
    )
    fields = (THETA,)
    saved = coordinatewise_state(
        (THETA,),
        Field(
            "H",
            "1",
            "sum of the larger one of |x| and |x|^2, without the 1 it starts at",
            low=0.0,
        ),
        Field("norm2", "1", "squared norm of the gradients, |theta|^2"),
    )

    cdef public double a
    cdef public double H
    cdef public double norm2
    cdef double size            # max(|x|, |x|^2) of the row at hand

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double square = dot(self.z, self.z, row.slots)
        cdef double norm = sqrt(max(self.norm2, 0.0))
        cdef double H, growth
        self.size = max(sqrt(square), square)
        self.p = 0.0
        if norm > 0:
            H = 1.0 + (self.H + self.size)
            growth = exp(norm / (self.a * sqrt(H)))
            self.p = dot(self.z, self.own, row.slots) * (growth / (norm * H * sqrt(H)))
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double[8] change = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            dfeg_take_in(self.own + 8 * tile, self.z + 8 * tile, g, change)
        self.H += self.size
        self.norm2 += total(change)

    cdef bint _is_finite(self, const Row* row) noexcept nogil:
        return isfinite(self.H) and isfinite(self.norm2) and Baseline._is_finite(self, row)

    def regret_bound(self, trajectory):
        """The paper's Theorem 1, for the a that it allows.

        a |u| sqrt(H) (ln(H^(3/2) |u|) - 1) + 4 e^(1 + 1/a); for small |u|, the first term is -a/H
        """
        if not 0.882 < self.a < 1.109:
            return None
        size = 1 + self.H
        norm = trajectory.norm()
        slope = size * math.sqrt(size) * norm
        first = -self.a / size
        if slope > 1:
            first = self.a * norm * math.sqrt(size) * (math.log(slope) - 1)
        return first + 4 * math.exp(1 + 1.0 / self.a)


# EG

cdef struct EgEight:
    double[8] theta     # -sum q
    double[8] seen      # 1 once x was not 0


cdef inline Py_ssize_t coordinate_of(const Row* row, Py_ssize_t k) noexcept nogil:
    """The coordinate of slot k; slots behind the last value may have any."""
    if row.ids == NULL:
        return k
    return 1 + row.ids[k - 1] if 0 < k <= row.n else 0


cdef inline void eg_take_in(EgEight* own, Values x, double g) noexcept nogil:
    """theta_i -= q_i; features of the row are seen"""
    cdef int k
    for k in range(8):
        own.theta[k] -= g * x[k]
        own.seen[k] = 1.0 if x[k] != 0 else own.seen[k]


EG_FIELDS = (THETA, count("seen", "1 once x_i was not 0", 1.0))


@cython.final
cdef class Eg(Baseline):
    """EG+-: exponentiated gradient, weights in a ball of the 1-norm; O(columns) per row.

    Kivinen and Warmuth, "Exponentiated Gradient versus Gradient Descent for Linear Predictors"
    (1997), in its lazy form. With q = g x, |u|_1 <= U, |q_i| <= X, T trials and d features::

        eta = sqrt(ln(2 d) / T) / (U X);    z_i = eta U theta_i
        w_i = U (e^z_i - e^-z_i) / sum_j (e^z_j + e^-z_j)
        p = w.x;   theta_i -= q_i

    d counts the features seen so far. Checked: `regret_bound` is that of exponential weights over
    the 2 d corners of the ball (Hoeffding's lemma), and holds on adversarial streams (tests).
    """

    name = "eg"
    needs = ("radius", "bound", "horizon")
    parameters = (
        Parameter("radius", 1.0, "U, the 1-norm that weights never exceed"),
        Parameter("bound", 1.0, "X, at least |g x_i| for every feature in every trial"),
        Parameter("horizon", 10_000, "T, the number of trials", "whole number >= 1"),
    )
    fields = EG_FIELDS
    saved = coordinatewise_state(EG_FIELDS)

    cdef public double radius
    cdef public double bound
    cdef public Py_ssize_t horizon
    cdef Array active           # by coordinate: 1 if it was seen or is in the row at hand
    cdef Array w                # by coordinate: the weights for the row at hand

    def __cinit__(self, *args, **given):
        self.active = numbers(8)
        self.w = numbers(8)

    cdef int gather(self, const Row* row) except -1 nogil:
        self.active.resize(8 * self.records.size)
        self.w.resize(8 * self.records.size)
        return Baseline.gather(self, row)

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef Py_ssize_t k, i
        self.weigh_corners(row)
        for k in range(row.slots):
            i = coordinate_of(row, k)
            self.work[k] = self.w.at[i] if i < 8 * self.records.size else 0.0
        self.p = dot(self.work, self.z, row.slots)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double vg = self.weight_of(row) * g
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            eg_take_in(<EgEight*>self.own + tile, self.z + 8 * tile, vg)

    cdef void weigh_corners(self, const Row* row) noexcept nogil:
        """Set `w` for a row, whose features count as seen."""
        cdef const EgEight* known = <EgEight*>self.records.at
        cdef Py_ssize_t size = 8 * self.records.size
        cdef double* active = self.active.at
        cdef double* w = self.w.at
        cdef double beyond = 0.0    # features of the row for which there is no record
        cdef double corners = 0.0   # sum_j (e^z_j + e^-z_j), over e^top
        cdef double top = 0.0       # max_j |z_j|
        cdef double d, rate, up, down
        cdef Py_ssize_t i, k
        for i in range(size):
            active[i] = known[i // 8].seen[i % 8]
        for k in range(row.n + 1):
            i = coordinate_of(row, k)
            if row.x[k] != 0 and i < size:
                active[i] = 1.0
            elif row.x[k] != 0:
                beyond += 1
        d = lane_sum(active, size) + beyond
        rate = sqrt(log(2.0 * d) / self.horizon) / self.bound if d > 0 else 0.0  # eta U
        for i in range(size):
            w[i] = rate * known[i // 8].theta[i % 8]
            top = max(top, fabs(w[i]))
        for i in range(size):
            up = exp(w[i] - top)
            down = exp(-w[i] - top)
            w[i] = up - down
            corners += (up + down) * active[i]
        corners += beyond * (2.0 * exp(-top))
        for i in range(size):
            w[i] *= self.radius / corners if d > 0 else 0.0

    def regret_bound(self, trajectory):
        """If |u|_1 <= U and all d features were in the first row.

        ln(2 d) / eta + eta U^2 / 2 sum_t max_i q_ti^2
        """
        seen = trajectory.features_in_first_row()
        if seen is None or not len(seen) or np.abs(trajectory.u).sum() > self.radius:
            return None
        d = len(seen)
        q = trajectory.gradient_sizes(euclidean=False)
        eta = math.sqrt(math.log(2 * d) / self.horizon) / (self.radius * self.bound)
        return math.log(2 * d) / eta + eta * self.radius**2 / 2 * float((q**2).sum())

    def _coefficients(self):
        cdef Row nothing
        cdef double[8] x = [0, 0, 0, 0, 0, 0, 0, 0]
        nothing.values = x
        nothing.ids = NULL
        nothing.n = 0
        nothing.x = x
        nothing.slots = 8
        nothing.weight = 1.0
        self.gather(&nothing)
        self.weigh_corners(&nothing)
        return np.array(self.w)[: 1 + self.columns]
