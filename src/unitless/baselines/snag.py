"""sNAG: NAG with the average size of a feature in place of its largest.

Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 3. With q_i = g x_i::

    V_i += x_i^2;   N += t sum x_i^2 / V_i;   p = sum w_i x_i
    G_i += q_i^2;   w_i -= eta sqrt(t / N) q_i / sqrt(V_i G_i / t)

No weight is ever shrunk: when a feature grows far beyond its past, so do predictions. Each term of
a score is limited to 2^500. A sample weight multiplies g.

Checked by dimensions, V_i / t being the mean square that takes the place of M_i^2 in `nag`; and
where |x_i| never changes, V_i / t = M_i^2 and it is `nag` (tests), which is Vowpal Wabbit's.
"""

import math
from typing import Any

from unitless.baselines.declared_parameters import Declared, positive
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.learners.nag import N, over_root, root_of_t_over_n
from unitless.losses import Loss

MAX_TERM = 2.0**500  # of |w_i x_i|, which has no unit: sums of terms stay finite
MIN_GRADIENT = 2.0**-250  # of |q_i| / sqrt(V_i): smaller gradients could round to 0 in some units


@inlined
def predict(parameters, totals, v, x, f, scratch):
    w, V = f[0], f[1]
    for k in range(x.size):
        V[k] = fma(x[k], x[k], V[k])
        scratch[k] = x[k] / (V[k] if V[k] > 0 else 1.0) * x[k]
    totals[N] += totals[T] * lane_sum(scratch, x.size)
    for k in range(x.size):
        scratch[k] = min(max(w[k] * x[k], -MAX_TERM), MAX_TERM)
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    w, V, G = f[0], f[1], f[2]
    rate = parameters[0] * root_of_t_over_n(totals) * math.sqrt(totals[T])
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        if abs(q) >= MIN_GRADIENT * math.sqrt(V[k]) and q != 0:
            G[k] = fma(q, q, G[k])
            w[k] -= rate * over_root(over_root(q, G[k]), V[k])


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 3, task, parameters, block, targets, weights, scores, state)


class Snag(Declared, Coordinatewise):
    """sNAG of Ross, Mineiro and Langford.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Snag(), raw_units=True)
    '0.3360'
    """

    rate: float = positive(0.5, "eta, the learning rate")

    name = "snag"
    invariance = "unit"
    fields = (
        Field("w", "1/x", "weight"),
        Field("V", "x^2", "sum x_i^2"),
        Field("G", "x^2", "sum q_i^2"),
    )
    totals = (Field("N", "1", "sum of t x_i^2 / V_i"),)
    kernel = staticmethod(run)

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 0.5,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, rate=rate, intercept=intercept, classes=classes)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        return records[0].copy()
