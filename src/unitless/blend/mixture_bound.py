"""The books of a mixture: what every member and the mixture have lost, and what the bound allows.

A mixture with weights W, updated by W_k <- W_k exp(-eta_t loss_k) / (the sum) and then shared,
W <- (1 - a_t) W + a_t W0 with a_t = 1 / (t + 1), obeys, whatever the members say,

    sum_t eta_t (loss_t - loss_{k,t}) <= -ln W0_k - sum_{t<T} ln(1 - a_t (1 - W0_k)) + sum_t slack_t

where slack_t = eta_t loss_t + ln sum_k W_k exp(-eta_t loss_k) is at most 0 for losses that eta_t
makes exp-concave. eta_t = v_t / V_t, with v_t the sample weight and V_t a size that never shrinks
(the largest weight so far; for squared loss times the squared range of the targets). Summation by
parts takes this to sums of v_t loss_t: with S_k the left side so far, each growth of V by c costs
-c S_k, exactly. So

    loss <= loss_k + V_T (ln 1/W0_k + share + slack) - sum_t (V_{t+1} - V_t) S_{k,t}

and all terms are known while the mixture runs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import poch

from unitless.numerics import inner

T, V, LOSS, SLACK = range(4)  # totals
FAR = 20_000.0  # trials
LOST, GAP, GROWN = range(3)  # a member's record: its loss, S_k, - sum of growth times S_k


@inner
def grow(size, books, totals):
    """The size V grows: what was gained in the old measure counts in the new."""
    if size > totals[V]:
        for k in range(books.shape[0]):
            books[k, GROWN] -= (size - totals[V]) * books[k, GAP]
        totals[V] = size


@inner
def enter(v, lost, losses, alive, books, totals):
    """A trial's losses, of the mixture and of its members."""
    eta = v / totals[V]
    totals[LOSS] += v * lost
    for k in range(books.shape[0]):
        if alive[k] > 0:
            books[k, LOST] += v * losses[k]
            books[k, GAP] += eta * (lost - losses[k])


@inner
def share(W, W0, totals):
    """W <- (1 - a) W + a W0, for W that add up to anything."""
    mass, a = 0.0, 1.0 / (totals[T] + 1)
    for k in range(W.size):
        mass += W[k]
    for k in range(W.size):
        W[k] = W[k] / mass * (1 - a) + a * W0[k]


class Guarantee(NamedTuple):
    """loss <= member_loss + overhead, over the trials first to last."""

    member: str
    loss: float
    member_loss: float
    overhead: float
    last: int

    def times(self, factor: float) -> "Guarantee":
        """The same with losses in another unit."""
        loss, member_loss, overhead = (part * factor for part in self[1:4])
        return self._replace(loss=loss, member_loss=member_loss, overhead=overhead)


def shares(prior: float, first: float, last: float) -> float:
    """-sum_{t=first}^{last} ln(1 - (1 - prior) / (t + 1)): term by term, then in closed form.

    Beyond FAR the sum is ln poch(FAR + 2, prior - 1) - ln poch(last + 2, prior - 1), where SciPy
    has an expansion; before, a ratio of gammas would cancel.
    """
    t = np.arange(first, min(last, FAR) + 1)
    near = -np.log1p(-(1 - prior) / (t + 1)).sum()
    begin = max(first, FAR + 1)
    if last < begin:
        return float(near)
    return float(near + np.log(poch(begin + 1, prior - 1) / poch(last + 2, prior - 1)))


def overheads(
    start: NDArray[np.float64], spent: NDArray[np.float64], prior: NDArray[np.float64],
    since: float, books: NDArray[np.float64], totals: NDArray[np.float64],
) -> NDArray[np.float64]:  # fmt: skip
    """What the mixture may have lost beyond each member.

    `start` is the first W0, `spent` what the shares cost until the present `prior` was set, at
    trial `since`.
    """
    share = [shares(p, since, totals[T] - 1) for p in prior]
    bits = -np.log(start) + spent + share + totals[SLACK]
    return totals[V] * bits + books[:, GROWN]


@inner
def remember(W, history, totals):
    """Keep the weights of trials 1, 2, 4, 8, ..."""
    t = np.int64(totals[T])
    if t & (t - 1) == 0:
        power = 0
        while 1 << power < t:
            power += 1
        for k in range(W.size):
            history[power, k] = W[k]
