"""Mixing forecasts of the logistic loss: stack the logits, then mix the stacker with its members.

The stacker is online Newton on clipped logits, without a constant. One more input is 2 tanh(2 z) of
a linear logit z: where labels are wrong now and then, even a row far from the boundary is not
certain, and no logit that grows with the distance is right. The mixture is Bayes' rule: with
P_k(y) = sigma(y z_k) and Q = sum_k W_k P_k the score is ln Q(+) / Q(-). The loss is -ln Q(y), so
eta = 1 and there is no slack.
"""

import math
from typing import Any, ClassVar

import numpy as np

from unitless.blend.mixture import Mixture, T, exponential_weights
from unitless.kernels.arithmetic import dot, exp
from unitless.kernels.decorators import kernel
from unitless.learners.diagonal import curvature, moderated
from unitless.learners.gaussian import leverage, project, step, workspace
from unitless.losses import LOGISTIC, derivative

CLIP = 8.0  # nats
MAX_LOGIT = 500.0  # nats: logits are limited to this, so that exp stays a normal number
TRACKER_VARIANCE = 0.09
LATE = 250  # trials after which late members count half
LATE_VARIANCE = 0.3


@kernel
def mix(Z, targets, weights, scores, stacker, mixture):
    """One trial per row of Z; without targets nothing is learned."""
    U, D, w, _, _, _, stacked, late, steep = stacker
    W = mixture[0]
    totals = mixture[3]
    K = Z.shape[1]
    m = W.size
    z = np.zeros(m)
    x = np.zeros(m)
    losses = np.empty(m)
    up = np.empty(m)
    down = np.empty(m)
    e = np.empty(1)
    scratch = workspace(m)
    f, S, _ = scratch
    for r in range(scores.size):
        for k in range(K):
            z[k] = min(max(Z[r, k], -MAX_LOGIT), MAX_LOGIT)
            x[k] = min(max(z[k], -CLIP), CLIP) * stacked[k]
            if late[k]:
                x[k] *= totals[T] / (totals[T] + LATE)
        if steep >= 0:  # the input number K, since the stacker is not stacked
            q = exp(-4 * abs(z[steep]))
            x[K] = math.copysign(2 * (1 - q) / (1 + q), z[steep]) * stacked[steep]
            x[K] *= totals[T] / (totals[T] + LATE)
        project(U, x, f)
        s = leverage(D, f, S)
        plain = dot(w, x)
        z[K] = moderated(plain, s)
        for k in range(m):  # sigma(z_k) and sigma(-z_k)
            q = exp(-abs(z[k]))
            up[k] = (1.0 if z[k] >= 0 else q) / (1.0 + q)
            down[k] = (q if z[k] >= 0 else 1.0) / (1.0 + q)
        yes = dot(W, up)
        no = dot(W, down)
        scores[r] = math.log(yes / no) + 0.0  # no -0
        v = weights[r] if weights.size else 1.0
        if targets.size == 0 or v == 0:
            continue
        y = targets[r]
        for k in range(m):
            losses[k] = -math.log(up[k] if y > 0 else down[k])
        exponential_weights(v, 0.0, -math.log(yes if y > 0 else no), losses, mixture)
        g = derivative(np.int64(LOGISTIC), 0.0, y, plain)
        e[0] = -v * g
        step((U, D, w), e, v * curvature(g), np.int64(0), scratch)


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
            elif role == "late":
                self.state.D[k] = LATE_VARIANCE
        if self._steep >= 0:
            self.state.D[len(roles)] = LATE_VARIANCE
