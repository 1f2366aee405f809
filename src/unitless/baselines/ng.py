"""NG, normalised gradient descent: the simplest of the three algorithms that no unit can move.

Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 1::

    M_i = max(M_i, |x_i|)                     a weight w_i shrinks by (M_old/M_new)^2 when M_i grows
    N  += sum (x_i / M_i)^2;   p = sum w_i x_i
    w_i -= eta (t / N) g x_i / M_i^2

Kept is B_i = w_i M_i^2, which is -eta sum (t / N) g x_i and stays as it is when M_i grows.
Checked: the table of units below, and Vowpal Wabbit's source, which shrinks by the square without
`--adaptive`. A sample weight multiplies g.

===== ========= ======================= ==============
paper field     meaning                 unit
===== ========= ======================= ==============
s_i   M         max |x_i|               [x_i]
w_i   B         w_i M_i^2               [x_i] [g]
N     totals[1] sum of (x_i / M_i)^2    1
===== ========= ======================= ==============
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.learners.coordinatewise import Rowwise, T, rule_for
from unitless.learners.nag import N, checked_rate
from unitless.losses import Loss
from unitless.numerics import lane_sum


class NormalisedStep(NamedTuple):
    """Parameters of NG."""

    rate: float


def _predict(rule, total, v, x, f, term):
    n = x.size
    M, B = f[:n], f[n : 2 * n]
    for k in range(n):
        M[k] = max(M[k], abs(x[k]))
        ratio = x[k] / (M[k] if M[k] > 0 else 1.0)
        term[k] = ratio * ratio
    total[N] += lane_sum(term, n)
    for k in range(n):
        safe = M[k] if M[k] > 0 else 1.0
        term[k] = B[k] / safe * (x[k] / safe)
    p = lane_sum(term, n)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    B = f[n : 2 * n]
    a = rule.rate * total[T] / total[N] * v * g if total[N] > 0 else 0.0
    for k in range(n):
        B[k] -= a * x[k]


rule_for(NormalisedStep, _predict, _update)


class Ng(Rowwise):
    """Normalised gradient descent of Ross, Mineiro and Langford.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Ng()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.4395
    """

    name: ClassVar[str] = "ng"
    invariance: ClassVar[Any] = "unit"
    fields: ClassVar[tuple[str, ...]] = ("M", "B")
    units: ClassVar[tuple[str, ...]] = ("|x|", "x")
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

    def _rule(self) -> NormalisedStep:
        return NormalisedStep(self.rate)

    def _weights_at(self, records: Any, total: Any) -> Any:
        M, B = records
        safe = np.where(M > 0, M, 1)
        return B / safe / safe
