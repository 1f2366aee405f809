"""Mixing forecasts of the squared loss: a base, a stacker of its residuals, a mixture.

    base     = sum_k B_k p_k,  B_k prop. exp(-(t/2) L_k / min L)
    stacker  = base + w.x / (1 + s), ridge regression of y - base on x_k = p_k - base
    mixture  = sum_k W_k p_k,  V = excess / ln(number of weights), as in AdaHedge

Everything is clipped to the range of targets seen before.
"""

import math
from typing import Any, ClassVar

import numpy as np

from unitless.blend.mixture import (
    HIGH,
    LAST,
    LOW,
    Mixture,
    T,
    exponential_weights,
    least,
    set_weights,
)
from unitless.kernels.arithmetic import dot
from unitless.kernels.decorators import kernel
from unitless.learners.gaussian import (
    initialise,
    is_due,
    is_out_of_range,
    leverage,
    project,
    refresh_prior,
    step,
    workspace,
)

STRENGTH = 10.0
LATE = 256  # trials before late members are stacked


@kernel
def mix(Z, targets, weights, scores, stacker, mixture):
    """One trial per row of Z; without targets nothing is learned."""
    U, D, w, s2, woke, prior, stacked, late, _ = stacker
    posterior = U, D, w
    sizes = s2, woke, prior
    W, W0, lost, totals, _ = mixture
    K = Z.shape[1]
    lost = lost[:K]
    alive = W0[:K]
    nats = math.log(K + 1.0)
    B = np.empty(K)
    m = W.size
    p = np.zeros(m)
    x = np.zeros(m)
    new = np.zeros(m)
    losses = np.zeros(m)
    e = np.empty(1)
    scratch = workspace(m)
    f, S, _ = scratch
    for r in range(scores.size):
        low = totals[LOW]
        high = totals[HIGH]
        for k in range(K):
            p[k] = min(max(Z[r, k], low), high)
        set_weights(lost, alive, totals[T] / 2, least(lost, alive), B)
        base = 0.0
        for k in range(K):
            base += B[k] * p[k]
        initial = 0  # inputs far beyond all before them, which enter after the prediction
        for k in range(K):
            x[k] = (p[k] - base) * stacked[k]
            if late[k] and totals[T] < LATE:
                x[k] = 0.0
            new[k] = 0.0
            if is_out_of_range(x[k], s2[k]):
                initial += 1
                new[k] = x[k]
                x[k] = 0.0
        project(U, x, f)
        s = leverage(D, f, S) + initial / STRENGTH
        z = dot(w, x)
        p[K] = min(max(base + z / (1 + s), low), high)
        score = dot(W, p)
        scores[r] = score + 0.0  # no -0
        v = weights[r] if weights.size else 1.0
        if targets.size == 0 or v == 0:
            continue
        y = targets[r]
        totals[LOW] = min(low, y)
        totals[HIGH] = max(high, y)
        for k in range(m):
            losses[k] = (p[k] - y) ** 2
        exponential_weights(v, nats, (score - y) ** 2, losses, mixture)
        t = totals[T]
        for k in range(K):
            s2[k] += x[k] * x[k]
            if new[k] != 0:
                x[k] = new[k]
                initialise(posterior, sizes, STRENGTH, k, x[k], t, scratch)
        if initial:
            project(U, x, f)
            leverage(D, f, S)
        e[0] = v * (y - base - z)
        step(posterior, e, v, np.int64(0), scratch)
        if is_due(t, totals[LAST], s2):
            refresh_prior(posterior, sizes, STRENGTH, t, e, scratch)
            totals[LAST] = t


class SquaredMixture(Mixture):
    """Base, stacker, mixture, for the squared loss."""

    kernel: ClassVar[Any] = staticmethod(mix)

    def _prepare(self) -> None:
        self.state.totals[LAST] = 1.0
