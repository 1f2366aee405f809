"""Dual averaging: weights that are a multiple of -sum g x, scaled by the gradients so far.

>>> from unitless.testing import example_loss
>>> for learner in (Solo(), AdagradDa(), Nda()):
...     print(learner.name, example_loss(learner))
solo 0.4334
adagrad_da 0.2885
nda 0.2806
"""

import math

import numpy as np

from unitless.baselines.baseline import THETA, B, Baseline, G, Trajectory, parameter
from unitless.kernels.arithmetic import lane_dot, lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field, Float
from unitless.learners.coordinatewise import Coordinatewise, loop
from unitless.learners.nag import over_root

SUM = 1  # total of SOLO


@inlined
def solo_score(parameters, totals, v, x, f, scratch):
    p = parameters[0] * over_root(lane_dot(f[0], 0, x, x.size), totals[SUM])
    return p, p


@inlined
def solo_step(parameters, totals, trial, x, f, scratch):
    theta = f[0]
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        theta[k] -= q
        scratch[k] = q * q
    totals[SUM] += lane_sum(scratch, x.size)


@kernel
def run_solo(task, parameters, block, targets, weights, scores, state):
    return loop(solo_score, solo_step, 1, task, parameters, block, targets, weights, scores, state)


def _solo_regret_bound(rate: float, q: Float, norm: float) -> float:
    """Theorem 1 of the paper on SOLO, from the norms of its gradients and of u."""
    first = (norm**2 / (2 * rate) + 2.75 * rate) * math.sqrt((q**2).sum())
    return first + 3.5 * rate * math.sqrt(max(len(q) - 1, 0)) * float(q.max(initial=0))


class Solo(Baseline, Coordinatewise):
    """SOLO FTRL: follow the regularised leader, scaled by the gradients so far.

    Orabona and Pal, "Scale-Free Algorithms for Online Linear Optimization" (2015), with
    1/2 |w|^2 / eta as the regulariser. With q = g x::

        w = eta theta / sqrt(sum |q|^2);   p = w.x;   theta -= q             0 while the sum is 0

    A factor of the loss changes nothing. Checked: `regret_bound` on adversarial streams (tests);
    the formula against the source of its author's library yamall.
    """

    rate: float = parameter(1.0, "eta, the learning rate")

    name = "solo"
    invariance = "rotation"
    needs_lipschitz = False
    fields = (THETA,)
    totals = (Field("squares", "1", "sum |q|^2"),)
    kernel = staticmethod(run_solo)

    def regret_bound(self, trajectory: Trajectory) -> float:
        """The paper's Theorem 1.

        (|u|^2 / (2 eta) + 2.75 eta) sqrt(sum |q|^2) + 3.5 eta sqrt(T - 1) max |q|
        """
        return _solo_regret_bound(self.rate, trajectory.gradient_sizes(), trajectory.norm())


@inlined
def da_score(parameters, totals, v, x, f, scratch):
    theta = f[0]
    G = f[1]
    for k in range(x.size):
        scratch[k] = parameters[0] * over_root(theta[k], G[k])
    p = lane_dot(scratch, 0, x, x.size)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    """theta_i -= q_i;  G_i += q_i^2: the first and the last field of both AdaGrad and NDA."""
    theta = f[0]
    G = f[-1]
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        theta[k] -= q
        G[k] = fma(q, q, G[k])


@kernel
def run_adagrad_da(task, parameters, block, targets, weights, scores, state):
    return loop(da_score, update, 2, task, parameters, block, targets, weights, scores, state)


class AdagradDa(Baseline, Coordinatewise):
    """AdaGrad with a diagonal matrix by dual averaging.

    Duchi, Hazan, Singer (2011), the paper's other form; McMahan and Streeter, "Adaptive Bound
    Optimization for Online Convex Optimization" (2010). With q_i = g x_i::

        w_i = eta theta_i / sqrt(G_i);   theta_i -= q_i;   G_i += q_i^2            0 while G_i = 0

    A factor of the loss changes nothing. Checked: for each feature it is SOLO in one dimension, and
    the sum of those bounds holds on adversarial streams (tests); it is `PerCoordinateSOLO` of the
    public library yamall.
    """

    rate: float = parameter(1.0, "eta, the learning rate")

    name = "adagrad_da"
    needs_lipschitz = False
    fields = (THETA, G)
    kernel = staticmethod(run_adagrad_da)

    def regret_bound(self, trajectory: Trajectory) -> float:
        """The bound of SOLO in one dimension, summed over features."""
        q = abs(trajectory.X.multiply(trajectory.g[:, None])).tocsc()
        total = 0.0
        for j, u in enumerate(np.abs(trajectory.u)):
            part = q.data[q.indptr[j] : q.indptr[j + 1]]
            total += _solo_regret_bound(self.rate, part, float(u))
        return total


@inlined
def nda_score(parameters, totals, v, x, f, scratch):
    theta = f[0]
    b = f[1]
    G = f[2]
    for k in range(x.size):
        b[k] = max(b[k], abs(x[k]))
        largest = b[k] if b[k] > 0 else 1.0
        size = math.sqrt(fma(largest, largest, G[k]))
        if size == 0:  # b^2 can be too small for float64; theta is 0 then
            size = 1.0
        scratch[k] = parameters[0] * theta[k] / size * (x[k] / largest)
    p = lane_sum(scratch, x.size)
    return p, p


@kernel
def run_nda(task, parameters, block, targets, weights, scores, state):
    return loop(nda_score, update, 3, task, parameters, block, targets, weights, scores, state)


class Nda(Baseline, Coordinatewise):
    """Normalised dual averaging, after Orabona, Crammer and Cesa-Bianchi: a reconstruction.

    "A Generalized Online Mirror Descent with Applications to Classification and Regression" (2015)
    bounds the regret of a method with the regulariser 1/2 sum_i b_i sqrt(b_i^2 + G_i) u_i^2; the
    bound depends on no unit but that of the loss. The method is rebuilt from that bound, because
    the algorithm as its authors print it was not available. With q_i = g x_i::

        b_i = max(b_i, |x_i|);   w_i = C theta_i / (b_i sqrt(b_i^2 + G_i));   p = sum w_i x_i
        theta_i -= q_i;   G_i += q_i^2

    A sample weight scales the instance, so that |q_i| <= b_i. Checked: the units of the fields;
    there is no public code to compare with.
    """

    rate: float = parameter(1.0, "C, a factor of all weights")

    name = "nda"
    invariance = "unit"
    fields = (THETA, B, G)
    scales_instance = True
    kernel = staticmethod(run_nda)
