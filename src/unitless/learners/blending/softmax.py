"""Mixing forecasts of several classes: stack the log-probabilities, then mix.

The stacker has one weight a member, the same for all classes, on log-probabilities that are clipped
and centred over classes, f_c = (f_1c, ..., f_Kc)::

    f_kc = max(ln P_k(c), -12) - mean over classes
    z_c  = w.f_c;   score_c = z_c / sqrt(1 + pi s_c / 8)

with s_c = f_c'P f_c. Its Newton step uses the Hessian of the cross-entropy in w, the covariance of
f_c under q = softmax(z): one rank-one update a class, then w += P (f_y - sum_c q_c f_c). The
mixture is that of the logistic loss, with P_k(c) in place of sigma.
"""

import math

import numpy as np

from unitless.learners.blending import ledger
from unitless.learners.blending.mixer import Float, Mixer
from unitless.learners.diagonal import moderated
from unitless.learners.newton import contract, dot, look, spread
from unitless.learners.protocol import EMPTY
from unitless.numerics import exp, fma, inner, kernel

CLIP = 12.0  # nats
RARE = 1e-4  # classes less probable do not bend the loss


@inner
def log_probabilities(z):
    """z - ln sum exp(z), in place."""
    top = z[0]
    for c in range(1, z.size):
        top = max(top, z[c])
    total = 0.0
    for c in range(z.size):
        total += exp(z[c] - top)
    top += math.log(total)
    for c in range(z.size):
        z[c] = max(z[c] - top, -500.0)


@kernel
def mix(Z, targets, weights, scores, state):
    """One trial a row of Z (rows, members, classes); without targets nothing is learned."""
    m, (rows, K, C) = state.W.size, Z.shape
    logs, f = np.zeros((m, C)), np.zeros((C, m))
    z, q, losses = np.empty(C), np.empty(C), np.zeros(m)
    mean, x, u, S = np.empty(m), np.empty(m), np.empty(m), np.empty(m + 1)
    Px, term = np.empty(m), np.empty(m)
    for r in range(rows):
        for k in range(K):
            logs[k] = Z[r, k]
            log_probabilities(logs[k])
            middle = 0.0
            for c in range(C):
                middle += max(logs[k, c], -CLIP) / C
            for c in range(C):
                f[c, k] = (max(logs[k, c], -CLIP) - middle) * state.stacked[k]
        for c in range(C):
            look(state.U, f[c], u)
            z[c] = dot(state.w, f[c])
            logs[K, c] = moderated(z[c], spread(state.D, u, S))
        log_probabilities(logs[K])
        for c in range(C):
            q[c] = 0.0
            for k in range(K + 1):
                q[c] += state.W[k] * exp(logs[k, c])
            scores[r * C + c] = math.log(q[c])
        v = weights[r] if weights.size else 1.0
        if targets.size and v > 0:
            y = int(targets[r])
            for k in range(K + 1):
                losses[k] = -logs[k, y]
            _learn(v, -math.log(q[y]), losses, state)
            log_probabilities(z)
            _newton(v, y, z, f, mean, x, u, S, Px, term, state)


@inner
def _newton(v, y, z, f, mean, x, u, S, Px, term, state):
    """The stacker's step, from its log-probabilities z; x and the rest are room to work in."""
    m = x.size
    for k in range(m):
        mean[k] = 0.0
    for c in range(z.size):
        for k in range(m):
            mean[k] += exp(z[c]) * f[c, k]
    for c in range(z.size):
        weight = v * exp(z[c])
        if weight > v * RARE:
            for k in range(m):
                x[k] = f[c, k] - mean[k]
            _contract(x, weight, u, S, Px, term, state)
    for k in range(m):
        x[k] = f[y, k] - mean[k]
    _contract(x, 0.0, u, S, Px, term, state)
    for k in range(m):
        state.w[k] = fma(v, Px[k], state.w[k])


@inner
def _contract(x, c, u, S, Px, term, state):
    look(state.U, x, u)
    spread(state.D, u, S)
    contract(state.U, state.D, u, S, c, 0, Px, term)


@inner
def _learn(v, lost, losses, state):
    """Bayes' rule, the books, the share."""
    W, totals = state.W, state.totals
    totals[ledger.T] += 1
    ledger.grow(v, state.books, totals)
    for k in range(W.size):
        if state.W0[k] > 0:
            W[k] *= math.exp(v / totals[ledger.V] * (lost - losses[k]))
    ledger.enter(v, lost, losses, state.W0, state.books, totals)
    ledger.share(W, state.W0, totals)
    ledger.remember(W, state.history, totals)


class SoftmaxMixer(Mixer):
    """Stack, then mix, for several classes."""

    def _prepare(self) -> None:
        stacked = self.state.stacked
        self.state.w[:] = stacked / stacked.sum()
        self.state.D[:] = stacked

    def predict(self, scores: Float, out: Float, weights: Float = EMPTY) -> Float:
        """The blend's scores; nothing changes."""
        mix(scores, EMPTY, EMPTY, out.reshape(-1), self.state)
        return out

    def learn(self, scores: Float, targets: Float, weights: Float, out: Float) -> Float:
        """The blend's scores, each made before its target was used."""
        mix(scores, targets, weights, out.reshape(-1), self.state)
        return out
