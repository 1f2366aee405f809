"""DFEG, dimension-free exponentiated gradient: weights that grow like exp(|theta|).

Orabona, "Dimension-Free Exponentiated Gradient" (2013), algorithm 1, for a loss with |g| <= 1.
With q = g x::

    H += max(|x|, |x|^2);   w = theta / |theta| H^(-3/2) exp(|theta| / (a sqrt(H)))
    p = w.x;   theta -= q

H starts at 1, and w = 0 while theta = 0. The paper wants a between 0.882 and 1.109. Checked: the
formula is that of the public code jongharyu/olo-with-side-information, where |x| = 1; w is the
slope of f(theta) = (a / H) exp(|theta| / (a sqrt(H))), whose conjugate is the first term of
`regret_bound`, and that bound holds on random and adversarial streams (tests). A sample weight
scales the instance.

======= ========= ========================== ===========
paper   field     meaning                    unit
======= ========= ========================== ===========
theta_i theta     -sum q_i                   [x_i]
H       totals[1] sum max(|x|, |x|^2)        [x] + [x]^2
--      totals[2] |theta|^2                  [x]^2
======= ========= ========================== ===========

|x| and |x|^2 are added to 1, so units matter; rotations do not.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.baselines.scale_dependent import ScaleDependent
from unitless.baselines.trajectory import Trajectory
from unitless.learners.coordinatewise import Rowwise, rule_for
from unitless.losses import Loss
from unitless.numerics import lane_sum, shared

H, NORM2 = 1, 2


class DimensionFree(NamedTuple):
    """Parameters of DFEG."""

    a: float


@shared
def steepness(a, total):
    """|w| / |theta|, for H and |theta| as they are."""
    norm, size = math.sqrt(max(total[NORM2], 0.0)), 1.0 + total[H]
    if norm == 0:
        return 0.0
    return math.exp(norm / (a * math.sqrt(size))) / (norm * size * math.sqrt(size))


def _predict(rule, total, v, x, f, term):
    n = x.size
    for k in range(n):
        term[k] = x[k] * x[k]
    square = lane_sum(term, n)
    total[H] += max(math.sqrt(square), square)
    for k in range(n):
        term[k] = f[k] * x[k]
    p = lane_sum(term, n) * steepness(rule.a, total)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    for k in range(n):
        new = f[k] - g * x[k]
        term[k] = (new - f[k]) * (new + f[k])
        f[k] = new
    total[NORM2] += lane_sum(term, n)


rule_for(DimensionFree, _predict, _update)


def regret_bound(a: float, size: float, norm: float) -> float:
    """The most that DFEG can lose against any u of that norm, for H = size at the end.

    a |u| sqrt(H) (ln(H^(3/2) |u|) - 1) + 4 e^(1 + 1/a); -a / H for the first term if |u| is small.

    >>> print(f"{regret_bound(1.0, 101.0, 1.0):.2f}")
    89.08
    """
    slope = size * math.sqrt(size) * norm
    first = a * norm * math.sqrt(size) * (math.log(slope) - 1) if slope > 1 else -a / size
    return first + 4 * math.exp(1 + 1 / a)


class Dfeg(ScaleDependent, Rowwise):
    """Dimension-free exponentiated gradient.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = Dfeg()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.6928
    """

    name: ClassVar[str] = "dfeg"
    invariance: ClassVar[Any] = "rotation"
    fields: ClassVar[tuple[str, ...]] = ("theta",)
    extra: ClassVar[int] = 2
    scales_instance: ClassVar[bool] = True

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        a: float = 1.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        if not 0 < a < math.inf:
            raise ValueError(f"a = {a}: DFEG takes a finite a > 0, and its paper 0.882 to 1.109")
        self.a = float(a)
        self._prepare()

    def _rule(self) -> DimensionFree:
        return DimensionFree(self.a)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The paper's Theorem 1, for the a that it allows."""
        size = 1 + float(self.state.totals[0, H])
        allowed = 0.882 < self.a < 1.109
        return regret_bound(self.a, size, float(np.linalg.norm(trajectory.u))) if allowed else None

    def _weights_at(self, records: Any, total: Any) -> Any:
        return records[0] * steepness(self.a, total)
