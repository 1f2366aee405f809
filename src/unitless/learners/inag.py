"""iNAG: NAG with an implicit, importance-aware step, which never overshoots.

The scales, N and S are those of `nag`. In place of a step along the gradient at p, the step goes
along the gradient at the prediction p' that it leads to (Karampatziakis and Langford, "Online
Importance Weight Aware Updates", 2011, integrate it instead; both agree to first order)::

    B_i' = B_i + rho k_i a,   k_i = x_i / sqrt(S_i),   rho = rate sqrt(t / N) (times sd(y) where
    p'   = p + s a,           s = rho sum k_i x_i / M_i         targets have a unit)

    logistic   a = y sigma(-y p'):  delta = y (p' - p) solves delta (1 + e^(y p + delta)) = s
    squared    a = (y - clip(p)) (1 - e^-s)/s,  clipped to the targets seen: no push where right
    others     the gradient at p, cut where p' would cross the kink

With a sample weight v, s becomes v s and a at most v |g|. Real targets are measured from the first
one. At a kink S counts a, the part of the gradient that was used: a step ends exactly there, and a
rounding error decides on which side the next slope is taken.

===== ========= ========================================== ================
paper field     meaning                                    unit
===== ========= ========================================== ================
s_i   M         max |x_i|                                  [x_i]
w_i   B         w_i M_i                                    [score]
G_i   S         sum (g x_i)^2                              [x_i]^2 [g]^2
N     totals[1] sum of (x_i / M_i)^2                       1
--    totals[2] targets: count, mean, sum of squared       [y]^0, 1, 2
      ... [6]   deviations, lowest, highest                [y]
===== ========= ========================================== ================
"""

import math
from typing import Any, ClassVar

from unitless.kernels.arithmetic import exp
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, every, fma, load, store, total, where
from unitless.learners.base import Field
from unitless.learners.coordinatewise import loop
from unitless.learners.nag import (
    N,
    NormalisedGradient,
    checked_rate,
    gradient,
    over_roots,
    predict,
    root_of_t_over_n,
)
from unitless.losses import (
    ABSOLUTE,
    HINGE,
    HUBER,
    LOGISTIC,
    QUANTILE,
    SMOOTHED_HINGE,
    SQUARED,
    Loss,
)

COUNT, MEAN, M2, LOW, HIGH = range(N + 1, N + 6)


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
def update(parameters, totals, trial, x, f, scratch):
    rate, loss = parameters[0], int(parameters[1])
    v, y, p, g = trial.v, trial.y, trial.p, trial.g
    M, B, S = f[0], f[1], f[2]
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
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 3, task, parameters, block, targets, weights, scores, state)


KNOWN = (LOGISTIC, HINGE, SMOOTHED_HINGE, ABSOLUTE, QUANTILE, HUBER, SQUARED)


class Inag(NormalisedGradient):
    """NAG with the implicit step: large rates are safe.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Inag(rate=3)
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.2606
    """

    name: ClassVar[str] = "inag"
    target_invariance: ClassVar[str] = "unit"
    totals: ClassVar[tuple[Field, ...]] = (
        Field("N", "1", "sum of (x_i / M_i)^2"),
        Field("count", "1", "targets so far"),
        Field("mean", "1", "their mean"),
        Field("M2", "1", "sum of their squared deviations"),
        Field("low", "1", "the lowest"),
        Field("high", "1", "the highest"),
    )
    kernel: ClassVar[Any] = staticmethod(run)

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 1.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        if self.loss.code not in KNOWN:
            raise ValueError(f"iNAG has no implicit step for the {self.loss.name} loss: use 'nag'")
        self.rate = checked_rate(rate)
        self._prepare()

    def _parameters(self) -> tuple[float, ...]:
        return self.rate, float(self.loss.code)
