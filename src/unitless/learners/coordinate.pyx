"""Algorithm 1 of the paper: scale-invariant, O(nonzeros) per row.

Kotlowski, "Scale-Invariant Unconstrained Online Learning" (2017), Algorithm 1 and Theorem 1.
At trial t, with alpha > 9/8, initial wealth eps and d coordinates seen so far::

    s2_i += x_i^2
    w_i   = eps / (alpha t d) * h_i / s2_i * exp((h_i^2 + x_i^2) / (2 alpha s2_i))
    p     = sum_i w_i x_i;   g = loss'(y, p) / L;   h_i -= g x_i

A sample weight v scales the instance: h and s2 take v x, while p = w.x. The paper fixes d; counting
coordinates as they appear keeps the proof, because 1 / (t d) never grows (theory.md).
"""

import numpy as np

from unitless.core.arithmetic cimport Values, bounded_exp, fused, total
from unitless.core.array cimport records
from unitless.core.losses cimport LINEAR, OUTSIDE, SOFTMAX
from unitless.core.row cimport Row
from unitless.learners.damped_sums cimport DampedSums, add_trial

from unitless.core.coordinatewise import coordinatewise_state
from unitless.core.learner import Sums
from unitless.core.parameters import Parameter
from unitless.learners.damped_sums import DAMPED_SUMS, RECORD
from unitless.state import Field, count

cdef double TINY = 2.0**-1022       # stands for s2 = 0, where h and x are 0 as well
cdef double MAX_POTENTIAL_EXPONENT = 500.0    # keeps sums of potentials finite for any gradients of a caller


cdef struct Eight:
    double[8] h     # -sum g x
    double[8] s2    # sum x^2


cdef inline double weight(double h, double s2, double x, double half) noexcept nogil:
    """w_i without its factor eps / (alpha t d); s2 includes x^2 and half is 1 / (2 alpha)."""
    cdef double inverse = 1.0 / max(s2, TINY)
    return h * inverse * bounded_exp(min(fused(h, h, x * x) * inverse * half, MAX_POTENTIAL_EXPONENT))


cdef inline void look(
    const Eight* own, Values x, double half, double* score, double* new
) noexcept nogil:
    """score += w_i x_i without its factor;   new += whether coordinate i is seen first now"""
    cdef int k
    for k in range(8):
        new[k] += 1.0 if own.s2[k] == 0 and x[k] != 0 else 0.0
        score[k] += weight(own.h[k], fused(x[k], x[k], own.s2[k]), x[k], half) * x[k]


cdef inline void take_in(Eight* own, Values x, double g) noexcept nogil:
    """h -= g x;   s2 += x^2"""
    cdef int k
    for k in range(8):
        own.h[k] -= g * x[k]
        own.s2[k] = fused(x[k], x[k], own.s2[k])


FIELDS = (
    Field("h", "x", "negative sum of gradients, -sum g x_i"),
    Field("s2", "x^2", "sum of squares, sum x_i^2"),
)


cdef class Coordinate(Coordinatewise):
    """Algorithm 1 of the paper, invariant to the unit of each feature.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Coordinate()))
    0.6905
    """

    name = "coordinate"
    invariance = "unit"
    theorem = "Theorem 1"
    scales_instance = True
    parameters = (
        Parameter(
            "alpha",
            1.2,
            "larger ones make weights smaller; Theorem 1 needs it above 9/8",
            "finite number > 9/8",
        ),
        Parameter("wealth", 1.0, "eps, the initial wealth; the bound for u = 0 is proportional"),
        Parameter(
            "d",
            None,
            "the fixed number of coordinates, with the intercept; None counts them as they appear",
            "whole number >= 1, or None",
        ),
    )
    fields = FIELDS
    saved = coordinatewise_state(
        FIELDS,
        count("seen", "coordinates so far"),
        Field("A", "1", "sum of slopes times scores, sum v g p, for the certificate"),
        DAMPED_SUMS,
    )

    def __cinit__(self, *args, **given):
        self.damped_sums = records(RECORD, 1)
        np.asarray(self.damped_sums)["product"] = 1.0

    def _prepare(self):
        self.fixed_d = self.d or 0

    def _reserve(self, Py_ssize_t columns):
        if self.d is not None and columns + self.intercept > self.d:
            raise ValueError(
                f"d = {self.d} coordinates were declared, but there are {columns} features"
                f"{' and an intercept' if self.intercept else ''}: use d=None to count them"
            )
        super()._reserve(columns)

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] score = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double[8] new = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double half = 0.5 / self.alpha
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            look(<Eight*>self.own + tile, self.z + 8 * tile, half, score, new)
        self.p = self.wealth / self.alpha / ((self.t + 1) * self.dimension(new)) * total(score)
        self.scaled_p = self.p
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            take_in(<Eight*>self.own + tile, self.z + 8 * tile, g)
        self.add_up(row, y, g)

    cdef double dimension(self, const double* new) noexcept nogil:
        """d, with the coordinates of the row at hand that are nonzero for the first time."""
        self.new = total(new)
        return max(self.fixed_d or self.seen + self.new, 1.0)

    cdef void add_up(self, const Row* row, double y, double g) noexcept nogil:
        """Take the row into d and into the sums of a certificate."""
        self.seen += self.new
        self.A += g * self.scaled_p
        if g == 0:
            self.A += row.weight * self.loss_without_slope(y) * self.per_slope
        if self.code == SOFTMAX or self.code == OUTSIDE:
            g /= self.per_slope
            add_trial(<DampedSums*>self.damped_sums.at, LINEAR, 0.0, row.weight, g, self.p)
        else:
            add_trial(
                <DampedSums*>self.damped_sums.at, self.code, self.loss_parameter, row.weight, y, self.p
            )

    def sums(self):
        """A, h / s and s, of the loss itself rather than of loss / L."""
        h = self.read("h")
        s = np.sqrt(self.read("s2"))
        lipschitz = self.loss.lipschitz
        z = np.divide(h, s, out=np.zeros_like(h), where=s > 0) * lipschitz
        damped = np.array(self.damped_sums)[0]
        return Sums(
            self.trials, int(self.seen), self.A * lipschitz, z, self._in_own_unit(s), damped
        )

    def _root_mean_squares(self):
        return np.sqrt(self.read("s2") / max(self.trials, 1))


cdef class Zero(Coordinate):
    """Always predict 0; by Theorem 3 no learner has a smaller worst-case regret.

    It is Algorithm 1 with wealth eps = 0, which makes every weight 0, while h and s2, the sums of a
    certificate, are still kept. Its regret is at most |u|_S sqrt(T) (section 4.1 of the paper).

    >>> Zero().learn_one({"height": 1.8}, 1)
    0.0
    """

    name = "zero"
    invariance = "linear"
    theorem = "section 4.1"
    parameters = ()

    def _prepare(self):
        self.alpha = 1.2
        self.wealth = 0.0
        self.fixed_d = 0.0
