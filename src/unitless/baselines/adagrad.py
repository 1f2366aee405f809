"""AdaGrad with a diagonal matrix: each feature has its own rate, from its past gradients.

Duchi, Hazan, Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic
Optimization" (2011), by mirror descent. With q_i = g x_i::

    G_i += q_i^2;   w_i -= eta q_i / sqrt(G_i)                                     0 while G_i = 0

A sample weight multiplies g. q_i / sqrt(G_i) has no unit, while a weight has 1/[x_i]: units
matter, and so do rotations. Multiplying the loss by a constant changes nothing.

Checked: `regret_bound` (the paper's Theorem 5, with the largest distance from u in place of a
bounded domain) on random and adversarial streams (tests).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.declared_parameters import positive
from unitless.baselines.scale_dependent import ScaleDependent
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop
from unitless.learners.nag import over_root


@inlined
def predict(parameters, totals, v, x, f, scratch):
    w = f[0]
    for k in range(x.size):
        scratch[k] = w[k] * x[k]
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    rate = parameters[0]
    w, G = f[0], f[1]
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        G[k] = fma(q, q, G[k])
        w[k] -= rate * over_root(q, G[k])


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 2, task, parameters, block, targets, weights, scores, state)


def regret_bound(rate: float, distances: ArrayLike, sums: ArrayLike) -> float:
    """The largest regret of AdaGrad against u, from max_t |w_ti - u_i| and G_i of each feature.

    sum_i (max_t |w_ti - u_i|^2 / (2 eta) + eta) sqrt(G_i)

    >>> regret_bound(1.0, [2.0], [9.0])
    9.0
    """
    far = np.asarray(distances, dtype=np.float64)
    G = np.asarray(sums, dtype=np.float64)
    return float(((far**2 / (2 * rate) + rate) * np.sqrt(G)).sum())


class Adagrad(ScaleDependent, Coordinatewise):
    """AdaGrad, mirror descent.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Adagrad())
    '0.2576'
    """

    rate: float = positive(1.0, "eta, the learning rate")

    name = "adagrad"
    needs_lipschitz = False
    fields = (
        Field("w", "1", "weight"),
        Field("G", "x^2", "sum q_i^2"),
    )
    kernel = staticmethod(run)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        return records[0].copy()
