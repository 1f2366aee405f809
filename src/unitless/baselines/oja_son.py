"""Oja-SON: online Newton whose matrix is a sketch of m directions, by Oja's rule.

Luo, Agarwal, Cesa-Bianchi, Langford, "Efficient Second Order Online Learning by Sketching"
(2016), algorithms 1 and 3; Vowpal Wabbit's `--OjaNewton`. SON with A = a I + t V' diag(Lambda) V.
With r = sqrt(eta_t) q, eta_t = rate / (C sqrt(t)) and steps 1/t::

    Lambda <- (1 - 1/t) Lambda + (V r)^2 / t;    V <- orthonormal rows from V + (V r) r' / t

Kept is e = t Lambda, for which the first line is e += (V r)^2. The paper starts with any
orthonormal V. Here rows of V open one by one, with what the first r's have outside of those
before: that is the method for the V it ends up with, because a direction orthogonal to all r so
far has not moved, and it makes it blind to rotations. Checked against Vowpal Wabbit's source,
which starts at random, halves g, has twice the step, and divides features by the root of their
sum of squares. A sample weight multiplies g.

====== ========== =================================== ========
paper  field      meaning                             unit
====== ========== =================================== ========
u      vectors[0] weights before projection           [x_i]^-1
V      matrix     orthonormal directions              1
--     totals[1]  how many are open                   1
Lambda totals[2:] e = t Lambda                        [x]^2
====== ========== =================================== ========

a is added to numbers of unit [x]^2, so units matter; rotations do not.
"""

import math
from typing import ClassVar, NamedTuple

from unitless.baselines.dense import T, Whole, checked_positive, dot, rule_for
from unitless.baselines.fd_son import checked_rank
from unitless.baselines.son import clipped, excess
from unitless.learners.full import NOISE
from unitless.learners.nag import checked_rate
from unitless.losses import Loss
from unitless.numerics import fma, inner, kernel

OPEN, E = 1, 2


class OjaSketch(NamedTuple):
    """Parameters of Oja-SON."""

    C: float
    rate: float
    a: float
    m: int


@inner
def subtract(a, row, z):
    """z -= a row."""
    for j in range(z.size):
        z[j] = fma(-a, row[j], z[j])


@inner
def orthogonalise(V, count, z, scratch):
    """Take from z what it has of the first rows of V, twice, as once leaves noise."""
    for _ in range(2):
        for i in range(count):
            subtract(dot(V[i], z, scratch), V[i], z)


@kernel
def _solve(rule, state, x, z, scratch):
    """z = A^-1 x; returns x'z."""
    for j in range(x.size):
        z[j] = x[j]
    for i in range(int(state.totals[OPEN])):
        e = state.totals[E + i]
        subtract(e / (rule.a + e) * dot(state.matrix[i], x, scratch), state.matrix[i], z)
    for j in range(x.size):
        z[j] /= rule.a
    return dot(x, z, scratch)


@kernel
def _open(rule, state, r, rest, scratch):
    """Open a row of V with what r has outside of the others, unless that is noise."""
    V, count = state.matrix, int(state.totals[OPEN])
    if count == rule.m:
        return
    rest[:] = r
    orthogonalise(V, count, rest, scratch)
    size = math.sqrt(dot(rest, rest, scratch))
    if size > NOISE * math.sqrt(dot(r, r, scratch)):
        for j in range(r.size):
            V[count, j] = rest[j] / size
        state.totals[OPEN] += 1


@kernel
def _take(rule, state, r, rest, scratch):
    """Oja's step towards r."""
    _open(rule, state, r, rest, scratch)
    V, count, t = state.matrix, int(state.totals[OPEN]), state.totals[T]
    for i in range(count):
        b = dot(V[i], r, scratch)
        state.totals[E + i] += b * b
        subtract(-b / t, r, V[i])
    for i in range(count):
        orthogonalise(V, i, V[i], scratch)
        size = math.sqrt(dot(V[i], V[i], scratch))
        for j in range(r.size):
            V[i, j] /= size


def _predict(rule, state, v, d, x, work):
    return clipped(dot(state.vectors[0], x, work[0]), rule.C)


def _update(rule, state, v, y, p, g, d, x, work):
    u, q, r, step = state.vectors[0], work[0], work[1], work[2]
    tau = excess(dot(u, x, work[0]), rule.C)
    if tau != 0:
        form = _solve(rule, state, x, step, work[3])
        for j in range(x.size):
            u[j] -= tau / form * step[j]
    if g == 0:
        return
    root = math.sqrt(rule.rate / (rule.C * math.sqrt(state.totals[T])))
    for j in range(x.size):
        q[j] = v * g * x[j]
        r[j] = root * q[j]
    _take(rule, state, r, work[4], work[3])
    _solve(rule, state, q, step, work[3])
    for j in range(x.size):
        u[j] -= step[j]


rule_for(OjaSketch, _predict, _update)


class OjaSon(Whole):
    """Online Newton with a sketch by Oja's rule.

    Parameters
    ----------
    C : float
        The largest |prediction|.
    rate : float
        Of eta_t; the paper's theorem for the full matrix has sqrt(d).
    a : float
        A = a I at the start.
    m : int
        Directions kept.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X / X.max(axis=0), 2 * y - 1)
    >>> learner = OjaSon(C=5.0)
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.2297
    """

    name: ClassVar[str] = "oja_son"
    vectors: ClassVar[tuple[str, ...]] = ("u",)
    needs: ClassVar[tuple[str, ...]] = ("C",)

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        C: float = 1.0,
        rate: float = 1.0,
        a: float = 1.0,
        m: int = 10,
        intercept: bool = True,
    ) -> None:
        super().__init__(loss, intercept=intercept)
        self.C, self.a = checked_positive("C", C), checked_positive("a", a)
        self.rate = checked_rate(rate)
        self.m = checked_rank(m)
        self._prepare()

    def _rule(self) -> OjaSketch:
        return OjaSketch(self.C, self.rate, self.a, self.m)

    def _totals(self) -> int:
        return E + self.m

    def _matrix(self, coordinates: int) -> tuple[int, int]:
        return self.m, coordinates
