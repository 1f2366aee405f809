"""FD-SON: online Newton whose matrix is a sketch of 2 m rows, by frequent directions.

Luo, Agarwal, Cesa-Bianchi, Langford, "Efficient Second Order Online Learning by Sketching"
(2016), algorithms 1 and 2. SON with A = a I + S'S, where S has 2 m rows and takes r = sqrt(eta_t)
q into the next empty one; when none is left, with the eigenvalues lambda_1 >= lambda_2 >= ... and
eigenvectors v_i of S'S::

    S <- rows sqrt(lambda_i - lambda_m) v_i for i <= m, m empty rows;   eta_t = rate / (C sqrt(t))

A^-1 x = (x - S'(a I + S S')^-1 S x) / a by a triangular factor of a I + S S', to which a new row
of S adds one row. Checked: with m > d nothing is thrown away, and the predictions are those of
SON (tests). A sample weight multiplies g.

===== ========== ============================================= ========
paper field      meaning                                       unit
===== ========== ============================================= ========
u     vectors[0] weights before projection                     [x_i]^-1
S     matrix     the sketch                                    [x_i]
tau   totals[1]  rows taken since the last m were made         1
H     totals[2:] L, 2 m x 2 m, with L L' = a I + S S'          1
===== ========== ============================================= ========

a is added to numbers of unit [x_i]^2, so units matter; rotations do not.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unitless.baselines.dense import T, Whole, checked_positive, dot, rule_for
from unitless.baselines.jacobi import eigen
from unitless.baselines.son import clipped, excess
from unitless.learners.nag import checked_rate
from unitless.losses import Loss
from unitless.numerics import fma, inner, kernel

TAKEN, L = 1, 2


class Sketch(NamedTuple):
    """Parameters of FD-SON."""

    C: float
    rate: float
    a: float
    m: int


@inner
def forward(factor, filled, size, c):
    """c <- L^-1 c, for the first `filled` rows."""
    for i in range(filled):
        for j in range(i):
            c[i] = fma(-factor[i * size + j], c[j], c[i])
        c[i] /= factor[i * size + i]


@inner
def backward(factor, filled, size, c):
    """c <- L'^-1 c."""
    for i in range(filled - 1, -1, -1):
        c[i] /= factor[i * size + i]
        for j in range(i):
            c[j] = fma(-factor[i * size + j], c[i], c[j])


@kernel
def _solve(rule, state, x, z, scratch):
    """z = A^-1 x; returns x'z."""
    factor, filled = state.totals[L:], rule.m + int(state.totals[TAKEN])
    c = np.empty(2 * rule.m)
    for i in range(filled):
        c[i] = dot(state.matrix[i], x, scratch)
    forward(factor, filled, 2 * rule.m, c)
    backward(factor, filled, 2 * rule.m, c)
    for j in range(x.size):
        z[j] = x[j]
    for i in range(filled):
        row = state.matrix[i]
        for j in range(x.size):
            z[j] = fma(-c[i], row[j], z[j])
    for j in range(x.size):
        z[j] /= rule.a
    return dot(x, z, scratch)


@kernel
def _compress(rule, state, scratch):
    """Keep the m largest directions, shortened by what the last of them has."""
    S, m, size = state.matrix, rule.m, 2 * rule.m
    K, E, s = np.empty((size, size)), np.empty((size, size)), np.empty(size)
    for i in range(size):
        for j in range(i, size):
            K[i, j] = K[j, i] = dot(S[i], S[j], scratch)
    eigen(K, E)
    values = np.array([K[i, i] for i in range(size)])
    order = np.argsort(-values, kind="mergesort")
    least = max(values[order[m - 1]], 0.0)
    shrink = np.zeros(m)
    for i in range(m):
        value = values[order[i]]
        shrink[i] = math.sqrt((value - least) / value) if value > least else 0.0
    for j in range(S.shape[1]):
        for i in range(size):
            s[i], S[i, j] = S[i, j], 0.0
        for i in range(m):
            for k in range(size):
                S[i, j] = fma(E[order[i], k] * shrink[i], s[k], S[i, j])
    factor = state.totals[L:]
    factor[:] = 0.0
    for i in range(m):
        factor[i * size + i] = math.sqrt(rule.a + max(values[order[i]] - least, 0.0))
    state.totals[TAKEN] = 0.0


@kernel
def _take(rule, state, r, scratch):
    """Put r into the sketch."""
    S, size, filled = state.matrix, 2 * rule.m, rule.m + int(state.totals[TAKEN])
    factor, c = state.totals[L:], np.empty(2 * rule.m)
    for i in range(filled):
        c[i] = dot(S[i], r, scratch)
    forward(factor, filled, size, c)
    rest = rule.a + dot(r, r, scratch)
    for i in range(filled):
        factor[filled * size + i] = c[i]
        rest = fma(-c[i], c[i], rest)
    factor[filled * size + filled] = math.sqrt(max(rest, rule.a))  # never below, but for rounding
    S[filled, : r.size] = r
    state.totals[TAKEN] += 1
    if filled + 1 == size:
        _compress(rule, state, scratch)


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
    _take(rule, state, r, work[3])
    _solve(rule, state, q, step, work[3])
    for j in range(x.size):
        u[j] -= step[j]


rule_for(Sketch, _predict, _update)


class FdSon(Whole):
    """Online Newton with a sketch by frequent directions.

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
    >>> learner = FdSon(C=5.0)
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.2241
    """

    name: ClassVar[str] = "fd_son"
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

    def _rule(self) -> Sketch:
        return Sketch(self.C, self.rate, self.a, self.m)

    def _totals(self) -> int:
        return L + (2 * self.m) ** 2

    def _matrix(self, coordinates: int) -> tuple[int, int]:
        return 2 * self.m, coordinates

    def _fresh(self, state: Any, old: int) -> None:
        if old == 0:
            size = 2 * self.m
            state.totals[L : L + self.m * size : size + 1] = math.sqrt(self.a)


def checked_rank(m: int) -> int:
    """The number of directions of a sketch."""
    if m < 1 or m != int(m):
        raise ValueError(f"m = {m}: a sketch keeps a whole number of directions, at least 1")
    return int(m)
