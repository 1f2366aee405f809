"""Online Newton with a diagonal matrix: scale-invariant, O(nonzeros) per row.

Each feature's precision is a prior of lambda times its largest square, plus that of the data::

    a_i = A_i + lambda M_i^2;   w_i = b_i / a_i;   z = sum w_i x_i;   s = sum x_i^2 / a_i
    logistic   q = sigma(z);  e = y01 - q;  c = max(q (1 - q), 1e-3);  score = z/sqrt(1 + pi s/8)
    squared    e = y - z;     c = 1;                                   score = z
    w_i += x_i e / (a_i (1 + c s));   then A_i += c x_i^2

"Moderated": the score is drawn towards 0 where the row's weights are uncertain (MacKay 1992). The
state has b_i = w_i a_i, because a weight shrinks when M_i grows, while b_i stays. A sample weight
multiplies e and c; with softmax each class has its own diagonal.

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

from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, every, fma, load, store, total, where
from unitless.learners.base import Field
from unitless.learners.coordinatewise import MAX_TARGET, Coordinatewise, loop
from unitless.losses import LOGISTIC, SOFTMAX, SQUARED, Loss

FLATTEST = 1e-3  # lower limit of the curvature q (1 - q) of the logistic loss
MAX_B = 2.0**900  # limit of b: sample weights that jump could raise it without end
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
    strength, loss = parameters[0], int(parameters[1])
    M, A, b = f[0], f[1], f[2]
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
    strength, loss = parameters[0], int(parameters[1])
    M, A, b = f[0], f[1], f[2]
    e = -trial.g
    c = curvature(trial.g)
    if loss == SQUARED:
        e = trial.y - min(max(trial.p, -MAX_TARGET), MAX_TARGET)
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
        store(b, k, min(max(now, -MAX_B), MAX_B))


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 3, task, parameters, block, targets, weights, scores, state)


class Diagonal(Coordinatewise):
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
    fields: ClassVar[tuple[Field, ...]] = (
        Field("M", "|x|", "max |x_i|"),
        Field("A", "x^2", "sum c x_i^2"),
        Field("b", "x", "w_i a_i"),
    )
    totals: ClassVar[tuple[Field, ...]] = (Field("s", "1", "s of the last row"),)
    kernel: ClassVar[Any] = staticmethod(run)

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

    def _parameters(self) -> tuple[float, ...]:
        return self.strength, float(self.loss.code)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        M, A, b = records
        a = A + self.strength * M**2
        return np.divide(b, a, out=np.zeros_like(b), where=a > 0)


def checked_strength(strength: float) -> float:
    """The strength of the prior as a float; an error if it is not positive and finite."""
    if not 0 < strength < math.inf:
        raise ValueError(f"strength = {strength}: a prior's strength is a finite number > 0")
    return float(strength)


def require_curved(loss: Loss, who: str) -> None:
    """Newton's method needs a loss with a second derivative."""
    if loss.code not in (LOGISTIC, SOFTMAX, SQUARED):
        raise ValueError(
            f"{who} needs a loss with curvature, 'logistic', 'softmax' or 'squared', and the "
            f"{loss.name} loss has none"
        )
