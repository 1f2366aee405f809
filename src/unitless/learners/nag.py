"""NAG, normalised adaptive gradient: scale-invariant gradient descent.

Ross, Mineiro, Langford, "Normalized Online Learning" (2013), algorithm 2; the update that Vowpal
Wabbit uses by default. With a rate, and g the derivative of the loss::

    M_i = max(M_i, |x_i|)                       a weight w_i shrinks by M_old/M_new when M_i grows
    N  += sum (x_i / M_i)^2;   p = sum w_i x_i
    S_i += (g x_i)^2
    w_i -= rate sqrt(t / N) g x_i / (M_i sqrt(S_i))

The state has B_i = w_i M_i, the weight of x_i / M_i, which does not change when M_i grows. A sample
weight v multiplies g. Checked against Vowpal Wabbit itself (tests), which takes the
importance-aware step of `inag` in place of the last line.

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

from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, every, fma, load, store, total, where
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.losses import Loss

N = 1


MAX_GRADIENT = 2.0**480
"""Gradients stop growing there, so that a sum of 2^60 of their squares stays finite."""


@inlined
def normalised_score(totals, x, f):
    """p = sum B_i x_i / M_i, with M and N brought up to date."""
    M, B = f[0], f[1]
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
    return total(score)


@inlined
def gradient(v, g, x):
    """v g x, the gradient of one weight; within bounds, where v, g and x are each at their end."""
    return min(max(v * g * x, -MAX_GRADIENT), MAX_GRADIENT)


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
def predict(parameters, totals, v, x, f, scratch):
    p = normalised_score(totals, x, f)
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    B, S = f[1], f[2]
    rate = parameters[0] * root_of_t_over_n(totals)
    for k in range(0, x.size, LANES):
        q = gradient(trial.v, trial.g, load(x, k))
        squares = fma(q, q, load(S, k))
        store(B, k, load(B, k) - rate * over_roots(q, squares))
        store(S, k, squares)


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 3, task, parameters, block, targets, weights, scores, state)


def checked_rate(rate: float) -> float:
    """A learning rate as a float; an error if it is not positive and finite."""
    if not 0 < rate < math.inf:
        raise ValueError(f"rate = {rate}: a learning rate is a finite number > 0")
    return float(rate)


class NormalisedGradient(Coordinatewise):
    """Base class of NAG and iNAG."""

    invariance: ClassVar[Any] = "unit"
    fields: ClassVar[tuple[Field, ...]] = (
        Field("M", "|x|", "max |x_i|"),
        Field("B", "sign", "w_i M_i"),
        Field("S", "x^2", "sum (g x_i)^2"),
    )
    needs_lipschitz: ClassVar[bool] = False

    def _weights_at(self, records: Any, totals: Any) -> Any:
        M, B, _ = records
        return np.divide(B, M, out=np.zeros_like(B), where=M > 0)


class Nag(NormalisedGradient):
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
    totals: ClassVar[tuple[Field, ...]] = (Field("N", "1", "sum of (x_i / M_i)^2"),)
    kernel: ClassVar[Any] = staticmethod(run)

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

    def _parameters(self) -> tuple[float, ...]:
        return (self.rate,)
