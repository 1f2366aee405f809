"""Gradient descent on features divided by their largest absolute value so far, in Cython.

A coordinate-wise learner keeps a record of a few numbers per feature, for eight coordinates side by
side. It implements two methods: `predict_row` scores the row at hand and changes nothing that is
kept, `learn_row` learns it (see `unitless.core.coordinatewise`)::

    M_i = max |x_i|;   p = sum_i B_i x_i / M_i;   B_i -= rate g / sqrt(t) x_i / M_i
"""

cimport cython
from libc.math cimport fabs, sqrt

from unitless.core.arithmetic cimport Values, total
from unitless.core.coordinatewise cimport Coordinatewise
from unitless.core.row cimport Row

from unitless.core.coordinatewise import coordinatewise_state
from unitless.core.parameters import Parameter
from unitless.state import Field


cdef struct Eight:
    double[8] M     # largest absolute value
    double[8] B     # weight of x / M


cdef inline double ratio(double x, double M) noexcept nogil:
    """x / M, and 0 for a feature that was always 0."""
    return x / M if M > 0 else 0.0


cdef inline void look(const Eight* own, Values x, double* score) noexcept nogil:
    """score += B_i x_i / M_i"""
    cdef int k
    for k in range(8):
        score[k] += own.B[k] * ratio(x[k], max(own.M[k], fabs(x[k])))


cdef inline void take_in(Eight* own, Values x, double step) noexcept nogil:
    """M_i = max(M_i, |x_i|);   B_i -= step x_i / M_i"""
    cdef int k
    for k in range(8):
        own.M[k] = max(own.M[k], fabs(x[k]))
        own.B[k] -= step * ratio(x[k], own.M[k])


FIELDS = (
    Field("M", "|x|", "largest absolute value"),
    Field("B", "sign", "weight of x / M"),
)


@cython.final
cdef class CompiledGradient(Coordinatewise):
    """Gradient descent on features divided by their largest absolute value so far."""

    name = "compiled_gradient"
    invariance = "unit"
    parameters = (Parameter("rate", 1.0, "the learning rate"),)
    fields = FIELDS
    saved = coordinatewise_state(FIELDS)

    cdef public double rate

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] score = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            look(<Eight*>self.own + tile, self.z + 8 * tile, score)
        self.p = total(score)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double step = self.rate * g * self.weight_of(row) / sqrt(self.t + 1)
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            take_in(<Eight*>self.own + tile, self.z + 8 * tile, step)
