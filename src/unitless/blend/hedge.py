"""Mixing for losses without curvature: hinge, absolute, quantile, Huber.

    base      h = sum_k B_k p_k, AdaHedge over the members
    stackers  h + (Algorithm 2, and ScInOL2) on the inputs (p_k - h, h, 1)
    mixture   sum_k W_k p_k, AdaHedge over members and stackers

AdaHedge (de Rooij, van Erven, Grunwald, Koolen 2014) has W_k prop. exp(-L_k ln K / Delta), where
Delta is the sum of its mixability gaps; K counts members that have left, too. Its loss exceeds that
of a member by at most the Delta before the last trial plus the Delta after it. Forecasts are
clipped: to [-1, 1] for hinge, else to the range of the targets seen before.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless import units
from unitless.blend.experts import Expert
from unitless.blend.fused import fuse
from unitless.blend.mixture import (
    DOUBLINGS,
    ENDED,
    MAX_RATE,
    NamedWeights,
    least,
    remember,
    set_weights,
)
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import NO_INDICES, NO_STARTS
from unitless.learners.full import Full
from unitless.learners.scinol import Scinol2
from unitless.losses import HINGE, Loss, value
from unitless.rows import Block, extent
from unitless.state import Component, Field, Float, Stateful, checked_count

STACKERS = ("stacker, Algorithm 2", "stacker, ScInOL2")
T, LOSS, DELTA, BEFORE, LOW, HIGH = range(6)  # totals
MIN_MARGIN = 5e-324  # so that a target keeps its sign


@inlined
def _mixability_gap(losses, W, nats, delta):
    """loss - mix, at least 0."""
    best = least(losses, W)
    mean = 0.0
    for k in range(W.size):
        mean += W[k] * losses[k]
    if delta == 0:
        return max(mean - best, 0.0)
    eta = min(nats / delta, MAX_RATE)
    mass = 0.0
    for k in range(W.size):
        mass += W[k] * math.exp(-eta * (losses[k] - best))
    return max(mean - best + math.log(mass) * delta / nats, 0.0)


@kernel
def hedge(code, parameter, Z, targets, weights, scores, state):
    """AdaHedge over the first columns of Z, which are clipped in place.

    Without targets nothing is learned.
    """
    L, alive, W, totals, history = state
    K = W.size
    losses = np.empty(K)
    nats = math.log(K)
    for r in range(scores.size):
        low = totals[LOW]
        high = totals[HIGH]
        score = 0.0
        for k in range(K):
            Z[r, k] = min(max(Z[r, k], low), high)
            score += W[k] * Z[r, k]
        scores[r] = score + 0.0  # no -0
        v = weights[r] if weights.size else 1.0
        if targets.size == 0 or v == 0:
            continue
        y = targets[r]
        for k in range(K):
            losses[k] = v * value(code, parameter, y, Z[r, k])
            L[k] += losses[k]
        totals[BEFORE] = totals[DELTA]
        totals[DELTA] += _mixability_gap(losses, W, nats, totals[DELTA])
        totals[LOSS] += v * value(code, parameter, y, score)
        totals[T] += 1
        if code != HINGE:
            totals[LOW] = min(low, y)
            totals[HIGH] = max(high, y)
        set_weights(L, alive, nats, totals[DELTA], W)
        remember(W, history, totals[T])


@kernel
def stacker_data(code, forecasts, targets, h, alive, inputs, beyond):
    """Fill in the inputs (p_k - h, h) of the stackers, and targets for a forecast added to h.

    For hinge max(0, 1 - y (h + p)) = max(0, c - y p) with c = 1 - y h >= 0: the hinge loss of a
    target y c, whose size is the required margin.
    """
    K = alive.size
    for r in range(h.size):
        for k in range(K):
            inputs[r, k] = (forecasts[r, k] - h[r]) * alive[k]
        inputs[r, K] = h[r]
    for r in range(targets.size):
        beyond[r] = targets[r] - h[r]
        if code == HINGE:
            margin = max(1 - targets[r] * h[r], MIN_MARGIN)
            beyond[r] = math.copysign(margin, targets[r])


class AdaHedge(Stateful):
    """Exponential weights over K forecasts that need neither rate nor range."""

    saved = (
        Field("L", "loss", "losses so far", ("K",)),
        Field("alive", "1", "1 for members still there", ("K",)),
        Field("W", "1", "weights", ("K",)),
        Field("totals", "loss", "trials, loss, Delta, Delta before, range", (6,)),
        Field("history", "1", "W after 1, 2, 4, ... trials", (DOUBLINGS, "K"), True),
    )

    def __init__(self, count: int, loss: Loss) -> None:
        self.count = count
        self.loss = loss
        self.L = np.zeros(count)
        self.alive = np.ones(count)
        self.W = np.full(count, 1 / count)
        low, high = (-1.0, 1.0) if loss.code == HINGE else (0.0, 0.0)
        self.totals = np.array([0.0, 0.0, 0.0, 0.0, low, high])
        self.history = np.full((DOUBLINGS, count), np.nan)

    def _sizes(self) -> dict[str, int]:
        return {"K": self.count}

    def _loaded(self) -> None:
        checked_count(self.totals[T], 2**53)

    @property
    def state(self) -> tuple[Float, ...]:
        """The arrays, in the order of the table."""
        return self.L, self.alive, self.W, self.totals, self.history

    def learn(self, forecasts: Float, targets: Float, weights: Float, scores: Float) -> Float:
        """The weighted means of the forecasts, which are clipped in place."""
        loss = self.loss
        hedge(loss.code, loss.parameter, forecasts, targets, weights, scores, self.state)
        return scores

    def drop(self, alive: NDArray[np.bool_]) -> None:
        """The first members have left, those that are not alive."""
        self.alive[: len(alive)] = alive
        set_weights(self.L, self.alive, math.log(self.count), self.totals[DELTA], self.W)


class HedgeMixture(NamedWeights):
    """Base, stackers, mixture, for losses without curvature."""

    saved = (ENDED, Component("base"), Component("final"), Component("stackers"))
    stacker_names = STACKERS

    def __init__(self, members: list[Expert], loss: Loss) -> None:
        super().__init__(members, loss)
        self.base = AdaHedge(len(members), loss)
        self.final = AdaHedge(len(members) + len(STACKERS), loss)
        self.stackers = [Full(loss), fuse(Scinol2(loss))]
        for stacker in self.stackers:
            stacker._reserve(len(members) + 1)

    @property
    def state(self) -> tuple[Any, ...]:
        """The state of base, stackers and mixture."""
        return self.base.state, self.final.state, *[stacker.state for stacker in self.stackers]

    def learn(self, scores: Float, targets: Float, weights: Float, out: Float) -> Float:
        """The scores of the Blend, each made before its target was used."""
        n, K = scores.shape
        forecasts = np.zeros((n, K + len(STACKERS)))
        forecasts[:, :K] = scores
        h = self.base.learn(forecasts, targets, weights, np.empty(n))
        inputs = np.empty((n, K + 1))
        beyond = np.empty(len(targets))
        stacker_data(self.loss.code, forecasts, targets, h, self.base.alive, inputs, beyond)
        block = Block(inputs.reshape(-1), NO_INDICES, NO_STARTS, K + 1)
        for k, stacker in enumerate(self.stackers):
            forecasts[:, K + k] = h + _stacked(stacker, block, beyond, weights, np.empty(n))
        return self.final.learn(forecasts, targets, weights, out)

    @property
    def _last_step(self) -> AdaHedge:
        return self.final

    def _present(self) -> NDArray[np.bool_]:
        return self.final.alive > 0

    def _drop(self, alive: NDArray[np.bool_]) -> None:
        self.base.drop(alive)
        self.final.drop(alive)

    def _claim(self, k: int) -> tuple[float, float, float]:
        totals = self.final.totals
        return totals[LOSS], self.final.L[k], totals[DELTA] + totals[BEFORE]


def _stacked(stacker: Any, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
    """The scores of a stacker, which learns if there are targets; its inputs may be tiny."""
    in_range = not len(stacker._units) and units.covers(extent(block.values))
    if not len(targets):
        if in_range:
            return stacker._predict(block, weights, scores)
        return units.predict(stacker, block, weights, scores)
    if in_range:
        return stacker._learn(block, targets, weights, scores)
    return units.learn(stacker, block, targets, weights, scores)
