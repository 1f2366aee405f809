"""Mixing forecasts of the logistic loss: stack the logits, then mix the stacker with its members.

The stacker is online Newton on the members' logits, clipped, without a constant::

    x_k = clip(z_k, -8, 8);   w = 1 / (number of main members), P = 1 at the start;
                              trackers: w = 0, P = 0.09

The mixture is Bayes' rule, with a share of the prior given back after every row (`ledger`)::

    Q(y) = sum_k W_k P_k(y),  P_k(y) = sigma(y z_k);   score = ln Q(+) / Q(-)
    W_k <- W_k P_k(y) / Q(y)

The loss is -ln Q(y), so eta = 1 and nothing is slack. The share keeps every weight above
W0_k / (t + 1), so weights need no logarithms and never vanish.
"""

import math

import numpy as np

from unitless.blend import mixture_bound as ledger
from unitless.blend.mixture import Float, Mixture
from unitless.learners.base import EMPTY
from unitless.learners.diagonal import curvature, moderated
from unitless.learners.newton import dot, look, spread, step
from unitless.losses import LOGISTIC, derivative
from unitless.numerics import exp, inner, kernel

CLIP = 8.0  # nats
SUREST = 500.0  # nats, beyond which a member's logit is not believed: exp stays a normal number
TRACKER = 0.09


@inner
def _likelihoods(z, sign, out):
    """out_k = sigma(sign z_k)."""
    for k in range(z.size):
        m = sign * z[k]
        e = exp(-abs(m))
        out[k] = (1.0 if m >= 0 else e) / (1.0 + e)


@kernel
def mix(Z, targets, weights, scores, state):
    """One trial a row of Z; without targets nothing is learned."""
    m, K, W = state.W.size, Z.shape[1], state.W
    z, x, f, S, e = np.zeros(m), np.zeros(m), np.empty(m), np.empty(m + 1), np.empty(1)
    Px, term = np.empty(m), np.empty(m)
    up, down, losses = np.empty(m), np.empty(m), np.zeros(m)
    for r in range(scores.size):
        for k in range(K):
            z[k] = min(max(Z[r, k], -SUREST), SUREST)
            x[k] = min(max(z[k], -CLIP), CLIP) * state.stacked[k]
        look(state.U, x, f)
        s = spread(state.D, f, S)
        plain = dot(state.w, x)
        z[K] = moderated(plain, s)
        _likelihoods(z, 1.0, up)
        _likelihoods(z, -1.0, down)
        yes, no = dot(W, up), dot(W, down)
        scores[r] = math.log(yes / no) + 0.0  # no -0
        v = weights[r] if weights.size else 1.0
        if targets.size == 0 or v == 0:
            continue
        y = targets[r]
        likely, total = (up, yes) if y > 0 else (down, no)
        _learn(v, likely, total, losses, state)
        g = derivative(np.int64(LOGISTIC), 0.0, y, plain)
        e[0] = -v * g
        step(state.U, state.D, state.w, f, S, e, v * curvature(g), np.int64(0), Px, term)


@inner
def _learn(v, likely, total, losses, state):
    """Bayes' rule, the books, the share."""
    W, totals = state.W, state.totals
    totals[ledger.T] += 1
    ledger.grow(v, state.books, totals)
    eta, lost = v / totals[ledger.V], -math.log(total)
    for k in range(W.size):
        if state.W0[k] > 0:
            losses[k] = -math.log(likely[k])
            W[k] *= likely[k] / total if eta == 1 else math.exp(eta * (lost - losses[k]))
    ledger.enter(v, lost, losses, state.W0, state.books, totals)
    ledger.share(W, state.W0, totals)
    ledger.remember(W, state.history, totals)


class LogisticMixture(Mixture):
    """Stack, then mix, for the logistic loss."""

    def _prepare(self) -> None:
        main = [member.role == "main" for member in self.members]
        for k, member in enumerate(self.members):
            if member.role == "main":
                self.state.w[k], self.state.D[k] = 1 / sum(main), 1.0
            elif member.role == "tracker":
                self.state.D[k] = TRACKER

    def predict(self, scores: Float, out: Float, weights: Float = EMPTY) -> Float:
        """The blend's scores; nothing changes."""
        mix(scores, EMPTY, EMPTY, out, self.state)
        return out

    def learn(self, scores: Float, targets: Float, weights: Float, out: Float) -> Float:
        """The blend's scores, each made before its target was used."""
        mix(scores, targets, weights, out, self.state)
        return out
