"""Mixing forecasts of the squared loss: a base, a stacker of its residuals, a mixture.

    base     = sum_k B_k p_k,  B_k prop. exp(-(t/2) L_k / min L)
    stacker  = base + w.x / (1 + s), ridge regression of y - base on x_k = p_k - base
    mixture  = sum_k W_k p_k,  V = excess / ln(number of weights), as in AdaHedge

Everything is clipped to the range of targets seen before.
"""

cimport cython
from libc.math cimport log

from unitless.blend.mixture cimport StackedMixture, least, set_weights
from unitless.core.arithmetic cimport dot
from unitless.core.array cimport Array, numbers
from unitless.learners.gaussian cimport is_out_of_range

from unitless.blend.mixture import StackedMixture as Stacked
from unitless.state import Field, count

cdef double STRENGTH = 10.0
cdef double TRIALS_BEFORE_LATE = 256.0        # trials before late members are stacked


@cython.final
cdef class SquaredMixture(StackedMixture):
    """Base, stacker, mixture, for the squared loss."""

    saved = (
        *Stacked.saved,
        Field("low", "y", "the least target so far, at most 0"),
        Field("high", "y", "the largest target so far, at least 0"),
        count("last", "the trial in which the stacker's prior was set"),
    )

    cdef public double low
    cdef public double high
    cdef public double last
    cdef Array B            # weights of the base
    cdef Array p            # forecasts of the experts and of the stacker, clipped
    cdef Array new          # inputs far beyond all before them, which enter after the prediction
    cdef double base
    cdef double z           # the stacker's correction of the base, before it is moderated
    cdef double mixed       # the score
    cdef int initial        # how many inputs are new

    def _start_stacker(self, w, D):
        self.B = numbers(self.m)
        self.p = numbers(self.m)
        self.new = numbers(self.m)
        self.last = 1.0
        self.stacker.strength = STRENGTH

    cdef int score(
        self, const double* Z, Py_ssize_t stride, double v, double* scores, bint learns
    ) except -1 nogil:
        cdef double* B = self.B.at
        cdef double* p = self.p.at
        cdef double* x = self.x.at
        cdef double* new = self.new.at
        cdef Py_ssize_t K = self.experts
        cdef Py_ssize_t k
        cdef double s
        for k in range(K):
            p[k] = min(max(Z[k * stride], self.low), self.high)
        set_weights(
            self.lost.at, self.W0.at, K, self.t / 2, least(self.lost.at, self.W0.at, K), B
        )
        self.base = 0.0
        for k in range(K):
            self.base += B[k] * p[k]
        self.initial = 0
        for k in range(K):
            x[k] = (p[k] - self.base) * self.stacked.at[k]
            if self.late.at[k] > 0 and self.t < TRIALS_BEFORE_LATE:
                x[k] = 0.0
            new[k] = 0.0
            if is_out_of_range(x[k], self.stacker.s2.at[k]):
                self.initial += 1
                new[k] = x[k]
                x[k] = 0.0
        s = self.stacker.look(x) + self.initial / STRENGTH
        self.z = dot(self.stacker.w.at, x, self.m)
        p[K] = min(max(self.base + self.z / (1 + s), self.low), self.high)
        self.mixed = dot(self.W.at, p, self.m)
        scores[0] = self.mixed + 0.0  # no -0
        return 0

    cdef int update(self, double y, double v) except -1 nogil:
        cdef double* x = self.x.at
        cdef double* s2 = self.stacker.s2.at
        cdef double e
        cdef Py_ssize_t k
        self.low = min(self.low, y)
        self.high = max(self.high, y)
        for k in range(self.m):
            self.losses.at[k] = (self.p.at[k] - y) * (self.p.at[k] - y)
        self.reweigh(v, log(self.experts + 1.0), (self.mixed - y) * (self.mixed - y))
        for k in range(self.experts):
            s2[k] += x[k] * x[k]
            if self.new.at[k] != 0:
                x[k] = self.new.at[k]
                self.stacker.initialise(k, x[k], self.t)
        if self.initial:
            self.stacker.look(x)
        e = v * (y - self.base - self.z)
        self.stacker.step(&e, v, 0)
        if self.stacker.is_due(self.t, self.last):
            self.stacker.refresh_prior(self.t)
            self.last = self.t
        return 0
