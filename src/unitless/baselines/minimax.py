"""Minimax strategies for each feature, where |q_i| = |g x_i| <= L is known, weights included.

>>> from unitless.testing import example_loss
>>> for learner in (Minimax(horizon=569), AdaptiveNormal()):
...     print(learner.name, example_loss(learner))
minimax 0.6555
adaptive_normal 0.6866
"""

import math

import numpy as np

from unitless.baselines.baseline import THETA, Baseline, Trajectory, parameter
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.coordinatewise import Coordinatewise, T, loop


@inlined
def update(parameters, totals, trial, x, f, scratch):
    theta = f[0]
    for k in range(x.size):
        theta[k] -= trial.v * trial.g * x[k]


@inlined
def minimax_score(parameters, totals, v, x, f, scratch):
    wealth = parameters[0]
    bound = parameters[1]
    horizon = parameters[2]
    theta = f[0]
    r = 1 / math.sqrt(horizon)
    later = math.exp((horizon - totals[T]) * math.log(math.cosh(r)))  # cosh(r)^(T - t)
    for k in range(x.size):
        scratch[k] = math.sinh(r * (theta[k] / bound)) * x[k] if x[k] != 0 else 0.0
    p = wealth / bound * later * math.sinh(r) * lane_sum(scratch, x.size)
    return p, p


@kernel
def run_minimax(task, parameters, block, targets, weights, scores, state):
    return loop(minimax_score, update, 1, task, parameters, block, targets, weights, scores, state)


class Minimax(Baseline, Coordinatewise):
    """The minimax strategy against an exponential benchmark, for a known number of trials.

    McMahan and Abernethy, "Minimax Optimal Algorithms for Unconstrained Linear Optimization"
    (2013). With the horizon T and r = 1/sqrt(T)::

        w_i = eps / L cosh(r)^(T - t) sinh(r) sinh(r theta_i / L);  p = sum w_i x_i;  theta_i -= q_i

    Derived again: V_t(theta) = eps cosh(r)^(T - t) cosh(r theta / L) is the mean of V_{t+1} over
    theta +- L, and w the slope of V_t between theta - L and theta + L. V_t is convex, so -q w >=
    V_t(theta - q) - V_{t-1}(theta) for |q| <= L, and the sum over trials gives `regret_bound`,
    which the tests try to violate. It does not hold beyond the horizon.
    """

    wealth: float = parameter(1.0, "eps, a factor of all weights")
    bound: float = parameter(1.0, "L, at least |g x_i| for every feature in every trial")
    horizon: int = parameter(10_000, "T, the number of trials", "whole number >= 1")

    name = "minimax"
    fields = (THETA,)
    needs = ("bound", "horizon")
    kernel = staticmethod(run_minimax)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The sum over features, if L was large enough and there were at most T trials.

        sum_i eps (s asinh(s) - sqrt(1 + s^2) + cosh(1 / sqrt(T))^T),   s = L |u_i| sqrt(T) / eps
        """
        largest = trajectory.gradient_sizes(euclidean=False).max(initial=0)
        if largest > self.bound or len(trajectory.g) > self.horizon:
            return None
        root = math.sqrt(self.horizon)
        s = self.bound * np.abs(trajectory.u) * root / self.wealth
        start = math.cosh(1 / root) ** self.horizon
        return float(self.wealth * (s * np.arcsinh(s) - np.sqrt(1 + s**2) + start).sum())


@inlined
def normal_score(parameters, totals, v, x, f, scratch):
    wealth = parameters[0]
    L = parameters[1]
    theta = f[0]
    at = 3 * math.pi / 4 * L * L * totals[T]
    size = wealth / (L * math.log(totals[T] + 1.0) ** 2)
    for k in range(x.size):
        growth = math.exp((theta[k] * theta[k] + L * L) / (2 * at))
        w = size * growth * math.sinh(L * theta[k] / at)
        scratch[k] = w * x[k] if x[k] != 0 else 0.0
    p = lane_sum(scratch, x.size)
    return p, p


@kernel
def run_normal(task, parameters, block, targets, weights, scores, state):
    return loop(normal_score, update, 1, task, parameters, block, targets, weights, scores, state)


class AdaptiveNormal(Baseline, Coordinatewise):
    """AdaptiveNormal: nearly minimax against a benchmark that grows like exp(theta^2).

    McMahan and Orabona, "Unconstrained Online Linear Learning in Hilbert Spaces: Minimax
    Algorithms and Normal Approximations" (2014)::

        w_i = eps / ln^2(t + 1) (f(theta_i + L) - f(theta_i - L)) / (2 L),  f(z) = exp(z^2/(2 a t))
        p = sum w_i x_i;   theta_i -= q_i                                   a = 3 pi L^2 / 4

    The difference is computed as exp((theta^2 + L^2) / (2 a t)) 2 sinh(L theta / (a t)), without
    cancellation. Checked: w is the slope of f between theta - L and theta + L, as the minimax
    strategy for the last trial demands (tests); the public code jongharyu/olo-with-side-information
    has it for a whole vector, with t + 1 for t and a = 1.
    """

    wealth: float = parameter(1.0, "eps, a factor of all weights")
    bound: float = parameter(1.0, "L, at least |g x_i| for every feature in every trial")

    name = "adaptive_normal"
    fields = (THETA,)
    needs = ("bound",)
    kernel = staticmethod(run_normal)
