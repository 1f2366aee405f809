"""sNAG: normalised adaptive gradient whose scale is the size of a feature on average, not at most.

Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 3. With q_i = g x_i::

    V_i += x_i^2;   N += t sum x_i^2 / V_i;   p = sum w_i x_i
    G_i += q_i^2;   w_i -= eta sqrt(t / N) q_i / sqrt(V_i G_i / t)

No weight is ever shrunk: where a scale grows far beyond its past, so do predictions, and they
stop at 2^755. Checked by dimensions, V_i / t being the mean square that takes the place of M_i^2 in
`nag`; and where |x_i| never changes, V_i / t = M_i^2 and it is `nag` (tests), which is Vowpal
Wabbit's. A sample weight multiplies g.

===== ========= ================== ==============
paper field     meaning            unit
===== ========= ================== ==============
w_i   w         weight             [score]/[x_i]
--    V         sum x_i^2          [x_i]^2
G_i   G         sum q_i^2          [x_i]^2 [g]^2
N     totals[1] as above           1
===== ========= ================== ==============
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.learners.coordinatewise import Rowwise, T, rule_for
from unitless.learners.nag import N, checked_rate, over_root, root_of_t_over_n
from unitless.losses import Loss
from unitless.numerics import fma, lane_sum

STEEPEST = 2.0**500  # of a weight, in the unit in which its feature is below 2^255


class MeanStep(NamedTuple):
    """Parameters of sNAG."""

    rate: float


def _predict(rule, total, v, x, f, term):
    n = x.size
    w, V = f[:n], f[n : 2 * n]
    for k in range(n):
        V[k] = fma(x[k], x[k], V[k])
        term[k] = x[k] / (V[k] if V[k] > 0 else 1.0) * x[k]
    total[N] += total[T] * lane_sum(term, n)
    for k in range(n):
        term[k] = w[k] * x[k]
    p = lane_sum(term, n)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    w, V, G = f[:n], f[n : 2 * n], f[2 * n : 3 * n]
    rate = rule.rate * root_of_t_over_n(total) * math.sqrt(total[T])
    for k in range(n):
        q = v * g * x[k]
        G[k] = fma(q, q, G[k])
        w[k] -= rate * over_root(over_root(q, G[k]), V[k])


rule_for(MeanStep, _predict, _update)


class Snag(Rowwise):
    """sNAG of Ross, Mineiro and Langford.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Snag()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.3360
    """

    name: ClassVar[str] = "snag"
    invariance: ClassVar[Any] = "unit"
    fields: ClassVar[tuple[str, ...]] = ("w", "V", "G")
    units: ClassVar[tuple[str, ...]] = ("1", "x^2", "x^2")  # w is 1/x: see `_rescale`
    extra: ClassVar[int] = 1

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 0.5,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        self.rate = checked_rate(rate)
        self._prepare()

    def _rule(self) -> MeanStep:
        return MeanStep(self.rate)

    def _rescale(self, columns: Any, factors: Any) -> None:
        super()._rescale(columns, factors)
        w = self.state.records[:, :, 0]
        with np.errstate(over="ignore"):
            w[columns + 1] = np.clip(w[columns + 1] / factors[:, None], -STEEPEST, STEEPEST)

    def _weights_at(self, records: Any, total: Any) -> Any:
        return records[0].copy()
