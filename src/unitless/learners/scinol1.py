"""ScInOL1: scale-invariant online learning with exponential weights, O(nonzeros) a row.

Kempka, Kotlowski, Warmuth, "Adaptive Scale-Invariant Online Algorithms for Learning Linear
Models" (2019), algorithm 1. With initial wealth eps::

    M_i     = max(M_i, |x_i|)
    beta_i  = min(beta_i, eps (S2_i + M_i^2) / (x_i^2 t))     where x_i is not 0; eps at the start
    D_i     = sqrt(S2_i + M_i^2);   theta_i = G_i / D_i
    w_i     = beta_i sgn(theta_i) / (2 D_i) (exp(|theta_i| / 2) - 1)          0 while M_i = 0
    p       = sum w_i x_i;   g = loss'(y, p) / L
    G_i    -= g x_i;   S2_i += (g x_i)^2

Kept is C_i = eps / beta_i, or 0 for 1 at the start. The authors' code adds 1e-15 to a scale; that
would be a unit, and is not here. A sample weight v scales the instance, as in Algorithm 1.

===== ========= ============================== =======
paper field     meaning                        unit
===== ========= ============================== =======
G_i   G         -sum g x_i                     [x_i]
S2_i  S2        sum (g x_i)^2                  [x_i]^2
M_i   M         max |x_i|                      [x_i]
beta_i C        max of x_i^2 t / (S2_i+M_i^2)  1
===== ========= ============================== =======
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.learners.base import checked_wealth
from unitless.learners.coordinatewise import Rowwise, T, rule_for
from unitless.losses import Loss
from unitless.numerics import exp, fma, inner, lane_sum

TALLEST = 600.0  # exponents stop here: gradients from a caller could raise them for ever


class Exponential1(NamedTuple):
    """Parameters of ScInOL1."""

    wealth: float


@inner
def expm1(x):
    """exp(x) - 1 for x >= 0, without cancellation near 0."""
    if x > 0.5:
        return exp(min(x, TALLEST)) - 1.0
    return math.expm1(x)


def _predict(rule, total, v, x, f, term):
    n = x.size
    G, S2, M, C = f[:n], f[n : 2 * n], f[2 * n : 3 * n], f[3 * n : 4 * n]
    for k in range(n):
        M[k] = max(M[k], abs(x[k]))
        d2 = fma(M[k], M[k], S2[k])
        root = math.sqrt(d2 if d2 > 0 else 1.0)
        ratio = x[k] / root
        C[k] = max(C[k], ratio * ratio * total[T])
        theta = G[k] / root
        size = rule.wealth / max(C[k], 1.0) / 2 * ratio * expm1(abs(theta) / 2)
        term[k] = math.copysign(1.0, theta) * size
    p = lane_sum(term, n)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    G, S2 = f[:n], f[n : 2 * n]
    for k in range(n):
        q = g * x[k]
        G[k] -= q
        S2[k] = fma(q, q, S2[k])


rule_for(Exponential1, _predict, _update)


class Scinol1(Rowwise):
    """ScInOL1 of Kempka, Kotlowski and Warmuth.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Scinol1()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.6364
    """

    name: ClassVar[str] = "scinol1"
    invariance: ClassVar[Any] = "unit"
    fields: ClassVar[tuple[str, ...]] = ("G", "S2", "M", "C")
    units: ClassVar[tuple[str, ...]] = ("x", "x^2", "|x|", "1")
    scales_instance: ClassVar[bool] = True

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        wealth: float = 1.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        self.wealth = checked_wealth(wealth)
        self._prepare()

    def _rule(self) -> Exponential1:
        return Exponential1(self.wealth)

    def _weights_at(self, records: Any, total: Any) -> Any:
        G, S2, M, C = records
        D = np.sqrt(S2 + M**2)
        D[D == 0] = 1
        theta = G / D
        tall = np.expm1(np.minimum(np.abs(theta) / 2, TALLEST))
        return np.sign(theta) * self.wealth / np.maximum(C, 1) / (2 * D) * tall
