"""Reward doubling: gradient descent that starts with a tiny rate and doubles it whenever that paid.

Streeter and McMahan, "No-Regret Algorithms for Unconstrained Online Convex Optimization" (2012):
their one-dimensional algorithm that guesses H, for each feature on its own. With q_i = g x_i and
eps = wealth / d::

    p = sum w_i x_i;   V_i += q_i^2
    V_i > H_i         H_i doubles until it is enough; rate_i = eps / H_i;  w_i = Q_i = 0
    otherwise         Q_i -= q_i w_i;  if Q_i >= rate_i H_i:  rate_i doubles, w_i = Q_i = 0
                                       else:  w_i -= rate_i q_i

d counts the features seen so far, so it is that of the paper if all come in the first row. Derived
again, without restarts: an epoch's reward is rate (G^2 - sum q^2) / 2 with G its sum of gradients,
so it ends at the latest when |G| is near sqrt(3 H), and each doubles the reward; that gives the
paper's Theorem 1, which is `regret_bound` and holds on random and adversarial streams (tests).
Whether the paper counts V_i anew after a restart was not to be found out; here it goes on. A
sample weight multiplies g.

======== ========= ======================================= =============
paper    field     meaning                                 unit
======== ========= ======================================= =============
x_i      w         weight                                  [score]/[x_i]
Q_i      Q         reward since the rate last changed      1
--       V         sum q_i^2                               [x_i]^2
H_i      h         how often H_i doubled                   1
eta_i    k         how often the rate doubled since then   1
d        seen      1 once x_i was not 0; totals[1] adds up 1
======== ========= ======================================= =============

H starts at the same number for all features, so units matter, and so do rotations.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.scale_dependent import ScaleDependent
from unitless.baselines.trajectory import Trajectory
from unitless.learners.base import checked_wealth
from unitless.learners.coordinatewise import Rowwise, rule_for
from unitless.losses import Loss
from unitless.numerics import fma, lane_sum

FEATURES = 1


class Doubling(NamedTuple):
    """Parameters of reward doubling."""

    wealth: float
    squares: float


def _predict(rule, total, v, x, f, term):
    n = x.size
    w, seen = f[:n], f[5 * n : 6 * n]
    for k in range(n):
        if x[k] != 0 and seen[k] == 0:
            seen[k] = 1.0
            total[FEATURES] += 1
        term[k] = w[k] * x[k]
    p = lane_sum(term, n)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    w, Q, V, h, doubled = f[:n], f[n : 2 * n], f[2 * n : 3 * n], f[3 * n : 4 * n], f[4 * n : 5 * n]
    for k in range(n):
        q = v * g * x[k]
        if q == 0:
            continue
        V[k] = fma(q, q, V[k])
        H = math.ldexp(rule.squares, int(h[k]))
        due = math.ldexp(rule.wealth / total[FEATURES], int(doubled[k]))  # rate H
        reward = Q[k] - q * w[k]
        if V[k] > H:
            while V[k] > H:
                H, h[k] = 2 * H, h[k] + 1
            w[k], Q[k], doubled[k] = 0.0, 0.0, 0.0
        elif reward >= due:
            w[k], Q[k], doubled[k] = 0.0, 0.0, doubled[k] + 1
        else:
            w[k], Q[k] = w[k] - due / H * q, reward


rule_for(Doubling, _predict, _update)


def regret_bound(wealth: float, squares: float, comparator: ArrayLike) -> float:
    """The most that can be lost against u, if sum q_i^2 <= squares for every feature.

    The reward of a feature is at least eps exp(c |theta_i|) / 4 - eps, c = ln(2) / sqrt(3 H); so
    its regret is at most eps + |u_i| / c (ln(4 |u_i| / (c eps)) - 1), or 3/4 eps if u_i is small.

    >>> print(f"{regret_bound(1.0, 100.0, [1.0]):.2f}")
    91.07
    """
    u = np.abs(np.asarray(comparator, dtype=np.float64))
    eps, c = wealth / max(len(u), 1), math.log(2) / math.sqrt(3 * squares)
    ratio = np.maximum(4 * u / (c * eps), 1.0)
    return float((eps + np.where(ratio > 1, u / c * (np.log(ratio) - 1), -eps / 4)).sum())


class RewardDoubling(ScaleDependent, Rowwise):
    """Reward doubling of Streeter and McMahan, for each feature.

    Parameters
    ----------
    wealth : float
        d eps: what may be lost before anything is known, in units of the loss.
    squares : float
        The first guess of sum q_i^2.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = RewardDoubling()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.6746
    """

    name: ClassVar[str] = "reward_doubling"
    fields: ClassVar[tuple[str, ...]] = ("w", "Q", "V", "h", "k", "seen")
    extra: ClassVar[int] = 1

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        wealth: float = 1.0,
        squares: float = 1.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        if not 0 < squares < math.inf:
            raise ValueError(f"squares = {squares}: a guess of sum q^2 is a finite number > 0")
        self.wealth, self.squares = checked_wealth(wealth), float(squares)
        self._prepare()

    def _rule(self) -> Doubling:
        return Doubling(self.wealth, self.squares)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """Theorem 1, if H was never too small and all features came in the first row."""
        squares = self.state.records[:, 0, 2]
        late = not trajectory.all_features_in_first_row()
        if late or squares.max(initial=0) > self.squares:
            return None
        return regret_bound(self.wealth, self.squares, trajectory.u[trajectory.features_seen()])

    def _weights_at(self, records: Any, total: Any) -> Any:
        return records[0].copy()
