"""NG, normalised gradient descent: the simplest of the three scale-invariant algorithms.

Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 1::

    M_i = max(M_i, |x_i|)                     a weight w_i shrinks by (M_old/M_new)^2 when M_i grows
    N  += sum (x_i / M_i)^2;   p = sum w_i x_i
    w_i -= eta (t / N) g x_i / M_i^2

M_i is the paper's s_i. The state has B_i = w_i M_i^2, which is -eta sum (t / N) g x_i and does not
change when M_i grows. A sample weight multiplies g.

Checked: the units of the fields, and Vowpal Wabbit's source, which shrinks by the square without
`--adaptive`.
"""

from typing import Any

import numpy as np

from unitless.baselines.declared_parameters import Declared, positive
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.losses import Loss

N = 1  # total


@inlined
def predict(parameters, totals, v, x, f, scratch):
    M, B = f[0], f[1]
    for k in range(x.size):
        M[k] = max(M[k], abs(x[k]))
        ratio = x[k] / (M[k] if M[k] > 0 else 1.0)
        scratch[k] = ratio * ratio
    totals[N] += lane_sum(scratch, x.size)
    for k in range(x.size):
        scale = M[k] if M[k] > 0 else 1.0
        scratch[k] = B[k] / scale * (x[k] / scale)
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    rate = parameters[0]
    B = f[1]
    a = rate * totals[T] / totals[N] * trial.v * trial.g if totals[N] > 0 else 0.0
    for k in range(x.size):
        B[k] -= a * x[k]


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 2, task, parameters, block, targets, weights, scores, state)


class Ng(Declared, Coordinatewise):
    """Normalised gradient descent of Ross, Mineiro and Langford.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Ng(), raw_units=True)
    '0.4395'
    """

    rate: float = positive(0.5, "eta, the learning rate")

    name = "ng"
    invariance = "unit"
    fields = (
        Field("M", "|x|", "max |x_i|"),
        Field("B", "x", "w_i M_i^2"),
    )
    totals = (Field("N", "1", "sum of (x_i / M_i)^2"),)
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
        M, B = records
        scale = np.where(M > 0, M, 1)
        return B / scale / scale
