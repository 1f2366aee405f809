"""Mixing forecasts of the squared loss: a base, a stacker of what is beyond it, a mixture.

    base     = sum_k B_k p_k,  B_k prop. exp(-(t/2) L_k / min L):  exponential weights whose
               rate is one over twice the best member's mean square
    stacker  = base + w.x / (1 + s):  ridge regression (`newton`, c = 1, strength 10) of y - base
               on x_k = p_k - base, drawn to the base where the leverage s = x'P x is large
    mixture  = sum_k W_k p_k,  W_k <- W_k exp(-eta (p_k - y)^2),  eta = v / V,
               V = 2 (max y - min y)^2

and shares and books as in `ledger`. Everything is clipped to the range of targets seen before.
Within that range eta makes the loss exp-concave, and nothing is slack; a target outside it widens
the range, and what that trial cost is entered as slack. Targets arrive counted from the first one,
which makes the first prediction 0 and everything after it independent of where they are counted
from.
"""

import math

import numpy as np

from unitless.blend import mixture_bound as ledger
from unitless.blend.mixture import HIGH, LAST, LOW, Float, Mixture
from unitless.learners.base import EMPTY
from unitless.learners.newton import (
    Gaussian,
    dot,
    is_due,
    look,
    meet,
    refresh,
    spread,
    step,
    strange,
)
from unitless.losses import SQUARED
from unitless.numerics import inner, kernel

STRENGTH = 10.0
RIDGE = Gaussian(SQUARED, 1, STRENGTH, 0.0)


@inner
def _base(p, K, state, share):
    """The base forecast; a member's share goes to `share`."""
    lost, t = state.books, state.totals[ledger.T]
    best = np.inf
    for k in range(K):
        if state.W0[k] > 0:
            best = min(best, lost[k, ledger.LOST])
    mass = base = 0.0
    for k in range(K):
        share[k] = 0.0
        if state.W0[k] > 0:
            excess = lost[k, ledger.LOST] - best
            share[k] = math.exp(-min(t / 2 * excess / best, 700.0)) if best > 0 else excess == 0
        mass += share[k]
    for k in range(K):
        base += share[k] / mass * p[k]
    return base


@kernel
def mix(rule, Z, targets, weights, scores, state):
    """One trial a row of Z; without targets nothing is learned."""
    m, K, totals = state.W.size, Z.shape[1], state.totals
    p, x, f, S, e = np.zeros(m), np.zeros(m), np.empty(m), np.empty(m + 1), np.empty(1)
    losses, new, Px, term = np.zeros(m), np.zeros(m), np.empty(m), np.empty(m)
    for r in range(scores.size):
        low, high = totals[LOW], totals[HIGH]
        for k in range(K):
            p[k] = min(max(Z[r, k], low), high)
        base = _base(p, K, state, x)
        for k in range(K):
            x[k] = (p[k] - base) * state.stacked[k]
        v = weights[r] if weights.size else 1.0
        strangers = 0
        for k in range(K):
            if strange(x[k], state.s2[k]):
                strangers += 1
                new[k], x[k] = x[k], 0.0
            else:
                new[k] = 0.0
        look(state.U, x, f)
        s = spread(state.D, f, S) + strangers / rule.strength
        z = dot(state.w, x)
        p[K] = min(max(base + z / (1 + s), low), high)
        score = dot(state.W, p)
        scores[r] = score + 0.0  # no -0
        if targets.size > 0 and v > 0:
            y = targets[r]
            totals[ledger.T] += 1
            for k in range(K):
                state.s2[k] += x[k] * x[k]
                if new[k] != 0:
                    x[k] = new[k]
                    meet(
                        rule, state.U, state.D, state.w, state.s2, state.woke, state.prior, k, x[k],
                        totals[ledger.T], f, S, Px, term,
                    )  # fmt: skip
            if strangers:
                look(state.U, x, f)
                spread(state.D, f, S)
            _learn(v, y, score, p, losses, state)
            e[0] = v * (y - base - z)
            step(state.U, state.D, state.w, f, S, e, v, np.int64(0), Px, term)
            if is_due(totals[ledger.T], totals[LAST], state.s2):
                refresh(
                    rule, state.U, state.D, state.w, state.s2, state.woke, state.prior,
                    totals[ledger.T], f, S, e, Px, term,
                )  # fmt: skip
                totals[LAST] = totals[ledger.T]


@inner
def _learn(v, y, score, p, losses, state):
    """Exponential weights, the books, the share."""
    W, totals = state.W, state.totals
    totals[LOW], totals[HIGH] = min(totals[LOW], y), max(totals[HIGH], y)
    spread = totals[HIGH] - totals[LOW]
    ledger.grow(2 * spread * spread * v, state.books, totals)
    lost = (score - y) ** 2
    for k in range(W.size):
        losses[k] = (p[k] - y) ** 2
    if totals[ledger.V] > 0:
        eta, mass = v / totals[ledger.V], 0.0
        for k in range(W.size):
            if state.W0[k] > 0:
                mass += W[k] * math.exp(-eta * losses[k])
        totals[ledger.SLACK] += max(eta * lost + math.log(mass), 0.0)
        for k in range(W.size):
            W[k] *= math.exp(-eta * losses[k])
        ledger.enter(v, lost, losses, state.W0, state.books, totals)
    ledger.share(W, state.W0, totals)
    ledger.remember(W, state.history, totals)


class SquaredMixture(Mixture):
    """Base, stacker, mixture, for the squared loss."""

    def _prepare(self) -> None:
        self.state.totals[LAST] = 1.0

    def predict(self, scores: Float, out: Float, weights: Float = EMPTY) -> Float:
        """The blend's scores; nothing changes."""
        mix(RIDGE, scores, EMPTY, EMPTY, out, self.state)
        return out

    def learn(self, scores: Float, targets: Float, weights: Float, out: Float) -> Float:
        """The blend's scores, each made before its target was used."""
        mix(RIDGE, scores, targets, weights, out, self.state)
        return out
