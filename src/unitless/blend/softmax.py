"""Mixing forecasts of several classes: stack the log-probabilities, then mix.

The stacker has one weight a member, the same for all classes, on log-probabilities that are clipped
and centred over classes, f_c = (f_1c, ..., f_Kc)::

    f_kc = max(ln P_k(c), -12) - mean over classes
    z_c  = w.f_c;   score_c = z_c / sqrt(1 + pi s_c / 8)

with s_c = f_c'P f_c. Its Newton step uses the Hessian of the cross-entropy in w, the covariance of
f_c under q = softmax(z), and its gradient, m_1 - f_y with m_j the mean of f over the classes j,
j+1, ... Both are sums over the classes in any order (most probable first), so that the step is one
of `newton` a class, each a question of class j or a later one, r_j = q_j / (q_j + q_j+1 + ...)::

    Hessian  = sum_j q_j (1 - r_j) g_j g_j',   g_j = f_j - m_j+1
    gradient = sum_{j <= y} (r_j - [j = y]) g_j

The mixture is that of the logistic loss, with P_k(c) in place of sigma.
"""

import math

import numpy as np

from unitless.blend import mixture_bound as ledger
from unitless.blend.mixture import Float, Mixture
from unitless.learners.base import EMPTY
from unitless.learners.diagonal import moderated
from unitless.learners.newton import dot, look, spread, step
from unitless.numerics import exp, fma, inner, kernel

CLIP = 12.0  # nats
RARE = 1e-4  # classes less probable together are one, unless the label is among them


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
    g, w0, u, S, e = np.empty(m), np.empty(m), np.empty(m), np.empty(m + 1), np.empty(1)
    order, mass, means = np.empty(C, np.int64), np.empty(C + 1), np.empty((C + 1, m))
    Px, term = np.empty(m), np.empty(m)
    for r in range(rows):
        for k in range(K):
            for c in range(C):
                logs[k, c] = Z[r, k, c]
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
            _newton(v, y, z, f, order, mass, means, w0, g, u, S, e, Px, term, state)


@inner
def _newton(v, y, z, f, order, mass, means, w0, g, u, S, e, Px, term, state):
    """The stacker's step, from its log-probabilities z; what follows is room to work in."""
    m, C = g.size, z.size
    _sort(z, order)
    mass[C] = 0.0
    for k in range(m):
        w0[k], means[C, k] = state.w[k], 0.0
    for j in range(C - 1, -1, -1):  # of the classes j, j+1, ... together
        mass[j] = mass[j + 1] + exp(z[order[j]])
        share = exp(z[order[j]]) / mass[j]
        for k in range(m):
            means[j, k] = fma(share, f[order[j], k] - means[j + 1, k], means[j + 1, k])
    ahead = True  # the label is still to come
    for j in range(C - 1):
        if not ahead and mass[j] <= RARE:
            break
        share = exp(z[order[j]]) / mass[j]
        c = share * mass[j + 1]
        slope = share - (1.0 if order[j] == y else 0.0) if ahead else 0.0
        for k in range(m):
            g[k] = f[order[j], k] - means[j + 1, k]
        look(state.U, g, u)
        spread(state.D, u, S)
        e[0] = -v * (slope + c * (dot(state.w, g) - dot(w0, g)))
        step(state.U, state.D, state.w, u, S, e, v * c, np.int64(0), Px, term)
        ahead = ahead and order[j] != y


@inner
def _sort(z, order):
    """order = the classes, most probable first; as they come where they are alike."""
    for c in range(z.size):
        j = c
        while j > 0 and z[order[j - 1]] < z[c]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = c


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


class SoftmaxMixture(Mixture):
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
