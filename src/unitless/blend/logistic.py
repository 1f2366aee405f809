"""Mixing forecasts of the logistic loss: stack the logits, then mix the stacker with its members.

The stacker is online Newton on the members' logits, clipped, without a constant::

    x_k = clip(z_k, -8, 8);   w = 1 / (number of main members), P = 1 at the start;
                              trackers: w = 0, P = 0.09

The mixture is Bayes' rule, with a share of the prior given back after every row (`mixture_bound`)::

    Q(y) = sum_k W_k P_k(y),  P_k(y) = sigma(y z_k);   score = ln Q(+) / Q(-)
    W_k <- W_k P_k(y) / Q(y)

The loss is -ln Q(y), so eta = 1 and there is no slack. The share keeps every weight above
W0_k / (t + 1), so weights need no logarithms and never vanish.
"""

import math
from typing import Any, ClassVar

import numpy as np

from unitless.blend.mixture import Mixture
from unitless.blend.mixture_bound import V, add_losses, count_trial, share
from unitless.kernels.arithmetic import exp
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.diagonal import curvature, moderated
from unitless.learners.gaussian import dot, leverage, project, step, workspace
from unitless.losses import LOGISTIC, derivative

CLIP = 8.0  # nats
MAX_LOGIT = 500.0  # nats: logits are limited to this, so that exp stays a normal number
TRACKER_VARIANCE = 0.09


@inlined
def _likelihoods(z, sign, out):
    """out_k = sigma(sign z_k)."""
    for k in range(z.size):
        m = sign * z[k]
        e = exp(-abs(m))
        out[k] = (1.0 if m >= 0 else e) / (1.0 + e)


@kernel
def mix(Z, targets, weights, scores, stacker, mixture):
    """One trial per row of Z; without targets nothing is learned."""
    U, D, w, _, _, _, stacked = stacker
    W = mixture[0]
    K = Z.shape[1]
    m = W.size
    z, x, losses = np.zeros(m), np.zeros(m), np.zeros(m)
    up, down = np.empty(m), np.empty(m)
    e = np.empty(1)
    scratch = workspace(m)
    f, S, _ = scratch
    for r in range(scores.size):
        for k in range(K):
            z[k] = min(max(Z[r, k], -MAX_LOGIT), MAX_LOGIT)
            x[k] = min(max(z[k], -CLIP), CLIP) * stacked[k]
        project(U, x, f)
        s = leverage(D, f, S)
        plain = dot(w, x)
        z[K] = moderated(plain, s)
        _likelihoods(z, 1.0, up)
        _likelihoods(z, -1.0, down)
        yes, no = dot(W, up), dot(W, down)
        scores[r] = math.log(yes / no) + 0.0  # no -0
        v = weights[r] if weights.size else 1.0
        if targets.size == 0 or v == 0:
            continue
        y = targets[r]
        if y > 0:
            _bayes(v, up, yes, losses, mixture)
        else:
            _bayes(v, down, no, losses, mixture)
        g = derivative(np.int64(LOGISTIC), 0.0, y, plain)
        e[0] = -v * g
        step((U, D, w), e, v * curvature(g), np.int64(0), scratch)


@inlined
def _bayes(v, likelihoods, total, losses, mixture):
    """Bayes' rule for a label of these likelihoods, `total` that of the mixture."""
    W, W0, _, totals, _ = mixture
    count_trial(v, mixture)
    eta = v / totals[V]
    loss = -math.log(total)
    for k in range(W.size):
        if W0[k] > 0:
            losses[k] = -math.log(likelihoods[k])
            W[k] *= likelihoods[k] / total if eta == 1 else math.exp(eta * (loss - losses[k]))
    add_losses(v, loss, losses, mixture)
    share(mixture)


class LogisticMixture(Mixture):
    """Stack, then mix, for the logistic loss."""

    kernel: ClassVar[Any] = staticmethod(mix)

    def _prepare(self) -> None:
        roles = [member.role for member in self.members]
        for k, role in enumerate(roles):
            if role == "main":
                self.state.w[k] = 1 / roles.count("main")
                self.state.D[k] = 1.0
            elif role == "tracker":
                self.state.D[k] = TRACKER_VARIANCE
