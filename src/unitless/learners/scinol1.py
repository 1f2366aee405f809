"""ScInOL1: scale-invariant online learning with exponential weights, O(nonzeros) per row.

Kempka, Kotlowski, Warmuth, "Adaptive Scale-Invariant Online Algorithms for Learning Linear
Models" (2019), algorithm 1. With initial wealth eps::

    M_i     = max(M_i, |x_i|)
    beta_i  = min(beta_i, eps (S2_i + M_i^2) / (x_i^2 t))     where x_i is not 0; eps at the start
    D_i     = sqrt(S2_i + M_i^2);   theta_i = G_i / D_i
    w_i     = beta_i sgn(theta_i) / (2 D_i) (exp(|theta_i| / 2) - 1)          0 while M_i = 0
    p       = sum w_i x_i;   g = loss'(y, p) / L
    G_i    -= g x_i;   S2_i += (g x_i)^2

The state has C_i = eps / beta_i, with 0 for the initial 1. The authors' code adds 1e-15 to a scale,
which would break the invariance; it is left out here. A sample weight v scales the instance, as in
Algorithm 1.

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
from typing import Any, ClassVar

import numpy as np

from unitless.kernels.arithmetic import exp, lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field, checked_wealth
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.losses import Loss

MAX_EXPONENT = 600.0  # gradients of a caller could raise exponents without end


@inlined
def expm1(x):
    """exp(x) - 1 for x >= 0, without cancellation near 0."""
    if x > 0.5:
        return exp(min(x, MAX_EXPONENT)) - 1.0
    return math.expm1(x)


@inlined
def predict(parameters, totals, v, x, f, scratch):
    wealth = parameters[0]
    G, S2, M, C = f[0], f[1], f[2], f[3]
    for k in range(x.size):
        M[k] = max(M[k], abs(x[k]))
        D2 = fma(M[k], M[k], S2[k])
        D = math.sqrt(D2 if D2 > 0 else 1.0)
        ratio = x[k] / D
        C[k] = max(C[k], ratio * ratio * totals[T])
        theta = G[k] / D
        size = wealth / max(C[k], 1.0) / 2 * ratio * expm1(abs(theta) / 2)
        scratch[k] = math.copysign(1.0, theta) * size
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    G, S2 = f[0], f[1]
    for k in range(x.size):
        q = trial.g * x[k]
        G[k] -= q
        S2[k] = fma(q, q, S2[k])


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 4, task, parameters, block, targets, weights, scores, state)


class Scinol1(Coordinatewise):
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
    fields: ClassVar[tuple[Field, ...]] = (
        Field("G", "x", "-sum g x_i"),
        Field("S2", "x^2", "sum (g x_i)^2"),
        Field("M", "|x|", "max |x_i|"),
        Field("C", "1", "eps / beta_i, or 0 at the start"),
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
        G, S2, M, C = records
        D = np.sqrt(S2 + M**2)
        D[D == 0] = 1
        theta = G / D
        tall = np.expm1(np.minimum(np.abs(theta) / 2, MAX_EXPONENT))
        return np.sign(theta) * self.wealth / np.maximum(C, 1) / (2 * D) * tall
