"""OGD: online gradient descent, on a ball if a radius is given.

Zinkevich, "Online Convex Programming and Generalized Infinitesimal Gradient Ascent" (2003)::

    w <- w - eta / sqrt(t) g x;   if |w| > D:  w <- w D / |w|

A projection multiplies all weights by the same factor. To keep a row O(nonzeros), the product of
these factors is kept in `totals`, and each weight remembers the product it was last multiplied by.
A sample weight multiplies g. The step -g x has the unit [x_i] and the weight 1/[x_i], so units
matter; rotations of x do not.

Checked: `regret_bound`, Zinkevich's Theorem 1 for these rates with the norms of the gradients kept,
holds on random and adversarial streams (tests).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.declared_parameters import positive
from unitless.baselines.scale_dependent import ScaleDependent
from unitless.baselines.trajectory import Trajectory
from unitless.kernels.arithmetic import exp, lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop

LOG_FACTOR, NORM2 = 1, 2  # totals


@inlined
def predict(parameters, totals, v, x, f, scratch):
    w, log_factor = f[0], f[1]
    for k in range(x.size):
        w[k] *= exp(totals[LOG_FACTOR] - log_factor[k])
        log_factor[k] = totals[LOG_FACTOR]
        scratch[k] = w[k] * x[k]
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    rate, radius = parameters[0], parameters[1]
    w = f[0]
    a = rate / math.sqrt(totals[T]) * trial.v * trial.g
    for k in range(x.size):
        new = w[k] - a * x[k]
        scratch[k] = (new - w[k]) * (new + w[k])
        w[k] = new
    if radius < math.inf:
        totals[NORM2] += lane_sum(scratch, x.size)
        if totals[NORM2] > radius * radius:
            totals[LOG_FACTOR] += math.log(radius / math.sqrt(totals[NORM2]))
            totals[NORM2] = radius * radius


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 2, task, parameters, block, targets, weights, scores, state)


def regret_bound(rate: float, radius: float, gradients: ArrayLike) -> float:
    """The largest regret of OGD against any u with |u| <= radius, from its |g_t x_t|.

    (2 D)^2 sqrt(T) / (2 eta) + (eta / 2) sum |g_t x_t|^2 / sqrt(t)

    >>> regret_bound(1.0, 1.0, [1.0, 1.0, 1.0, 1.0])  # doctest: +ELLIPSIS
    5.392...
    """
    norms = np.asarray(gradients, dtype=np.float64)
    t = np.arange(1, len(norms) + 1)
    return float(
        2 * radius**2 / rate * math.sqrt(len(norms)) + rate / 2 * (norms**2 / np.sqrt(t)).sum()
    )


class Ogd(ScaleDependent, Coordinatewise):
    """Online gradient descent.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Ogd())
    '0.3720'
    """

    rate: float = positive(1.0, "eta, the learning rate")
    radius: float = positive(math.inf, "D, the radius of the ball of weights", infinite=True)

    name = "ogd"
    invariance = "rotation"
    needs_lipschitz = False
    fields = (
        Field("w", "1/x", "weight, before the projections since it was last touched"),
        Field("shrunk", "1", "log of the product of projections when it was last touched"),
    )
    totals = (
        Field("shrunk", "1", "log of the product of all projections"),
        Field("norm2", "1", "|w|^2, kept only if there is a radius"),
    )
    kernel = staticmethod(run)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """Zinkevich's Theorem 1, if u is in the ball."""
        if not np.linalg.norm(trajectory.u) <= self.radius < math.inf:
            return None
        return regret_bound(self.rate, self.radius, trajectory.gradient_sizes())

    def _weights_at(self, records: Any, totals: Any) -> Any:
        w, log_factor = records
        return w * np.exp(totals[LOG_FACTOR] - log_factor)
