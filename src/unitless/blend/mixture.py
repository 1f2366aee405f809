"""Base classes of the mixtures: weights, state of the stacker, guarantees."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.blend.experts import Expert
from unitless.blend.mixture_bound import (
    LOSS,
    LOST,
    SLACK,
    Guarantee,
    T,
    cost_of_shares,
    overheads,
)
from unitless.kernels.simd import LANES
from unitless.learners.base import EMPTY
from unitless.losses import Loss

Float = NDArray[np.float64]


class MixtureState(NamedTuple):
    """The state of a mixture: K experts, the stacker as number K, rounded up to whole lanes.

    ======== ======================================================= =====================
    field    meaning                                                 unit
    ======== ======================================================= =====================
    U, D, w  the stacker's covariance U D U' and weights             of scores
    s2, woke sums of squares of its inputs, first trial not 0        of scores, trials
    prior    s2/n as it is in P                                      of scores
    stacked  1 for experts that the stacker sees                     1
    W, W0    weights of the mixture, and those it starts from        1
    start    the first W0                                            1
    spent    what shares had cost when W0 was last set               nats
    books    losses and gaps of the experts (`mixture_bound`)        of the loss
    totals   trials, scale V, loss, slack, trial W0 was set, ...     see the mixture
    history  W after 1, 2, 4, 8, ... trials                          1
    ======== ======================================================= =====================
    """

    U: Float
    D: Float
    w: Float
    s2: Float
    woke: Float
    prior: Float
    stacked: Float
    W: Float
    W0: Float
    start: Float
    spent: Float
    books: Float
    totals: Float
    history: Float


SINCE, LOW, HIGH, LAST = range(SLACK + 1, SLACK + 5)  # totals, after those of `mixture_bound`
TOTALS = SLACK + 5
DOUBLINGS = 64


class NamedWeights:
    """Base class of all mixtures: weights and guarantees by name."""

    members: list[Expert]
    stacker_names: tuple[str, ...]
    ended: dict[str, Guarantee]
    """Guarantees of experts that left."""

    def __init__(self, members: list[Expert], loss: Loss) -> None:
        self.members = members
        self.loss = loss
        self.ended = {}

    @property
    def _names(self) -> list[str]:
        return [*(member.name for member in self.members), *self.stacker_names]

    def _named(self, weights: Float) -> dict[str, float]:
        """{name: weight}; what lies beyond the last name is padding."""
        return dict(zip(self._names, weights.tolist(), strict=False))

    def _named_history(self, kept: Float) -> list[tuple[int, dict[str, float]]]:
        rows = [(2**j, row) for j, row in enumerate(kept) if not np.isnan(row[0])]
        return [(trials, self._named(row)) for trials, row in rows]

    def _end(self, gone: NDArray[np.bool_]) -> None:
        """Keep the guarantees of experts that leave."""
        guarantees = self.guarantees()
        for k in np.flatnonzero(gone):
            name = self.members[k].name
            self.ended[name] = guarantees[name]

    def guarantees(self) -> dict[str, Guarantee]:
        """loss <= member's loss + overhead, by name; of those that left, up to their last trial."""
        raise NotImplementedError


class Mixture(NamedWeights):
    """Combines the scores of the experts into the score of the Blend."""

    stacker_names = ("stacker",)

    stacker_share: ClassVar[float] = 0.8
    """W0 of the stacker; the experts share the rest."""
    kernel: ClassVar[Any]
    """kernel(Z, targets, weights, scores, stacker, mixture), which learns if there are targets."""

    def __init__(self, members: list[Expert], loss: Loss) -> None:
        super().__init__(members, loss)
        K = len(members)
        m = -(-(K + 1) // LANES) * LANES
        arrays = {name: np.zeros(m) for name in MixtureState._fields}
        arrays["U"] = np.eye(m).reshape(-1)
        arrays["books"] = np.zeros((m, 3))
        arrays["totals"] = np.zeros(TOTALS)
        arrays["history"] = np.full((DOUBLINGS, m), np.nan)
        self.state = MixtureState(**arrays)
        self._set_prior(np.ones(K, dtype=bool))
        self.state.W[:] = self.state.W0
        self.state.start[:] = np.where(self.state.W0 > 0, self.state.W0, 1.0)
        self.state.totals[SINCE] = 1
        self._prepare()

    def _prepare(self) -> None:
        """Set the initial state of the stacker."""

    def _set_prior(self, alive: NDArray[np.bool_]) -> None:
        K = len(self.members)
        W0 = self.state.W0
        W0[:] = 0
        W0[:K][alive] = (1 - self.stacker_share) / alive.sum()
        W0[K] = self.stacker_share
        self.state.stacked[:K] = [member.role != "guarantee" for member in self.members] * alive

    def predict(self, scores: Float, out: Float, weights: Float = EMPTY) -> Float:
        """The scores of the Blend, from those of the experts; nothing changes."""
        return self.learn(scores, EMPTY, EMPTY, out)

    def learn(self, scores: Float, targets: Float, weights: Float, out: Float) -> Float:
        """The scores of the Blend, each made before its target was used."""
        state = self.state
        stacker = state[:7]
        mixture = state.W, state.W0, state.books, state.totals, state.history
        self.kernel(scores, targets, weights, out.reshape(-1), stacker, mixture)
        return out

    def drop(self, alive: NDArray[np.bool_]) -> None:
        """Experts have left: their guarantees end here, the others share their weight."""
        K = len(self.members)
        state = self.state
        gone = (state.W0[:K] > 0) & ~alive
        if not gone.any():
            return
        self._end(gone)
        t = state.totals[T]
        for k in np.flatnonzero(state.W0):
            state.spent[k] += cost_of_shares(state.W0[k], state.totals[SINCE], t)
        state.totals[SINCE] = t + 1
        state.W[:K][gone] = 0
        state.W[:] /= state.W.sum()
        self._set_prior(alive)

    def mixture_weights(self) -> dict[str, float]:
        """The weight of each expert, and of the stacker, now."""
        return self._named(self.state.W)

    def history(self) -> list[tuple[int, dict[str, float]]]:
        """The weights after 1, 2, 4, 8, ... trials."""
        return self._named_history(self.state.history)

    def guarantees(self) -> dict[str, Guarantee]:
        """loss <= member's loss + overhead, by name; of those that left, up to their last trial."""
        state = self.state
        totals = state.totals
        prior = np.where(state.W0 > 0, state.W0, 1.0)
        over = overheads(state.start, state.spent, prior, totals[SINCE], state.books, totals)
        made = dict(self.ended)
        for k in np.flatnonzero(state.W0):
            name = self._names[k]
            loss, own = float(totals[LOSS]), float(state.books[k, LOST])
            made[name] = Guarantee(name, loss, own, float(over[k]), int(totals[T]))
        return made
