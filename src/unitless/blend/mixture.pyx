"""Base classes of the mixtures: exponential weights, the stacker's part, guarantees.

The regret bound of a mixture is computed while it runs (docs/explanation/blend.md derives it):

    loss <= loss_k + V (ln 1/W0_k + shares) + excess

where the excess is that of its loss over the mix loss -V ln sum_k W_k exp(-v loss_k / V).
"""

from typing import NamedTuple

import numpy as np

from libc.math cimport INFINITY, exp, frexp, log, pow

from unitless.core.arithmetic cimport fast_exp
from unitless.core.array cimport numbers
from unitless.core.pointers cimport numbers_in
from unitless.core.row cimport slots_of

from unitless.state import Component, Damaged, Fact, Field, count, need

cdef double MIN_SCALE = 1e-240          # so that v / V is finite
cdef double MAX_RATE = 1e300            # finite, so that 0 times it is 0
cdef double MAX_LOSS_EXPONENT = 700.0
cdef double STACKER_SHARE = 0.8         # W0 of the stacker; the experts share the rest
DOUBLINGS = 64
CLOSED_FORM = 20_000.0
"""Trials after which the sum of shares has a closed form that does not cancel."""


class Guarantee(NamedTuple):
    """loss <= member_loss + overhead, over the trials 1 to `last`."""

    member: str
    loss: float
    member_loss: float
    overhead: float
    last: int

    def times(self, factor):
        """This guarantee with losses in another unit."""
        member, loss, member_loss, overhead, last = self
        return Guarantee(member, factor * loss, factor * member_loss, factor * overhead, last)


def cost_of_shares(prior, first, last):
    """-sum_{t=first}^{last} ln(1 - (1 - prior) / (t + 1)): term by term, then in closed form.

    Beyond CLOSED_FORM = F the sum is ln poch(F + 2, prior - 1) - ln poch(last + 2, prior - 1),
    where SciPy has an expansion; before it, a ratio of gamma functions would cancel.
    """
    from scipy.special import poch  # not needed to predict

    t = np.arange(first, min(last, CLOSED_FORM) + 1)
    near = -np.log1p(-(1 - prior) / (t + 1)).sum()
    begin = max(first, CLOSED_FORM + 1)
    if last < begin:
        return float(near)
    return float(near + np.log(poch(begin + 1, prior - 1) / poch(last + 2, prior - 1)))


def _guarantees_to_json(guarantees):
    return {name: list(guarantee[1:]) for name, guarantee in guarantees.items()}


def _guarantees_from_json(found):
    made = {}
    try:
        for name, (loss, own, overhead, last) in found.items():
            made[name] = Guarantee(name, float(loss), float(own), float(overhead), int(last))
    except (AttributeError, OverflowError, TypeError, ValueError):
        raise Damaged("the guarantees of members that left are not four numbers each") from None
    return made


ENDED = Fact("ended", "guarantees of experts that left", _guarantees_to_json, _guarantees_from_json)


cdef double least(const double* L, const double* alive, Py_ssize_t n) noexcept nogil:
    """The smallest loss of those that are alive."""
    cdef double best = INFINITY
    cdef Py_ssize_t k
    for k in range(n):
        if alive[k] > 0:
            best = min(best, L[k])
    return best


cdef void set_weights(
    const double* L, const double* alive, Py_ssize_t n, double nats, double scale, double* W
) noexcept nogil:
    """W prop. exp(-nats (L - min L) / scale); the best alone while the scale is 0."""
    cdef double best = least(L, alive, n)
    cdef double rate = min(nats / scale, MAX_RATE) if scale > 0 else 0.0
    cdef double mass = 0.0
    cdef double excess
    cdef Py_ssize_t k
    for k in range(n):
        excess = L[k] - best
        W[k] = exp(-min(rate * excess, MAX_LOSS_EXPONENT))
        if alive[k] == 0 or (scale == 0 and excess > 0):
            W[k] = 0.0
        mass += W[k]
    for k in range(n):
        W[k] /= mass


cdef void remember(
    const double* W, Py_ssize_t n, double trials, double* history
) noexcept nogil:
    """Line j of the history is W after 2^j trials."""
    cdef int power
    cdef Py_ssize_t k
    if frexp(trials, &power) == 0.5:
        for k in range(n):
            history[(power - 1) * n + k] = W[k]


cdef class Mixture(Stateful):
    """Base of all mixtures: combines the scores of K experts into the score of the Blend.

    `score` fills in the score (one per class) from those of the experts, which begin at Z, one
    expert every `stride` numbers; `update` learns the row that was scored with `learns`. v is the
    row's sample weight.
    """

    saved = (ENDED,)
    stacker_names = ("stacker",)

    def __init__(self, members, loss, Py_ssize_t classes=1):
        self.members = list(members)
        self.loss = loss
        self.ended = {}
        self.experts = len(self.members)
        self.outputs = classes
        self._prepare()

    def _prepare(self):
        """Make the empty state."""

    cdef int score(
        self, const double* Z, Py_ssize_t stride, double v, double* scores, bint learns
    ) except -1 nogil:
        return 0

    cdef int update(self, double y, double v) except -1 nogil:
        return 0

    def scores(self, Z):
        """The scores of rows of experts' scores, (rows, experts[, classes]); nothing changes."""
        cdef Py_ssize_t rows = len(Z)
        given = np.ascontiguousarray(Z, dtype=np.float64)
        out = np.empty((rows, *given.shape[2:]))
        cdef const double* at = numbers_in(given)
        cdef const double* own
        cdef double* to = numbers_in(out)
        cdef Py_ssize_t r
        for r in range(rows):
            own = at + r * self.experts * self.outputs
            self.score(own, self.outputs, 1.0, to + r * self.outputs, False)
        return out

    def learn(self, Z, targets, weights=None):
        """Score rows of experts' scores, each before its target is used, and learn them."""
        cdef Py_ssize_t rows = len(Z)
        given = np.ascontiguousarray(Z, dtype=np.float64)
        out = np.empty((rows, *given.shape[2:]))
        y = np.ascontiguousarray(targets, dtype=np.float64)
        v = np.ones(rows) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        cdef const double* at = numbers_in(given)
        cdef const double* target = numbers_in(y)
        cdef const double* weight = numbers_in(v)
        cdef const double* own
        cdef double* to = numbers_in(out)
        cdef Py_ssize_t r
        for r in range(rows):
            own = at + r * self.experts * self.outputs
            self.score(own, self.outputs, weight[r], to + r * self.outputs, True)
            self.update(target[r], weight[r])
        return out

    @property
    def names(self):
        """The names of the experts and of the stackers."""
        return [*(member.name for member in self.members), *self.stacker_names]

    def last_step(self):
        """(weights by place, their history, trials) of the last mixing step."""
        raise NotImplementedError

    def present(self):
        """By place: whether an expert or a stacker has not left."""
        raise NotImplementedError

    def mixture_weights(self):
        """The weight of each expert, and of the stackers, now."""
        return self._named(self.last_step()[0])

    def _named(self, weights):
        """{name: weight}; what lies beyond the last name is padding."""
        return dict(zip(self.names, weights.tolist()))

    def weight_history(self):
        """The weights after 1, 2, 4, 8, ... trials."""
        rows = enumerate(self.last_step()[1])
        return [(2**j, self._named(row)) for j, row in rows if not np.isnan(row[0])]

    def guarantees(self):
        """loss <= member's loss + overhead, by name; of those that left, up to their last trial."""
        made = dict(self.ended)
        trials = int(self.last_step()[2])
        for k in np.flatnonzero(self.present()):
            name = self.names[k]
            if name in made:  # it left and came back
                continue
            loss, own, overhead = self._claim(k)
            made[name] = Guarantee(name, float(loss), float(own), float(overhead), trials)
        return made

    def drop(self, alive):
        """Experts have left: their guarantees end here."""
        gone = self.present()[: len(alive)] & ~alive
        if gone.any():
            guarantees = self.guarantees()
            for k in np.flatnonzero(gone):
                name = self.names[k]
                self.ended[name] = guarantees[name]
            self._drop(alive)


cdef class StackedMixture(Mixture):
    """A mixture of the experts and a stacker, number K, which is a linear model of their scores."""

    saved = (
        ENDED,
        Component("stacker"),
        Field("stacked", "1", "1 for experts that the stacker sees", ("m",), 0, 1),
        Field("W", "1", "weights of the mixture", ("m",), 0, 1),
        Field("W0", "1", "weights that it starts from", ("m",), 0, 1),
        Field("start", "1", "the first W0", ("m",), 0, 1),
        Field("spent", "nat", "what shares had cost when W0 was last set", ("m",)),
        Field("lost", "loss", "losses of the experts", ("m",)),
        Field("history", "1", "W after 1, 2, 4, ... trials", ("doublings m",), may_be_nan=True),
        count("t", "trials"),
        Field("V", "loss", "the scale of losses", low=0),
        Field("total", "loss", "loss of the mixture"),
        Field("excess", "loss", "loss of the mixture beyond the mix loss"),
        count("since", "the trial in which W0 was set"),
    )

    def _prepare(self):
        cdef Py_ssize_t K = self.experts
        cdef Py_ssize_t m = slots_of(K)
        self.m = m
        self.stacker = Posterior(m)
        self.stacked = numbers(m)
        self.W = numbers(m)
        self.W0 = numbers(m)
        self.start = numbers(m)
        self.spent = numbers(m)
        self.lost = numbers(m)
        self.history = numbers(DOUBLINGS * m)
        self.late = numbers(m)
        self.x = numbers(m)
        self.losses = numbers(m)
        self.since = 1
        self._set_prior(np.ones(K, dtype=bool))
        W0 = np.array(self.W0)
        np.asarray(self.W)[:] = W0
        np.asarray(self.start)[:] = np.where(W0 > 0, W0, 1.0)
        np.asarray(self.history)[:] = np.nan
        np.asarray(self.late)[:K] = [member.role == "late" for member in self.members]
        self.steep = next((k for k, member in enumerate(self.members) if member.steep), -1)
        self._start_stacker(np.asarray(self.stacker.w), np.asarray(self.stacker.D))

    def _start_stacker(self, w, D):
        """Set the first weights and variances of the stacker."""

    def _sizes(self):
        return {"m": self.m, "doublings": DOUBLINGS}

    def _loaded(self):
        W0 = np.array(self.W0)
        need(not W0[self.experts + 1 :].any(), "weights of members that do not exist")
        need((W0 > 0).any(), "no member is left")
        need(self.stacker.m == self.m, "the stacker has another number of inputs")

    def _set_prior(self, alive):
        cdef Py_ssize_t K = self.experts
        W0 = np.zeros(self.m)
        W0[:K][alive] = (1 - STACKER_SHARE) / alive.sum()
        W0[K] = STACKER_SHARE
        np.asarray(self.W0)[:] = W0
        seen = [member.role != "guarantee" for member in self.members]
        np.asarray(self.stacked)[:K] = seen * alive

    def last_step(self):
        history = np.array(self.history).reshape(DOUBLINGS, -1)
        return np.array(self.W), history, self.t

    def present(self):
        return np.array(self.W0) > 0

    def _drop(self, alive):
        """Share the weight of members that left among those that stay."""
        W0 = np.array(self.W0)
        spent = np.asarray(self.spent)
        for k in np.flatnonzero(W0):
            spent[k] += cost_of_shares(W0[k], self.since, self.t)
        self.since = self.t + 1
        W = np.asarray(self.W)
        W[: len(alive)][~alive] = 0
        W[:] /= W.sum()
        self._set_prior(alive)

    def _claim(self, k):
        W0 = np.array(self.W0)
        shares = cost_of_shares(W0[k], self.since, self.t - 1)
        nats = -np.log(np.array(self.start)[k]) + np.array(self.spent)[k] + shares
        return self.total, np.array(self.lost)[k], self.V * nats + self.excess

    cdef void reweigh(self, double v, double nats, double loss) noexcept nogil:
        """One trial: W_k prop. W0_k exp(-L_k / V), where L_k grows by v loss_k; then share.

        `loss` is that of the mixture. With `nats` = 0, for losses that are mixable at rate 1, V is
        the largest v so far. Otherwise it is the excess over `nats`, as in AdaHedge, and the trial
        is mixed before V grows; while V is 0, the weights stay as they are. At the end, a share
        1 / (t + 1) of the weights is given back to W0.
        """
        cdef const double* losses = self.losses.at
        cdef const double* W0 = self.W0.at
        cdef double* W = self.W.at
        cdef double* lost = self.lost.at
        cdef double best = least(losses, W0, self.m)
        cdef double before = self.V
        cdef double mass = 0.0
        cdef double eta, share
        cdef Py_ssize_t k
        if nats == 0:
            self.V = max(before, v)
        else:
            eta = v / before if before > 0 else 0.0
            for k in range(self.m):
                mass += W[k] * fast_exp(-eta * (losses[k] - best))
            self.excess += v * (loss - best) + before * log(mass)
            if self.excess / nats > max(before, MIN_SCALE):
                self.V = self.excess / nats
        eta = v / self.V if self.V > 0 else 0.0
        mass = 0.0
        for k in range(self.m):
            if W0[k] > 0:
                lost[k] += v * losses[k]
                if self.V > before:  # as if V had never been less
                    W[k] = W0[k] * pow(W[k] / W0[k], before / self.V)
                W[k] *= fast_exp(-eta * (losses[k] - best))
                mass += W[k]
        self.t += 1
        self.total += v * loss
        if nats == 0:
            self.excess += v * (loss - best) + self.V * log(mass)
        share = 1.0 / (self.t + 1)
        for k in range(self.m):
            W[k] = (1 - share) * W[k] / mass + share * W0[k]
        remember(W, self.m, self.t, self.history.at)
