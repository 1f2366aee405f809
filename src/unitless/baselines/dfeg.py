"""DFEG, dimension-free exponentiated gradient: weights that grow like exp(|theta|).

Orabona, "Dimension-Free Exponentiated Gradient" (2013), algorithm 1, for a loss with |g| <= 1.
With q = g x::

    H += max(|x|, |x|^2);   w = theta / |theta| H^(-3/2) exp(|theta| / (a sqrt(H)))
    p = w.x;   theta -= q

H starts at 1, and w = 0 while theta = 0. The paper wants a between 0.882 and 1.109. A sample weight
scales the instance. |x| and |x|^2 are added to 1, so units matter; rotations do not.

Checked: the formula is that of the public code jongharyu/olo-with-side-information, where |x| = 1;
w is the gradient of f(theta) = (a / H) exp(|theta| / (a sqrt(H))), whose conjugate is the first
term of `regret_bound`, and that bound holds on random and adversarial streams (tests).
"""

import math
from typing import Any

import numpy as np

from unitless.baselines.declared_parameters import positive
from unitless.baselines.scale_dependent import ScaleDependent
from unitless.baselines.trajectory import Trajectory
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel, shared
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop

H, NORM2 = 1, 2  # totals


@shared
def weight_factor(a, totals):
    """|w| / |theta|, from H and |theta|."""
    norm = math.sqrt(max(totals[NORM2], 0.0))
    size = 1.0 + totals[H]
    if norm == 0:
        return 0.0
    return math.exp(norm / (a * math.sqrt(size))) / (norm * size * math.sqrt(size))


@inlined
def predict(parameters, totals, v, x, f, scratch):
    theta = f[0]
    for k in range(x.size):
        scratch[k] = x[k] * x[k]
    square = lane_sum(scratch, x.size)
    totals[H] += max(math.sqrt(square), square)
    for k in range(x.size):
        scratch[k] = theta[k] * x[k]
    p = lane_sum(scratch, x.size) * weight_factor(parameters[0], totals)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    theta = f[0]
    for k in range(x.size):
        new = theta[k] - trial.g * x[k]
        scratch[k] = (new - theta[k]) * (new + theta[k])
        theta[k] = new
    totals[NORM2] += lane_sum(scratch, x.size)


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 1, task, parameters, block, targets, weights, scores, state)


def regret_bound(a: float, size: float, norm: float) -> float:
    """The largest regret of DFEG against any u of that norm, for H = size at the end.

    a |u| sqrt(H) (ln(H^(3/2) |u|) - 1) + 4 e^(1 + 1/a); -a / H for the first term if |u| is small.

    >>> print(f"{regret_bound(1.0, 101.0, 1.0):.2f}")
    89.08
    """
    slope = size * math.sqrt(size) * norm
    first = a * norm * math.sqrt(size) * (math.log(slope) - 1) if slope > 1 else -a / size
    return first + 4 * math.exp(1 + 1 / a)


class Dfeg(ScaleDependent, Coordinatewise):
    """Dimension-free exponentiated gradient.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Dfeg())
    '0.6928'
    """

    a: float = positive(1.0, "the larger, the more careful; in the paper 0.882 to 1.109")

    name = "dfeg"
    invariance = "rotation"
    fields = (Field("theta", "x", "-sum q_i"),)
    totals = (
        Field("H", "1", "sum max(|x|, |x|^2), without the 1 it starts at"),
        Field("norm2", "1", "|theta|^2"),
    )
    scales_instance = True
    kernel = staticmethod(run)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The paper's Theorem 1, for the a that it allows."""
        if not 0.882 < self.a < 1.109:
            return None
        size = 1 + float(self._totals[H])
        return regret_bound(self.a, size, float(np.linalg.norm(trajectory.u)))

    def _weights_at(self, records: Any, totals: Any) -> Any:
        return records[0] * weight_factor(self.a, totals)
