"""PiSTOL for each feature: weights that grow like exp(theta^2), so that no rate has to be tuned.

Orabona, "Simultaneous Model Selection and Optimization through Parameter-free Stochastic
Learning" (2014), in the form for each feature that its author's library yamall and Vowpal
Wabbit's `--pistol` have. With q_i = g x_i::

    b_i = max(b_i, |x_i|);   c_i = a b_i (Q_i + b_i)
    w_i = s theta_i / c_i exp(theta_i^2 / (2 c_i))
    p = sum w_i x_i;   theta_i -= q_i;   Q_i += |q_i|

A sample weight scales the instance. Checked against the source of both: they multiply w_i by
sqrt(Q_i), which has a unit and is not in the paper; without it the weight has the unit 1/[x_i] that
it should have.
"""

from typing import Any

import numpy as np

from unitless.baselines.declared_parameters import Declared, positive
from unitless.kernels.arithmetic import exp, lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop

MAX_EXPONENT = 600.0  # gradients chosen by a caller could make it arbitrarily large


@inlined
def exponential_term(a, scale, theta, b, Q, x):
    """w x; the quotients are arranged so that none exceeds 1."""
    largest = b if b > 0 else 1.0
    share = theta / (Q + largest)
    potential = exp(min(share * (theta / largest) / (2 * a), MAX_EXPONENT))
    return scale / a * share * (x / largest) * potential


@inlined
def predict(parameters, totals, v, x, f, scratch):
    a, scale = parameters[0], parameters[1]
    theta, b, Q = f[0], f[1], f[2]
    for k in range(x.size):
        b[k] = max(b[k], abs(x[k]))
        scratch[k] = exponential_term(a, scale, theta[k], b[k], Q[k], x[k])
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    theta, Q = f[0], f[2]
    for k in range(x.size):
        q = trial.g * x[k]
        theta[k] -= q
        Q[k] += abs(q)


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 3, task, parameters, block, targets, weights, scores, state)


class Pistol(Declared, Coordinatewise):
    """PiSTOL for each feature.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Pistol(), raw_units=True)
    '0.5162'
    """

    a: float = positive(2.0, "the larger, the more careful")
    scale: float = positive(1.0, "s, a factor of all weights")

    name = "pistol"
    invariance = "unit"
    fields = (
        Field("theta", "x", "-sum q_i"),
        Field("b", "|x|", "max |x_i|"),
        Field("Q", "|x|", "sum |q_i|"),
    )
    scales_instance = True
    kernel = staticmethod(run)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        theta, b, Q = records
        largest = np.where(b > 0, b, 1)
        share = theta / (Q + largest)
        exponent = np.minimum(share * (theta / largest) / (2 * self.a), MAX_EXPONENT)
        return self.scale / self.a * share / largest * np.exp(exponent)
