"""Mixing for losses without curvature: hinge, absolute, quantile, Huber.

    base      h = sum_k B_k p_k, AdaHedge over the members
    stackers  h + (Algorithm 2, and ScInOL2) on the inputs (p_k - h, h, 1)
    mixture   sum_k W_k p_k, AdaHedge over members and stackers

AdaHedge (de Rooij, van Erven, Grunwald, Koolen 2014) needs no rate and no range of the losses::

    W_k prop. exp(-eta L_k),  eta = ln K / Delta
    loss = W.l;   mix = -ln(sum_k W_k exp(-eta l_k)) / eta
    Delta += loss - mix;   L_k += l_k

(K counts members that have left, too: the rate must not grow.) Its total loss exceeds that of any
member by at most the Delta before the last trial plus the Delta after it, and convexity makes the
loss of the mean forecast at most the mean loss. Forecasts are clipped: to [-1, 1] for hinge, else
to the range of the targets seen before.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless import units
from unitless.blend.experts import Expert
from unitless.blend.mixture import DOUBLINGS, Float, NamedWeights
from unitless.blend.mixture_bound import Guarantee, remember
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import EMPTY, NO_INDICES, NO_STARTS
from unitless.learners.full import Full
from unitless.learners.scinol2 import Scinol2
from unitless.losses import HINGE, Loss, value
from unitless.rows import Block, extent

STACKERS = ("stacker, Algorithm 2", "stacker, ScInOL2")
MAX_EXPONENT = 700.0
T, LOSS, DELTA, BEFORE, LOW, HIGH = range(6)  # totals


@kernel
def set_weights(L, alive, delta, W):
    """W prop. exp(-eta L) with eta = ln K / delta; the best alone while delta is 0."""
    best = np.inf
    for k in range(W.size):
        if alive[k] > 0:
            best = min(best, L[k])
    nats = math.log(W.size)
    mass = 0.0
    for k in range(W.size):
        W[k] = 0.0
        if alive[k] > 0:
            excess = L[k] - best
            if delta > 0:
                W[k] = math.exp(-min(nats / delta * excess, MAX_EXPONENT))
            else:
                W[k] = 1.0 if excess == 0 else 0.0
        mass += W[k]
    for k in range(W.size):
        W[k] /= mass


@inlined
def _mixability_gap(losses, W, delta):
    """loss - mix, at least 0."""
    best = np.inf
    for k in range(W.size):
        if W[k] > 0:
            best = min(best, losses[k])
    nats = math.log(W.size)
    mean = 0.0
    mass = 0.0
    for k in range(W.size):
        mean += W[k] * losses[k]
        if delta > 0:
            mass += W[k] * math.exp(-nats / delta * (losses[k] - best))
    mix = best - math.log(mass) * delta / nats if delta > 0 else best
    return max(mean - mix, 0.0)


class HedgeState(NamedTuple):
    """The state of AdaHedge.

    ======= ============================================ =============
    field   meaning                                      unit
    ======= ============================================ =============
    L       losses so far                                of the loss
    alive   1 for members still there                    1
    W       weights                                      1
    totals  trials, loss, Delta, Delta before, range     of the loss
    history W after 1, 2, 4, 8, ... trials               1
    ======= ============================================ =============
    """

    L: Float
    alive: Float
    W: Float
    totals: Float
    history: Float


def hedge_state(count: int, code: int) -> HedgeState:
    """The state before the first trial, for that many members."""
    low, high = (-1.0, 1.0) if code == HINGE else (0.0, 0.0)
    return HedgeState(
        L=np.zeros(count),
        alive=np.ones(count),
        W=np.full(count, 1 / count),
        totals=np.array([0.0, 0.0, 0.0, 0.0, low, high]),
        history=np.full((DOUBLINGS, count), np.nan),
    )


@kernel
def hedge(code, parameter, Z, targets, weights, scores, state):
    """AdaHedge over the columns of Z, clipped; without targets nothing is learned."""
    L, alive, W, totals, history = state
    K = W.size
    losses = np.zeros(K)
    for r in range(scores.size):
        low, high = totals[LOW], totals[HIGH]
        score = 0.0
        for k in range(K):
            score += W[k] * min(max(Z[r, k], low), high)
        scores[r] = score + 0.0  # no -0
        v = weights[r] if weights.size else 1.0
        if targets.size == 0 or v == 0:
            continue
        y = targets[r]
        for k in range(K):
            losses[k] = v * value(code, parameter, y, min(max(Z[r, k], low), high))
        totals[BEFORE] = totals[DELTA]
        totals[DELTA] += _mixability_gap(losses, W, totals[DELTA])
        totals[LOSS] += v * value(code, parameter, y, score)
        totals[T] += 1
        for k in range(K):
            L[k] += losses[k]
        if code != HINGE:
            totals[LOW] = min(low, y)
            totals[HIGH] = max(high, y)
        set_weights(L, alive, totals[DELTA], W)
        remember(W, history, totals[T])


class HedgeMixture(NamedWeights):
    """Base, stackers, mixture, for losses without curvature."""

    stacker_names = STACKERS

    def __init__(self, members: list[Expert], loss: Loss) -> None:
        super().__init__(members, loss)
        K = len(members)
        self.base = hedge_state(K, loss.code)
        self.final = hedge_state(K + len(STACKERS), loss.code)
        self.stackers = [Full(loss), Scinol2(loss)]
        for stacker in self.stackers:
            stacker._reserve(K + 1)

    @property
    def state(self) -> tuple[Any, ...]:
        """The state of base, stackers and mixture."""
        return self.base, self.final, tuple(stacker.state for stacker in self.stackers)

    def predict(self, scores: Float, out: Float, weights: Float = EMPTY) -> Float:
        """The scores of the Blend, from those of the experts; nothing changes."""
        return self.learn(scores, EMPTY, weights, out)

    def learn(self, scores: Float, targets: Float, weights: Float, out: Float) -> Float:
        """The scores of the Blend, each made before its target was used."""
        code, parameter = self.loss.code, self.loss.parameter
        n, K = scores.shape
        scores = self._clipped(scores, targets, weights)
        h = np.empty(n)
        hedge(code, parameter, scores, targets, weights, h, tuple(self.base))
        inputs = np.column_stack([(scores - h[:, None]) * self.base.alive, h]).reshape(-1)
        block = Block(inputs, NO_INDICES, NO_STARTS, K + 1)
        every = np.empty((n, K + len(STACKERS)))
        every[:, :K] = scores
        for k, stacker in enumerate(self.stackers):
            own = _targets_beyond(code, targets, h) if len(targets) else targets
            every[:, K + k] = h + _stacked(stacker, block, own, weights, np.empty(n))
        hedge(code, parameter, every, targets, weights, out, tuple(self.final))
        return out

    def _clipped(self, scores: Float, targets: Float, weights: Float) -> Float:
        """The members' forecasts clipped to the possible range, row by row."""
        low, high = self.final.totals[LOW], self.final.totals[HIGH]
        if len(targets) and self.loss.code != HINGE:
            seen = np.where(weights > 0, targets, np.nan) if len(weights) else targets
            low = np.fmin.accumulate(np.append(low, seen))[:-1, None]
            high = np.fmax.accumulate(np.append(high, seen))[:-1, None]
        return np.clip(scores, low, high)

    def drop(self, alive: NDArray[np.bool_]) -> None:
        """Members have left: their guarantees end here."""
        gone = (self.base.alive > 0) & ~alive
        if not gone.any():
            return
        self._end(gone)
        self.base.alive[:] = alive
        self.final.alive[: len(alive)] = alive
        for state in (self.base, self.final):
            set_weights(state.L, state.alive, state.totals[DELTA], state.W)

    def mixture_weights(self) -> dict[str, float]:
        """The weight of each expert, and of the stackers, now."""
        return self._named(self.final.W)

    def history(self) -> list[tuple[int, dict[str, float]]]:
        """The weights after 1, 2, 4, 8, ... trials."""
        return self._named_history(self.final.history)

    def guarantees(self) -> dict[str, Guarantee]:
        """loss <= member's loss + overhead, by name; of those that left, up to their last trial."""
        totals = self.final.totals.tolist()
        overhead = totals[DELTA] + totals[BEFORE]
        made = dict(self.ended)
        for k in np.flatnonzero(self.final.alive):
            name = self._names[k]
            own = float(self.final.L[k])
            made[name] = Guarantee(name, totals[LOSS], own, overhead, int(totals[T]))
        return made


def _stacked(stacker: Any, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
    """The scores of a stacker, which learns if there are targets; its inputs may be tiny."""
    in_range = not len(stacker._units) and units.covers(extent(block.values))
    if len(targets):
        if in_range:
            return stacker._learn(block, targets, weights, scores)
        return units.learn(stacker, block, targets, weights, scores)
    if in_range:
        return stacker._predict(block, weights, scores)
    return units.predict(stacker, block, weights, scores)


def _targets_beyond(code: int, targets: Float, h: Float) -> Float:
    """Targets for a forecast that is added to h.

    For hinge max(0, 1 - y (h + p)) = max(0, c - y p) with c = 1 - y h >= 0: the hinge loss of a
    target y c, whose size is the required margin.
    """
    if code != HINGE:
        return targets - h
    return np.copysign(np.maximum(1 - targets * h, 5e-324), targets)
