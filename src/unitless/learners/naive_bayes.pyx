"""Naive Bayes on the presence of features, damped, O(nonzeros) per row.

With counts N of rows and C_i of rows in which x_i is not 0, by class, and m nonzeros in the row::

    z = ln (N+ + a)/(N- + a) + m^(-1/2) sum_{x_i != 0} ln r_i
    r_i = [(C_i+ + a)(N- + 2a)] / [(C_i- + a)(N+ + 2a)]

The factor m^(-1/2) damps the sum, which would be overconfident: features are not independent. With
softmax the score of class c is the part of the formula that belongs to it. The constant 1 is in
neither sum nor m, a sample weight counts as that many rows, and values do not matter at all: the
learner is invariant under everything that keeps zeros zero.
"""

import numpy as np

cimport cython
from libc.math cimport log, sqrt

from unitless.core.arithmetic cimport Room, Values
from unitless.core.coordinatewise cimport Coordinatewise
from unitless.core.losses cimport LOGISTIC
from unitless.core.row cimport Row

from unitless.core.coordinatewise import coordinatewise_state
from unitless.core.parameters import Parameter
from unitless.state import Field


cdef struct Eight:
    double[8] C_positive    # rows of the class with x != 0
    double[8] C_negative    # other rows with x != 0


cdef inline void ratios(const Eight* own, double a, double bias, Room r) noexcept nogil:
    """r_i; bias is (N- + 2a) / (N+ + 2a)"""
    cdef int k
    for k in range(8):
        r[k] = (own.C_positive[k] + a) * bias / (own.C_negative[k] + a)


cdef inline void shares(const Eight* own, double a, double bias, Room r) noexcept nogil:
    """The part of r_i that belongs to one class; bias is 1 / (N+ + 2a)"""
    cdef int k
    for k in range(8):
        r[k] = (own.C_positive[k] + a) * bias


cdef inline void take_in(Room C, Values x, double v) noexcept nogil:
    """C_i += v where x_i is not 0"""
    cdef int k
    for k in range(8):
        C[k] += v if x[k] != 0 else 0.0


cdef inline double sum_of_logs(Values r, Values x, Py_ssize_t slots) noexcept nogil:
    """m^(-1/2) sum ln r_i over the slots with x_i != 0, the constant excepted."""
    cdef double logs = 0.0
    cdef double product = 1.0
    cdef Py_ssize_t present = 0
    cdef Py_ssize_t k
    for k in range(1, slots):
        if x[k] != 0:
            product *= r[k]
            present += 1
            if present & 3 == 0:  # one logarithm for four: counts up to 2^220 leave no more room
                logs += log(product)
                product = 1.0
    logs += log(product)
    return logs / sqrt(<double>present) if present else 0.0


FIELDS = (
    Field("C_positive", "1", "rows of the class with x_i != 0", low=0.0),
    Field("C_negative", "1", "other rows with x_i != 0", low=0.0),
)


@cython.final
cdef class Bayes(Coordinatewise):
    """Naive Bayes on which features are present, damped for features that go together.

    >>> from unitless.rows import as_rows
    >>> learner = Bayes()
    >>> rows = as_rows([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [2.0, 0.0]], [1, -1, 1, 1])
    >>> learner.learn(rows).round(2)
    array([0.  , 0.61, 2.4 , 3.09])
    """

    name = "bayes"
    linear = False
    invariance = "unit"
    takes_losses = ("logistic", "softmax")
    parameters = (Parameter("a", 0.1, "the initial value of every count"),)
    fields = FIELDS
    saved = coordinatewise_state(
        FIELDS,
        Field("N_positive", "1", "rows of the class", low=0.0),
        Field("N_negative", "1", "other rows", low=0.0),
    )

    cdef public double a
    cdef public double N_positive
    cdef public double N_negative

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double a = self.a
        cdef double positive = self.N_positive
        cdef double negative = self.N_negative
        cdef double bias, prior
        cdef Py_ssize_t tile
        if self.code == LOGISTIC:
            bias = (negative + 2 * a) / (positive + 2 * a)
            prior = (positive + a) / (negative + a)
            for tile in range(row.slots // 8):
                ratios(<Eight*>self.own + tile, a, bias, self.work + 8 * tile)
        else:
            bias = 1.0 / (positive + 2 * a)
            prior = positive + a
            for tile in range(row.slots // 8):
                shares(<Eight*>self.own + tile, a, bias, self.work + 8 * tile)
        self.p = log(prior) + sum_of_logs(self.work, self.z, row.slots)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double v = self.weight_of(row)
        cdef Eight* own = <Eight*>self.own
        cdef Eight of_constant = own[0]
        cdef Py_ssize_t tile
        if y > 0:
            self.N_positive += v
            for tile in range(row.slots // 8):
                take_in(own[tile].C_positive, self.z + 8 * tile, v)
        else:
            self.N_negative += v
            for tile in range(row.slots // 8):
                take_in(own[tile].C_negative, self.z + 8 * tile, v)
        own.C_positive[0] = of_constant.C_positive[0]  # the constant is not counted
        own.C_negative[0] = of_constant.C_negative[0]

    def parts(self, present):
        """What each coordinate adds to the score of a row in which these are present."""
        logs = np.log((self.read("C_positive") + self.a) / (self.N_positive + 2 * self.a))
        if self.code == LOGISTIC:
            logs -= np.log((self.read("C_negative") + self.a) / (self.N_negative + 2 * self.a))
        parts = np.zeros(len(present))
        known = np.flatnonzero(present[: len(logs)])
        parts[known] = logs[known] / np.sqrt(max(present.sum(), 1))
        return parts
