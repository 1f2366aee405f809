"""NAG, normalised adaptive gradient: gradient descent that no unit of a feature can move.

Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 2; the update that Vowpal
Wabbit uses by default. With a rate, and g the derivative of the loss::

    M_i = max(M_i, |x_i|)                       a weight w_i shrinks by M_old/M_new when M_i grows
    N  += sum (x_i / M_i)^2;   p = sum w_i x_i
    S_i += (g x_i)^2
    w_i -= rate sqrt(t / N) g x_i / (M_i sqrt(S_i))

Kept is B_i = w_i M_i, the weight of x_i / M_i: it stays as it is when M_i grows. A sample weight v
multiplies g. Checked against Vowpal Wabbit itself (tests), which takes the importance-aware step
of `inag` in place of the last line.

===== ========= ============================ ==============
paper field     meaning                      unit
===== ========= ============================ ==============
s_i   M         max |x_i|                    [x_i]
w_i   B         w_i M_i                      [score]
G_i   S         sum (g x_i)^2                [x_i]^2 [g]^2
N     totals[1] sum of (x_i / M_i)^2         1
===== ========= ============================ ==============
"""

import math
from typing import Any, ClassVar

import numpy as np

from unitless.lanes import LANES, every, load, store, where
from unitless.lanes import total as sum_of
from unitless.learners.coordinatewise import Rowwise, T
from unitless.learners.rules import NAG, House
from unitless.losses import Loss
from unitless.numerics import fma, inner

N = 1


@inner
def normalised_score(total, x, f, term):
    """p = sum B_i x_i / M_i, with M and N brought up to date."""
    n, squares, scores = x.size, every(0.0), every(0.0)
    for k in range(0, n, LANES):
        z = load(x, k)
        M = max(load(f, k), abs(z))
        ratio = z / where(M > 0.0, M, 1.0)
        squares += ratio * ratio
        scores += load(f, n + k) * ratio
        store(f, k, M)
    total[N] += sum_of(squares)
    return sum_of(scores)


STEEPEST = 2.0**480
"""Gradients stop growing there, so that a sum of 2^60 of their squares stays finite."""


@inner
def slope_along(v, g, x):
    """v g x, the gradient of one weight; within bounds, where v, g and x are each at their end."""
    return min(max(v * g * x, -STEEPEST), STEEPEST)


@inner
def over_root(x, S):
    """x / sqrt(S), 0 where S is 0 (where g x is 0 as well)."""
    return x / math.sqrt(S if S > 0 else 1.0) * (S > 0)


@inner
def over_roots(x, S):
    """The same in lanes."""
    return where(S > 0.0, x / math.sqrt(where(S > 0.0, S, 1.0)), 0.0)


@inner
def root_of_t_over_n(total):
    """sqrt(t / N), 0 while every x is 0."""
    return math.sqrt(total[T] / total[N]) if total[N] > 0 else 0.0


@inner
def predict(rule, total, v, x, f, term):
    p = normalised_score(total, x, f, term)
    return p, p


@inner
def update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    rate = rule.knob * root_of_t_over_n(total)
    for k in range(0, n, LANES):
        q = slope_along(v, g, load(x, k))
        S = fma(q, q, load(f, 2 * n + k))
        store(f, n + k, load(f, n + k) - rate * over_roots(q, S))
        store(f, 2 * n + k, S)


def checked_rate(rate: float) -> float:
    """A learning rate, as a float."""
    if not 0 < rate < math.inf:
        raise ValueError(f"rate = {rate}: a learning rate is a finite number > 0")
    return float(rate)


class Normalised(Rowwise):
    """What both forms of NAG share."""

    invariance: ClassVar[Any] = "unit"
    fields: ClassVar[tuple[str, ...]] = ("M", "B", "S")
    units: ClassVar[tuple[str, ...]] = ("|x|", "sign", "x^2")
    needs_lipschitz: ClassVar[bool] = False

    def _weights_at(self, records: Any, total: Any) -> Any:
        M, B, _ = records
        return np.divide(B, M, out=np.zeros_like(B), where=M > 0)


class Nag(Normalised):
    """NAG of Ross, Mineiro and Langford, with its explicit step.

    Parameters
    ----------
    rate : float
        Vowpal Wabbit's `-l`, and its default.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Nag()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.3727
    """

    name: ClassVar[str] = "nag"
    extra: ClassVar[int] = 1

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        rate: float = 0.5,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        self.rate = checked_rate(rate)
        self._prepare()

    def _rule(self) -> House:
        return House(NAG, self.rate, self.loss.code, self.loss.parameter)
