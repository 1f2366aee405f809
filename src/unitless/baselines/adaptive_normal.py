"""AdaptiveNormal: minimax play against a benchmark that grows like exp of a square.

McMahan and Orabona, "Unconstrained Online Linear Learning in Hilbert Spaces: Minimax Algorithms
and Normal Approximations" (2014), for each feature on its own, where |q_i| = |g x_i| <= L is
known::

    w_i = eps / ln^2(t + 1) (f(theta_i + L) - f(theta_i - L)) / (2 L),   f(z) = exp(z^2 / (2 a t))
    p = sum w_i x_i;   theta_i -= q_i                                    a = 3 pi L^2 / 4

The difference is exp((theta^2 + L^2) / (2 a t)) 2 sinh(L theta / (a t)), which does not cancel.
Checked: w is the slope of f between theta - L and theta + L, as minimax play for a game of which
one trial is left asks for (tests); the public code jongharyu/olo-with-side-information has this
formula for a whole vector, with t + 1 where t is meant by this file (and a = 1). A sample weight
multiplies g, and L is a bound on the product.

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

from unitless.baselines.scale_dependent import ScaleDependent, checked_positive
from unitless.learners.base import checked_wealth
from unitless.learners.coordinatewise import Rowwise, T, rule_for
from unitless.losses import Loss
from unitless.numerics import lane_sum, shared


class Normal(NamedTuple):
    """Parameters of AdaptiveNormal."""

    wealth: float
    bound: float


@shared
def normal_weight(rule, t, theta):
    """w, from theta, in trial t."""
    L = rule.bound
    at = 3 * math.pi / 4 * L * L * t
    size = rule.wealth / (L * math.log(t + 1.0) ** 2)
    return size * math.exp((theta * theta + L * L) / (2 * at)) * math.sinh(L * theta / at)


def _predict(rule, total, v, x, f, term):
    for k in range(x.size):
        term[k] = normal_weight(rule, total[T], f[k]) * x[k] if x[k] != 0 else 0.0
    p = lane_sum(term, x.size)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    for k in range(x.size):
        f[k] -= v * g * x[k]


rule_for(Normal, _predict, _update)


class AdaptiveNormal(ScaleDependent, Rowwise):
    """AdaptiveNormal of McMahan and Orabona, for each feature.

    Parameters
    ----------
    wealth : float
        eps, what each feature may lose before anything is known, in units of the loss.
    bound : float
        L, at least |g x_i| for every feature in every trial.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = AdaptiveNormal()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.6866
    """

    name: ClassVar[str] = "adaptive_normal"
    fields: ClassVar[tuple[str, ...]] = ("theta",)
    needs: ClassVar[tuple[str, ...]] = ("bound",)

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

    def _rule(self) -> Normal:
        return Normal(self.wealth, self.bound)

    def _weights_at(self, records: Any, total: Any) -> Any:
        return np.array([normal_weight(self._rule(), total[T] + 1, theta) for theta in records[0]])
