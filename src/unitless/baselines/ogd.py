"""OGD: online gradient descent, on a ball if a radius is given.

Zinkevich, "Online Convex Programming and Generalized Infinitesimal Gradient Ascent" (2003)::

    w <- w - eta / sqrt(t) g x;   if |w| > D:  w <- w D / |w|

Checked: `regret_bound`, Zinkevich's Theorem 1 for these rates with the norms of the gradients
kept, holds on random and adversarial streams (tests). O(nonzeros) a row: a projection multiplies
one common factor, of which each weight knows how much it has had. A sample weight multiplies g.

===== ========= =========================================== ===========
paper field     meaning                                     unit
===== ========= =========================================== ===========
w_i   w         weight, as it was after `shrunk`            [score]/[x_i]
--    shrunk    logarithm of the common factor by then      1
--    totals[1] logarithm of the common factor              1
|w|^2 totals[2] kept only if there is a radius              [w]^2
===== ========= =========================================== ===========

The step -g x has the unit [x_i] and the weight 1/[x_i], so units matter; rotations of x do not.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.scale_dependent import ScaleDependent
from unitless.baselines.trajectory import Trajectory
from unitless.learners.coordinatewise import Rowwise, T, rule_for
from unitless.learners.nag import checked_rate
from unitless.losses import Loss
from unitless.numerics import exp, lane_sum

SHRUNK, NORM2 = 1, 2


class Descent(NamedTuple):
    """Parameters of OGD."""

    rate: float
    radius: float


def _predict(rule, total, v, x, f, term):
    n = x.size
    w, shrunk = f[:n], f[n : 2 * n]
    for k in range(n):
        w[k] *= exp(total[SHRUNK] - shrunk[k])
        shrunk[k] = total[SHRUNK]
        term[k] = w[k] * x[k]
    p = lane_sum(term, n)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    w = f[:n]
    a = rule.rate / math.sqrt(total[T]) * v * g
    for k in range(n):
        new = w[k] - a * x[k]
        term[k] = (new - w[k]) * (new + w[k])
        w[k] = new
    if rule.radius < math.inf:
        total[NORM2] += lane_sum(term, n)
        if total[NORM2] > rule.radius * rule.radius:
            total[SHRUNK] += math.log(rule.radius / math.sqrt(total[NORM2]))
            total[NORM2] = rule.radius * rule.radius


rule_for(Descent, _predict, _update)


def regret_bound(rate: float, radius: float, gradients: ArrayLike) -> float:
    """The most that OGD can lose against any u with |u| <= radius, from its |g_t x_t|.

    (2 D)^2 sqrt(T) / (2 eta) + (eta / 2) sum |g_t x_t|^2 / sqrt(t)

    >>> regret_bound(1.0, 1.0, [1.0, 1.0, 1.0, 1.0])  # doctest: +ELLIPSIS
    5.392...
    """
    norms = np.asarray(gradients, dtype=np.float64)
    t = np.arange(1, len(norms) + 1)
    return float(
        2 * radius**2 / rate * math.sqrt(len(norms)) + rate / 2 * (norms**2 / np.sqrt(t)).sum()
    )


class Ogd(ScaleDependent, Rowwise):
    """Online gradient descent.

    Parameters
    ----------
    rate : float
        eta.
    radius : float
        D, of the ball in which the weights stay; by default there is none.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = Ogd()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.3720
    """

    name: ClassVar[str] = "ogd"
    invariance: ClassVar[Any] = "rotation"
    needs_lipschitz: ClassVar[bool] = False
    fields: ClassVar[tuple[str, ...]] = ("w", "shrunk")
    extra: ClassVar[int] = 2

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 1.0,
        radius: float = math.inf,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        if not radius > 0:
            raise ValueError(f"radius = {radius}: a ball has a radius > 0, or infinite for none")
        self.rate, self.radius = checked_rate(rate), float(radius)
        self._prepare()

    def _rule(self) -> Descent:
        return Descent(self.rate, self.radius)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """Zinkevich's Theorem 1, if u is in the ball."""
        if not np.linalg.norm(trajectory.u) <= self.radius < math.inf:
            return None
        return regret_bound(self.rate, self.radius, trajectory.gradient_sizes())

    def _weights_at(self, records: Any, total: Any) -> Any:
        w, shrunk = records
        return w * np.exp(total[SHRUNK] - shrunk)
