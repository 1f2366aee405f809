"""Online Newton with a diagonal matrix, O(nonzeros) a row, in any unit.

Each feature's precision is a prior of lambda times its largest square, and what was seen::

    a_i = A_i + lambda M_i^2;   w_i = b_i / a_i;   z = sum w_i x_i;   s = sum x_i^2 / a_i
    logistic   q = sigma(z);  e = y01 - q;  c = max(q (1 - q), 1e-3);  score = z/sqrt(1 + pi s/8)
    squared    e = y - z;     c = 1;                                   score = z
    w_i += x_i e / (a_i (1 + c s));   then A_i += c x_i^2

"Moderated": the score is drawn towards 0 where the row's weights are uncertain (MacKay 1992). Kept
is b_i = w_i a_i, because M_i may grow, and then the weight shrinks while b_i stays. A sample weight
multiplies e and c; with softmax each class has a diagonal of its own.

===== ========= ============================== ===========
paper field     meaning                        unit
===== ========= ============================== ===========
M_i   M         max |x_i|                      [x_i]
A_i   A         sum c x_i^2                    [x_i]^2
--    b         w_i a_i                        [x_i] [e]
===== ========= ============================== ===========
"""

import math
from typing import Any, ClassVar

import numpy as np

from unitless.lanes import LANES, every, load, store, where
from unitless.lanes import total as sum_of
from unitless.learners.coordinatewise import TALLEST, Rowwise
from unitless.learners.rules import DIAGONAL, House
from unitless.losses import LOGISTIC, SOFTMAX, SQUARED, Loss
from unitless.numerics import fma, inner

FLATTEST = 1e-3  # the least curvature of the logistic loss that is believed: a probability squared
STEEPEST = 2.0**900  # b stops there: sample weights that leap could raise it for ever
S = 1


@inner
def moderated(z, s):
    """The mean of a sigmoid over a normal z of variance s, as a logit (MacKay 1992)."""
    return z / math.sqrt(1.0 + math.pi / 8 * s)


@inner
def curvature(g):
    """q (1 - q) of the logistic loss from its slope, bounded from below."""
    return max(abs(g) * (1 - abs(g)), FLATTEST)


@inner
def predict(rule, total, v, x, f, term):
    n, variance, scores = x.size, every(0.0), every(0.0)
    for k in range(0, n, LANES):
        value = load(x, k)
        M = max(load(f, k), abs(value))
        a = fma(rule.knob * M, M, load(f, n + k))
        a = where(a > 0.0, a, 1.0)
        variance += value * value / a
        scores += load(f, 2 * n + k) * (value / a)
        store(f, k, M)
    total[S] = sum_of(variance)
    z = sum_of(scores)
    return z, z if rule.loss == SQUARED else moderated(z, total[S])


@inner
def update(rule, total, v, y, p, g, x, f, term):
    n = x.size
    near = min(max(p, -TALLEST), TALLEST)
    e, c = (y - near, 1.0) if rule.loss == SQUARED else (-g, curvature(g))
    e, c = e * v, c * v
    step = e / (1 + c * total[S])
    for k in range(0, n, LANES):
        value, M, A = load(x, k), load(f, k), load(f, n + k)
        a = fma(rule.knob * M, M, A)
        ratio = fma(c * value, value, a) / where(a > 0.0, a, 1.0)
        store(f, n + k, fma(c * value, value, A))
        b = fma(value, step, load(f, 2 * n + k)) * ratio
        store(f, 2 * n + k, min(max(b, -STEEPEST), STEEPEST))


class Diagonal(Rowwise):
    """Diagonal online Newton, moderated.

    Parameters
    ----------
    strength : float
        lambda, the prior precision in units of 1 / max(x_i^2).

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Diagonal()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.3199
    """

    name: ClassVar[str] = "diagonal"
    invariance: ClassVar[Any] = "unit"
    target_invariance: ClassVar[str] = "unit"
    needs_lipschitz: ClassVar[bool] = False
    fields: ClassVar[tuple[str, ...]] = ("M", "A", "b")
    units: ClassVar[tuple[str, ...]] = ("|x|", "x^2", "x")
    extra: ClassVar[int] = 1

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        strength: float = 1.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        self.strength = checked_strength(strength)
        require_curved(self.loss, "diagonal Newton")
        self._prepare()

    def _rule(self) -> House:
        return House(DIAGONAL, self.strength, self.loss.code, self.loss.parameter)

    def _weights_at(self, records: Any, total: Any) -> Any:
        M, A, b = records
        a = A + self.strength * M**2
        return np.divide(b, a, out=np.zeros_like(b), where=a > 0)


def checked_strength(strength: float) -> float:
    """A prior's strength, as a float."""
    if not 0 < strength < math.inf:
        raise ValueError(f"strength = {strength}: a prior's strength is a finite number > 0")
    return float(strength)


def require_curved(loss: Loss, who: str) -> None:
    """Newton's method needs a loss with a second derivative."""
    if loss.code not in (LOGISTIC, SOFTMAX, SQUARED):
        raise ValueError(
            f"{who} needs a loss with curvature, 'logistic', 'softmax' or 'squared', and the "
            f"{loss.name} loss has none to rely on"
        )
