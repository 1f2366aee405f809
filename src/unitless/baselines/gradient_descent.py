"""Gradient descent: one rate (OGD), a rate per feature (AdaGrad, FTRL), normalised (NG, sNAG).

NG and sNAG are the siblings of NAG (`unitless.learners.nag`) in the paper of Ross, Mineiro and
Langford.

>>> from unitless.testing import example_loss
>>> for learner in (Ogd(), Adagrad(), Ftrl(), Ng(), Snag()):
...     print(learner.name, example_loss(learner))
ogd 0.3720
adagrad 0.2576
ftrl 0.3190
ng 0.4395
snag 0.3360
"""

import math

import numpy as np

from unitless.baselines.baseline import B, Baseline, G, Trajectory, parameter
from unitless.kernels.arithmetic import dot, exp, lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.learners.nag import N, over_root, root_of_t_over_n

LOG_FACTOR, NORM2 = 1, 2  # totals of OGD
MAX_TERM = 2.0**500  # of |w_i x_i|, which has no unit: sums of terms stay finite
MIN_GRADIENT = 2.0**-250  # of |q_i| / sqrt(V_i): smaller gradients could round to 0 in some units


@inlined
def ogd_score(parameters, totals, v, x, f, scratch):
    w = f[0]
    log_factor = f[1]
    for k in range(x.size):
        w[k] *= exp(totals[LOG_FACTOR] - log_factor[k])
        log_factor[k] = totals[LOG_FACTOR]
        scratch[k] = w[k] * x[k]
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def ogd_step(parameters, totals, trial, x, f, scratch):
    rate = parameters[0]
    radius = parameters[1]
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
def run_ogd(task, parameters, block, targets, weights, scores, state):
    return loop(ogd_score, ogd_step, 2, task, parameters, block, targets, weights, scores, state)


class Ogd(Baseline, Coordinatewise):
    """Online gradient descent, on a ball if a radius is given.

    Zinkevich, "Online Convex Programming and Generalized Infinitesimal Gradient Ascent" (2003)::

        w <- w - eta / sqrt(t) g x;   if |w| > D:  w <- w D / |w|

    A projection multiplies all weights by the same factor. To keep a row O(nonzeros), `totals` has
    the product of these factors, and each weight remembers the product it was last multiplied by.
    Checked: `regret_bound`, on adversarial streams (tests).
    """

    rate: float = parameter(1.0, "eta, the learning rate")
    radius: float = parameter(math.inf, "D, the radius of the ball", "number > 0")

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
    kernel = staticmethod(run_ogd)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """Zinkevich's Theorem 1 for these rates, with the norms of the gradients, if |u| <= D.

        (2 D)^2 sqrt(T) / (2 eta) + (eta / 2) sum |g_t x_t|^2 / sqrt(t)
        """
        if not trajectory.norm() <= self.radius < math.inf:
            return None
        norms = trajectory.gradient_sizes()
        t = np.arange(1, len(norms) + 1)
        start = 2 * self.radius**2 / self.rate * math.sqrt(len(norms))
        return start + self.rate / 2 * float((norms**2 / np.sqrt(t)).sum())


@inlined
def ada_score(parameters, totals, v, x, f, scratch):
    p = dot(x, f[0])
    return p, p


@inlined
def ada_step(parameters, totals, trial, x, f, scratch):
    rate = parameters[0]
    w = f[0]
    G = f[1]
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        G[k] = fma(q, q, G[k])
        w[k] -= rate * over_root(q, G[k])


@kernel
def run_adagrad(task, parameters, block, targets, weights, scores, state):
    return loop(ada_score, ada_step, 2, task, parameters, block, targets, weights, scores, state)


class Adagrad(Baseline, Coordinatewise):
    """AdaGrad with a diagonal matrix: each feature has its own rate, from its past gradients.

    Duchi, Hazan, Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic
    Optimization" (2011), by mirror descent. With q_i = g x_i::

        G_i += q_i^2;   w_i -= eta q_i / sqrt(G_i)                                 0 while G_i = 0

    A factor of the loss changes nothing. Checked: the paper's Theorem 5, with the largest
    distance from u in place of a bounded domain, on adversarial streams (tests).
    """

    rate: float = parameter(1.0, "eta, the learning rate")

    name = "adagrad"
    needs_lipschitz = False
    fields = (Field("w", "1", "weight"), G)
    kernel = staticmethod(run_adagrad)


@inlined
def ftrl_score(parameters, totals, v, x, f, scratch):
    rate = parameters[0]
    beta = parameters[1]
    l1 = parameters[2]
    l2 = parameters[3]
    z = f[0]
    G = f[1]
    for k in range(x.size):
        excess = max(abs(z[k]) - l1, 0.0)
        size = l2 + (beta + math.sqrt(G[k])) / rate
        scratch[k] = -math.copysign(excess / (size if size > 0 else 1.0), z[k])
    p = dot(x, scratch)
    return p, p


@inlined
def ftrl_step(parameters, totals, trial, x, f, scratch):
    rate = parameters[0]
    z = f[0]
    G = f[1]
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        new = fma(q, q, G[k])
        sigma = (math.sqrt(new) - math.sqrt(G[k])) / rate
        z[k] += q - sigma * scratch[k]
        G[k] = new


@kernel
def run_ftrl(task, parameters, block, targets, weights, scores, state):
    return loop(ftrl_score, ftrl_step, 2, task, parameters, block, targets, weights, scores, state)


class Ftrl(Baseline, Coordinatewise):
    """FTRL-proximal: a rate per feature, and weights that are 0 without enough evidence.

    McMahan et al., "Ad Click Prediction: a View from the Trenches" (2013), algorithm 1; Vowpal
    Wabbit's `--ftrl`. With q_i = g x_i::

        w_i = -(z_i - sgn(z_i) l1) / (l2 + (beta + sqrt(G_i)) / eta)           0 where |z_i| <= l1
        z_i += q_i - (sqrt(G_i + q_i^2) - sqrt(G_i)) / eta * w_i;   G_i += q_i^2

    G_i is the paper's n_i. Checked against Vowpal Wabbit itself (tests), whose defaults these are.
    """

    rate: float = parameter(0.5, "eta: the rate of a feature is eta / (beta + sqrt(G_i))")
    beta: float = parameter(1.0, "see rate", "finite number >= 0")
    l1: float = parameter(0.0, "regularisation", "finite number >= 0")
    l2: float = parameter(0.0, "regularisation", "finite number >= 0")

    name = "ftrl"
    needs_lipschitz = False
    fields = (Field("z", "x", "sum of q_i - sigma w_i"), G)
    kernel = staticmethod(run_ftrl)


@inlined
def ng_score(parameters, totals, v, x, f, scratch):
    M = f[0]
    B = f[1]
    for k in range(x.size):
        M[k] = max(M[k], abs(x[k]))
        ratio = x[k] / (M[k] if M[k] > 0 else 1.0)
        scratch[k] = ratio * ratio
    totals[N] += lane_sum(scratch, x.size)
    for k in range(x.size):
        scale = M[k] if M[k] > 0 else 1.0
        scratch[k] = B[k] / scale * (x[k] / scale)
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def ng_step(parameters, totals, trial, x, f, scratch):
    B = f[1]
    rate = parameters[0] * totals[T] / totals[N] if totals[N] > 0 else 0.0
    for k in range(x.size):
        B[k] -= rate * trial.v * trial.g * x[k]


@kernel
def run_ng(task, parameters, block, targets, weights, scores, state):
    return loop(ng_score, ng_step, 2, task, parameters, block, targets, weights, scores, state)


class Ng(Baseline, Coordinatewise):
    """NG, normalised gradient descent: the simplest of the three scale-invariant algorithms.

    Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 1::

        M_i = max(M_i, |x_i|)                 a weight w_i shrinks by (M_old/M_new)^2 when M_i grows
        N  += sum (x_i / M_i)^2;   p = sum w_i x_i
        w_i -= eta (t / N) g x_i / M_i^2

    M_i is the paper's s_i. The state has B_i = w_i M_i^2, which is -eta sum (t / N) g x_i and does
    not change when M_i grows. Checked: the units of the fields, and Vowpal Wabbit's source, which
    shrinks by the square without `--adaptive`.
    """

    rate: float = parameter(0.5, "eta, the learning rate")

    name = "ng"
    invariance = "unit"
    fields = (B._replace(name="M"), Field("B", "x", "w_i M_i^2"))
    totals = (Field("N", "1", "sum of (x_i / M_i)^2"),)
    kernel = staticmethod(run_ng)


@inlined
def snag_score(parameters, totals, v, x, f, scratch):
    w = f[0]
    V = f[1]
    for k in range(x.size):
        V[k] = fma(x[k], x[k], V[k])
        scratch[k] = x[k] / (V[k] if V[k] > 0 else 1.0) * x[k]
    totals[N] += totals[T] * lane_sum(scratch, x.size)
    for k in range(x.size):
        scratch[k] = min(max(w[k] * x[k], -MAX_TERM), MAX_TERM)
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def snag_step(parameters, totals, trial, x, f, scratch):
    w = f[0]
    V = f[1]
    G = f[2]
    rate = parameters[0] * root_of_t_over_n(totals) * math.sqrt(totals[T])
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        if abs(q) >= MIN_GRADIENT * math.sqrt(V[k]) and q != 0:
            G[k] = fma(q, q, G[k])
            w[k] -= rate * over_root(over_root(q, G[k]), V[k])


@kernel
def run_snag(task, parameters, block, targets, weights, scores, state):
    return loop(snag_score, snag_step, 3, task, parameters, block, targets, weights, scores, state)


class Snag(Baseline, Coordinatewise):
    """sNAG: NAG with the average size of a feature in place of its largest.

    Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 3. With q_i = g x_i::

        V_i += x_i^2;   N += t sum x_i^2 / V_i;   p = sum w_i x_i
        G_i += q_i^2;   w_i -= eta sqrt(t / N) q_i / sqrt(V_i G_i / t)

    No weight is ever shrunk: when a feature grows far beyond its past, so do predictions. Each term
    of a score is limited to 2^500. Checked by dimensions; and where |x_i| never changes, V_i / t =
    M_i^2 and it is `nag` (tests), which is Vowpal Wabbit's.
    """

    rate: float = parameter(0.5, "eta, the learning rate")

    name = "snag"
    invariance = "unit"
    fields = (Field("w", "1/x", "weight"), Field("V", "x^2", "sum x_i^2"), G)
    totals = (Field("N", "1", "sum of t x_i^2 / V_i"),)
    kernel = staticmethod(run_snag)
