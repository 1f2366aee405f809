"""Mixing forecasts of several classes: stack the log-probabilities, then mix.

The stacker has one weight per member, the same for all classes, on log-probabilities that are
clipped and centred over classes, f_c = (f_1c, ..., f_Kc). Its Newton step uses the Hessian of the
cross-entropy in w and its gradient. Both are sums over the classes in any order (most probable
first), so that the step is one of `newton` per class, each about class j against the later ones,
with m_j the mean of f over the classes j, j+1, ... and r_j = q_j / (q_j + q_j+1 + ...)::

    Hessian  = sum_j q_j (1 - r_j) g_j g_j',   g_j = f_j - m_j+1
    gradient = sum_{j <= y} (r_j - [j = y]) g_j
"""

import math
from typing import Any, ClassVar

import numpy as np

from unitless.blend.logistic import LATE, LATE_VARIANCE
from unitless.blend.mixture import Mixture, T, exponential_weights
from unitless.kernels.arithmetic import dot, exp
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.diagonal import moderated
from unitless.learners.gaussian import leverage, project, step, workspace

CLIP = 12.0  # nats
LEAST_LOGARITHM = -500.0
RARE = 1e-4  # classes less probable together are one, unless the label is among them


@inlined
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
        z[c] = max(z[c] - top, LEAST_LOGARITHM)


@inlined
def _features(z, logs, f, stacked):
    """logs = the log-probabilities of a member's scores z, and f the stacker's input from them."""
    C = z.size
    for c in range(C):
        logs[c] = z[c]
    log_probabilities(logs)
    mean = 0.0
    for c in range(C):
        mean += max(logs[c], -CLIP) / C
    for c in range(C):
        f[c] = (max(logs[c], -CLIP) - mean) * stacked


@kernel
def mix(Z, targets, weights, scores, stacker, mixture):
    """One trial per row of Z (rows, members, classes); without targets nothing is learned."""
    U, D, w, _, _, _, stacked, late, _ = stacker
    W = mixture[0]
    totals = mixture[3]
    rows, K, C = Z.shape
    m = W.size
    logs = np.zeros((m, C))
    f = np.zeros((C, m))
    z = np.empty(C)
    q = np.empty(C)
    losses = np.zeros(m)
    scratch = workspace(m)
    u, S, _ = scratch
    order = np.empty(C, np.int64)
    mass = np.empty(C + 1)
    means = np.empty((C + 1, m))
    room = order, mass, means, np.empty(m), np.empty(m), np.empty(1)
    for r in range(rows):
        for k in range(K):
            share = totals[T] / (totals[T] + LATE) if late[k] else 1.0
            _features(Z[r, k], logs[k], f[:, k], stacked[k] * share)
        for c in range(C):
            project(U, f[c], u)
            z[c] = dot(w, f[c])
            logs[K, c] = moderated(z[c], leverage(D, u, S))
        log_probabilities(logs[K])
        for c in range(C):
            q[c] = 0.0
            for k in range(K + 1):
                q[c] += W[k] * exp(logs[k, c])
            scores[r * C + c] = math.log(q[c])
        v = weights[r] if weights.size else 1.0
        if targets.size and v > 0:
            y = int(targets[r])
            for k in range(K + 1):
                losses[k] = -logs[k, y]
            exponential_weights(v, 0.0, -math.log(q[y]), losses, mixture)
            log_probabilities(z)
            _newton(v, y, z, f, (U, D, w), room, scratch)


@inlined
def _newton(v, y, z, f, stacker, room, scratch):
    """The stacker's step, from its log-probabilities z and inputs f."""
    U, D, w = stacker
    order, mass, means, w0, g, e = room
    u, S, _ = scratch
    m = g.size
    C = z.size
    _sort(z, order)
    mass[C] = 0.0
    for k in range(m):
        w0[k] = w[k]
        means[C, k] = 0.0
    for j in range(C - 1, -1, -1):  # of the classes j, j+1, ... together
        mass[j] = mass[j + 1] + exp(z[order[j]])
        part = exp(z[order[j]]) / mass[j]
        for k in range(m):
            means[j, k] = fma(part, f[order[j], k] - means[j + 1, k], means[j + 1, k])
    ahead = True  # the label is still to come
    for j in range(C - 1):
        if not ahead and mass[j] <= RARE:
            break
        part = exp(z[order[j]]) / mass[j]
        c = part * mass[j + 1]
        slope = part - (1.0 if order[j] == y else 0.0) if ahead else 0.0
        for k in range(m):
            g[k] = f[order[j], k] - means[j + 1, k]
        project(U, g, u)
        leverage(D, u, S)
        e[0] = -v * (slope + c * (dot(w, g) - dot(w0, g)))
        step(stacker, e, v * c, np.int64(0), scratch)
        ahead = ahead and order[j] != y


@inlined
def _sort(z, order):
    """order = the classes, most probable first; equal ones in their own order."""
    for c in range(z.size):
        j = c
        while j > 0 and z[order[j - 1]] < z[c]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = c


class SoftmaxMixture(Mixture):
    """Stack, then mix, for several classes."""

    kernel: ClassVar[Any] = staticmethod(mix)

    def _prepare(self) -> None:
        main = self.state.stacked * (1 - self._late)
        self.state.w[:] = main / main.sum()
        self.state.D[:] = np.where(self._late, LATE_VARIANCE, main)
