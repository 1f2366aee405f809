"""Coin betting: each feature bets a share of its wealth on the sign of its next gradient.

Orabona and Tommasi, "Training Deep Networks without Learning Rates Through Coin Betting" (2017);
yamall's `PerCoordinateCOCOB` and, with differences, Vowpal Wabbit's `--coin`. With q_i = g x_i
and wealth eps::

    b_i = max(b_i, |x_i|);   w_i = (eps + r_i) theta_i / (b_i (b_i + Q_i));   p = sum w_i x_i
    theta_i -= q_i;   Q_i += |q_i|;   r_i -= q_i w_i

The share |theta_i| / (b_i + Q_i) is below 1 and |q_i| at most b_i, so wealth never falls to 0.
Checked against Vowpal Wabbit itself (tests): it starts with eps = 4, divides p by the mean of sum
(x_i/b_i)^2, and bets with the largest |g| so far where this file has the loss's Lipschitz
constant. A sample weight scales the instance.

======== ========= ==================== =======
paper    field     meaning              unit
======== ========= ==================== =======
theta_i  theta     -sum q_i             [x_i]
L_i      b         max |x_i|            [x_i]
G_i      Q         sum |q_i|            [x_i]
Reward_i r         wealth, beyond eps   1
======== ========= ==================== =======
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.learners.base import checked_wealth
from unitless.learners.coordinatewise import Rowwise, rule_for
from unitless.learners.scinol2 import RICHEST
from unitless.losses import Loss
from unitless.numerics import lane_sum


class CoinBettor(NamedTuple):
    """Parameters of coin betting."""

    wealth: float


def _predict(rule, total, v, x, f, term):
    n = x.size
    theta, b, Q, r = f[:n], f[n : 2 * n], f[2 * n : 3 * n], f[3 * n : 4 * n]
    for k in range(n):
        b[k] = max(b[k], abs(x[k]))
        safe = b[k] if b[k] > 0 else 1.0
        term[k] = (rule.wealth + r[k]) * (theta[k] / (safe + Q[k])) * (x[k] / safe)
    p = lane_sum(term, n)
    return p, p


def _update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    theta, Q, r = f[:n], f[2 * n : 3 * n], f[3 * n : 4 * n]
    for k in range(n):
        q = g * x[k]
        theta[k] -= q
        Q[k] += abs(q)
        r[k] = min(r[k] - g * term[k], RICHEST)


rule_for(CoinBettor, _predict, _update)


class Coin(Rowwise):
    """Coin betting for each feature.

    Parameters
    ----------
    wealth : float
        What each feature starts with.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Coin()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.3729
    """

    name: ClassVar[str] = "coin"
    invariance: ClassVar[Any] = "unit"
    fields: ClassVar[tuple[str, ...]] = ("theta", "b", "Q", "r")
    units: ClassVar[tuple[str, ...]] = ("x", "|x|", "|x|", "1")
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

    def _rule(self) -> CoinBettor:
        return CoinBettor(self.wealth)

    def _weights_at(self, records: Any, total: Any) -> Any:
        theta, b, Q, r = records
        safe = np.where(b > 0, b, 1)
        return (self.wealth + r) * (theta / (safe + Q)) / safe
