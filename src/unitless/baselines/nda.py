"""Normalised dual averaging, after Orabona, Crammer and Cesa-Bianchi: a reconstruction.

"A Generalized Online Mirror Descent with Applications to Classification and Regression" (2015)
bounds the regret of a method with the regulariser 1/2 sum_i b_i sqrt(b_i^2 + G_i) u_i^2 in no
unit but that of the loss, which is what the paper here quotes it for. The method is rebuilt from
that bound; the algorithm as its authors print it was not at hand. With q_i = g x_i::

    b_i = max(b_i, |x_i|);   w_i = C theta_i / (b_i sqrt(b_i^2 + G_i));   p = sum w_i x_i
    theta_i -= q_i;   G_i += q_i^2

Checked: the table of units, and nothing else could be. A sample weight scales the instance, so
that |q_i| <= b_i.

======== ========= ================== =======
paper    field     meaning            unit
======== ========= ================== =======
theta_i  theta     -sum q_i           [x_i]
b_i      b         max |x_i|          [x_i]
--       G         sum q_i^2          [x_i]^2
======== ========= ================== =======
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.learners.coordinatewise import Rowwise, rule_for
from unitless.learners.nag import checked_rate
from unitless.losses import Loss
from unitless.numerics import fma, lane_sum


class Averaging(NamedTuple):
    """Parameters of normalised dual averaging."""

    rate: float


def _predict(rule, total, v, x, f, term):
    n = x.size
    theta, b, G = f[:n], f[n : 2 * n], f[2 * n : 3 * n]
    for k in range(n):
        b[k] = max(b[k], abs(x[k]))
        safe = b[k] if b[k] > 0 else 1.0
        term[k] = rule.rate * theta[k] / math.sqrt(fma(safe, safe, G[k])) * (x[k] / safe)
    p = lane_sum(term, n)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    theta, G = f[:n], f[2 * n : 3 * n]
    for k in range(n):
        q = g * x[k]
        theta[k] -= q
        G[k] = fma(q, q, G[k])


rule_for(Averaging, _predict, _update)


class Nda(Rowwise):
    """Normalised dual averaging, after Orabona, Crammer and Cesa-Bianchi.

    Parameters
    ----------
    rate : float
        C.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Nda()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.2806
    """

    name: ClassVar[str] = "nda"
    invariance: ClassVar[Any] = "unit"
    fields: ClassVar[tuple[str, ...]] = ("theta", "b", "G")
    units: ClassVar[tuple[str, ...]] = ("x", "|x|", "x^2")
    scales_instance: ClassVar[bool] = True

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

    def _rule(self) -> Averaging:
        return Averaging(self.rate)

    def _weights_at(self, records: Any, total: Any) -> Any:
        theta, b, G = records
        size = b * np.sqrt(b**2 + G)
        return self.rate * np.divide(theta, size, out=np.zeros_like(theta), where=size > 0)
