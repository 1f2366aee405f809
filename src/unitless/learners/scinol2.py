"""ScInOL2: scale-invariant online learning by coin betting, O(nonzeros) a row.

Kempka, Kotlowski, Warmuth, "Adaptive Scale-Invariant Online Algorithms for Learning Linear Models"
(2019), algorithm 2. With initial wealth eps for every feature::

    M_i     = max(M_i, |x_i|)
    D_i     = sqrt(S2_i + M_i^2);   theta_i = G_i / D_i
    w_i     = sgn(theta_i) min(|theta_i|, 1) / (2 D_i) * eta_i          0 while M_i = 0
    p       = sum w_i x_i;   g = loss'(y, p) / L
    G_i    -= g x_i;   S2_i += (g x_i)^2;   eta_i -= g x_i w_i

The authors' code adds 1e-15 to a scale; that would be a unit, and is not here. A sample weight v
scales the instance, as in Algorithm 1.

===== ========= ============================ =======
paper field     meaning                      unit
===== ========= ============================ =======
G_i   G         -sum g x_i                   [x_i]
S2_i  S2        sum (g x_i)^2                [x_i]^2
M_i   M         max |x_i|                    [x_i]
eta_i eta       wealth, beyond eps           1
===== ========= ============================ =======
"""

import math
from typing import Any, ClassVar

import numpy as np

from unitless.lanes import LANES, every, load, store, where
from unitless.lanes import total as sum_of
from unitless.learners.base import checked_wealth
from unitless.learners.coordinatewise import Rowwise
from unitless.learners.rules import SCINOL2, House
from unitless.losses import Loss
from unitless.numerics import fma, inner

RICHEST = 2.0**500  # wealth stops growing here: gradients from a caller could double it for ever


@inner
def predict(rule, total, v, x, f, term):
    n, scores = x.size, every(0.0)
    for k in range(0, n, LANES):
        z = load(x, k)
        M = max(load(f, 2 * n + k), abs(z))
        d2 = fma(M, M, load(f, n + k))
        root = math.sqrt(where(d2 > 0.0, d2, 1.0))
        theta = min(max(load(f, k) / root, -1.0), 1.0)
        added = theta / (2.0 * root) * (rule.knob + load(f, 3 * n + k)) * z
        scores += added
        store(term, k, added)
        store(f, 2 * n + k, M)
    p = sum_of(scores)
    return p, p


@inner
def update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    for k in range(0, n, LANES):
        q = g * load(x, k)
        store(f, k, load(f, k) - q)
        store(f, n + k, fma(q, q, load(f, n + k)))
        store(f, 3 * n + k, min(load(f, 3 * n + k) - g * load(term, k), RICHEST))


class Scinol2(Rowwise):
    """ScInOL2 of Kempka, Kotlowski and Warmuth.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Scinol2()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.3833
    """

    name: ClassVar[str] = "scinol2"
    invariance: ClassVar[Any] = "unit"
    fields: ClassVar[tuple[str, ...]] = ("G", "S2", "M", "eta")
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

    def _rule(self) -> House:
        return House(SCINOL2, self.wealth, self.loss.code, self.loss.parameter)

    def _weights_at(self, records: Any, total: Any) -> Any:
        G, S2, M, eta = records
        D = np.sqrt(S2 + M**2)
        theta = np.divide(G, D, out=np.zeros_like(D), where=D > 0)
        bet = np.clip(theta, -1, 1) * (self.wealth + eta)
        return np.divide(bet, 2 * D, out=np.zeros_like(D), where=D > 0)
