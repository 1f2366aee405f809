"""Online Newton with the full matrix, O(d^2) a row, in any unit.

A Gaussian approximation to the posterior of a linear model, updated once a row. P is its covariance;
a feature enters with the prior precision lambda s2_i/n_i, s2_i = sum x_i^2 over the n_i rows since it
first was not 0, which has the unit that makes the whole unitless::

    z = w.x;   s = x'P x
    logistic   q = sigma(z);  e = y01 - q;  c = max(q (1 - q), 1e-3);  score = z / sqrt(1 + pi s / 8)
    squared    e = y - z;     c = 1;                                   score = z
    w += P x e / (1 + c s);   P -= c / (1 + c s) P x x'P

The first values of a feature say little about its size, so the prior is set anew with the sizes known
by then whenever t has grown by a quarter (doubled, after 256 rows): P <- (P^-1 + lambda diag(change of s2/n))^-1, and w with it
(b = P^-1 w stays). With softmax all classes share P, with c the mean of q (1 - q) over them. A sample
weight multiplies e and c.

===== ========= =========================================== ===========
paper field     meaning                                     unit
===== ========= =========================================== ===========
P     P         covariance, coordinates in order            1/[x_i x_j]
w     W         weights, a row a class                      [z]/[x_i]
--    s2        sum x_i^2                                   [x_i]^2
--    woke      the trial in which x_i first was not 0      rows
--    prior     s2/n as it is in P                          [x_i]^2
t     totals[0] trials                                      rows
--    totals[1] the trial of the last refresh               rows
===== ========= =========================================== ===========
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.learners.diagonal import checked_strength, curvature, moderated, require_curved
from unitless.learners.protocol import EMPTY
from unitless.learners.rowwise import softmax_slopes
from unitless.learners.scaled import Scaled
from unitless.losses import SOFTMAX, SQUARED, Loss, derivative
from unitless.numerics import LANES, fma, inner, kernel, lane_sum

T, LAST = 0, 1
SOON, LATER, EARLY = 1.25, 2.0, 256  # the prior is set anew when t has grown by this factor
MOST = 4096  # coordinates: P then takes 128 MB


class Gaussian(NamedTuple):
    """Parameters of Newton, for the kernel."""

    loss: int
    classes: int
    strength: float
    intercept: float


class NewtonState(NamedTuple):
    """All that online Newton remembers; see the module's table."""

    P: NDArray[np.float64]
    W: NDArray[np.float64]
    s2: NDArray[np.float64]
    woke: NDArray[np.float64]
    prior: NDArray[np.float64]
    totals: NDArray[np.float64]
    units: NDArray[np.float64]


@inner
def project(P, x, Px):
    """Px = P x, for symmetric P with rows of Px.size; two rows at a time, zeros of x skipped."""
    m = Px.size
    for j in range(m):
        Px[j] = 0.0
    for i in range(0, m, 2):
        c, d = x[i], x[i + 1]
        if c != 0 or d != 0:
            A, B = P[i * m : i * m + m], P[i * m + m : i * m + 2 * m]
            for j in range(m):
                Px[j] += fma(c, A[j], d * B[j])


@inner
def contract(P, u):
    """P -= u u', exactly symmetric."""
    m = u.size
    for i in range(m):
        if u[i] != 0:
            row, a = P[i * m : i * m + m], -u[i]
            for j in range(m):
                row[j] = fma(a, u[j], row[j])


@inner
def advance(P, u, x, Px):
    """`contract` and then `project`, to the bit, in one pass over P; u is used up."""
    m = Px.size
    for j in range(m):
        Px[j] = 0.0
    for i in range(0, m, 2):
        a, b, c, d = -u[i], -u[i + 1], x[i], x[i + 1]
        A, B = P[i * m : i * m + m], P[i * m + m : i * m + 2 * m]
        if a != 0 or b != 0:
            for j in range(m):
                A[j] = fma(a, u[j], A[j])
                B[j] = fma(b, u[j], B[j])
                Px[j] += fma(c, A[j], d * B[j])
        elif c != 0 or d != 0:
            for j in range(m):
                Px[j] += fma(c, A[j], d * B[j])
    for j in range(m):
        u[j] = 0.0


@inner
def dot(a, b, term):
    """a.b in lanes."""
    for k in range(a.size):
        term[k] = a[k] * b[k]
    return lane_sum(term, a.size)


@inner
def move(w, Px, s, e, c, u):
    """One Newton step of each class's weights, from slopes -e; u = what P is to be contracted by."""
    m = Px.size
    for k in range(e.size):
        own, a = w[k * m : k * m + m], e[k] / (1.0 + c * s)
        for j in range(m):
            own[j] = fma(a, Px[j], own[j])
    root = math.sqrt(c / (1.0 + c * s))
    for j in range(m):
        u[j] = root * Px[j]


@inner
def step(P, w, Px, s, e, c, u):
    """One Newton step of the weights and of the covariance."""
    move(w, Px, s, e, c, u)
    contract(P, u)


@kernel
def inverse(H, m, out):
    """out = H^-1 for symmetric positive definite H, scaled to unit diagonal first; whether it is.

    Rows and columns whose diagonal is 0 are left out: they belong to features never seen.
    """
    scale = np.empty(m)
    for i in range(m):
        scale[i] = 1.0 / math.sqrt(H[i * m + i]) if H[i * m + i] > 0 else 0.0
    L = np.zeros((m, m))  # L L' = scaled H, by columns: row j of `L` is column j
    work = np.empty((m, m))
    for i in range(m):
        for j in range(m):
            work[i, j] = H[i * m + j] * scale[i] * scale[j]
    for j in range(m):
        if scale[j] == 0:
            continue
        if not work[j, j] > 0:
            return False
        root = 1.0 / math.sqrt(work[j, j])
        column = L[j]
        for i in range(j, m):
            column[i] = work[j, i] * root
        for k in range(j + 1, m):
            rest, a = work[k], -column[k]
            if a != 0:
                for i in range(k, m):
                    rest[i] = fma(a, column[i], rest[i])
    # rows of V = L^-1 come one after another: V[i] = (e_i - sum_{j<i} L_ij V[j]) / L_ii
    V = np.zeros((m, m))
    for i in range(m):
        if scale[i] == 0:
            continue
        own = V[i]
        own[i] = 1.0
        for j in range(i):
            a = -L[j, i]
            if a != 0:
                other = V[j]
                for k in range(j + 1):
                    own[k] = fma(a, other[k], own[k])
        for k in range(i + 1):
            own[k] /= L[i, i]
    out[: m * m] = 0.0
    for i in range(m):  # H^-1 = V'V
        own = V[i]
        for j in range(i + 1):
            a = own[j]
            if a != 0:
                row = out[j * m : j * m + m]
                for k in range(i + 1):
                    row[k] = fma(a, own[k], row[k])
    for i in range(m):
        for j in range(m):
            out[i * m + j] *= scale[i] * scale[j]
    return True


@kernel
def refresh(rule, P, W, s2, woke, prior, t):
    """Set the prior anew, with the sizes known by now."""
    m = s2.size
    H, b = np.empty(m * m), np.zeros(m)
    if not inverse(P, m, H):
        return
    for k in range(rule.classes):
        w = W[k * m : k * m + m]
        project(H, w, b)
        w[:] = b  # b = P^-1 w, for the moment in its place
    new = np.zeros(m)
    for i in range(m):
        if s2[i] > 0:
            new[i] = s2[i] / (t - woke[i] + 1)
            H[i * m + i] += rule.strength * (new[i] - prior[i])
    fresh = np.empty(m * m)
    good = inverse(H, m, fresh)
    if good:
        P[:], prior[:] = fresh, new
    for k in range(rule.classes):
        w = W[k * m : k * m + m]
        project(P, w, b)
        w[:] = b


@inner
def is_due(t, last):
    """Whether the prior is to be set anew: often at first, then when t has doubled."""
    return t >= (SOON if t <= EARLY else LATER) * last


@inner
def _load(rule, values, indices, start, stop, sparse, x):
    for j in range(x.size):
        x[j] = 0.0
    x[0] = rule.intercept
    for k in range(start, stop):
        i = (indices[k] if sparse else k - start) + 1
        if i < x.size:
            x[i] = values[k] if values[k] == values[k] else 0.0


@inner
def wake(rule, P, s2, prior, woke, x, Px, t):
    """Features that are not 0 for the first time enter with their prior, this row included.

    Px, made while they were strangers, learns of them here.
    """
    m = x.size
    for i in range(m):
        if x[i] != 0 and s2[i] == 0:
            prior[i], woke[i] = x[i] * x[i], t
            P[i * m + i] = 1.0 / (rule.strength * prior[i])
            Px[i] = P[i * m + i] * x[i]
        s2[i] = fma(x[i], x[i], s2[i])


@inner
def _strangers(values, indices, start, stop, sparse, x, s2):
    """How many features of the row were always 0 so far, known by number or not."""
    count = x[0] != 0 and s2[0] == 0
    for k in range(start, stop):
        i = (indices[k] if sparse else k - start) + 1
        count += values[k] == values[k] and values[k] != 0 and (i >= s2.size or s2[i] == 0)
    return count


@kernel
def run(
    rule, values, indices, starts, width, targets, weights, scores, P, W, s2, woke, prior, totals
):
    """One trial a row; without targets nothing is learned."""
    sparse, m = starts.size > 0, s2.size
    x, Px, term, u = np.empty(m), np.empty(m), np.empty(m), np.zeros(m)
    z, e = np.empty(rule.classes), np.empty(rule.classes)
    for r in range(scores.size // rule.classes):
        start = starts[r] if sparse else r * width
        stop = starts[r + 1] if sparse else start + width
        v = weights[r] if weights.size else 1.0
        learns = targets.size > 0 and v > 0
        _load(rule, values, indices, start, stop, sparse, x)
        strangers = _strangers(values, indices, start, stop, sparse, x, s2)
        advance(P, u, x, Px)  # P catches up with the row before
        s = max(dot(x, Px, term), 0.0) + strangers / rule.strength
        for k in range(rule.classes):
            z[k] = dot(W[k * m : k * m + m], x, term)
            score = z[k] if rule.loss == SQUARED else moderated(z[k], s)
            scores[r * rule.classes + k] = score + 0.0  # no -0
        if learns:
            totals[T] += 1
            wake(rule, P, s2, prior, woke, x, Px, totals[T])
            c = _slopes(rule, targets[r], z, e)
            for k in range(e.size):
                e[k] *= -v
            move(W, Px, s, e, c * v, u)
            if is_due(totals[T], totals[LAST]):
                contract(P, u)
                u[:] = 0.0
                refresh(rule, P, W, s2, woke, prior, totals[T])
                totals[LAST] = totals[T]
    contract(P, u)


@inner
def _slopes(rule, y, z, g):
    """g = the slopes of the loss at z; returns its curvature."""
    if rule.loss == SOFTMAX:
        softmax_slopes(z, y, g)
        mean = 0.0
        for k in range(g.size):
            mean += curvature(g[k]) / g.size
        return mean
    if rule.loss == SQUARED:
        g[0] = z[0] - y
        return 1.0
    g[0] = derivative(rule.loss, 0.0, y, z[0])
    return curvature(g[0])


class Newton(Scaled):
    """Online Newton with the full covariance, moderated.

    Parameters
    ----------
    loss : "logistic", "softmax" or "squared"
    strength : float
        lambda, the prior precision in units of 1 / mean(x_i^2).

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Newton()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.2425
    """

    name: ClassVar[str] = "newton"
    invariance: ClassVar[Any] = "unit"
    needs_lipschitz: ClassVar[bool] = False

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        strength: float = 3.0,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        require_curved(self.loss, "Newton's method")
        self.strength = checked_strength(strength)
        self._made_rule = Gaussian(
            self.loss.code, self.classes, self.strength, float(self.intercept)
        )
        self._units = np.ones(1)
        self._totals = np.array([0.0, 1.0])
        self._size(1)

    def _size(self, coordinates: int) -> None:
        """Empty arrays for that many coordinates, rounded up to whole lanes."""
        m = -(-coordinates // LANES) * LANES
        self._P, self._W = np.zeros(m * m), np.zeros(self.classes * m)
        self._s2, self._woke, self._prior = np.zeros(m), np.zeros(m), np.zeros(m)

    @property
    def state(self) -> NewtonState:
        """What is remembered; the arrays are the learner's own."""
        m = len(self._s2)
        return NewtonState(
            self._P.reshape(m, m), self._W.reshape(-1, m), self._s2, self._woke, self._prior,
            self._totals, self._units,
        )  # fmt: skip

    def _reserve(self, columns: int) -> None:
        if columns >= MOST:
            raise ValueError(
                f"{columns} columns: {self.name} keeps a matrix and takes fewer than {MOST}; use "
                "'diagonal', or 'blend', which drops such members by itself"
            )
        super()._reserve(columns)
        old = self.state
        if 1 + columns > len(old.s2):
            m = len(old.s2)
            self._size(1 + columns)
            new = self.state
            new.P[:m, :m], new.W[:, :m] = old.P, old.W
            new.s2[:m], new.woke[:m], new.prior[:m] = old.s2, old.woke, old.prior

    def _predict_scaled(self, values, indices, starts, columns, weights, scores):
        self._run(values, indices, starts, columns, EMPTY, weights, scores)
        return scores

    def _learn_scaled(self, values, indices, starts, columns, targets, weights, scores):
        self._run(values, indices, starts, columns, targets, weights, scores)
        return scores

    def _run(self, values, indices, starts, columns, targets, weights, scores):
        run(
            self._made_rule, values, indices, starts, columns, targets, weights,
            scores.reshape(-1), self._P, self._W, self._s2, self._woke, self._prior, self._totals,
        )  # fmt: skip

    def add_class(self) -> None:
        """One class more, whose weights are 0."""
        if self.loss.code != SOFTMAX:
            return super().add_class()
        self.classes += 1
        self._W = np.append(self._W, np.zeros(len(self._s2)))
        self._made_rule = self._made_rule._replace(classes=self.classes)

    def _rescale_scaled(self, coordinates: NDArray[Any], factors: NDArray[Any]) -> None:
        P, W, s2, _, prior, _, _ = self.state
        tiny = np.abs(factors) < 2.0**-200  # what is left of such a feature is not worth a digit
        gone, kept, factors = coordinates[tiny], coordinates[~tiny], factors[~tiny]
        P[gone], P[:, gone], W[:, gone], s2[gone], prior[gone] = 0, 0, 0, 0, 0
        P[kept] /= factors[:, None]
        P[:, kept] /= factors
        W[:, kept] /= factors
        s2[kept] *= factors**2
        prior[kept] *= factors**2

    def _weights_scaled(self) -> NDArray[np.float64]:
        W = self.state.W[:, : len(self._units)]
        return W[0] if self.loss.code != SOFTMAX else W.T
