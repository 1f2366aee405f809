"""Mixing forecasts of the squared loss: a base, a stacker of its residuals, a mixture.

    base     = sum_k B_k p_k,  B_k prop. exp(-(t/2) L_k / min L):  exponential weights whose
               rate is one over twice the best member's mean square
    stacker  = base + w.x / (1 + s):  ridge regression (`newton`, c = 1, strength 10) of y - base
               on x_k = p_k - base, drawn to the base where the leverage s = x'P x is large
    mixture  = sum_k W_k p_k,  W_k <- W_k exp(-eta (p_k - y)^2),  eta = v / V,
               V = 2 (max y - min y)^2

with shares and accounting as in `mixture_bound`. Everything is clipped to the range of targets seen
before. Within that range eta makes the loss exp-concave, and there is no slack; a target outside it
widens the range, and what that trial cost is added to the slack. Targets are relative to the first
one (`target_scaler`), which makes the first prediction 0.
"""

import math
from typing import Any, ClassVar

import numpy as np

from unitless.blend.mixture import HIGH, LAST, LOW, Mixture
from unitless.blend.mixture_bound import LOST, SLACK, T, V, add_losses, count_trial, share
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.gaussian import (
    dot,
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
MAX_EXPONENT = 700.0


@inlined
def _base(p, K, mixture, B):
    """The base forecast; the weight of each member goes to B."""
    _, W0, losses, totals, _ = mixture
    best = np.inf
    for k in range(K):
        if W0[k] > 0:
            best = min(best, losses[k, LOST])
    mass = 0.0
    for k in range(K):
        B[k] = 0.0
        if W0[k] > 0:
            excess = losses[k, LOST] - best
            if best > 0:
                B[k] = math.exp(-min(totals[T] / 2 * excess / best, MAX_EXPONENT))
            else:
                B[k] = excess == 0
        mass += B[k]
    base = 0.0
    for k in range(K):
        base += B[k] / mass * p[k]
    return base


@kernel
def mix(Z, targets, weights, scores, stacker, mixture):
    """One trial per row of Z; without targets nothing is learned."""
    U, D, w, s2, woke, prior, stacked = stacker
    posterior = U, D, w
    sizes = s2, woke, prior
    W, _, _, totals, _ = mixture
    K = Z.shape[1]
    m = W.size
    p, x, new, losses = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    e = np.empty(1)
    scratch = workspace(m)
    f, S, _ = scratch
    for r in range(scores.size):
        low, high = totals[LOW], totals[HIGH]
        for k in range(K):
            p[k] = min(max(Z[r, k], low), high)
        base = _base(p, K, mixture, x)
        initial = 0  # inputs far beyond all before them, which enter after the prediction
        for k in range(K):
            x[k] = (p[k] - base) * stacked[k]
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
        _exponential_weights(v, y, score, p, losses, mixture)
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


@inlined
def _exponential_weights(v, y, score, p, losses, mixture):
    """Exponential weights, with the range of the targets up to this one."""
    W, W0, _, totals, _ = mixture
    totals[LOW] = min(totals[LOW], y)
    totals[HIGH] = max(totals[HIGH], y)
    width = totals[HIGH] - totals[LOW]
    count_trial(2 * width * width * v, mixture)
    loss = (score - y) ** 2
    for k in range(W.size):
        losses[k] = (p[k] - y) ** 2
    if totals[V] > 0:
        eta = v / totals[V]
        mass = 0.0
        for k in range(W.size):
            if W0[k] > 0:
                mass += W[k] * math.exp(-eta * losses[k])
        totals[SLACK] += max(eta * loss + math.log(mass), 0.0)
        for k in range(W.size):
            W[k] *= math.exp(-eta * losses[k])
        add_losses(v, loss, losses, mixture)
    share(mixture)


class SquaredMixture(Mixture):
    """Base, stacker, mixture, for the squared loss."""

    kernel: ClassVar[Any] = staticmethod(mix)

    def _prepare(self) -> None:
        self.state.totals[LAST] = 1.0
