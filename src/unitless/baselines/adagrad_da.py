"""AdaGrad with a diagonal matrix by dual averaging: the sum of all gradients, scaled per feature.

Duchi, Hazan, Singer (2011), the paper's other form; McMahan and Streeter, "Adaptive Bound
Optimization for Online Convex Optimization" (2010). With q_i = g x_i::

    w_i = eta theta_i / sqrt(G_i);   theta_i -= q_i;   G_i += q_i^2                0 while G_i = 0

A sample weight multiplies g. theta_i / sqrt(G_i) has no unit, while a weight has 1/[x_i]: units
matter, and so do rotations. Multiplying the loss by a constant changes nothing.

Checked: for each feature it is SOLO FTRL in one dimension, so that the bound of SOLO, summed over
features, holds on random and adversarial streams (tests); it is `PerCoordinateSOLO` of the public
library yamall.
"""

from typing import Any

import numpy as np

from unitless.baselines import solo
from unitless.baselines.declared_parameters import positive
from unitless.baselines.scale_dependent import ScaleDependent
from unitless.baselines.trajectory import Trajectory
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop
from unitless.learners.nag import over_root


@inlined
def predict(parameters, totals, v, x, f, scratch):
    rate = parameters[0]
    theta, G = f[0], f[1]
    for k in range(x.size):
        scratch[k] = rate * over_root(theta[k], G[k]) * x[k]
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    theta, G = f[0], f[1]
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        theta[k] -= q
        G[k] = fma(q, q, G[k])


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 2, task, parameters, block, targets, weights, scores, state)


class AdagradDa(ScaleDependent, Coordinatewise):
    """AdaGrad, dual averaging.

    >>> from unitless.baselines import example_loss
    >>> example_loss(AdagradDa())
    '0.2885'
    """

    rate: float = positive(1.0, "eta, the learning rate")

    name = "adagrad_da"
    needs_lipschitz = False
    fields = (
        Field("theta", "x", "-sum q_i"),
        Field("G", "x^2", "sum q_i^2"),
    )
    kernel = staticmethod(run)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The bound of SOLO in one dimension, summed over features."""
        q = abs(trajectory.X.multiply(trajectory.g[:, None])).tocsc()
        parts = (q.data[q.indptr[j] : q.indptr[j + 1]] for j in range(len(trajectory.u)))
        sizes = zip(parts, np.abs(trajectory.u), strict=True)
        return sum(solo.regret_bound(self.rate, part, float(size)) for part, size in sizes)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        theta, G = records
        return self.rate * np.divide(theta, np.sqrt(G), out=np.zeros_like(G), where=G > 0)
