"""EG+-: exponentiated gradient, weights in a ball of the 1-norm.

Kivinen and Warmuth, "Exponentiated Gradient versus Gradient Descent for Linear Predictors"
(1997), in its lazy form. With q = g x, |u|_1 <= U, |q_i| <= X, T trials and d features::

    eta = sqrt(ln(2 d) / T) / (U X);    z_i = eta U theta_i
    w_i = U (e^z_i - e^-z_i) / sum_j (e^z_j + e^-z_j)
    p = w.x;   theta_i -= q_i

d counts the features seen so far. Checked: `regret_bound` is that of exponential weights over the
2 d corners of the ball (Hoeffding's lemma), and holds on random and adversarial streams (tests).
A sample weight multiplies g.

===== ========== ================ =====
paper field      meaning          unit
===== ========== ================ =====
theta vectors[0] -sum q_i         [x_i]
===== ========== ================ =====

The ball adds weights of different units, so units matter, and so do rotations.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.dense import Whole, checked_positive, dot, rule_for
from unitless.baselines.kt import checked_bound
from unitless.baselines.minimax import checked_horizon
from unitless.baselines.trajectory import Played
from unitless.losses import Loss
from unitless.numerics import exp, inner, kernel, lane_sum


class Corners(NamedTuple):
    """Parameters of EG+-."""

    radius: float
    bound: float
    horizon: float


@inner
def corner_weights(rule, d, theta, seen, x, w, scratch):
    """w, from theta; coordinates neither seen nor in x do not count."""
    scale = math.sqrt(math.log(2.0 * d) / rule.horizon) / rule.bound  # eta U
    top = 0.0
    for j in range(theta.size):
        top = max(top, abs(scale * theta[j]))
    for j in range(theta.size):
        up, down = exp(scale * theta[j] - top), exp(-scale * theta[j] - top)
        w[j] = up - down
        scratch[j] = up + down if seen[j] > 0 or x[j] != 0 else 0.0
    total = lane_sum(scratch, scratch.size)
    for j in range(theta.size):
        w[j] *= rule.radius / total


def _predict(rule, state, v, d, x, work):
    if d == 0:
        return 0.0
    corner_weights(rule, d, state.vectors[0], state.seen, x, work[0], work[1])
    return dot(work[0], x, work[1])


def _update(rule, state, v, y, p, g, d, x, work):
    theta = state.vectors[0]
    for j in range(x.size):
        theta[j] -= v * g * x[j]


rule_for(Corners, _predict, _update)


@kernel
def current_weights(rule, d, state, x, w):
    """The weights of the next trial, of coordinates seen before it."""
    corner_weights(rule, d, state.vectors[0], state.seen, x, w, np.empty(w.size))


def regret_bound(rate: float, radius: float, features: int, largest: ArrayLike) -> float:
    """The most that EG+- can lose against any u with |u|_1 <= radius, from its max_i |q_ti|.

    ln(2 d) / eta + eta U^2 / 2 sum_t max_i q_ti^2; all d features must come in the first row.

    >>> print(f"{regret_bound(0.1, 1.0, 5, [1.0] * 100):.2f}")
    28.03
    """
    q = np.asarray(largest, dtype=np.float64)
    return math.log(2 * features) / rate + rate * radius**2 / 2 * float((q**2).sum())


class Eg(Whole):
    """EG+- of Kivinen and Warmuth.

    Parameters
    ----------
    radius : float
        U, of the ball in the 1-norm in which weights stay.
    bound : float
        X, at least |g x_i| for every feature in every trial.
    horizon : int
        T, the number of trials.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = Eg(radius=10, horizon=569)
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.5179
    """

    name: ClassVar[str] = "eg"
    invariance: ClassVar[Any] = "none"
    vectors: ClassVar[tuple[str, ...]] = ("theta",)
    needs: ClassVar[tuple[str, ...]] = ("radius", "bound", "horizon")

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        radius: float = 1.0,
        bound: float = 1.0,
        horizon: int = 10_000,
        intercept: bool = True,
    ) -> None:
        super().__init__(loss, intercept=intercept)
        self.radius, self.bound = checked_positive("radius", radius), checked_bound(bound)
        self.horizon = checked_horizon(horizon)
        self._prepare()

    def _rule(self) -> Corners:
        return Corners(self.radius, self.bound, float(self.horizon))

    def eta(self, features: int) -> float:
        """eta, for that many features."""
        return math.sqrt(math.log(2 * features) / self.horizon) / (self.radius * self.bound)

    def promised(self, played: Played) -> float | None:
        """`regret_bound`, if u is in the ball and all features came in the first row."""
        seen = np.unique(played.X.nonzero()[1])
        first = played.X[:1].nonzero()[1]
        if np.abs(played.u).sum() > self.radius or len(first) < len(seen) or not len(seen):
            return None
        largest = played.largest(euclidean=False)
        return regret_bound(self.eta(len(seen)), self.radius, len(seen), largest)

    def _weights(self):
        state = self.state
        w = np.zeros(len(state.seen))
        if state.seen.any():
            d = int(state.seen.sum())
            current_weights(self._made_rule, d, state, np.zeros(len(w)), w)
        return w
