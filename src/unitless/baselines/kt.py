"""KT: betting on a coin in as many dimensions as there are features, after Krichevsky and Trofimov.

Orabona and Pal, "Coin Betting and Parameter-Free Online Learning" (2016), algorithm 1. With q = g
x, |q| <= L, and initial wealth eps::

    w = theta / (L^2 t) (eps + R);   p = w.x;   theta -= q;   R -= q.w

Checked: by scaling the paper's L = 1 (q/L, with wealth eps/L); against the public codes
parameterfree and jongharyu/olo-with-side-information; and `regret_bound`, the paper's corollary 5,
on random and adversarial streams (tests). A sample weight multiplies g, and L is a bound on the
product.

======= ========= ================== ===========
paper   field     meaning            unit
======= ========= ================== ===========
theta_i theta     -sum q_i           [x_i]
Reward  totals[1] R = -sum q.w       1
======= ========= ================== ===========

theta has the unit [x_i], a weight 1/[x_i], and L stands for all of them together: units matter,
rotations do not.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.baselines.scale_dependent import ScaleDependent, checked_positive
from unitless.baselines.trajectory import Trajectory
from unitless.learners.base import checked_wealth
from unitless.learners.coordinatewise import Rowwise, T, rule_for
from unitless.losses import Loss
from unitless.numerics import lane_sum

REWARD = 1


class Krichevsky(NamedTuple):
    """Parameters of KT."""

    wealth: float
    bound: float


def _predict(rule, total, v, x, f, term):
    for k in range(x.size):
        term[k] = f[k] * x[k]
    bet = (rule.wealth + total[REWARD]) / (rule.bound * rule.bound * total[T])
    p = lane_sum(term, x.size) * bet
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    for k in range(x.size):
        f[k] -= v * g * x[k]
    total[REWARD] -= v * g * p


rule_for(Krichevsky, _predict, _update)


def regret_bound(wealth: float, bound: float, trials: int, norm: float) -> float:
    """The most that KT can lose in T trials against any u of that norm, if |q| <= bound.

    L |u| sqrt(T ln(1 + 24 T^2 L^2 |u|^2 / eps^2)) + eps (1 - 1 / (e sqrt(pi T)))

    >>> print(f"{regret_bound(1.0, 1.0, 100, 1.0):.2f}")
    36.18
    """
    size = bound * norm
    return size * math.sqrt(trials * math.log1p(24 * (trials * size / wealth) ** 2)) + wealth * (
        1 - 1 / (math.e * math.sqrt(math.pi * trials))
    )


class Kt(ScaleDependent, Rowwise):
    """KT coin betting.

    Parameters
    ----------
    wealth : float
        What may be lost before anything is known, in units of the loss.
    bound : float
        L, at least |g x| (with the intercept in x) in every trial.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = Kt(bound=31**0.5)
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.6834
    """

    name: ClassVar[str] = "kt"
    invariance: ClassVar[Any] = "rotation"
    fields: ClassVar[tuple[str, ...]] = ("theta",)
    extra: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ("bound",)
    bound_is_euclidean: ClassVar[bool] = True

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        wealth: float = 1.0,
        bound: float = 1.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        self.wealth, self.bound = checked_wealth(wealth), checked_positive("bound", bound)
        self._prepare()

    def _rule(self) -> Krichevsky:
        return Krichevsky(self.wealth, self.bound)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """Corollary 5, if L was large enough."""
        if trajectory.gradient_sizes().max(initial=0) > self.bound:
            return None
        norm = float(np.linalg.norm(trajectory.u))
        return regret_bound(self.wealth, self.bound, max(len(trajectory.g), 1), norm)

    def _weights_at(self, records: Any, total: Any) -> Any:
        return records[0] * (self.wealth + total[REWARD]) / (self.bound**2 * (total[T] + 1))
