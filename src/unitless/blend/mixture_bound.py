"""The regret bound of a mixture, computed while it runs.

A mixture with weights W, updated by W_k <- W_k exp(-eta_t loss_k) / (their sum) and then shared,
W <- (1 - a_t) W + a_t W0 with a_t = 1 / (t + 1), satisfies for every expert k

    sum_t eta_t (loss_t - loss_{k,t}) <= -ln W0_k - sum_{t<T} ln(1 - a_t (1 - W0_k)) + sum_t slack_t

where slack_t = eta_t loss_t + ln sum_k W_k exp(-eta_t loss_k) is at most 0 for losses that eta_t
makes exp-concave. eta_t = v_t / V_t, with v_t the sample weight and V_t a scale that never shrinks
(the largest weight so far; for the squared loss times the squared range of the targets). Summation
by parts turns this into sums of v_t loss_t: with S_k the left side so far, each growth of V by c
costs -c S_k, exactly. So

    loss <= loss_k + V_T (ln 1/W0_k + shares + slack) - sum_t (V_{t+1} - V_t) S_{k,t}

and all terms are known while the mixture runs.

Kernels get a mixture as the tuple (W, W0, losses, totals, history); see `MixtureState`.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import poch

from unitless.kernels.decorators import inlined

T, V, LOSS, SLACK = range(4)  # totals: trials, scale, loss of the mixture, slack
LOST, GAP, GROWN = range(3)  # of an expert: its loss, S_k, - sum of growth times S_k
CLOSED_FORM = 20_000.0
"""Trials after which the sum of shares has a closed form that does not cancel."""


@inlined
def count_trial(scale, mixture):
    """One trial more. The scale V grows to `scale`, if that is larger."""
    _, _, losses, totals, _ = mixture
    totals[T] += 1
    if scale > totals[V]:
        for k in range(losses.shape[0]):
            losses[k, GROWN] -= (scale - totals[V]) * losses[k, GAP]
        totals[V] = scale


@inlined
def add_losses(v, loss, expert_losses, mixture):
    """Add the losses of a trial to those of the mixture and of its experts."""
    _, W0, losses, totals, _ = mixture
    eta = v / totals[V]
    totals[LOSS] += v * loss
    for k in range(W0.size):
        if W0[k] > 0:
            losses[k, LOST] += v * expert_losses[k]
            losses[k, GAP] += eta * (loss - expert_losses[k])


@inlined
def share(mixture):
    """W <- (1 - a) W + a W0, for W of any sum; keep a copy after 1, 2, 4, 8, ... trials."""
    W, W0, _, totals, history = mixture
    mass = 0.0
    for k in range(W.size):
        mass += W[k]
    a = 1.0 / (totals[T] + 1)
    for k in range(W.size):
        W[k] = W[k] / mass * (1 - a) + a * W0[k]
    remember(W, history, totals[T])


@inlined
def remember(W, history, trials):
    """history[j] = W after 2^j trials."""
    fraction, power = math.frexp(trials)
    if fraction == 0.5:
        for k in range(W.size):
            history[power - 1, k] = W[k]


class Guarantee(NamedTuple):
    """loss <= member_loss + overhead, over the trials 1 to `last`."""

    member: str
    loss: float
    member_loss: float
    overhead: float
    last: int

    def times(self, factor: float) -> "Guarantee":
        """The same with losses in another unit."""
        return self._replace(
            loss=self.loss * factor,
            member_loss=self.member_loss * factor,
            overhead=self.overhead * factor,
        )


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


def overheads(
    start: NDArray[np.float64],
    spent: NDArray[np.float64],
    prior: NDArray[np.float64],
    since: float,
    losses: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Bounds on the loss of the mixture minus that of each expert.

    `start` is the first W0, `spent` what the shares cost until the present `prior` was set, at
    trial `since`.
    """
    shares = [cost_of_shares(p, since, totals[T] - 1) for p in prior]
    nats = -np.log(start) + spent + shares + totals[SLACK]
    return totals[V] * nats + losses[:, GROWN]
