"""What all mixers share: members' weights, the stacker's state, the books."""

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.blend.ensemble import Expert
from unitless.blend.mixture_bound import LOSS, LOST, SLACK, Guarantee, T, overheads, shares
from unitless.learners.base import EMPTY
from unitless.losses import Loss
from unitless.numerics import LANES

Float = NDArray[np.float64]


class MixtureState(NamedTuple):
    """All that a mixer remembers; K members, the stacker as number K, rounded up to whole lanes.

    ======== ======================================================= =====================
    field    meaning                                                 unit
    ======== ======================================================= =====================
    U, D, w  the stacker's covariance U D U' and weights             of scores
    s2, woke sums of squares of its inputs, first trial not 0        of scores, trials
    prior    s2/n as it is in P                                      of scores
    stacked  1 for members that the stacker sees                     1
    W, W0    weights of the mixture, and those it starts from        1
    start    the first W0                                            1
    spent    what shares had cost when W0 was last set               nats
    books    losses and gaps (`ledger`)                              of the loss
    totals   trials, size V, loss, slack, trial W0 was set, ...      see the mixer
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


SINCE, LOW, HIGH, LAST = range(SLACK + 1, SLACK + 5)  # totals, after the ledger's


class Mixture:
    """Members' scores in, the blend's score out."""

    stacker_share: ClassVar[float] = 0.8
    """W0 of the stacker; the members share the rest."""

    def __init__(self, members: list[Expert], loss: Loss) -> None:
        self.members, self.loss = members, loss
        K = len(members)
        m = -(-(K + 1) // LANES) * LANES
        arrays: list[Float] = [np.eye(m).reshape(-1), *(np.zeros(m) for _ in range(10))]
        arrays += [np.zeros((m, 3)), np.zeros(SLACK + 5), np.full((64, m), np.nan)]
        self.state = MixtureState(*arrays)
        self._set_prior(np.ones(K, dtype=bool))
        self.state.W[:] = self.state.start[:] = self.state.W0
        self.state.start[self.state.start == 0] = 1.0
        self.state.totals[SINCE] = 1
        self.ended: dict[str, Guarantee] = {}
        self._prepare()

    def _prepare(self) -> None:
        """Where the stacker starts from."""

    def _set_prior(self, alive: NDArray[np.bool_]) -> None:
        K, W0 = len(self.members), self.state.W0
        W0[:] = 0
        W0[:K][alive] = (1 - self.stacker_share) / alive.sum()
        W0[K] = self.stacker_share
        self.state.stacked[:K] = [member.role != "guarantee" for member in self.members] * alive

    def drop(self, alive: NDArray[np.bool_]) -> None:
        """Members have left: their claims end here, the others share their weight."""
        K, state = len(self.members), self.state
        gone = (state.W0[:K] > 0) & ~alive
        if not gone.any():
            return
        claims = self.guarantees()
        self.ended |= {
            name: claims[name] for k, name in enumerate(self._names) if k < K and gone[k]
        }
        t = state.totals[T]
        for k in np.flatnonzero(state.W0):
            state.spent[k] += shares(state.W0[k], state.totals[SINCE], t)
        state.totals[SINCE] = t + 1
        state.W[:K][gone] = 0
        state.W[:] /= state.W.sum()
        self._set_prior(alive)

    @property
    def _names(self) -> list[str]:
        return [*(member.name for member in self.members), "stacker"]

    def mixture_weights(self) -> dict[str, float]:
        """The weight each member carries now."""
        return dict(zip(self._names, self.state.W.tolist(), strict=False))

    def history(self) -> list[tuple[int, dict[str, float]]]:
        """The weights after 1, 2, 4, 8, ... trials."""
        kept = self.state.history
        return [
            (2**j, dict(zip(self._names, kept[j].tolist(), strict=False)))
            for j in range(len(kept))
            if not np.isnan(kept[j, 0])
        ]

    def guarantees(self) -> dict[str, Guarantee]:
        """loss <= member's loss + overhead, by name; for those gone, up to their last trial."""
        state, made = self.state, dict(self.ended)
        totals, W0 = state.totals, state.W0
        prior = np.where(W0 > 0, W0, 1.0)
        over = overheads(state.start, state.spent, prior, totals[SINCE], state.books, totals)
        for k in np.flatnonzero(W0):
            made[self._names[k]] = Guarantee(
                self._names[k], float(totals[LOSS]), float(state.books[k, LOST]), float(over[k]),
                int(totals[T]),
            )  # fmt: skip
        return made

    def predict(self, scores: Float, out: Float, weights: Float = EMPTY) -> Float:
        """The blend's scores; nothing changes."""
        raise NotImplementedError

    def learn(self, scores: Float, targets: Float, weights: Float, out: Float) -> Float:
        """The blend's scores, each made before its target was used."""
        raise NotImplementedError
