"""Online Newton with the full matrix, O(d^2) per row, scale-invariant.

A Gaussian approximation to the posterior of a linear model, updated once per row. P is its
covariance; a feature enters with the prior precision lambda s2_i/n_i, where s2_i is the sum of
x_i^2 over the n_i rows since it was first nonzero::

    z = w.x;   s = x'P x
    logistic   q = sigma(z);  e = y01 - q;  c = max(q (1 - q), 1e-3);  score = z / sqrt(1 + pi s/8)
    squared    e = y - z;     c = 1;                                   score = z
    w += P x e / (1 + c s);   P -= c / (1 + c s) P x x'P

The first values of a feature say little about its size, so the prior is updated to the
current estimate whenever t has grown by a quarter (doubled, after 256 rows). A value 2^13 times as
large as all before together is treated like a first one, because weights learned at the old size
do not apply to it: its weight is forgotten, the others stay.

With softmax all classes share P; c is the mean of q (1 - q) over them, if above 1e-3. A sample
weight multiplies e and c. `gaussian` has the updates of w and P.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import clipped, dot
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, fma
from unitless.learners.base import EMPTY, Block, Float, Learner
from unitless.learners.coordinatewise import MAX_TARGET, softmax_slopes
from unitless.learners.declared import Declared, parameter
from unitless.learners.diagonal import CURVED, FLATTEST, curvature, moderated
from unitless.learners.gaussian import (
    MAX_WEIGHT,
    MIN_SQUARE,
    initialise,
    is_due,
    is_out_of_range,
    leverage,
    project,
    refresh_prior,
    step,
    workspace,
)
from unitless.losses import SOFTMAX, SQUARED, derivative
from unitless.rows import row_span
from unitless.state import COLUMNS, Field, need

T, LAST = 0, 1
"""The fields of `totals`."""
MAX_COORDINATES = 4096
"""P then takes 128 MB."""


class NewtonState(NamedTuple):
    """The state of online Newton; the docstring of `Newton` has the table."""

    U: Float
    D: Float
    W: Float
    s2: Float
    woke: Float
    prior: Float
    totals: Float


@inlined
def _load(block, r, intercept, s2, x, far):
    """Row r without the values that are out of range; returns how many those are.

    `far` is the coordinates of those that have one, and their values.
    """
    values, indices, _, _ = block
    start, stop = row_span(block, r)
    x[:] = 0.0
    outside = 0
    for k in range(start - 1, stop):  # the constant comes before the values
        i = np.int64(0)
        value = intercept
        if k >= start:
            i = np.int64((indices[k] if indices.size else k - start) + 1)
            value = values[k]
        if value != value:
            continue
        known = i < x.size
        if is_out_of_range(value, s2[i] if known else 0.0):
            if known:
                far[0][outside] = i
                far[1][outside] = value
            outside += 1
        elif known:
            x[i] = value
    return outside


@inlined
def _slopes(loss, y, z, g):
    """g = the slopes of the loss at z; returns its curvature."""
    if loss == SOFTMAX:
        softmax_slopes(z, y, g)
        mean = 0.0
        for k in range(g.size):
            mean += abs(g[k]) * (1 - abs(g[k])) / g.size
        return max(mean, FLATTEST)
    if loss == SQUARED:
        g[0] = clipped(z[0], MAX_TARGET) - y
        return 1.0
    g[0] = derivative(loss, 0.0, y, z[0])
    return curvature(g[0])


@kernel
def run(block, targets, weights, scores, posterior, sizes, totals, settings):
    """Score each row and then, if there are targets, learn it."""
    U, D, W = posterior
    s2 = sizes[0]
    loss, classes, strength, intercept = settings
    m = s2.size
    scratch = workspace(m)
    f, S, _ = scratch
    x = np.empty(m)
    far = np.empty(m, np.int64), np.empty(m)
    z = np.empty(classes)
    e = np.empty(classes)
    for r in range(scores.size // classes):
        outside = _load(block, r, intercept, s2, x, far)
        project(U, x, f)
        s = leverage(D, f, S) + outside / strength
        for k in range(classes):
            z[k] = dot(W[k * m : (k + 1) * m], x)
            score = z[k] if loss == SQUARED else moderated(z[k], s)
            scores[r * classes + k] = score + 0.0  # no -0
        v = weights[r] if weights.size else 1.0
        if targets.size == 0 or v == 0:
            continue
        totals[T] += 1
        for i in range(m):
            s2[i] = fma(x[i], x[i], s2[i])
        for k in range(outside):  # all have coordinates
            i = far[0][k]
            x[i] = far[1][k]
            initialise(posterior, sizes, strength, i, x[i], totals[T], scratch)
        if outside:
            project(U, x, f)
            leverage(D, f, S)
        c = _slopes(loss, clipped(targets[r], MAX_TARGET), z, e)
        for k in range(classes):
            e[k] *= -v
        step(posterior, e, c * v, np.int64(0), scratch)
        if is_due(totals[T], totals[LAST], s2):
            refresh_prior(posterior, sizes, strength, totals[T], e, scratch)
            totals[LAST] = totals[T]


class Newton(Declared, Learner):
    """Online Newton with a covariance matrix; uncertain scores are drawn towards 0.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Newton()))
    0.2429
    """

    strength: float = parameter(3.0, "lambda, the prior precision in units of 1 / mean(x_i^2)")

    name = "newton"
    invariance = "unit"
    needs_lipschitz = False
    takes_losses = CURVED
    saved = (
        *Learner.saved,
        COLUMNS,
        Field("_U", "x_j/x_i", "P = U D U'; row j is column j of U", ("m m",)),
        Field("_D", "1/x^2", "variances", ("m",)),
        Field("_W", "1/x", "weights, one row per class", ("classes m",)),
        Field("_s2", "x^2", "sum x_i^2", ("m",)),
        Field("_woke", "1", "the trial in which x_i was first nonzero", ("m",)),
        Field("_prior", "x^2", "s2/n as it is in P", ("m",)),
        Field("_totals", "1", "trials, and the one in which the prior was last set", (2,)),
    )
    _columns = 0

    def _prepare(self) -> None:
        self._totals = np.array([0.0, 1.0])
        self._U = self._D = self._W = self._s2 = self._woke = self._prior = EMPTY
        self._reserve(0)

    @property
    def trials(self) -> int:
        """Rows learned."""
        return int(self._totals[T])

    @property
    def state(self) -> NewtonState:
        """The state; the arrays are not copies."""
        m = len(self._s2)
        U = self._U.reshape(m, m)
        W = self._W.reshape(self.classes, m)
        return NewtonState(U, self._D, W, self._s2, self._woke, self._prior, self._totals)

    def _reserve(self, columns: int) -> None:
        if columns >= MAX_COORDINATES:
            raise ValueError(
                f"{columns} columns: {self.name} keeps a matrix and takes fewer than "
                f"{MAX_COORDINATES}; use 'diagonal', or 'blend'"
            )
        self._columns = max(columns, self._columns)
        m = len(self._s2)
        more = -(-(1 + columns) // LANES) * LANES - m  # whole lanes
        if more > 0:
            old = self.state
            U = np.eye(m + more)
            U[:m, :m] = old.U
            self._U = U.reshape(-1)
            self._W = np.pad(old.W, ((0, 0), (0, more))).reshape(-1)
            for name in ("_D", "_s2", "_woke", "_prior"):
                setattr(self, name, np.pad(getattr(self, name), (0, more)))

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        run(
            tuple(block),
            targets,
            weights,
            scores.reshape(-1),
            (self._U, self._D, self._W),
            (self._s2, self._woke, self._prior),
            self._totals,
            (self.loss.code, self.classes, self.strength, float(self.intercept)),
        )
        return scores

    def _root_mean_squares(self) -> Float:
        return np.sqrt(self._s2[: 1 + self._columns] / max(self.trials, 1))

    def add_class(self) -> None:
        """Add one class, whose weights are 0."""
        super().add_class()
        self._W = np.append(self._W, np.zeros(len(self._s2)))

    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        U, D, W, s2, _, prior, _ = self.state
        i = columns + 1
        s2[i] = s2[i] * factors * factors
        prior[i] = prior[i] * factors * factors
        # after a smaller factor the next value is out of range, whatever the weights are
        factors = np.copysign(np.maximum(np.abs(factors), 2.0**-400), factors)
        U[i] *= factors[:, None]
        with np.errstate(over="ignore"):
            U[:, i] = np.clip(U[:, i] / factors, -MAX_WEIGHT, MAX_WEIGHT)
            D[i] = np.minimum(D[i] / factors**2, 1 / MIN_SQUARE)
            W[:, i] = np.clip(W[:, i] / factors, -MAX_WEIGHT, MAX_WEIGHT)

    def _coefficients(self) -> Float:
        W = self.state.W[:, : 1 + self._columns].copy()
        return W.T if self.loss.code == SOFTMAX else W[0]

    def _seen(self) -> NDArray[np.bool_]:
        return self._s2[: 1 + self._columns] > 0

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"m": len(self._s2)}

    def _loaded(self) -> None:
        m = len(self._s2)
        need(m % LANES == 0, f"{m} coordinates are not whole lanes")
        need(1 + self._columns <= m, f"there is no room for {self._columns} columns")


class Ridge(Newton):
    """Ridge regression in one pass: online Newton for the squared loss, which is exact there.

    The prior lambda mean(x_i^2) takes the place of a ridge, which would have a unit.

    >>> from sklearn.datasets import load_diabetes
    >>> from unitless.rows import as_rows
    >>> X, y = load_diabetes(return_X_y=True, scaled=False)
    >>> scores = Ridge().learn(as_rows(X, y))
    >>> print(f"{((scores - y) ** 2)[1:].mean() / y.var():.3f}")
    0.560
    """

    strength: float = parameter(1.0, "lambda, the prior precision in units of 1 / mean(x_i^2)")

    name = "ridge"
    has_classes = False
    default_loss = "squared"
    takes_losses = ("squared",)
