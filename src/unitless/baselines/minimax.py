"""Minimax play against an exponential benchmark, for a known number of trials.

McMahan and Abernethy, "Minimax Optimal Algorithms for Unconstrained Linear Optimization" (2013),
for each feature on its own, where |q_i| = |g x_i| <= L and the horizon T are known; with r =
1/sqrt(T)::

    w_i = eps / L cosh(r)^(T - t) sinh(r) sinh(r theta_i / L);   p = sum w_i x_i;   theta_i -= q_i

Derived again: V_t(theta) = eps cosh(r)^(T - t) cosh(r theta / L) is the mean of V_{t+1} over
theta +- L, and w the slope of V_t between theta - L and theta + L. V_t is convex, so -q w >=
V_t(theta - q) - V_{t-1}(theta) for |q| <= L, and the sum over trials gives `regret_bound`, which
the tests try to break. Beyond the horizon the formula goes on and the bound does not hold. A
sample weight multiplies g.

======= ========= ================ =====
paper   field     meaning          unit
======= ========= ================ =====
theta_i theta     -sum q_i         [x_i]
======= ========= ================ =====

L has the unit [x_i], and there is one L for all features: units matter.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.scale_dependent import ScaleDependent, checked_count, checked_positive
from unitless.baselines.trajectory import Trajectory
from unitless.learners.base import checked_wealth
from unitless.learners.coordinatewise import Rowwise, T, rule_for
from unitless.losses import Loss
from unitless.numerics import lane_sum, shared


class Game(NamedTuple):
    """Parameters of the minimax player."""

    wealth: float
    bound: float
    horizon: float


@shared
def left(rule, t):
    """The factor that all weights of trial t share: what the trials after it may still do."""
    r = 1 / math.sqrt(rule.horizon)
    later = math.exp((rule.horizon - t) * math.log(math.cosh(r)))
    return rule.wealth / rule.bound * later * math.sinh(r)


def _predict(rule, total, v, x, f, term):
    r = 1 / math.sqrt(rule.horizon)
    for k in range(x.size):
        term[k] = math.sinh(r * (f[k] / rule.bound)) * x[k] if x[k] != 0 else 0.0
    p = left(rule, total[T]) * lane_sum(term, x.size)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    for k in range(x.size):
        f[k] -= v * g * x[k]


rule_for(Game, _predict, _update)


def regret_bound(wealth: float, bound: float, horizon: int, comparator: ArrayLike) -> float:
    """The most that can be lost within the horizon against u, if every |g x_i| <= bound.

    sum_i eps (s asinh(s) - sqrt(1 + s^2) + cosh(1 / sqrt(T))^T),   s = L |u_i| sqrt(T) / eps

    >>> print(f"{regret_bound(1.0, 1.0, 100, [1.0]):.2f}")
    21.58
    """
    s = bound * np.abs(np.asarray(comparator, dtype=np.float64)) * math.sqrt(horizon) / wealth
    start = math.cosh(1 / math.sqrt(horizon)) ** horizon
    return float(wealth * (s * np.arcsinh(s) - np.sqrt(1 + s**2) + start).sum())


class Minimax(ScaleDependent, Rowwise):
    """Minimax play against an exponential benchmark, for each feature.

    Parameters
    ----------
    wealth : float
        eps, which scales all weights.
    bound : float
        L, at least |g x_i| for every feature in every trial.
    horizon : int
        T, the number of trials.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = Minimax(horizon=569)
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.6555
    """

    name: ClassVar[str] = "minimax"
    fields: ClassVar[tuple[str, ...]] = ("theta",)
    needs: ClassVar[tuple[str, ...]] = ("bound", "horizon")

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        wealth: float = 1.0,
        bound: float = 1.0,
        horizon: int = 10_000,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        self.wealth, self.bound = checked_wealth(wealth), checked_positive("bound", bound)
        self.horizon = checked_count("horizon", horizon, "the number of trials")
        self._prepare()

    def _rule(self) -> Game:
        return Game(self.wealth, self.bound, float(self.horizon))

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """`regret_bound`, if L was large enough and the game not longer than T."""
        within = trajectory.gradient_sizes(euclidean=False).max(initial=0) <= self.bound
        if not within or len(trajectory.g) > self.horizon:
            return None
        return regret_bound(self.wealth, self.bound, self.horizon, trajectory.u)

    def _weights_at(self, records: Any, total: Any) -> Any:
        r = 1 / math.sqrt(self.horizon)
        return left(self._rule(), total[T] + 1) * np.sinh(r * (records[0] / self.bound))
