"""NAG, normalised adaptive gradient, and iNAG: scale-invariant gradient descent.

Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 2; the update that Vowpal
Wabbit uses by default. With a rate, and g the derivative of the loss::

    M_i = max(M_i, |x_i|)                       a weight w_i shrinks by M_old/M_new when M_i grows
    N  += sum (x_i / M_i)^2;   p = sum w_i x_i
    S_i += (g x_i)^2
    w_i -= rate sqrt(t / N) g x_i / (M_i sqrt(S_i))

The state has B_i = w_i M_i, the weight of x_i / M_i, which does not change when M_i grows. A sample
weight v multiplies g. Checked against Vowpal Wabbit itself (tests), which takes an importance-aware
step in place of the last line. That of `Inag` never overshoots.
"""

import math
from typing import ClassVar

from unitless.kernels.arithmetic import clipped, exp
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, every, fma, load, store, total, where
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.learners.declared import Declared, parameter
from unitless.losses import (
    ABSOLUTE,
    HINGE,
    HUBER,
    LOGISTIC,
    QUANTILE,
    SMOOTHED_HINGE,
    SQUARED,
)

N = 1
COUNT, MEAN, M2, LOW, HIGH = range(N + 1, N + 6)
KNOWN = ("logistic", "hinge", "smoothed_hinge", "absolute", "quantile", "huber", "squared")
"""Losses for which the implicit step has a formula."""
MAX_GRADIENT = 2.0**480
"""Gradients stop growing there, so that a sum of 2^60 of their squares stays finite."""


@inlined
def predict(parameters, totals, v, x, f, scratch):
    M = f[0]
    B = f[1]
    squares = every(0.0)
    score = every(0.0)
    for k in range(0, x.size, LANES):
        z = load(x, k)
        largest = max(load(M, k), abs(z))
        ratio = z / where(largest > 0.0, largest, 1.0)
        squares += ratio * ratio
        score += load(B, k) * ratio
        store(M, k, largest)
    totals[N] += total(squares)
    p = total(score)
    return p, p


@inlined
def gradient(v, g, x):
    """v g x, the gradient of one weight; within bounds, where v, g and x are each at their end."""
    return clipped(v * g * x, MAX_GRADIENT)


@inlined
def over_root(x, S):
    """x / sqrt(S), 0 where S is 0 (where g x is 0 as well)."""
    return x / math.sqrt(S if S > 0 else 1.0) * (S > 0)


@inlined
def over_roots(x, S):
    """The same in lanes."""
    return where(S > 0.0, x / math.sqrt(where(S > 0.0, S, 1.0)), 0.0)


@inlined
def root_of_t_over_n(totals):
    """sqrt(t / N), 0 while every x is 0."""
    return math.sqrt(totals[T] / totals[N]) if totals[N] > 0 else 0.0


@inlined
def update(parameters, totals, trial, x, f, scratch):
    B = f[1]
    S = f[2]
    rate = parameters[0] * root_of_t_over_n(totals)
    for k in range(0, x.size, LANES):
        q = gradient(trial.v, trial.g, load(x, k))
        squares = fma(q, q, load(S, k))
        store(B, k, load(B, k) - rate * over_roots(q, squares))
        store(S, k, squares)


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 3, task, parameters, block, targets, weights, scores, state)


@inlined
def wright_omega(x):
    """The w with w + ln w = x, by two steps of Fritsch, Shafer and Crowley."""
    e = exp(min(x, 1.0))
    w = x - math.log(x) if x > 1 else e / (1 + e)
    for _ in range(3):
        if w <= 0:
            return 0.0
        z = x - w - math.log(w)
        q = 2 * (1 + w) * (1 + w + z * (2 / 3))
        w *= 1 + z / (1 + w) * (q - z) / (q - 2 * z)
    return w


@inlined
def logistic_move(margin, s):
    """delta >= 0 with delta (1 + e^(margin + delta)) = s."""
    if margin > 15:  # the 1 is lost beside e^15, and s + e^margin would lose delta
        return wright_omega(math.log(s) - margin)
    growth = exp(margin)
    return s + growth - wright_omega(s + margin + growth)


@inlined
def see_target(totals, y):
    """Count a target: running mean, sum of squared deviations (Welford), range."""
    totals[COUNT] += 1
    before = y - totals[MEAN]
    totals[MEAN] += before / totals[COUNT]
    totals[M2] = fma(before, y - totals[MEAN], totals[M2])
    totals[LOW] = min(totals[LOW], y)
    totals[HIGH] = max(totals[HIGH], y)


@inlined
def step(loss, y, p, g, s, v):
    """a, the step along k: the implicit gradient, with its sign turned, at most v |g|."""
    if loss == LOGISTIC:
        a = y * logistic_move(y * p, v * s) / s
    elif loss == SQUARED:
        a = -g * (1 - exp(-v * s)) / s
    elif loss in (SMOOTHED_HINGE, HUBER):
        return -g * v / (1 + v * s)
    elif loss == HINGE:
        return -g * min(v, (1 - y * p) / s) if g != 0 else 0.0
    else:
        return -g * min(v, abs(p - y) / (s * abs(g))) if g != 0 else 0.0
    return math.copysign(min(abs(a), v * abs(g)), -g)


@inlined
def implicit(parameters, totals, trial, x, f, scratch):
    rate = parameters[0]
    loss = int(parameters[1])
    v = trial.v
    y = trial.y
    p = trial.p
    g = trial.g
    M = f[0]
    B = f[1]
    S = f[2]
    rho = rate * root_of_t_over_n(totals)
    if loss == SQUARED:
        g = min(max(p, totals[LOW]), totals[HIGH]) - y
    if loss in (SQUARED, ABSOLUTE, QUANTILE, HUBER):
        see_target(totals, y)
        rho *= math.sqrt(totals[M2] / totals[COUNT])
    moves = every(0.0)
    for k in range(0, x.size, LANES):
        z = load(x, k)
        largest = load(M, k)
        q = gradient(v, g, z)
        root = over_roots(z, fma(q, q, load(S, k)))
        moves += root * (z / where(largest > 0.0, largest, 1.0))
        store(scratch, k, root)
    s = rho * total(moves)
    a = step(loss, y, p, g, s, v) if s > 0 and g != 0 else 0.0
    has_kink = loss in (HINGE, ABSOLUTE, QUANTILE)
    counted = a if s > 0 and has_kink else v * g
    for k in range(0, x.size, LANES):
        c = gradient(1.0, counted, load(x, k))
        store(B, k, load(B, k) + rho * a * load(scratch, k))
        store(S, k, fma(c, c, load(S, k)))


@kernel
def run_implicit(task, parameters, block, targets, weights, scores, state):
    return loop(predict, implicit, 3, task, parameters, block, targets, weights, scores, state)


class NormalisedGradient(Declared, Coordinatewise):
    """Base class of NAG and iNAG."""

    invariance = "unit"
    fields = (
        Field("M", "|x|", "max |x_i|"),
        Field("B", "sign", "w_i M_i"),
        Field("S", "x^2", "sum (g x_i)^2"),
    )
    totals: ClassVar[tuple[Field, ...]] = (Field("N", "1", "sum of (x_i / M_i)^2"),)
    needs_lipschitz = False


class Nag(NormalisedGradient):
    """NAG, normalised adaptive gradient descent: the algorithm of Vowpal Wabbit.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Nag()))
    0.3727
    """

    rate: float = parameter(0.5, "Vowpal Wabbit's `-l`, and its default")

    name = "nag"
    kernel = staticmethod(run)


class Inag(NormalisedGradient):
    """NAG with an implicit step: large learning rates are safe.

    The step goes along the gradient at the prediction p' that it leads to (Karampatziakis and
    Langford, "Online Importance Weight Aware Updates", 2011, integrate it instead; both agree to
    first order)::

        B_i' = B_i + rho k_i a,   k_i = x_i / sqrt(S_i),   rho = rate sqrt(t / N) (times sd(y)
        p'   = p + s a,           s = rho sum k_i x_i / M_i        where targets have a unit)

        logistic   a = y sigma(-y p'):  delta = y (p' - p) solves delta (1 + e^(y p + delta)) = s
        squared    a = (y - clip(p)) (1 - e^-s)/s,  clipped to the targets seen
        others     the gradient at p, cut where p' would cross the kink

    With a sample weight v, s becomes v s and a at most v |g|. Real targets are measured from the
    first one. At a kink S counts a, the part of the gradient that was used: a step ends exactly
    there, and a rounding error decides on which side the next slope is taken.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Inag(rate=3)))
    0.2606
    """

    rate: float = parameter(1.0, "the learning rate")

    name = "inag"
    takes_losses = KNOWN
    target_invariance = "unit"
    totals = (
        *NormalisedGradient.totals,
        Field("count", "1", "targets so far"),
        Field("mean", "1", "their mean"),
        Field("M2", "1", "sum of their squared deviations"),
        Field("low", "1", "the lowest"),
        Field("high", "1", "the highest"),
    )
    kernel = staticmethod(run_implicit)
