"""ScInOL1 and ScInOL2: scale-invariant online learning, O(nonzeros) per row.

Kempka, Kotlowski, Warmuth, "Adaptive Scale-Invariant Online Algorithms for Learning Linear Models"
(2019), algorithms 1 and 2. Both have, with initial wealth eps::

    M_i     = max(M_i, |x_i|);   D_i = sqrt(S2_i + M_i^2);   theta_i = G_i / D_i
    p       = sum w_i x_i;   g = loss'(y, p) / L
    G_i    -= g x_i;   S2_i += (g x_i)^2

The authors' code adds 1e-15 to a scale, which would break the invariance; it is left out here. A
sample weight v scales the instance, as in Algorithm 1.
"""

import math
from typing import ClassVar

from unitless.kernels.arithmetic import clipped, exp, lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, every, fma, load, store, total, where
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.learners.declared import Declared, parameter

MAX_EXPONENT = 600.0  # gradients of a caller could raise exponents without end
MAX_WEALTH = 2.0**500  # or double the wealth


@inlined
def expm1(x):
    """exp(x) - 1 for x >= 0, without cancellation near 0."""
    if x > 0.5:
        return exp(min(x, MAX_EXPONENT)) - 1.0
    return math.expm1(x)


@inlined
def score_1(parameters, totals, v, x, f, scratch):
    wealth = parameters[0]
    G = f[0]
    S2 = f[1]
    M = f[2]
    C = f[3]
    for k in range(x.size):
        M[k] = max(M[k], abs(x[k]))
        D2 = fma(M[k], M[k], S2[k])
        D = math.sqrt(D2 if D2 > 0 else 1.0)
        ratio = x[k] / D
        C[k] = max(C[k], ratio * ratio * totals[T])
        theta = G[k] / D
        size = wealth / max(C[k], 1.0) / 2 * ratio * expm1(abs(theta) / 2)
        scratch[k] = math.copysign(1.0, theta) * size
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def step_1(parameters, totals, trial, x, f, scratch):
    G = f[0]
    S2 = f[1]
    for k in range(x.size):
        q = trial.g * x[k]
        G[k] -= q
        S2[k] = fma(q, q, S2[k])


@inlined
def score_2(parameters, totals, v, x, f, scratch):
    wealth = parameters[0]
    G = f[0]
    S2 = f[1]
    M = f[2]
    eta = f[3]
    score = every(0.0)
    for k in range(0, x.size, LANES):
        z = load(x, k)
        largest = max(load(M, k), abs(z))
        D2 = fma(largest, largest, load(S2, k))
        D = math.sqrt(where(D2 > 0.0, D2, 1.0))
        theta = clipped(load(G, k) / D, 1.0)
        wx = theta / (2.0 * D) * (wealth + load(eta, k)) * z
        score += wx
        store(scratch, k, wx)
        store(M, k, largest)
    p = total(score)
    return p, p


@inlined
def step_2(parameters, totals, trial, x, f, scratch):
    g = trial.g
    G = f[0]
    S2 = f[1]
    eta = f[3]
    for k in range(0, x.size, LANES):
        q = g * load(x, k)
        store(G, k, load(G, k) - q)
        store(S2, k, fma(q, q, load(S2, k)))
        store(eta, k, min(load(eta, k) - g * load(scratch, k), MAX_WEALTH))


@kernel
def run_1(task, parameters, block, targets, weights, scores, state):
    return loop(score_1, step_1, 4, task, parameters, block, targets, weights, scores, state)


@kernel
def run_2(task, parameters, block, targets, weights, scores, state):
    return loop(score_2, step_2, 4, task, parameters, block, targets, weights, scores, state)


class Scinol(Declared, Coordinatewise):
    """Base class of ScInOL1 and ScInOL2."""

    wealth: float = parameter(1.0, "eps, the initial wealth of each feature")

    invariance = "unit"
    fields: ClassVar[tuple[Field, ...]] = (
        Field("G", "x", "-sum g x_i"),
        Field("S2", "x^2", "sum (g x_i)^2"),
        Field("M", "|x|", "max |x_i|"),
    )
    scales_instance = True


class Scinol1(Scinol):
    """ScInOL1: scale-invariant, without a learning rate, weights grow exponentially.

    w_i is 0 while M_i = 0, and beta_i starts at eps::

        beta_i = min(beta_i, eps (S2_i + M_i^2) / (x_i^2 t))     where x_i is not 0
        w_i    = beta_i sgn(theta_i) / (2 D_i) (exp(|theta_i| / 2) - 1)

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Scinol1()))
    0.6364
    """

    name = "scinol1"
    fields = (*Scinol.fields, Field("C", "1", "eps / beta_i, or 0 at the start"))
    kernel = staticmethod(run_1)


class Scinol2(Scinol):
    """ScInOL2: scale-invariant coin betting, without a learning rate.

    w_i is 0 while M_i = 0, and eta_i starts at eps::

        w_i    = sgn(theta_i) min(|theta_i|, 1) / (2 D_i) eta_i
        eta_i -= g x_i w_i

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Scinol2()))
    0.3833
    """

    name = "scinol2"
    fields = (*Scinol.fields, Field("eta", "1", "wealth, beyond eps"))
    kernel = staticmethod(run_2)
