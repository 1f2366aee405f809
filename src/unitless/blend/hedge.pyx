"""Mixing for losses without curvature: hinge, absolute, quantile, Huber.

    base      h = sum_k B_k p_k, AdaHedge over the members
    stackers  h + (Algorithm 2, and ScInOL2) on the inputs (p_k - h, h, 1)
    mixture   sum_k W_k p_k, AdaHedge over members and stackers

AdaHedge (de Rooij, van Erven, Grunwald, Koolen 2014) has W_k prop. exp(-L_k ln K / Delta), where
Delta is the sum of its mixability gaps; K counts members that have left, too. Its loss exceeds that
of a member by at most the Delta before the last trial plus the Delta after it. Forecasts are
clipped: to [-1, 1] for hinge, else to the range of the targets seen before.
"""

import numpy as np

cimport cython
from libc.math cimport copysign, exp, log

from unitless.blend.mixture cimport Mixture, least, remember, set_weights
from unitless.core.array cimport Array, numbers
from unitless.core.learner cimport Learner, covered
from unitless.core.losses cimport HINGE, value
from unitless.core.row cimport Row
from unitless.core.stateful cimport Stateful

from unitless.blend.mixture import DOUBLINGS, ENDED
from unitless.learners.full import Full
from unitless.learners.scinol import Scinol2
from unitless.state import Component, Field, count, need

cdef double MAX_RATE = 1e300        # finite, so that 0 times it is 0
cdef double MIN_MARGIN = 5e-324     # so that a target keeps its sign
STACKERS = ("stacker, Algorithm 2", "stacker, ScInOL2")


@cython.final
cdef class AdaHedge(Stateful):
    """Exponential weights over K forecasts that need neither rate nor range."""

    saved = (
        Field("L", "loss", "losses of the members so far", ("K",)),
        Field("alive", "1", "1 for members still there", ("K",), 0, 1),
        Field("W", "1", "weights", ("K",), 0, 1),
        Field("history", "1", "W after 1, 2, 4, ... trials", ("doublings K",), may_be_nan=True),
        count("t", "trials"),
        Field("total", "loss", "loss of the mixture"),
        Field("delta", "loss", "sum of mixability gaps, Delta", low=0),
        Field("before", "loss", "sum of mixability gaps before the last trial", low=0),
        Field("low", "y", "forecasts are at least this"),
        Field("high", "y", "forecasts are at most this"),
    )

    cdef readonly Py_ssize_t K
    cdef readonly Array L
    cdef readonly Array alive
    cdef readonly Array W
    cdef readonly Array history
    cdef public double t
    cdef public double total
    cdef public double delta
    cdef public double before
    cdef public double low
    cdef public double high
    cdef int loss
    cdef double parameter
    cdef Array p                # forecasts of the row at hand, clipped
    cdef Array losses
    cdef double mixed           # the score of the row at hand

    def __init__(self, Py_ssize_t K, loss):
        self.K = K
        self.loss = loss.code
        self.parameter = loss.parameter
        self.L = numbers(K)
        self.alive = numbers(K)
        self.W = numbers(K)
        self.history = numbers(DOUBLINGS * K)
        self.p = numbers(K)
        self.losses = numbers(K)
        np.asarray(self.alive)[:] = 1.0
        np.asarray(self.W)[:] = 1.0 / K
        np.asarray(self.history)[:] = np.nan
        if self.loss == HINGE:
            self.low = -1.0
            self.high = 1.0

    def _sizes(self):
        return {"K": self.K, "doublings": DOUBLINGS}

    def _loaded(self):
        need(np.array(self.alive).any(), "no member is left")

    cdef double score(self) noexcept nogil:
        """The weighted mean of the forecasts in p, which are clipped."""
        cdef double* p = self.p.at
        cdef double score = 0.0
        cdef Py_ssize_t k
        for k in range(self.K):
            p[k] = min(max(p[k], self.low), self.high)
            score += self.W.at[k] * p[k]
        self.mixed = score
        return score

    cdef void update(self, double y, double v) noexcept nogil:
        cdef double* losses = self.losses.at
        cdef double* L = self.L.at
        cdef double nats = log(self.K)
        cdef Py_ssize_t k
        for k in range(self.K):
            losses[k] = v * value(self.loss, self.parameter, y, self.p.at[k])
            L[k] += losses[k]
        self.before = self.delta
        self.delta += self.mixability_gap(nats)
        self.total += v * value(self.loss, self.parameter, y, self.mixed)
        self.t += 1
        if self.loss != HINGE:
            self.low = min(self.low, y)
            self.high = max(self.high, y)
        set_weights(self.L.at, self.alive.at, self.K, nats, self.delta, self.W.at)
        remember(self.W.at, self.K, self.t, self.history.at)

    cdef double mixability_gap(self, double nats) noexcept nogil:
        """The mixability gap of the row: its loss less the mix loss, at least 0."""
        cdef const double* losses = self.losses.at
        cdef const double* W = self.W.at
        cdef double best = least(losses, W, self.K)
        cdef double mean = 0.0
        cdef double mass = 0.0
        cdef double eta
        cdef Py_ssize_t k
        for k in range(self.K):
            mean += W[k] * losses[k]
        if self.delta == 0:
            return max(mean - best, 0.0)
        eta = min(nats / self.delta, MAX_RATE)
        for k in range(self.K):
            mass += W[k] * exp(-eta * (losses[k] - best))
        return max(mean - best + log(mass) * self.delta / nats, 0.0)

    def drop(self, alive):
        """Note which members have left: those that are not alive."""
        np.asarray(self.alive)[: len(alive)] = alive
        set_weights(self.L.at, self.alive.at, self.K, log(self.K), self.delta, self.W.at)


@cython.final
cdef class HedgeMixture(Mixture):
    """Mix members for losses without curvature.

    A base combines the members, two stackers correct the base, and a final mixture combines all.
    """

    saved = (ENDED, Component("base"), Component("final"), Component("stackers"))
    stacker_names = STACKERS

    cdef readonly AdaHedge base
    cdef readonly AdaHedge final
    cdef readonly list stackers
    cdef void* stacker[2]           # the stackers, for code without the GIL
    cdef Row[2] row                 # the row that each stacker sees
    cdef bint[2] in_range           # whether this row needs no units
    cdef Array inputs
    cdef double h

    def _prepare(self):
        cdef Py_ssize_t K = self.experts
        self.base = AdaHedge(K, self.loss)
        self.final = AdaHedge(K + 2, self.loss)
        self.inputs = numbers(K + 1)
        self.stackers = [Full(self.loss), Scinol2(self.loss)]
        for k in range(2):
            self.stackers[k]._reserve(K + 1)
            self.stacker[k] = <void*>self.stackers[k]

    def _loaded(self):
        for stacker in self.stackers:
            need(stacker.columns == self.experts + 1, "a stacker has another number of inputs")

    cdef int score(
        self, const double* Z, Py_ssize_t stride, double v, double* scores, bint learns
    ) except -1 nogil:
        cdef Py_ssize_t K = self.experts
        cdef double* p = self.base.p.at
        cdef double* inputs = self.inputs.at
        cdef double found
        cdef Py_ssize_t k
        for k in range(K):
            p[k] = Z[k * stride]
        self.h = self.base.score()
        for k in range(K):
            inputs[k] = (p[k] - self.h) * self.base.alive.at[k]
            self.final.p.at[k] = p[k]
        inputs[K] = self.h
        for k in range(2):
            self._show_stacker(k, v)
            if not self.in_range[k]:
                with gil:
                    (<Learner>self.stacker[k]).run_row_in_units(&self.row[k], NULL, &found)
                self._show_stacker(k, v)
            elif learns:
                (<Learner>self.stacker[k]).begin(&self.row[k], &found)
            else:
                (<Learner>self.stacker[k]).score(&self.row[k], &found)
            self.final.p.at[K + k] = self.h + found
        scores[0] = self.final.score() + 0.0  # no -0
        return 0

    cdef int _show_stacker(self, Py_ssize_t k, double v) except -1 nogil:
        """The inputs as a row of stacker k."""
        self.row[k].values = self.inputs.at
        self.row[k].ids = NULL
        self.row[k].n = self.experts + 1
        self.row[k].weight = v
        (<Learner>self.stacker[k]).load(&self.row[k])
        self.in_range[k] = (<Learner>self.stacker[k]).units.size == 0 and covered(&self.row[k])
        return 0

    cdef int update(self, double y, double v) except -1 nogil:
        cdef double beyond = y - self.h  # the target of a forecast that is added to h
        cdef double found
        cdef Py_ssize_t k
        if self.base.loss == HINGE:
            # max(0, 1 - y (h + p)) = max(0, c - y p) with c = 1 - y h >= 0: the hinge loss of a
            # target y c, whose size is the required margin
            beyond = copysign(max(1 - y * self.h, MIN_MARGIN), y)
        self.base.update(y, v)
        for k in range(2):
            if self.in_range[k]:
                (<Learner>self.stacker[k]).update(&self.row[k], beyond)
            else:
                with gil:
                    (<Learner>self.stacker[k]).run_row_in_units(&self.row[k], &beyond, &found)
        self.final.update(y, v)
        return 0

    def last_step(self):
        history = np.array(self.final.history).reshape(DOUBLINGS, -1)
        return np.array(self.final.W), history, self.final.t

    def present(self):
        return np.array(self.final.alive) > 0

    def _drop(self, alive):
        self.base.drop(alive)
        self.final.drop(alive)

    def _claim(self, k):
        final = self.final
        return final.total, np.array(final.L)[k], final.delta + final.before
