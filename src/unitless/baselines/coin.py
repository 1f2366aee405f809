"""Coin betting: each feature bets a share of its wealth on the sign of its next gradient.

Orabona and Tommasi, "Training Deep Networks without Learning Rates Through Coin Betting" (2017);
yamall's `PerCoordinateCOCOB` and, with differences, Vowpal Wabbit's `--coin`. With q_i = g x_i
and wealth eps::

    b_i = max(b_i, |x_i|);   w_i = (eps + r_i) theta_i / (b_i (b_i + Q_i));   p = sum w_i x_i
    theta_i -= q_i;   Q_i += |q_i|;   r_i -= q_i w_i

b, Q and r are L, G and Reward in the paper. The share |theta_i| / (b_i + Q_i) is below 1 and |q_i|
at most b_i, so wealth never falls to 0. A sample weight scales the instance.

Checked against Vowpal Wabbit itself (tests): it starts with eps = 4, divides p by the mean of sum
(x_i/b_i)^2, and bets with the largest |g| so far where this file has the loss's Lipschitz
constant.
"""

from typing import Any

import numpy as np

from unitless.baselines.declared_parameters import Declared, positive
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop
from unitless.learners.scinol2 import MAX_WEALTH


@inlined
def predict(parameters, totals, v, x, f, scratch):
    wealth = parameters[0]
    theta, b, Q, r = f[0], f[1], f[2], f[3]
    for k in range(x.size):
        b[k] = max(b[k], abs(x[k]))
        largest = b[k] if b[k] > 0 else 1.0
        scratch[k] = (wealth + r[k]) * (theta[k] / (largest + Q[k])) * (x[k] / largest)
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    theta, Q, r = f[0], f[2], f[3]
    for k in range(x.size):
        q = trial.g * x[k]
        theta[k] -= q
        Q[k] += abs(q)
        r[k] = min(r[k] - trial.g * scratch[k], MAX_WEALTH)


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 4, task, parameters, block, targets, weights, scores, state)


class Coin(Declared, Coordinatewise):
    """Coin betting for each feature.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Coin(), raw_units=True)
    '0.3729'
    """

    wealth: float = positive(1.0, "eps, the wealth that each feature starts with")

    name = "coin"
    invariance = "unit"
    fields = (
        Field("theta", "x", "-sum q_i"),
        Field("b", "|x|", "max |x_i|"),
        Field("Q", "|x|", "sum |q_i|"),
        Field("r", "1", "wealth, beyond eps"),
    )
    scales_instance = True
    kernel = staticmethod(run)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        theta, b, Q, r = records
        largest = np.where(b > 0, b, 1)
        return (self.wealth + r) * (theta / (largest + Q)) / largest
