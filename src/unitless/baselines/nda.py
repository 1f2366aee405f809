"""Normalised dual averaging, after Orabona, Crammer and Cesa-Bianchi: a reconstruction.

"A Generalized Online Mirror Descent with Applications to Classification and Regression" (2015)
bounds the regret of a method with the regulariser 1/2 sum_i b_i sqrt(b_i^2 + G_i) u_i^2; the bound
depends on no unit but that of the loss. The method is rebuilt from that bound, because the
algorithm as its authors print it was not available. With q_i = g x_i::

    b_i = max(b_i, |x_i|);   w_i = C theta_i / (b_i sqrt(b_i^2 + G_i));   p = sum w_i x_i
    theta_i -= q_i;   G_i += q_i^2

A sample weight scales the instance, so that |q_i| <= b_i. Checked: the units of the fields; there
is no public code to compare with.
"""

import math
from typing import Any

import numpy as np

from unitless.baselines.declared_parameters import Declared, positive
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop


@inlined
def predict(parameters, totals, v, x, f, scratch):
    rate = parameters[0]
    theta, b, G = f[0], f[1], f[2]
    for k in range(x.size):
        b[k] = max(b[k], abs(x[k]))
        largest = b[k] if b[k] > 0 else 1.0
        size = math.sqrt(fma(largest, largest, G[k]))
        if size == 0:  # b^2 can be too small for float64; theta is 0 then
            size = 1.0
        scratch[k] = rate * theta[k] / size * (x[k] / largest)
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    theta, G = f[0], f[2]
    for k in range(x.size):
        q = trial.g * x[k]
        theta[k] -= q
        G[k] = fma(q, q, G[k])


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 3, task, parameters, block, targets, weights, scores, state)


class Nda(Declared, Coordinatewise):
    """Normalised dual averaging, after Orabona, Crammer and Cesa-Bianchi.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Nda(), raw_units=True)
    '0.2806'
    """

    rate: float = positive(1.0, "C, a factor of all weights")

    name = "nda"
    invariance = "unit"
    fields = (
        Field("theta", "x", "-sum q_i"),
        Field("b", "|x|", "max |x_i|"),
        Field("G", "x^2", "sum q_i^2"),
    )
    scales_instance = True
    kernel = staticmethod(run)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        theta, b, G = records
        size = b * np.sqrt(b**2 + G)
        return self.rate * np.divide(theta, size, out=np.zeros_like(theta), where=size > 0)
