"""PiSTOL, a feature at a time: weights that grow like exp(theta^2), hence no rate to be tuned.

Orabona, "Simultaneous Model Selection and Optimization through Parameter-free Stochastic
Learning" (2014), in the form for each feature that its author's library yamall and Vowpal
Wabbit's `--pistol` have. With q_i = g x_i::

    b_i = max(b_i, |x_i|);   c_i = a b_i (Q_i + b_i)
    w_i = s theta_i / c_i exp(theta_i^2 / (2 c_i))
    p = sum w_i x_i;   theta_i -= q_i;   Q_i += |q_i|

Checked against the source of both: they multiply w_i by sqrt(Q_i), which has a unit and is not in
the paper; without it the weight has the unit 1/[x_i] that it should have. A sample weight scales
the instance.

======== ========= ================== =======
paper    field     meaning            unit
======== ========= ================== =======
theta_i  theta     -sum q_i           [x_i]
--       b         max |x_i|          [x_i]
--       Q         sum |q_i|          [x_i]
======== ========= ================== =======
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.learners.coordinatewise import Rowwise, rule_for
from unitless.losses import Loss
from unitless.numerics import exp, inner, lane_sum

TALLEST = 600.0  # exponents stop here: gradients from a caller could raise them for ever


class Exponential(NamedTuple):
    """Parameters of PiSTOL."""

    a: float
    scale: float


@inner
def exponential_term(rule, theta, b, Q, x):
    """w x; the quotients are arranged so that none exceeds 1."""
    safe = b if b > 0 else 1.0
    share = theta / (Q + safe)
    return (
        rule.scale
        / rule.a
        * share
        * (x / safe)
        * exp(min(share * (theta / safe) / (2 * rule.a), TALLEST))
    )


def _predict(rule, total, v, x, f, term):
    n = x.size
    theta, b, Q = f[:n], f[n : 2 * n], f[2 * n : 3 * n]
    for k in range(n):
        b[k] = max(b[k], abs(x[k]))
        term[k] = exponential_term(rule, theta[k], b[k], Q[k], x[k])
    p = lane_sum(term, n)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    theta, Q = f[:n], f[2 * n : 3 * n]
    for k in range(n):
        q = g * x[k]
        theta[k] -= q
        Q[k] += abs(q)


rule_for(Exponential, _predict, _update)


class Pistol(Rowwise):
    """PiSTOL for each feature.

    Parameters
    ----------
    a : float
        The larger, the more careful.
    scale : float
        s, by which all weights are multiplied.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Pistol()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.5162
    """

    name: ClassVar[str] = "pistol"
    invariance: ClassVar[Any] = "unit"
    fields: ClassVar[tuple[str, ...]] = ("theta", "b", "Q")
    units: ClassVar[tuple[str, ...]] = ("x", "|x|", "|x|")
    scales_instance: ClassVar[bool] = True

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        a: float = 2.0,
        scale: float = 1.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        for name, value in {"a": a, "scale": scale}.items():
            if not 0 < value < math.inf:
                raise ValueError(f"{name} = {value}: PiSTOL takes a finite {name} > 0")
        self.a, self.scale = float(a), float(scale)
        self._prepare()

    def _rule(self) -> Exponential:
        return Exponential(self.a, self.scale)

    def _weights_at(self, records: Any, total: Any) -> Any:
        theta, b, Q = records
        safe = np.where(b > 0, b, 1)
        share = theta / (Q + safe)
        tall = np.exp(np.minimum(share * (theta / safe) / (2 * self.a), TALLEST))
        return self.scale / self.a * share / safe * tall
