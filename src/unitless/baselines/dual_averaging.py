"""Dual averaging: weights that are a function of theta = -sum g x.

SOLO, AdaGrad and NDA scale theta by the gradients so far. Minimax and AdaptiveNormal are minimax
strategies for each feature, where |q_i| = |g x_i| <= L is known, sample weights included.

>>> from unitless.testing import example_loss
>>> for learner in (Solo(), AdagradDa(), Nda(), Minimax(horizon=569), AdaptiveNormal()):
...     print(learner.name, example_loss(learner))
solo 0.4334
adagrad_da 0.2885
nda 0.2806
minimax 0.6555
adaptive_normal 0.6866
"""

import math

import numpy as np

from unitless.baselines.baseline import THETA, B, Baseline, G, Trajectory, descend, parameter
from unitless.kernels.arithmetic import dot, lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field, Float
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.learners.nag import over_root

SUM = 1  # total of SOLO


@inlined
def solo_score(parameters, totals, v, x, f, scratch):
    p = parameters[0] * over_root(dot(x, f[0]), totals[SUM])
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
    p = dot(x, scratch)
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
    return loop(minimax_score, descend, 1, task, parameters, block, targets, weights, scores, state)


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
    return loop(normal_score, descend, 1, task, parameters, block, targets, weights, scores, state)


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
