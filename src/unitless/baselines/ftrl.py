"""FTRL-proximal: a rate per feature, and weights that are exactly 0 without enough evidence.

McMahan et al., "Ad Click Prediction: a View from the Trenches" (2013), algorithm 1; Vowpal
Wabbit's `--ftrl`. With q_i = g x_i::

    w_i = -(z_i - sgn(z_i) l1) / (l2 + (beta + sqrt(G_i)) / eta)                0 where |z_i| <= l1
    z_i += q_i - (sqrt(G_i + q_i^2) - sqrt(G_i)) / eta * w_i;   G_i += q_i^2

G_i is the paper's n_i. A sample weight multiplies g. beta and l1 are added to numbers of unit
[x_i]: units matter, and so do rotations.

Checked against Vowpal Wabbit itself (tests), whose defaults these are.
"""

import math
from typing import Any

import numpy as np

from unitless.baselines.declared_parameters import nonnegative, positive
from unitless.baselines.scale_dependent import ScaleDependent
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop


@inlined
def proximal_weight(parameters, z, G):
    """w, from z and G."""
    rate, beta, l1, l2 = parameters[0], parameters[1], parameters[2], parameters[3]
    excess = max(abs(z) - l1, 0.0)
    size = l2 + (beta + math.sqrt(G)) / rate
    return -math.copysign(excess / (size if size > 0 else 1.0), z)


@inlined
def predict(parameters, totals, v, x, f, scratch):
    z, G = f[0], f[1]
    for k in range(x.size):
        scratch[k] = proximal_weight(parameters, z[k], G[k]) * x[k]
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    rate = parameters[0]
    z, G = f[0], f[1]
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        new = fma(q, q, G[k])
        sigma = (math.sqrt(new) - math.sqrt(G[k])) / rate
        z[k] += q - sigma * proximal_weight(parameters, z[k], G[k])
        G[k] = new


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 2, task, parameters, block, targets, weights, scores, state)


class Ftrl(ScaleDependent, Coordinatewise):
    """FTRL-proximal.

    >>> from unitless.baselines import example_loss
    >>> learner = Ftrl(rate=1.0, l1=1.0)
    >>> example_loss(learner)
    '0.2916'
    >>> int((learner.weights().features == 0).sum())
    5
    """

    rate: float = positive(0.5, "eta: the rate of a feature is eta / (beta + sqrt(G_i))")
    beta: float = nonnegative(1.0, "see rate")
    l1: float = nonnegative(0.0, "regularisation")
    l2: float = nonnegative(0.0, "regularisation")

    name = "ftrl"
    needs_lipschitz = False
    fields = (
        Field("z", "x", "sum of q_i - sigma w_i"),
        Field("G", "x^2", "sum q_i^2"),
    )
    kernel = staticmethod(run)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        z, G = records
        excess = np.maximum(np.abs(z) - self.l1, 0)
        size = self.l2 + (self.beta + np.sqrt(G)) / self.rate
        return -np.sign(z) * np.divide(excess, size, out=np.zeros_like(z), where=size > 0)
