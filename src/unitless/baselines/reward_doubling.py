"""Reward doubling: gradient descent whose tiny rate doubles whenever its reward is large enough.

Streeter and McMahan, "No-Regret Algorithms for Unconstrained Online Convex Optimization" (2012):
their one-dimensional algorithm that guesses H, for each feature separately. With q_i = g x_i and
eps = wealth / d::

    p = sum w_i x_i;   V_i += q_i^2
    V_i > H_i         H_i doubles until it is enough; rate_i = eps / H_i;  w_i = Q_i = 0
    otherwise         Q_i -= q_i w_i;  if Q_i >= rate_i H_i:  rate_i doubles, w_i = Q_i = 0
                                       else:  w_i -= rate_i q_i

d counts the features seen so far, so it is that of the paper if all come in the first row. A sample
weight multiplies g. H starts at the same number for all features, so units matter, and so do
rotations.

Derived again, without restarts: an epoch's reward is rate (G^2 - sum q^2) / 2 with G its sum of
gradients, so it ends at the latest when |G| is near sqrt(3 H), and each doubles the reward; that
gives the paper's Theorem 1, which is `regret_bound` and holds on random and adversarial streams
(tests). It is not clear whether the paper resets V_i after a restart; here it continues.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.declared_parameters import positive
from unitless.baselines.scale_dependent import ScaleDependent
from unitless.baselines.trajectory import Trajectory
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop

FEATURES = 1  # total


@inlined
def predict(parameters, totals, v, x, f, scratch):
    w, seen = f[0], f[5]
    for k in range(x.size):
        if x[k] != 0 and seen[k] == 0:
            seen[k] = 1.0
            totals[FEATURES] += 1
        scratch[k] = w[k] * x[k]
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    wealth, squares = parameters[0], parameters[1]
    w, Q, V, h, doubled = f[0], f[1], f[2], f[3], f[4]
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        if q == 0:
            continue
        V[k] = fma(q, q, V[k])
        H = math.ldexp(squares, int(h[k]))
        rate_h = math.ldexp(wealth / totals[FEATURES], int(doubled[k]))
        reward = Q[k] - q * w[k]
        if V[k] > H:
            while V[k] > H:
                H *= 2
                h[k] += 1
            w[k] = 0.0
            Q[k] = 0.0
            doubled[k] = 0.0
        elif reward >= rate_h:
            w[k] = 0.0
            Q[k] = 0.0
            doubled[k] += 1
        else:
            w[k] -= rate_h / H * q
            Q[k] = reward


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 6, task, parameters, block, targets, weights, scores, state)


def regret_bound(wealth: float, squares: float, comparator: ArrayLike) -> float:
    """The largest regret against u, if sum q_i^2 <= squares for every feature.

    The reward of a feature is at least eps exp(c |theta_i|) / 4 - eps, c = ln(2) / sqrt(3 H); so
    its regret is at most eps + |u_i| / c (ln(4 |u_i| / (c eps)) - 1), or 3/4 eps if u_i is small.

    >>> print(f"{regret_bound(1.0, 100.0, [1.0]):.2f}")
    91.07
    """
    u = np.abs(np.asarray(comparator, dtype=np.float64))
    eps = wealth / max(len(u), 1)
    c = math.log(2) / math.sqrt(3 * squares)
    ratio = np.maximum(4 * u / (c * eps), 1.0)
    return float((eps + np.where(ratio > 1, u / c * (np.log(ratio) - 1), -eps / 4)).sum())


class RewardDoubling(ScaleDependent, Coordinatewise):
    """Reward doubling of Streeter and McMahan, for each feature.

    >>> from unitless.baselines import example_loss
    >>> example_loss(RewardDoubling())
    '0.6746'
    """

    wealth: float = positive(1.0, "d eps, the most that can be lost against u = 0")
    squares: float = positive(1.0, "the first guess of sum q_i^2")

    name = "reward_doubling"
    fields = (
        Field("w", "1/x", "weight"),
        Field("Q", "1", "reward since the rate last changed"),
        Field("V", "x^2", "sum q_i^2"),
        Field("h", "1", "how often H_i doubled"),
        Field("k", "1", "how often the rate doubled since then"),
        Field("seen", "1", "1 once x_i was not 0"),
    )
    totals = (Field("d", "1", "features seen"),)
    kernel = staticmethod(run)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """Theorem 1, if H was never too small and all features came in the first row."""
        V = self._records.reshape(-1, len(self.fields))[:, 2]
        late = not trajectory.all_features_in_first_row()
        if late or V.max(initial=0) > self.squares:
            return None
        return regret_bound(self.wealth, self.squares, trajectory.u[trajectory.features_seen()])

    def _weights_at(self, records: Any, totals: Any) -> Any:
        return records[0].copy()
