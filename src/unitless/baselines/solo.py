"""SOLO FTRL: follow the leader, regularised by the gradients so far, whatever their scale.

Orabona and Pal, "Scale-Free Algorithms for Online Linear Optimization" (2015), with 1/2 |w|^2 /
eta as the regulariser. With q = g x::

    w = eta theta / sqrt(sum |q|^2);   p = w.x;   theta -= q                 0 while the sum is 0

Checked: `regret_bound`, the paper's Theorem 1, on random and adversarial streams (tests); the
formula against the source of its author's library yamall. A sample weight multiplies g.

======= ========= ================ ===========
paper   field     meaning          unit
======= ========= ================ ===========
theta_i theta     -sum q_i         [x_i] [g]
--      totals[1] sum |q|^2        [x]^2 [g]^2
======= ========= ================ ===========

The sum adds the squares of all features, so units matter; rotations, and the scale of the loss,
do not.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.scale_dependent import ScaleDependent
from unitless.baselines.trajectory import Trajectory
from unitless.learners.coordinatewise import Rowwise, rule_for
from unitless.learners.nag import checked_rate, over_root
from unitless.losses import Loss
from unitless.numerics import lane_sum

SQUARES = 1


class ScaleFree(NamedTuple):
    """Parameters of SOLO."""

    rate: float


def _predict(rule, total, v, x, f, term):
    for k in range(x.size):
        term[k] = f[k] * x[k]
    p = rule.rate * over_root(lane_sum(term, x.size), total[SQUARES])
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    for k in range(x.size):
        q = v * g * x[k]
        f[k] -= q
        term[k] = q * q
    total[SQUARES] += lane_sum(term, x.size)


rule_for(ScaleFree, _predict, _update)


def regret_bound(rate: float, gradients: ArrayLike, norm: float) -> float:
    """The most that SOLO can lose against any u of that norm, from its |q_t|.

    (|u|^2 / (2 eta) + 2.75 eta) sqrt(sum |q|^2) + 3.5 eta sqrt(T - 1) max |q|

    >>> regret_bound(1.0, [1.0, 1.0, 1.0, 1.0], 1.0)  # doctest: +ELLIPSIS
    12.56...
    """
    q = np.asarray(gradients, dtype=np.float64)
    first = (norm**2 / (2 * rate) + 2.75 * rate) * math.sqrt((q**2).sum())
    return first + 3.5 * rate * math.sqrt(max(len(q) - 1, 0)) * float(q.max(initial=0))


class Solo(ScaleDependent, Rowwise):
    """SOLO FTRL of Orabona and Pal.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = Solo()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.4334
    """

    name: ClassVar[str] = "solo"
    invariance: ClassVar[Any] = "rotation"
    needs_lipschitz: ClassVar[bool] = False
    fields: ClassVar[tuple[str, ...]] = ("theta",)
    extra: ClassVar[int] = 1

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 1.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        self.rate = checked_rate(rate)
        self._prepare()

    def _rule(self) -> ScaleFree:
        return ScaleFree(self.rate)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The paper's Theorem 1."""
        return regret_bound(
            self.rate, trajectory.gradient_sizes(), float(np.linalg.norm(trajectory.u))
        )

    def _weights_at(self, records: Any, total: Any) -> Any:
        squares = total[SQUARES]
        return records[0] * (self.rate / math.sqrt(squares) if squares > 0 else 0.0)
