"""Online Newton with a diagonal matrix: scale-invariant, O(nonzeros) per row.

Each feature's precision is a prior of lambda times its largest square, plus that of the data::

    a_i = A_i + lambda M_i^2;   w_i = b_i / a_i;   z = sum w_i x_i;   s = sum x_i^2 / a_i
    logistic   q = sigma(z);  e = y01 - q;  c = max(q (1 - q), 1e-3);  score = z/sqrt(1 + pi s/8)
    squared    e = y - z;     c = 1;                                   score = z
    w_i += x_i e / (a_i (1 + c s));   then A_i += c x_i^2

"Moderated": the score is drawn towards 0 where the row's weights are uncertain (MacKay 1992). The
state has b_i = w_i a_i, because a weight shrinks when M_i grows, while b_i stays. A sample weight
multiplies e and c; with softmax each class has its own diagonal.
"""

cimport cython
from libc.math cimport fabs

from unitless.core.arithmetic cimport Room, Values, clipped, fused, total
from unitless.core.coordinatewise cimport Coordinatewise
from unitless.core.losses cimport SQUARED
from unitless.core.row cimport Row
from unitless.core.curvature cimport curvature, moderated

from unitless.core.coordinatewise import coordinatewise_state
from unitless.core.parameters import Parameter
from unitless.state import Field

cdef double MAX_TARGET = 2.0**240   # limit of z in a step of the squared loss, as of targets
cdef double MAX_B = 2.0**900        # limit of b: sample weights that jump could raise it for ever
CURVED = ("logistic", "softmax", "squared")
"""Losses with a second derivative, as Newton's method needs it."""


cdef struct Eight:
    double[8] M     # max |x|
    double[8] A     # sum c x^2
    double[8] b     # w a


cdef inline void look(const Eight* own, Values x, double strength, Room z, Room s) noexcept nogil:
    """z += w_i x_i;   s += x_i^2 / a_i"""
    cdef double largest, a
    cdef int k
    for k in range(8):
        largest = max(own.M[k], fabs(x[k]))
        a = fused(strength * largest, largest, own.A[k])
        a = a if a > 0 else 1.0
        s[k] += x[k] * x[k] / a
        z[k] += own.b[k] * (x[k] / a)


cdef inline void take_in(
    Eight* own, Values x, double strength, double c, double step
) noexcept nogil:
    """w_i += x_i step / a_i;   A_i += c x_i^2"""
    cdef double largest, a, ratio
    cdef int k
    for k in range(8):
        largest = max(own.M[k], fabs(x[k]))
        a = fused(strength * largest, largest, own.A[k])
        ratio = fused(c * x[k], x[k], a) / (a if a > 0 else 1.0)
        own.M[k] = largest
        own.A[k] = fused(c * x[k], x[k], own.A[k])
        own.b[k] = clipped(fused(x[k], step, own.b[k]) * ratio, MAX_B)


FIELDS = (
    Field("M", "|x|", "largest absolute value, max |x_i|"),
    Field("A", "x^2", "sum of curvatures, sum c x_i^2"),
    Field("b", "x", "weight times precision, w_i a_i"),
)


@cython.final
cdef class Diagonal(Coordinatewise):
    """Online Newton with one variance per feature; uncertain scores are drawn towards 0.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Diagonal()))
    0.3199
    """

    name = "diagonal"
    invariance = "unit"
    target_invariance = "unit"
    needs_lipschitz = False
    takes_losses = CURVED
    parameters = (
        Parameter("strength", 1.0, "lambda, the prior precision in units of 1 / max(x_i^2)"),
    )
    fields = FIELDS
    saved = coordinatewise_state(FIELDS)

    cdef public double strength
    cdef double s               # of the row at hand

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] z = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double[8] s = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            look(<Eight*>self.own + tile, self.z + 8 * tile, self.strength, z, s)
        self.s = total(s)
        self.p = total(z)
        return self.p if self.code == SQUARED else moderated(self.p, self.s)

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double v = self.weight_of(row)
        cdef double e = -g
        cdef double c = curvature(g)
        cdef double step
        cdef Py_ssize_t tile
        if self.code == SQUARED:
            e = y - clipped(self.p, MAX_TARGET)
            c = 1.0
        e *= v
        c *= v
        step = e / (1 + c * self.s)
        for tile in range(row.slots // 8):
            take_in(<Eight*>self.own + tile, self.z + 8 * tile, self.strength, c, step)
