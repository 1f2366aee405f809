"""FTRL-proximal: a rate for each feature, and weights that are 0 where little speaks for them.

McMahan et al., "Ad Click Prediction: a View from the Trenches" (2013), algorithm 1; Vowpal
Wabbit's `--ftrl`. With q_i = g x_i::

    w_i = -(z_i - sgn(z_i) l1) / (l2 + (beta + sqrt(G_i)) / eta)                0 where |z_i| <= l1
    z_i += q_i - (sqrt(G_i + q_i^2) - sqrt(G_i)) / eta * w_i;   G_i += q_i^2

Checked against Vowpal Wabbit itself (tests), whose defaults these are. A sample weight multiplies
g.

===== ========= ================================== ==============
paper field     meaning                            unit
===== ========= ================================== ==============
z_i   z         sum of q_i, less what was paid     [x_i] [g]
n_i   G         sum q_i^2                          [x_i]^2 [g]^2
===== ========= ================================== ==============

beta and l1 are added to numbers of unit [x_i]: units matter, and so do rotations.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.baselines.scale_dependent import ScaleDependent
from unitless.learners.coordinatewise import Rowwise, rule_for
from unitless.learners.nag import checked_rate
from unitless.losses import Loss
from unitless.numerics import fma, inner, lane_sum


class Proximal(NamedTuple):
    """Parameters of FTRL-proximal."""

    rate: float
    beta: float
    l1: float
    l2: float


@inner
def proximal_weight(rule, z, G):
    """w, from z and G."""
    excess = max(abs(z) - rule.l1, 0.0)
    size = rule.l2 + (rule.beta + math.sqrt(G)) / rule.rate
    return -math.copysign(excess / (size if size > 0 else 1.0), z)


def _predict(rule, total, v, x, f, term):
    n = x.size
    z, G = f[:n], f[n : 2 * n]
    for k in range(n):
        term[k] = proximal_weight(rule, z[k], G[k]) * x[k]
    p = lane_sum(term, n)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    z, G = f[:n], f[n : 2 * n]
    for k in range(n):
        q = v * g * x[k]
        new = fma(q, q, G[k])
        sigma = (math.sqrt(new) - math.sqrt(G[k])) / rule.rate
        z[k] += q - sigma * proximal_weight(rule, z[k], G[k])
        G[k] = new


rule_for(Proximal, _predict, _update)


class Ftrl(ScaleDependent, Rowwise):
    """FTRL-proximal.

    Parameters
    ----------
    rate, beta : float
        The rate of a feature is rate / (beta + sqrt(G_i)); Vowpal Wabbit's defaults.
    l1, l2 : float
        Regularisation, none by default.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = Ftrl(rate=1.0, l1=1.0)
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.2916
    >>> int((learner.weights().features == 0).sum())
    5
    """

    name: ClassVar[str] = "ftrl"
    needs_lipschitz: ClassVar[bool] = False
    fields: ClassVar[tuple[str, ...]] = ("z", "G")

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 0.5,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        for name, value in {"beta": beta, "l1": l1, "l2": l2}.items():
            if not 0 <= value < math.inf:
                raise ValueError(f"{name} = {value}: FTRL-proximal takes a finite {name} >= 0")
        self.rate, self.beta, self.l1, self.l2 = (
            checked_rate(rate),
            float(beta),
            float(l1),
            float(l2),
        )
        self._prepare()

    def _rule(self) -> Proximal:
        return Proximal(self.rate, self.beta, self.l1, self.l2)

    def _weights_at(self, records: Any, total: Any) -> Any:
        z, G = records
        excess = np.maximum(np.abs(z) - self.l1, 0)
        size = self.l2 + (self.beta + np.sqrt(G)) / self.rate
        return -np.sign(z) * np.divide(excess, size, out=np.zeros_like(z), where=size > 0)
