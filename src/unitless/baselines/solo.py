"""SOLO FTRL: follow the regularised leader, with a regulariser scaled by the gradients so far.

Orabona and Pal, "Scale-Free Algorithms for Online Linear Optimization" (2015), with 1/2 |w|^2 /
eta as the regulariser. With q = g x::

    w = eta theta / sqrt(sum |q|^2);   p = w.x;   theta -= q                 0 while the sum is 0

A sample weight multiplies g. The sum adds the squares of all features, so units matter; rotations,
and the scale of the loss, do not.

Checked: `regret_bound`, the paper's Theorem 1, on random and adversarial streams (tests); the
formula against the source of its author's library yamall.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.declared_parameters import positive
from unitless.baselines.scale_dependent import ScaleDependent
from unitless.baselines.trajectory import Trajectory
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop
from unitless.learners.nag import over_root

SQUARES = 1  # total


@inlined
def predict(parameters, totals, v, x, f, scratch):
    rate = parameters[0]
    theta = f[0]
    for k in range(x.size):
        scratch[k] = theta[k] * x[k]
    p = rate * over_root(lane_sum(scratch, x.size), totals[SQUARES])
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    theta = f[0]
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        theta[k] -= q
        scratch[k] = q * q
    totals[SQUARES] += lane_sum(scratch, x.size)


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 1, task, parameters, block, targets, weights, scores, state)


def regret_bound(rate: float, gradients: ArrayLike, norm: float) -> float:
    """The largest regret of SOLO against any u of that norm, from its |q_t|.

    (|u|^2 / (2 eta) + 2.75 eta) sqrt(sum |q|^2) + 3.5 eta sqrt(T - 1) max |q|

    >>> regret_bound(1.0, [1.0, 1.0, 1.0, 1.0], 1.0)  # doctest: +ELLIPSIS
    12.56...
    """
    q = np.asarray(gradients, dtype=np.float64)
    first = (norm**2 / (2 * rate) + 2.75 * rate) * math.sqrt((q**2).sum())
    return first + 3.5 * rate * math.sqrt(max(len(q) - 1, 0)) * float(q.max(initial=0))


class Solo(ScaleDependent, Coordinatewise):
    """SOLO FTRL of Orabona and Pal.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Solo())
    '0.4334'
    """

    rate: float = positive(1.0, "eta, the learning rate")

    name = "solo"
    invariance = "rotation"
    needs_lipschitz = False
    fields = (Field("theta", "x", "-sum q_i"),)
    totals = (Field("squares", "1", "sum |q|^2"),)
    kernel = staticmethod(run)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The paper's Theorem 1."""
        norm = float(np.linalg.norm(trajectory.u))
        return regret_bound(self.rate, trajectory.gradient_sizes(), norm)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        squares = totals[SQUARES]
        return records[0] * (self.rate / math.sqrt(squares) if squares > 0 else 0.0)
