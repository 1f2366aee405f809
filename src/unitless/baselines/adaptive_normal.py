"""AdaptiveNormal: nearly minimax against a benchmark that grows like the exponential of a square.

McMahan and Orabona, "Unconstrained Online Linear Learning in Hilbert Spaces: Minimax Algorithms
and Normal Approximations" (2014), for each feature separately, where |q_i| = |g x_i| <= L is
known::

    w_i = eps / ln^2(t + 1) (f(theta_i + L) - f(theta_i - L)) / (2 L),   f(z) = exp(z^2 / (2 a t))
    p = sum w_i x_i;   theta_i -= q_i                                    a = 3 pi L^2 / 4

The difference is computed as exp((theta^2 + L^2) / (2 a t)) 2 sinh(L theta / (a t)), without
cancellation. A sample weight multiplies g, and L is a bound on the product. L has the unit [x_i],
and there is one L for all features: units matter.

Checked: w is the slope of f between theta - L and theta + L, as the minimax strategy for the last
trial demands (tests); the public code jongharyu/olo-with-side-information has this formula for a
whole vector, with t + 1 where this file has t (and a = 1).
"""

import math
from typing import Any

import numpy as np

from unitless.baselines.declared_parameters import positive
from unitless.baselines.scale_dependent import ScaleDependent
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel, shared
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop


@shared
def normal_weight(wealth, L, t, theta):
    """w, from theta, in trial t."""
    at = 3 * math.pi / 4 * L * L * t
    size = wealth / (L * math.log(t + 1.0) ** 2)
    return size * math.exp((theta * theta + L * L) / (2 * at)) * math.sinh(L * theta / at)


@inlined
def predict(parameters, totals, v, x, f, scratch):
    wealth, L = parameters[0], parameters[1]
    theta = f[0]
    for k in range(x.size):
        scratch[k] = normal_weight(wealth, L, totals[T], theta[k]) * x[k] if x[k] != 0 else 0.0
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    theta = f[0]
    for k in range(x.size):
        theta[k] -= trial.v * trial.g * x[k]


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 1, task, parameters, block, targets, weights, scores, state)


class AdaptiveNormal(ScaleDependent, Coordinatewise):
    """AdaptiveNormal of McMahan and Orabona, for each feature.

    >>> from unitless.baselines import example_loss
    >>> example_loss(AdaptiveNormal())
    '0.6866'
    """

    wealth: float = positive(1.0, "eps, a factor of all weights")
    bound: float = positive(1.0, "L, at least |g x_i| for every feature in every trial")

    name = "adaptive_normal"
    fields = (Field("theta", "x", "-sum q_i"),)
    needs = ("bound",)
    kernel = staticmethod(run)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        t = totals[T] + 1
        return np.array([normal_weight(self.wealth, self.bound, t, z) for z in records[0]])
