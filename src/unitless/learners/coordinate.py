"""Algorithm 1 of the paper: scale-invariant, O(nonzeros) per row.

Kotlowski, "Scale-Invariant Unconstrained Online Learning" (2017), Algorithm 1 and Theorem 1.
At trial t, with alpha > 9/8, initial wealth eps and d coordinates seen so far::

    s2_i += x_i^2
    w_i   = eps / (alpha t d) * h_i / s2_i * exp((h_i^2 + x_i^2) / (2 alpha s2_i))
    p     = sum_i w_i x_i;   g = loss'(y, p) / L;   h_i -= g x_i

A sample weight v scales the instance: h and s2 take v x, while p = w.x. The paper fixes d; counting
coordinates as they appear keeps the proof, because 1 / (t d) never grows (theory.md).
"""

from typing import Any, ClassVar

import numpy as np

from unitless.kernels.arithmetic import bounded_exp
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, every, fma, load, store, total, where
from unitless.learners.base import Field, Float, Sums
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.learners.declared import Declared, parameter
from unitless.learners.slopes import SLOPES, add_slopes, no_slopes

D, A = 1, 2  # totals
TINY = 2.0**-1022  # stands for s2 = 0, where h and x are 0 as well
MAX_EXPONENT = 500.0  # keeps sums of potentials finite for any gradients of a caller


@inlined
def weight(h, s2, x, half):
    """w_i without its factor eps / (alpha t d); s2 includes x^2 and half is 1 / (2 alpha)."""
    inverse = 1.0 / max(s2, TINY)
    return h * inverse * bounded_exp(min(fma(h, h, x * x) * inverse * half, MAX_EXPONENT))


@inlined
def count_new(fixed_d, totals, x, s2):
    """d, with the coordinates of this row that are nonzero for the first time."""
    new = every(0.0)
    for k in range(0, x.size, LANES):
        new += where(load(s2, k) == 0.0, where(load(x, k) != 0.0, 1.0, 0.0), 0.0)
    totals[D] += total(new)
    return max(fixed_d or totals[D], 1.0)


@inlined
def predict(parameters, totals, v, x, f, scratch):
    half = parameters[0]
    wealth_over_alpha = parameters[1]
    h = f[0]
    s2 = f[1]
    d = count_new(parameters[2], totals, x, s2)
    score = every(0.0)
    for k in range(0, x.size, LANES):
        z = load(x, k)
        score += weight(load(h, k), fma(z, z, load(s2, k)), z, half) * z
    p = wealth_over_alpha / (totals[T] * d) * total(score)
    scratch[0] = p
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    g = trial.g
    h = f[0]
    s2 = f[1]
    for k in range(0, x.size, LANES):
        z = load(x, k)
        store(h, k, load(h, k) - g * z)
        store(s2, k, fma(z, z, load(s2, k)))
    totals[A] += g * scratch[0]


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    rows = loop(predict, update, 2, task, parameters, block, targets, weights, scores, state)
    add_slopes(task, targets, weights, scores, state[2])
    return rows


class Coordinate(Declared, Coordinatewise):
    """Algorithm 1 of the paper, invariant to the unit of each feature.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Coordinate()))
    0.6905
    """

    alpha: float = parameter(
        1.2, "larger ones make weights smaller; Theorem 1 needs it above 9/8", "finite number > 9/8"
    )
    wealth: float = parameter(1.0, "eps, the initial wealth; the bound for u = 0 is proportional")
    d: int | None = parameter(
        None,
        "the fixed number of coordinates, with the intercept; None counts them as they appear",
        "whole number >= 1, or None",
    )

    name = "coordinate"
    has_classes = False
    invariance = "unit"
    theorem = "Theorem 1"
    fields: ClassVar[Any] = (Field("h", "x", "-sum g x_i"), Field("s2", "x^2", "sum x_i^2"))
    totals = (
        Field("d", "1", "coordinates so far"),
        Field("A", "1", "sum v g p, for the certificate"),
    )
    scales_instance = True
    kernel = staticmethod(run)
    saved = (*Coordinatewise.saved, SLOPES)

    def _prepare(self) -> None:
        self._slopes = no_slopes()
        super()._prepare()

    def _more_arrays(self) -> tuple[Float, ...]:
        return (self._slopes,)

    def _parameters(self) -> tuple[float, ...]:
        return 0.5 / self.alpha, self.wealth / self.alpha, float(self.d or 0)

    def _reserve(self, columns: int) -> None:
        if self.d is not None and columns + self.intercept > self.d:
            raise ValueError(
                f"d = {self.d} coordinates were declared, but there are {columns} features"
                f"{' and an intercept' if self.intercept else ''}: use d=None to count them"
            )
        super()._reserve(columns)

    def sums(self) -> Sums:
        """A, h / s and s, of the loss itself rather than of loss / L."""
        h, s2 = self.state.records[:, 0, :2].T
        t, d, a = self._totals
        s = np.sqrt(s2)
        lipschitz = self.loss.lipschitz
        z = np.divide(h, s, out=np.zeros_like(h), where=s > 0) * lipschitz
        return Sums(int(t), int(d), float(a) * lipschitz, z, self._in_own_unit(s), self._slopes)

    def _root_mean_squares(self) -> Float:
        return np.sqrt(self.state.records[:, 0, 1] / max(self.trials, 1))
