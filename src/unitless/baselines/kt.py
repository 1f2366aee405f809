"""KT: coin betting with the estimator of Krichevsky and Trofimov, for the whole vector.

Orabona and Pal, "Coin Betting and Parameter-Free Online Learning" (2016), algorithm 1. With q = g
x, |q| <= L, and initial wealth eps::

    w = theta / (L^2 t) (eps + R);   p = w.x;   theta -= q;   R -= q.w

A sample weight multiplies g, and L is a bound on the product. theta has the unit [x_i], a weight
1/[x_i], and there is one L for all features: units matter, rotations do not.

Checked: by scaling the paper's L = 1 (q/L, with wealth eps/L); against the public codes
parameterfree and jongharyu/olo-with-side-information; and `regret_bound`, the paper's corollary 5,
on random and adversarial streams (tests).
"""

import math
from typing import Any

import numpy as np

from unitless.baselines.declared_parameters import positive
from unitless.baselines.scale_dependent import ScaleDependent
from unitless.baselines.trajectory import Trajectory
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop

REWARD = 1  # total


@inlined
def predict(parameters, totals, v, x, f, scratch):
    wealth, bound = parameters[0], parameters[1]
    theta = f[0]
    for k in range(x.size):
        scratch[k] = theta[k] * x[k]
    bet = (wealth + totals[REWARD]) / (bound * bound * totals[T])
    p = lane_sum(scratch, x.size) * bet
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    theta = f[0]
    for k in range(x.size):
        theta[k] -= trial.v * trial.g * x[k]
    totals[REWARD] -= trial.v * trial.g * trial.p


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 1, task, parameters, block, targets, weights, scores, state)


def regret_bound(wealth: float, bound: float, trials: int, norm: float) -> float:
    """The largest regret of KT in T trials against any u of that norm, if |q| <= bound.

    L |u| sqrt(T ln(1 + 24 T^2 L^2 |u|^2 / eps^2)) + eps (1 - 1 / (e sqrt(pi T)))

    >>> print(f"{regret_bound(1.0, 1.0, 100, 1.0):.2f}")
    36.18
    """
    size = bound * norm
    growth = math.sqrt(trials * math.log1p(24 * (trials * size / wealth) ** 2))
    return size * growth + wealth * (1 - 1 / (math.e * math.sqrt(math.pi * trials)))


class Kt(ScaleDependent, Coordinatewise):
    """KT coin betting.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Kt(bound=31**0.5))
    '0.6834'
    """

    wealth: float = positive(1.0, "eps, the most that can be lost against u = 0")
    bound: float = positive(1.0, "L, at least |g x|, the constant in x included, in every trial")

    name = "kt"
    invariance = "rotation"
    fields = (Field("theta", "x", "-sum q_i"),)
    totals = (Field("R", "1", "-sum q.w, the reward"),)
    needs = ("bound",)
    bound_is_euclidean = True
    kernel = staticmethod(run)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """Corollary 5, if L was large enough."""
        if trajectory.gradient_sizes().max(initial=0) > self.bound:
            return None
        norm = float(np.linalg.norm(trajectory.u))
        return regret_bound(self.wealth, self.bound, max(len(trajectory.g), 1), norm)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        bet = (self.wealth + totals[REWARD]) / (self.bound**2 * (totals[T] + 1))
        return records[0] * bet
