"""Online Newton with a diagonal matrix: scale-invariant, O(nonzeros) per row.

Each feature's precision is a prior of lambda times its largest square, plus that of the data::

    a_i = A_i + lambda M_i^2;   w_i = b_i / a_i;   z = sum w_i x_i;   s = sum x_i^2 / a_i
    logistic   q = sigma(z);  e = y01 - q;  c = max(q (1 - q), 1e-3);  score = z/sqrt(1 + pi s/8)
    squared    e = y - z;     c = 1;                                   score = z
    w_i += x_i e / (a_i (1 + c s));   then A_i += c x_i^2

"Moderated": the score is drawn towards 0 where the row's weights are uncertain (MacKay 1992). The
state has b_i = w_i a_i, because a weight shrinks when M_i grows, while b_i stays. A sample weight
multiplies e and c; with softmax each class has its own diagonal.
"""

import math

from unitless.kernels.arithmetic import clipped
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, every, fma, load, store, total, where
from unitless.learners.base import Field
from unitless.learners.coordinatewise import MAX_TARGET, Coordinatewise, loop
from unitless.learners.declared import Declared, parameter
from unitless.losses import SQUARED

FLATTEST = 1e-3  # lower limit of the curvature q (1 - q) of the logistic loss
MAX_B = 2.0**900  # limit of b: sample weights that jump could raise it without end
CURVED: tuple[str, ...] = ("logistic", "softmax", "squared")
"""Losses with a second derivative, as Newton's method needs it."""
S = 1


@inlined
def moderated(z, s):
    """The mean of a sigmoid over a normal z of variance s, as a logit (MacKay 1992)."""
    return z / math.sqrt(1.0 + math.pi / 8 * s)


@inlined
def curvature(g):
    """q (1 - q) of the logistic loss from its slope, bounded from below."""
    return max(abs(g) * (1 - abs(g)), FLATTEST)


@inlined
def predict(parameters, totals, v, x, f, scratch):
    strength = parameters[0]
    loss = int(parameters[1])
    M = f[0]
    A = f[1]
    b = f[2]
    variance = every(0.0)
    score = every(0.0)
    for k in range(0, x.size, LANES):
        value = load(x, k)
        largest = max(load(M, k), abs(value))
        a = fma(strength * largest, largest, load(A, k))
        a = where(a > 0.0, a, 1.0)
        variance += value * value / a
        score += load(b, k) * (value / a)
        store(M, k, largest)
    totals[S] = total(variance)
    z = total(score)
    return z, z if loss == SQUARED else moderated(z, totals[S])


@inlined
def update(parameters, totals, trial, x, f, scratch):
    strength = parameters[0]
    loss = int(parameters[1])
    M = f[0]
    A = f[1]
    b = f[2]
    e = -trial.g
    c = curvature(trial.g)
    if loss == SQUARED:
        e = trial.y - clipped(trial.p, MAX_TARGET)
        c = 1.0
    e *= trial.v
    c *= trial.v
    step = e / (1 + c * totals[S])
    for k in range(0, x.size, LANES):
        value = load(x, k)
        largest = load(M, k)
        before = load(A, k)
        a = fma(strength * largest, largest, before)
        ratio = fma(c * value, value, a) / where(a > 0.0, a, 1.0)
        store(A, k, fma(c * value, value, before))
        now = fma(value, step, load(b, k)) * ratio
        store(b, k, clipped(now, MAX_B))


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 3, task, parameters, block, targets, weights, scores, state)


class Diagonal(Declared, Coordinatewise):
    """Online Newton with one variance per feature; uncertain scores are drawn towards 0.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Diagonal()))
    0.3199
    """

    strength: float = parameter(1.0, "lambda, the prior precision in units of 1 / max(x_i^2)")

    name = "diagonal"
    invariance = "unit"
    target_invariance = "unit"
    needs_lipschitz = False
    takes_losses = CURVED
    fields = (
        Field("M", "|x|", "max |x_i|"),
        Field("A", "x^2", "sum c x_i^2"),
        Field("b", "x", "w_i a_i"),
    )
    totals = (Field("s", "1", "s of the last row"),)
    kernel = staticmethod(run)
