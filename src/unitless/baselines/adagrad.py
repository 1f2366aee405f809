"""AdaGrad with a diagonal: a rate for each feature from the gradients it has seen.

Duchi, Hazan, Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic
Optimization" (2011), by mirror descent. With q_i = g x_i::

    G_i += q_i^2;   w_i -= eta q_i / sqrt(G_i)                                     0 while G_i = 0

Checked: `regret_bound` (the paper's Theorem 5, with the distances that were covered in place of a
bounded domain) on random and adversarial streams (tests). A sample weight multiplies g.

===== ========= ============= =============
paper field     meaning       unit
===== ========= ============= =============
w_i   w         weight        [score]
G_i   G         sum q_i^2     [x_i]^2 [g]^2
===== ========= ============= =============

q_i / sqrt(G_i) has no unit, while a weight has 1/[x_i]: units matter, and so do rotations
(multiplying the loss by a constant, though, changes nothing).
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.scale_dependent import ScaleDependent
from unitless.learners.coordinatewise import Rowwise, rule_for
from unitless.learners.nag import checked_rate, over_root
from unitless.losses import Loss
from unitless.numerics import fma, lane_sum


class MirrorDescent(NamedTuple):
    """Parameters of AdaGrad."""

    rate: float


def _predict(rule, total, v, x, f, term):
    for k in range(x.size):
        term[k] = f[k] * x[k]
    p = lane_sum(term, x.size)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    w, G = f[:n], f[n : 2 * n]
    for k in range(n):
        q = v * g * x[k]
        G[k] = fma(q, q, G[k])
        w[k] -= rule.rate * over_root(q, G[k])


rule_for(MirrorDescent, _predict, _update)


def regret_bound(rate: float, distances: ArrayLike, sums: ArrayLike) -> float:
    """The most that AdaGrad can lose against u, from max_t |w_ti - u_i| and G_i of each feature.

    sum_i (max_t |w_ti - u_i|^2 / (2 eta) + eta) sqrt(G_i)

    >>> regret_bound(1.0, [2.0], [9.0])
    9.0
    """
    far, G = np.asarray(distances, dtype=np.float64), np.asarray(sums, dtype=np.float64)
    return float(((far**2 / (2 * rate) + rate) * np.sqrt(G)).sum())


class Adagrad(ScaleDependent, Rowwise):
    """AdaGrad, mirror descent.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = Adagrad()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.2576
    """

    name: ClassVar[str] = "adagrad"
    needs_lipschitz: ClassVar[bool] = False
    fields: ClassVar[tuple[str, ...]] = ("w", "G")

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

    def _rule(self) -> Any:
        return MirrorDescent(self.rate)

    def _weights_at(self, records: Any, total: Any) -> Any:
        return records[0].copy()
