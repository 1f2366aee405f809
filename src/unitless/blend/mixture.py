"""Base classes of the mixtures: exponential weights, state of the stacker, guarantees.

The regret bound of a mixture is computed while it runs (docs/explanation/blend.md derives it):

    loss <= loss_k + V (ln 1/W0_k + shares) + excess

Kernels get a mixture as the tuple (W, W0, lost, totals, history); see `Mixture`.
"""

import math
from collections import namedtuple
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import poch

from unitless.blend.experts import Expert
from unitless.kernels.arithmetic import MAX_EXPONENT, exp
from unitless.kernels.decorators import inlined, shared
from unitless.kernels.simd import LANES
from unitless.losses import Loss
from unitless.state import Damaged, Fact, Field, Float, Stateful, checked_count, need

T, V, LOSS, EXCESS, SINCE, LOW, HIGH, LAST = range(8)
"""Totals: trials, scale, loss, its excess over the mix loss -V ln sum_k W_k exp(-v loss_k / V),
trial W0 was set, range of targets, last refresh."""
TOTALS = 8
MIN_SCALE = 1e-240  # so that v / V is finite
CLOSED_FORM = 20_000.0
"""Trials after which the sum of shares has a closed form that does not cancel."""
MAX_RATE = 1e300  # finite, so that 0 times it is 0
DOUBLINGS = 64


@inlined
def exponential_weights(v, nats, loss, losses, mixture):
    """One trial: W_k prop. W0_k exp(-L_k / V), where L_k grows by v loss_k; then give back a share.

    `loss` is that of the mixture. With `nats` = 0, for losses that are mixable at rate 1, V is the
    largest v so far. Otherwise it is the excess over `nats`, as in AdaHedge, and the trial is mixed
    before V grows; while V is 0, the weights stay as they are.
    """
    W, W0, lost, totals, history = mixture
    best = least(losses, W0)
    before = totals[V]
    if nats == 0:
        totals[V] = max(before, v)
    else:
        eta = v / before if before > 0 else 0.0
        mass = 0.0
        for k in range(W.size):
            mass += W[k] * exp(-eta * (losses[k] - best))
        totals[EXCESS] += v * (loss - best) + before * math.log(mass)
        if totals[EXCESS] / nats > max(before, MIN_SCALE):
            totals[V] = totals[EXCESS] / nats
    eta = v / totals[V] if totals[V] > 0 else 0.0
    mass = 0.0
    for k in range(W.size):
        if W0[k] > 0:
            lost[k] += v * losses[k]
            if totals[V] > before:  # as if V had never been less
                W[k] = W0[k] * (W[k] / W0[k]) ** (before / totals[V])
            W[k] *= exp(-eta * (losses[k] - best))
            mass += W[k]
    totals[T] += 1
    totals[LOSS] += v * loss
    if nats == 0:
        totals[EXCESS] += v * (loss - best) + totals[V] * math.log(mass)
    a = 1.0 / (totals[T] + 1)
    for k in range(W.size):
        W[k] = (1 - a) * W[k] / mass + a * W0[k]
    remember(W, history, totals[T])


@inlined
def remember(W, history, trials):
    """history[j] = W after 2^j trials."""
    fraction, power = math.frexp(trials)
    if fraction == 0.5:
        for k in range(W.size):
            history[power - 1, k] = W[k]


@shared
def set_weights(L, alive, nats, scale, W):
    """W prop. exp(-nats (L - min L) / scale); the best alone while the scale is 0."""
    best = least(L, alive)
    rate = min(nats / scale, MAX_RATE) if scale > 0 else 0.0
    mass = 0.0
    for k in range(W.size):
        excess = L[k] - best
        W[k] = math.exp(-min(rate * excess, MAX_EXPONENT))
        if alive[k] == 0 or (scale == 0 and excess > 0):
            W[k] = 0.0
        mass += W[k]
    for k in range(W.size):
        W[k] /= mass


@inlined
def least(L, alive):
    """The smallest loss of those that are alive."""
    best = np.inf
    for k in range(alive.size):
        if alive[k] > 0:
            best = min(best, L[k])
    return best


class Guarantee(NamedTuple):
    """loss <= member_loss + overhead, over the trials 1 to `last`."""

    member: str
    loss: float
    member_loss: float
    overhead: float
    last: int

    def times(self, factor: float) -> "Guarantee":
        """The same with losses in another unit."""
        member, loss, member_loss, overhead, last = self
        return Guarantee(member, factor * loss, factor * member_loss, factor * overhead, last)


def cost_of_shares(prior: float, first: float, last: float) -> float:
    """-sum_{t=first}^{last} ln(1 - (1 - prior) / (t + 1)): term by term, then in closed form.

    Beyond CLOSED_FORM = F the sum is ln poch(F + 2, prior - 1) - ln poch(last + 2, prior - 1),
    where SciPy has an expansion; before it, a ratio of gamma functions would cancel.
    """
    t = np.arange(first, min(last, CLOSED_FORM) + 1)
    near = -np.log1p(-(1 - prior) / (t + 1)).sum()
    begin = max(first, CLOSED_FORM + 1)
    if last < begin:
        return float(near)
    return float(near + np.log(poch(begin + 1, prior - 1) / poch(last + 2, prior - 1)))


def _guarantees_to_json(guarantees: dict[str, Guarantee]) -> dict[str, Any]:
    return {name: list(guarantee[1:]) for name, guarantee in guarantees.items()}


def _guarantees_from_json(found: Any) -> dict[str, Guarantee]:
    made = {}
    try:
        for name, (loss, own, overhead, last) in found.items():
            made[name] = Guarantee(name, float(loss), float(own), float(overhead), int(last))
    except (AttributeError, OverflowError, TypeError, ValueError):
        raise Damaged("the guarantees of members that left are not four numbers each") from None
    return made


ENDED = Fact("ended", "guarantees of experts that left", _guarantees_to_json, _guarantees_from_json)


class NamedWeights(Stateful):
    """Base class of all mixtures: weights and guarantees by name.

    A mixture combines the scores of the experts into the score of the Blend, by its method
    learn(scores, targets, weights, out); without targets nothing changes. It also has
    `_last_step`, the state with the weights W and their history, `_present()`, which experts and
    stackers have not left, `_claim(k)`, (loss, loss of expert k, overhead), and `_drop(alive)`.
    """

    stacker_names: tuple[str, ...] = ("stacker",)

    def __init__(self, members: list[Expert], loss: Loss) -> None:
        self.members = members
        self.loss = loss
        self.ended: dict[str, Guarantee] = {}

    @property
    def _names(self) -> list[str]:
        return [*(member.name for member in self.members), *self.stacker_names]

    def mixture_weights(self: Any) -> dict[str, float]:
        """The weight of each expert, and of the stackers, now."""
        return self._named(self._last_step.W)

    def _named(self, weights: Float) -> dict[str, float]:
        """{name: weight}; what lies beyond the last name is padding."""
        return dict(zip(self._names, weights.tolist(), strict=False))

    def history(self: Any) -> list[tuple[int, dict[str, float]]]:
        """The weights after 1, 2, 4, 8, ... trials."""
        rows = enumerate(self._last_step.history)
        return [(2**j, self._named(row)) for j, row in rows if not np.isnan(row[0])]

    def guarantees(self: Any) -> dict[str, Guarantee]:
        """loss <= member's loss + overhead, by name; of those that left, up to their last trial."""
        made = dict(self.ended)
        trials = int(self._last_step.totals[T])
        for k in np.flatnonzero(self._present()):
            name = self._names[k]
            loss, own, overhead = self._claim(k)
            made[name] = Guarantee(name, float(loss), float(own), float(overhead), trials)
        return made

    def drop(self: Any, alive: NDArray[np.bool_]) -> None:
        """Experts have left: their guarantees end here."""
        gone = self._present()[: len(alive)] & ~alive
        if gone.any():
            guarantees = self.guarantees()
            for k in np.flatnonzero(gone):
                name = self._names[k]
                self.ended[name] = guarantees[name]
            self._drop(alive)


MixtureState = namedtuple(
    "MixtureState", "U D w s2 woke prior stacked W W0 start spent lost totals history"
)


class Mixture(NamedWeights):
    """Combines the scores of K experts into the score of the Blend; the stacker is number K."""

    saved = (
        ENDED,
        Field("state.U", "score", "the stacker's covariance is U D U'", ("m m",)),
        Field("state.D", "score", "see U", ("m",)),
        Field("state.w", "score", "the stacker's weights", ("m",)),
        Field("state.s2", "score", "sums of squares of its inputs", ("m",)),
        Field("state.woke", "1", "their first trials not 0", ("m",)),
        Field("state.prior", "score", "s2/n as it is in U D U'", ("m",)),
        Field("state.stacked", "1", "1 for experts that the stacker sees", ("m",)),
        Field("state.W", "1", "weights of the mixture", ("m",)),
        Field("state.W0", "1", "weights that it starts from", ("m",)),
        Field("state.start", "1", "the first W0", ("m",)),
        Field("state.spent", "nat", "what shares had cost when W0 was last set", ("m",)),
        Field("state.lost", "loss", "losses of the experts", ("m",)),
        Field("state.totals", "", "trials, scale V, loss, excess, trial W0 was set...", (TOTALS,)),
        Field("state.history", "1", "W after 1, 2, 4, ... trials", (DOUBLINGS, "m"), True),
    )
    stacker_share: ClassVar[float] = 0.8
    """W0 of the stacker; the experts share the rest."""
    kernel: ClassVar[Any]
    """kernel(Z, targets, weights, scores, stacker, mixture), which learns if there are targets."""

    def __init__(self, members: list[Expert], loss: Loss) -> None:
        super().__init__(members, loss)
        m = self._sizes()["m"]
        arrays = {name: np.zeros(m) for name in MixtureState._fields}
        arrays["U"] = np.eye(m).reshape(-1)
        arrays["totals"] = np.zeros(TOTALS)
        arrays["history"] = np.full((DOUBLINGS, m), np.nan)
        self.state = MixtureState(**arrays)
        self._set_prior(np.ones(len(members), dtype=bool))
        self.state.W[:] = self.state.W0
        self.state.start[:] = np.where(self.state.W0 > 0, self.state.W0, 1.0)
        self.state.totals[SINCE] = 1
        self._late = np.zeros(len(self.state.W))
        self._late[: len(members)] = [member.role == "late" for member in members]
        self._steep = next((k for k, member in enumerate(members) if member.steep), -1)
        self._prepare()

    def _sizes(self) -> dict[str, int]:
        return {"m": -(-(len(self.members) + 1) // LANES) * LANES}

    def _loaded(self) -> None:
        padding = self.state.W0[len(self.members) + 1 :]
        need(not padding.any(), "weights of members that do not exist")
        checked_count(self.state.totals[T], 2**53)

    def _prepare(self) -> None:
        """Set the initial state of the stacker."""

    def _set_prior(self, alive: NDArray[np.bool_]) -> None:
        K = len(self.members)
        W0 = self.state.W0
        W0[:] = 0
        W0[:K][alive] = (1 - self.stacker_share) / alive.sum()
        W0[K] = self.stacker_share
        self.state.stacked[:K] = [member.role != "guarantee" for member in self.members] * alive

    def learn(self, scores: Float, targets: Float, weights: Float, out: Float) -> Float:
        """The scores of the Blend, each made before its target was used."""
        self.kernel(scores, targets, weights, out.reshape(-1), self.stacker, self.weights)
        return out

    @property
    def stacker(self) -> tuple[Any, ...]:
        """The state of the stacker, as the kernel takes it."""
        return *self.state[:7], self._late, self._steep

    @property
    def weights(self) -> tuple[Float, ...]:
        """The state of the mixture, as the kernel takes it."""
        state = self.state
        return state.W, state.W0, state.lost, state.totals, state.history

    @property
    def _last_step(self) -> MixtureState:
        return self.state

    def _present(self) -> NDArray[np.bool_]:
        return self.state.W0 > 0

    def _drop(self, alive: NDArray[np.bool_]) -> None:
        """Those that stay share the weight of those that left."""
        state = self.state
        t = state.totals[T]
        for k in np.flatnonzero(state.W0):
            state.spent[k] += cost_of_shares(state.W0[k], state.totals[SINCE], t)
        state.totals[SINCE] = t + 1
        state.W[: len(alive)][~alive] = 0
        state.W[:] /= state.W.sum()
        self._set_prior(alive)

    def _claim(self, k: int) -> tuple[float, float, float]:
        state = self.state
        totals = state.totals
        shares = cost_of_shares(state.W0[k], totals[SINCE], totals[T] - 1)
        nats = -np.log(state.start[k]) + state.spent[k] + shares
        return totals[LOSS], state.lost[k], totals[V] * nats + totals[EXCESS]
