"""Online Newton with the full matrix, O(d^2) a row, in any unit.

A Gaussian approximation to the posterior of a linear model, updated once a row. P is its
covariance; a feature enters with the prior precision lambda s2_i/n_i, s2_i = sum x_i^2 over the n_i
rows since it first was not 0, which has the unit that makes the whole unitless::

    z = w.x;   s = x'P x
    logistic   q = sigma(z);  e = y01 - q;  c = max(q (1 - q), 1e-3);  score = z / sqrt(1 + pi s/8)
    squared    e = y - z;     c = 1;                                   score = z
    w += P x e / (1 + c s);   P -= c / (1 + c s) P x x'P

The first values of a feature say little about its size, so the prior is set anew with the sizes
known by then whenever t has grown by a quarter (doubled, after 256 rows): P^-1 grows by lambda
times the change of diag(s2/n), and w with it (b = P^-1 w stays). A value 2^13 times as large as all
before together is met like a first one, for weights learned at the old size say nothing there: its
weight is forgotten, the others stay.

With softmax all classes share P, with c the mean of q (1 - q) over them, if above 1e-3. A sample
weight multiplies e and c. P is kept as U D U' with U unit upper triangular (Bierman 1977): it stays
positive whatever is rounded, where P itself, after a sample weight of 1e9, has no digit left.

===== ========= =========================================== ===========
paper field     meaning                                     unit
===== ========= =========================================== ===========
U     U         row j is column j of U                      [x_j]/[x_i]
D     D         variances                                   1/[x_i]^2
w     W         weights, a row a class                      [z]/[x_i]
--    s2        sum x_i^2                                   [x_i]^2
--    woke      the trial in which x_i first was not 0      rows
--    prior     s2/n as it is in P                          [x_i]^2
t     totals[0] trials                                      rows
--    totals[1] the trial of the last refresh               rows
--    units     powers of two: a value arrives times its    1/[x_i]
===== ========= =========================================== ===========
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.learners.base import EMPTY
from unitless.learners.coordinatewise import TALLEST, softmax_slopes
from unitless.learners.diagonal import (
    FLATTEST,
    checked_strength,
    curvature,
    moderated,
    require_curved,
)
from unitless.learners.scaled import Scaled
from unitless.losses import SOFTMAX, SQUARED, Loss, derivative
from unitless.numerics import LANES, flat, fma, inner, kernel, lane_dot

T, LAST = 0, 1
FAR = 2.0**26  # squares: weights learned from values 2^13 times smaller say nothing
CERTAIN = 2.0**100  # a precision so many times larger leaves no digit of the variance
LEAST = 2.0**-1000  # squares: a value in its unit is near 1, and this is no value
SOON, LATER, EARLY = 1.25, 2.0, 256  # the prior is set anew when t has grown by this factor
STEEPEST = 2.0**600  # weights stop there: a column that grows 2^9 times a row could raise them
MOST = 4096  # coordinates: P then takes 128 MB


class Gaussian(NamedTuple):
    """Parameters of Newton, for the kernel."""

    loss: int
    classes: int
    strength: float
    intercept: float


class NewtonState(NamedTuple):
    """All that online Newton remembers; see the module's table."""

    U: NDArray[np.float64]
    D: NDArray[np.float64]
    W: NDArray[np.float64]
    s2: NDArray[np.float64]
    woke: NDArray[np.float64]
    prior: NDArray[np.float64]
    totals: NDArray[np.float64]
    units: NDArray[np.float64]


@inner
def look(U, x, f):
    """f = U'x."""
    m = x.size
    for j in range(m):
        f[j] = lane_dot(U, j * m, x, (j // LANES + 1) * LANES)


@inner
def spread(D, f, S):
    """S_j = sum_{i < j} D_i f_i^2; returns the last, x'P x.

    Where D is 0, nothing is left to learn: f becomes 0, so that U does not grow there for ever.
    """
    S[0] = 0.0
    for j in range(f.size):
        f[j] = f[j] if D[j] > 0 else 0.0
        S[j + 1] = fma(D[j] * f[j], f[j], S[j])
    return S[f.size]


@flat
def contract(U, D, f, S, c, first, Px, term):
    """P -= c / (1 + c s) Px x'P, and Px = P x as it was; f is 0 before `first`.

    Column by column, four of them at a time, each as it was before::

        D_j *= (1 + c S_j) / (1 + c S_j+1);   U_j -= c f_j / (1 + c S_j) Px;   Px += D_j f_j U_j
    """
    m = f.size
    for j in range(m):
        Px[j] = 0.0
        term[j] = -c * f[j] / (1.0 + c * S[j])
    for j in range(first // 4 * 4, m, 4):
        n = (j // LANES + 1) * LANES
        A, B = U[j * m : j * m + n], U[j * m + m : j * m + m + n]
        C, E = U[j * m + 2 * m : j * m + 2 * m + n], U[j * m + 3 * m : j * m + 3 * m + n]
        la, lb, lc, le = term[j], term[j + 1], term[j + 2], term[j + 3]
        ga, gb = D[j] * f[j], D[j + 1] * f[j + 1]
        gc, ge = D[j + 2] * f[j + 2], D[j + 3] * f[j + 3]
        for i in range(n):  # below the diagonal are zeros, and Px_i is 0 until column i
            k, a, b, c_, e = Px[i], A[i], B[i], C[i], E[i]
            A[i], k = fma(la, k, a), fma(ga, a, k)
            B[i], k = fma(lb, k, b), fma(gb, b, k)
            C[i], k = fma(lc, k, c_), fma(gc, c_, k)
            E[i], k = fma(le, k, e), fma(ge, e, k)
            Px[i] = k
    for j in range(first, m):
        D[j] *= (1.0 + c * S[j]) / (1.0 + c * S[j + 1])


@inner
def dot(a, b):
    """a.b in lanes."""
    return lane_dot(a, 0, b, a.size)


@inner
def step(U, D, w, f, S, e, c, first, Px, term):
    """One Newton update of the covariance and of each class's weights, from slopes -e."""
    m = f.size
    contract(U, D, f, S, c, first, Px, term)
    for k in range(e.size):
        own, a = w[k * m : k * m + m], e[k] / (1.0 + c * S[m])
        for j in range(m):
            own[j] = min(max(fma(a, Px[j], own[j]), -STEEPEST), STEEPEST)


@inner
def is_due(t, last, s2):
    """Whether the prior is to be set anew: often at first, then when t has doubled.

    But not within d / 16 rows, for it costs as much as d of them; d features have been met.
    """
    if t < (SOON if t <= EARLY else LATER) * last:
        return False
    d = 0
    for i in range(s2.size):
        d += s2[i] > 0
    return t - last >= d / 16


@flat
def refresh(rule, U, D, W, s2, woke, prior, t, f, S, e, Px, term):
    """Set the prior anew, with the sizes known by now: an update in each direction e_i.

    b = P^-1 w stays, so the slope is that of the change, c w_i^2 / 2.
    """
    m = s2.size
    for i in range(m):
        new = s2[i] / (t - woke[i] + 1) if s2[i] > 0 else 0.0
        c = rule.strength * (new - prior[i])
        if c != 0:
            for j in range(m):
                f[j] = U[j * m + i]
            s = spread(D, f, S)
            if c < 0 and (1.0 + c * s) * prior[i] < new / 2:
                continue  # s < 1 / (lambda prior) was lost in rounding
            for k in range(e.size):
                e[k] = min(max(-c * W[k * m + i], -STEEPEST), STEEPEST)
            step(U, D, W, f, S, e, c, i, Px, term)
            prior[i] = new


@inner
def strange(x, s2):
    """Whether a value is far beyond all before it; the first that is not 0 always is."""
    return x * x > max(FAR * s2, LEAST)


@flat
def meet(rule, U, D, W, s2, woke, prior, i, x, t, f, S, Px, term):
    """Feature i enters with the prior of this value; what was known of it counts as certain."""
    m = s2.size
    for j in range(m):
        f[j] = U[j * m + i]
    s = spread(D, f, S)
    if s > 0:
        contract(U, D, f, S, CERTAIN / s, i, Px, term)
    for j in range(m):
        U[i * m + j] = U[j * m + i] = 0.0
    U[i * m + i] = 1.0
    for k in range(i, W.size, m):
        W[k] = 0.0
    s2[i] = prior[i] = x * x
    woke[i], D[i] = t, 1.0 / (rule.strength * prior[i])


@inner
def _load(rule, values, indices, start, stop, sparse, s2, x):
    """x = the row without what is strange in it; the number of strange values."""
    for j in range(x.size):
        x[j] = 0.0
    strangers = strange(rule.intercept, s2[0])
    x[0] = 0.0 if strangers else rule.intercept
    for k in range(start, stop):
        i = (indices[k] if sparse else k - start) + 1
        if values[k] == values[k]:
            if strange(values[k], s2[i] if i < x.size else 0.0):
                strangers += 1
            elif i < x.size:
                x[i] = values[k]
    return strangers


@flat
def _meet_all(
    rule, values, indices, start, stop, sparse, x, U, D, W, s2, woke, prior, t, f, S, Px, term
):
    """The strange values of the row enter x; f and S are made anew."""
    if strange(rule.intercept, s2[0]):
        x[0] = rule.intercept
        meet(rule, U, D, W, s2, woke, prior, np.int64(0), x[0], t, f, S, Px, term)
    for k in range(start, stop):
        i = (indices[k] if sparse else k - start) + 1
        if values[k] == values[k] and strange(values[k], s2[i]):
            x[i] = values[k]
            meet(rule, U, D, W, s2, woke, prior, i, x[i], t, f, S, Px, term)
    look(U, x, f)
    spread(D, f, S)


@kernel
def run(
    rule, values, indices, starts, width, targets, weights, scores, U, D, W, s2, woke, prior, totals
):
    """One trial a row; without targets nothing is learned."""
    sparse, m = starts.size > 0, s2.size
    x, f, S, Px, term = np.empty(m), np.empty(m), np.empty(m + 1), np.empty(m), np.empty(m)
    z, e = np.empty(rule.classes), np.empty(rule.classes)
    for r in range(scores.size // rule.classes):
        start = starts[r] if sparse else r * width
        stop = starts[r + 1] if sparse else start + width
        v = weights[r] if weights.size else 1.0
        learns = targets.size > 0 and v > 0
        strangers = _load(rule, values, indices, start, stop, sparse, s2, x)
        look(U, x, f)
        s = spread(D, f, S) + strangers / rule.strength
        for k in range(rule.classes):
            z[k] = dot(W[k * m : k * m + m], x)
            score = z[k] if rule.loss == SQUARED else moderated(z[k], s)
            scores[r * rule.classes + k] = score + 0.0  # no -0
        if learns:
            totals[T] += 1
            for j in range(m):
                s2[j] = fma(x[j], x[j], s2[j])
            if strangers:
                _meet_all(
                    rule, values, indices, start, stop, sparse, x, U, D, W, s2, woke, prior,
                    totals[T], f, S, Px, term,
                )  # fmt: skip
            c = _slopes(rule, min(max(targets[r], -TALLEST), TALLEST), z, e)
            for k in range(e.size):
                e[k] *= -v
            step(U, D, W, f, S, e, c * v, np.int64(0), Px, term)
            if is_due(totals[T], totals[LAST], s2):
                refresh(rule, U, D, W, s2, woke, prior, totals[T], f, S, e, Px, term)
                totals[LAST] = totals[T]


@inner
def _slopes(rule, y, z, g):
    """g = the slopes of the loss at z; returns its curvature."""
    if rule.loss == SOFTMAX:
        softmax_slopes(z, y, g)
        mean = 0.0
        for k in range(g.size):
            mean += abs(g[k]) * (1 - abs(g[k])) / g.size
        return max(mean, FLATTEST)
    if rule.loss == SQUARED:
        g[0] = min(max(z[0], -TALLEST), TALLEST) - y
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
    0.2429
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
        self._U, self._D = np.eye(m).reshape(-1), np.zeros(m)
        self._W = np.zeros(self.classes * m)
        self._s2, self._woke, self._prior = np.zeros(m), np.zeros(m), np.zeros(m)

    @property
    def state(self) -> NewtonState:
        """What is remembered; the arrays are the learner's own."""
        m = len(self._s2)
        return NewtonState(
            self._U.reshape(m, m), self._D, self._W.reshape(-1, m), self._s2, self._woke,
            self._prior, self._totals, self._units,
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
            new.U[:m, :m], new.D[:m], new.W[:, :m] = old.U, old.D, old.W
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
            scores.reshape(-1), self._U, self._D, self._W, self._s2, self._woke, self._prior,
            self._totals,
        )  # fmt: skip

    def add_class(self) -> None:
        """One class more, whose weights are 0."""
        if self.loss.code != SOFTMAX:
            super().add_class()
        self.classes += 1
        self._W = np.append(self._W, np.zeros(len(self._s2)))
        self._made_rule = self._made_rule._replace(classes=self.classes)

    def _rescale_scaled(self, coordinates: NDArray[Any], factors: NDArray[Any]) -> None:
        U, D, W, s2, _, prior, _, _ = self.state
        s2[coordinates] *= factors**2
        prior[coordinates] *= factors**2
        # a smaller factor makes the next value strange, in whatever unit the rest is
        factors = np.copysign(np.maximum(np.abs(factors), 2.0**-400), factors)
        U[coordinates] *= factors[:, None]
        with np.errstate(over="ignore"):
            U[:, coordinates] = np.clip(U[:, coordinates] / factors, -STEEPEST, STEEPEST)
            D[coordinates] = np.minimum(D[coordinates] / factors**2, 1 / LEAST)
            W[:, coordinates] = np.clip(W[:, coordinates] / factors, -STEEPEST, STEEPEST)

    def _weights_scaled(self) -> NDArray[np.float64]:
        W = self.state.W[:, : len(self._units)]
        return W[0] if self.loss.code != SOFTMAX else W.T
