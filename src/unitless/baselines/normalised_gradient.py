"""The two siblings of NAG (`unitless.learners.nag`) in the paper of Ross, Mineiro and Langford.

>>> from unitless.testing import example_loss
>>> for learner in (Ng(), Snag()):
...     print(learner.name, example_loss(learner))
ng 0.4395
snag 0.3360
"""

import math

from unitless.baselines.baseline import B, Baseline, G, parameter
from unitless.kernels.arithmetic import lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.learners.nag import N, over_root, root_of_t_over_n

MAX_TERM = 2.0**500  # of |w_i x_i|, which has no unit: sums of terms stay finite
MIN_GRADIENT = 2.0**-250  # of |q_i| / sqrt(V_i): smaller gradients could round to 0 in some units


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
