"""AdaGrad with a diagonal by dual averaging: all gradients so far, each feature at its own rate.

Duchi, Hazan, Singer (2011), the paper's other form; McMahan and Streeter, "Adaptive Bound
Optimization for Online Convex Optimization" (2010). With q_i = g x_i::

    w_i = eta theta_i / sqrt(G_i);   theta_i -= q_i;   G_i += q_i^2                0 while G_i = 0

Checked: a feature at a time it is SOLO FTRL in one dimension, of which it consists, and whose bound
it inherits and keeps on random and adversarial streams (tests); it is `PerCoordinateSOLO` of the
public library yamall. A sample weight multiplies g.

======= ========= ============= =============
paper   field     meaning       unit
======= ========= ============= =============
theta_i theta     -sum q_i      [x_i] [g]
G_i     G         sum q_i^2     [x_i]^2 [g]^2
======= ========= ============= =============

theta_i / sqrt(G_i) has no unit, while a weight has 1/[x_i]: units matter, and so do rotations
(multiplying the loss by a constant, though, changes nothing).
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.baselines import solo
from unitless.baselines.adagrad import Adagrad
from unitless.baselines.trajectory import Trajectory
from unitless.learners.coordinatewise import rule_for
from unitless.learners.nag import over_root
from unitless.numerics import fma, lane_sum


class DualAveraging(NamedTuple):
    """Parameters of AdaGrad by dual averaging."""

    rate: float


def _predict(rule, total, v, x, f, term):
    n = x.size
    theta, G = f[:n], f[n : 2 * n]
    for k in range(n):
        term[k] = rule.rate * over_root(theta[k], G[k]) * x[k]
    p = lane_sum(term, n)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    theta, G = f[:n], f[n : 2 * n]
    for k in range(n):
        q = v * g * x[k]
        theta[k] -= q
        G[k] = fma(q, q, G[k])


rule_for(DualAveraging, _predict, _update)


class AdagradDa(Adagrad):
    """AdaGrad, dual averaging.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = AdagradDa()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.2885
    """

    name: ClassVar[str] = "adagrad_da"
    fields: ClassVar[tuple[str, ...]] = ("theta", "G")

    def _rule(self) -> Any:
        return DualAveraging(self.rate)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The bound of SOLO in one dimension, summed over features."""
        q = abs(trajectory.X.multiply(trajectory.g[:, None])).tocsc()
        parts = (q.data[q.indptr[j] : q.indptr[j + 1]] for j in range(len(trajectory.u)))
        sizes = zip(parts, np.abs(trajectory.u), strict=True)
        return sum(solo.regret_bound(self.rate, part, float(size)) for part, size in sizes)

    def _weights_at(self, records: Any, total: Any) -> Any:
        theta, G = records
        return self.rate * np.divide(theta, np.sqrt(G), out=np.zeros_like(G), where=G > 0)
