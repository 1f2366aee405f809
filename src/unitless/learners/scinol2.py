"""ScInOL2: scale-invariant online learning by coin betting, O(nonzeros) per row.

Kempka, Kotlowski, Warmuth, "Adaptive Scale-Invariant Online Algorithms for Learning Linear Models"
(2019), algorithm 2. With initial wealth eps for every feature::

    M_i     = max(M_i, |x_i|)
    D_i     = sqrt(S2_i + M_i^2);   theta_i = G_i / D_i
    w_i     = sgn(theta_i) min(|theta_i|, 1) / (2 D_i) * eta_i          0 while M_i = 0
    p       = sum w_i x_i;   g = loss'(y, p) / L
    G_i    -= g x_i;   S2_i += (g x_i)^2;   eta_i -= g x_i w_i

The authors' code adds 1e-15 to a scale, which would break the invariance; it is left out here. A
sample weight v scales the instance, as in Algorithm 1.

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

from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, every, fma, load, store, total, where
from unitless.learners.base import Field, checked_wealth
from unitless.learners.coordinatewise import Coordinatewise, loop
from unitless.losses import Loss

MAX_WEALTH = 2.0**500  # gradients of a caller could double the wealth without end
RICHEST = MAX_WEALTH


@inlined
def predict(parameters, totals, v, x, f, scratch):
    wealth = parameters[0]
    G, S2, M, eta = f[0], f[1], f[2], f[3]
    score = every(0.0)
    for k in range(0, x.size, LANES):
        z = load(x, k)
        largest = max(load(M, k), abs(z))
        D2 = fma(largest, largest, load(S2, k))
        D = math.sqrt(where(D2 > 0.0, D2, 1.0))
        theta = min(max(load(G, k) / D, -1.0), 1.0)
        wx = theta / (2.0 * D) * (wealth + load(eta, k)) * z
        score += wx
        store(scratch, k, wx)
        store(M, k, largest)
    p = total(score)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    g = trial.g
    G, S2, eta = f[0], f[1], f[3]
    for k in range(0, x.size, LANES):
        q = g * load(x, k)
        store(G, k, load(G, k) - q)
        store(S2, k, fma(q, q, load(S2, k)))
        store(eta, k, min(load(eta, k) - g * load(scratch, k), MAX_WEALTH))


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 4, task, parameters, block, targets, weights, scores, state)


class Scinol2(Coordinatewise):
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
    fields: ClassVar[tuple[Field, ...]] = (
        Field("G", "x", "-sum g x_i"),
        Field("S2", "x^2", "sum (g x_i)^2"),
        Field("M", "|x|", "max |x_i|"),
        Field("eta", "1", "wealth, beyond eps"),
    )
    scales_instance: ClassVar[bool] = True
    kernel: ClassVar[Any] = staticmethod(run)

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

    def _parameters(self) -> tuple[float, ...]:
        return (self.wealth,)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        G, S2, M, eta = records
        D = np.sqrt(S2 + M**2)
        theta = np.divide(G, D, out=np.zeros_like(D), where=D > 0)
        bet = np.clip(theta, -1, 1) * (self.wealth + eta)
        return np.divide(bet, 2 * D, out=np.zeros_like(D), where=D > 0)
