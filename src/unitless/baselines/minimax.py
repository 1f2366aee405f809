"""The minimax strategy against an exponential benchmark, for a known number of trials.

McMahan and Abernethy, "Minimax Optimal Algorithms for Unconstrained Linear Optimization" (2013),
for each feature separately, where |q_i| = |g x_i| <= L and the horizon T are known; with r =
1/sqrt(T)::

    w_i = eps / L cosh(r)^(T - t) sinh(r) sinh(r theta_i / L);   p = sum w_i x_i;   theta_i -= q_i

A sample weight multiplies g. L has the unit [x_i], and there is one L for all features: units
matter.

Derived again: V_t(theta) = eps cosh(r)^(T - t) cosh(r theta / L) is the mean of V_{t+1} over
theta +- L, and w the slope of V_t between theta - L and theta + L. V_t is convex, so -q w >=
V_t(theta - q) - V_{t-1}(theta) for |q| <= L, and the sum over trials gives `regret_bound`, which
the tests try to violate. Beyond the horizon the formula is still used, but the bound does not hold.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.declared_parameters import count, positive
from unitless.baselines.scale_dependent import ScaleDependent
from unitless.baselines.trajectory import Trajectory
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel, shared
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop


@shared
def common_factor(wealth, bound, horizon, t):
    """The factor that all weights of trial t share."""
    r = 1 / math.sqrt(horizon)
    later = math.exp((horizon - t) * math.log(math.cosh(r)))  # cosh(r)^(T - t)
    return wealth / bound * later * math.sinh(r)


@inlined
def predict(parameters, totals, v, x, f, scratch):
    wealth, bound, horizon = parameters[0], parameters[1], parameters[2]
    theta = f[0]
    r = 1 / math.sqrt(horizon)
    for k in range(x.size):
        scratch[k] = math.sinh(r * (theta[k] / bound)) * x[k] if x[k] != 0 else 0.0
    p = common_factor(wealth, bound, horizon, totals[T]) * lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    theta = f[0]
    for k in range(x.size):
        theta[k] -= trial.v * trial.g * x[k]


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 1, task, parameters, block, targets, weights, scores, state)


def regret_bound(wealth: float, bound: float, horizon: int, comparator: ArrayLike) -> float:
    """The largest regret within the horizon against u, if every |g x_i| <= bound.

    sum_i eps (s asinh(s) - sqrt(1 + s^2) + cosh(1 / sqrt(T))^T),   s = L |u_i| sqrt(T) / eps

    >>> print(f"{regret_bound(1.0, 1.0, 100, [1.0]):.2f}")
    21.58
    """
    s = bound * np.abs(np.asarray(comparator, dtype=np.float64)) * math.sqrt(horizon) / wealth
    start = math.cosh(1 / math.sqrt(horizon)) ** horizon
    return float(wealth * (s * np.arcsinh(s) - np.sqrt(1 + s**2) + start).sum())


class Minimax(ScaleDependent, Coordinatewise):
    """The minimax strategy against an exponential benchmark, for each feature.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Minimax(horizon=569))
    '0.6555'
    """

    wealth: float = positive(1.0, "eps, a factor of all weights")
    bound: float = positive(1.0, "L, at least |g x_i| for every feature in every trial")
    horizon: int = count(10_000, "T, the number of trials")

    name = "minimax"
    fields = (Field("theta", "x", "-sum q_i"),)
    needs = ("bound", "horizon")
    kernel = staticmethod(run)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """`regret_bound`, if L was large enough and there were at most T trials."""
        largest = trajectory.gradient_sizes(euclidean=False).max(initial=0)
        if largest > self.bound or len(trajectory.g) > self.horizon:
            return None
        return regret_bound(self.wealth, self.bound, self.horizon, trajectory.u)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        factor = common_factor(*self._parameters(), totals[T] + 1)
        return factor * np.sinh(records[0] / self.bound / math.sqrt(self.horizon))
