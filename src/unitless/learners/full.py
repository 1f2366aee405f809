"""Algorithm 2 of the paper: invariant to linear maps of the features, O(d^2) per row.

Kotlowski, "Scale-Invariant Unconstrained Online Learning" (2017), Algorithm 2 and Theorem 2.
At trial t, with alpha >= alpha_0 (below) and initial wealth eps::

    S += x x'
    p  = eps / alpha * exp((h' S^+ h - Gamma) / (2 alpha)) * x' S^+ h
    g  = loss'(y, p) / L;   h -= g x;   Gamma += g^2 x' S^+ x

No inverse is ever formed: updating one loses all digits as soon as cond(S) nears 1e16. Since x and
h lie in range(S), all that is needed are R and q with S = R'R and h = R'q, and the exponent
E = h' S^+ h - Gamma. Givens rotations take [R; x'] to [R; 0], [q; 0] to [q'; ql] and the last
column of the identity matrix to [a; al]; then, exactly,

    E -= ql^2;   x' S^+ h = -al ql;   p from these;   q = q' - g a;   E -= 2 g x' S^+ h

`givens` leaves out square roots: R = D^(1/2) U with D diagonal and ones on the diagonal of U,
q = D^(1/2) z, ql = delta^(1/2) wz, al = delta^(1/2) we. A sample weight v multiplies the
instance.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.kernels.decorators import inlined, kernel, pasted
from unitless.kernels.simd import fma
from unitless.learners.base import EMPTY, Block, Learner, Sums
from unitless.learners.declared import ALPHA_0, Declared, parameter
from unitless.learners.linear_map import check_invertible, mapped
from unitless.learners.slopes import SLOPES, add_slope
from unitless.learners.triangular_factor import (
    ACTIVE,
    RANK,
    A,
    E,
    FactorState,
    Float,
    T,
    add_row,
    empty_state,
    load,
)
from unitless.losses import derivative, kept_slope
from unitless.state import Field, checked_count, need


@inlined
def _scaled_exp(exponent, s):
    """exp(exponent) s, finite even if a caller's gradients have made the exponent huge."""
    if exponent <= 500 or s == 0:
        return math.exp(min(exponent, 500.0)) * s
    return math.copysign(math.exp(min(exponent + math.log(abs(s)), 600.0)), s)


@pasted
def _trial(x, v, factor, y, state, settings, scratch):
    """The score of an instance x, multiplied by v; unless y is NaN, one step of Algorithm 2.

    The factor multiplies g.
    """
    _, _, z, squares, _, _, totals, _, _, slopes = state
    alpha, eps, loss, parameter, lipschitz, _ = settings
    a, c2, row = scratch
    learns = y == y
    # S += x x'; in a new direction delta is 0, and so is p
    for n in range(x.size):
        row[n] = x[n]
        c2[n] = fma(x[n], x[n], squares[n])
    delta, wz, we, _ = add_row(state, x, 0.0, scratch, learns)
    # p = eps / alpha * exp((h' S^+ h - Gamma) / (2 alpha)) * x' S^+ h
    exponent = totals[E] - delta * wz * wz
    xSh = -delta * we * wz
    vp = eps / alpha * _scaled_exp(exponent / (2 * alpha), xSh)
    p = vp * (1 / v) + 0.0  # no -0
    # h -= g x;   Gamma += g^2 x' S^+ x
    if learns:
        for n in range(x.size):
            squares[n] = c2[n]
        g = kept_slope(loss, derivative(loss, parameter, y, p) * (1 / lipschitz)) * factor
        for k in range(int(totals[RANK])):
            z[k] -= g * a[k]
        totals[E] = exponent - 2 * g * xSh
        totals[A] += g * vp
        totals[T] += 1
        add_slope(loss, parameter, v * factor, y, p, slopes)
    return p


@kernel
def run(block, targets, weights, scores, first, state, intercept, settings):
    """Score the rows from `first` on and learn those with a target and a positive weight.

    Returns the number of rows, or the row whose new features do not fit into U.
    """
    totals = state[6]
    size = state[1].size
    x = np.zeros(size)
    scratch = np.zeros((3, size))
    for r in range(first, scores.size):
        v = 1.0
        y = targets[r] if targets.size else math.nan
        if weights.size and weights[r] > 0:
            v = weights[r]
        elif weights.size:
            y = math.nan
        factor = 1.0
        if settings[5] > 0:  # sample weights multiply the gradient
            factor, v = v, 1.0
        if load(block, r, v, intercept, y == y, state, x):
            active = int(totals[ACTIVE])
            arrays = scratch[0, :active], scratch[1, :active], scratch[2, :active]
            scores[r] = _trial(x[:active], v, factor, y, state, settings, arrays)
        elif y == y:
            return r
        else:
            scores[r] = 0.0  # every row with a new direction has the score 0
    return scores.size


class Full(Declared, Learner):
    """Algorithm 2 of the paper, invariant to every invertible linear map of the features.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Full()
    >>> scores = learner.learn(rows)
    >>> print(f"{learner.loss.value(rows.targets, scores).mean():.4f}")
    0.3465
    """

    alpha: float = parameter(
        9 / 8,
        "larger ones make weights smaller; 9/8 is the paper's choice",
        f"finite number >= {ALPHA_0}",
    )
    wealth: float = parameter(1.0, "eps, the initial wealth, which bounds the regret for u = 0")

    name = "full"
    has_classes = False
    invariance = "linear"
    theorem: ClassVar[str | None] = "Theorem 2"
    saved: ClassVar[tuple[Any, ...]] = (
        *Learner.saved,
        Field("state.U", "x_n/x_k", "S = U'DU: row k, position n; 1 on the diagonal", ("n", "n")),
        Field("state.D", "x^2", "squares of R's diagonal, R = D^(1/2) U", ("n",)),
        Field("state.z", "1/x", "h = U'Dz: -sum g x in the basis of U's rows", ("n",)),
        Field("state.squares", "x^2", "sum x_n^2, for the rank rule", ("n",)),
        Field("state.places", "1", "position of each coordinate, or -1", ("coordinates",)),
        Field("state.coordinates", "1", "coordinate at each position", ("n",)),
        Field(
            "state.totals",
            "1",
            "t, A = sum v g p, E = h'S^+h - Gamma, rank, positions, whether the rank rule is that "
            "of 0.1.0",
            (6,),
        ),
        Field("state.noise", "|x|", "what rounding is known to leave, for the rank rule", ("n",)),
        Field("state.lost", "|x|", "at most this part of h was dropped as noise", ("n",)),
        SLOPES._replace(name="state.slopes"),
    )
    state: FactorState

    def _prepare(self) -> None:
        loss = self.loss
        self._settings = (self.alpha, self.wealth, loss.code, loss.parameter, loss.lipschitz, 0.0)
        self.state = empty_state(1, 0)

    @property
    def trials(self) -> int:
        """Rows learned."""
        return int(self.state.totals[T])

    def weigh_gradients(self) -> None:
        """See `Learner.weigh_gradients`."""
        self._settings = (*self._settings[:-1], 1.0)

    def _sizes(self) -> dict[str, int]:
        own = {"n": max(1, len(self.state.D)), "coordinates": max(1, len(self.state.places))}
        return super()._sizes() | own

    def _loaded(self) -> None:
        _, D, _, _, places, coordinates, totals, *_ = self.state
        active = checked_count(totals[ACTIVE], len(D))
        checked_count(totals[RANK], active)
        taken = coordinates[:active]
        need(((taken >= 0) & (taken < len(places))).all(), "coordinates point beyond the end")
        used = np.flatnonzero(places != -1)
        same = np.array_equal(used, np.sort(taken)) and (places[taken] == np.arange(active)).all()
        need(same, "places and coordinates disagree")

    @property
    def _columns(self) -> int:
        return len(self.state.places) - 1

    def _reserve(self, columns: int) -> None:
        if columns > self._columns:
            new = np.full(columns - self._columns, -1)
            self.state = self.state._replace(places=np.append(self.state.places, new))

    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        self._run(block, EMPTY, weights, scores, 0)
        return scores

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        row = self._run(block, targets, weights, scores, 0)
        while row < len(scores):
            self._make_room(block.cut(row, row + 1))
            row = self._run(block, targets, weights, scores, row)
        return scores

    def _run(self, block: Block, targets: Float, weights: Float, scores: Float, first: int) -> int:
        state = tuple(self.state)
        data = tuple(block), targets, weights, scores
        return run(*data, first, state, self.intercept, self._settings)

    def _make_room(self, row: Block) -> None:
        """Make room in U for the features that are nonzero for the first time in this row."""
        columns = row.indices if len(row.starts) else np.arange(row.columns)
        new = (self.state.places[columns + 1] < 0) & (np.abs(row.values) > 0)
        active = int(self.state.totals[ACTIVE])
        self.state = self.state.with_room(active + int(new.sum()))

    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        self.state.rescale(columns, factors)

    def _seen(self) -> NDArray[np.bool_]:
        return self.state.places >= 0

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on x arrives as factors * x, or as M x for an invertible matrix M.

        Predictions continue as if it always had, exactly to the bit for powers of two.
        """
        if isinstance(factors, Mapping) or np.ndim(factors) != 2:
            return super().rescale(factors)
        matrix = np.asarray(factors, dtype=np.float64)
        check_invertible(matrix, self._columns)
        self.state, self._units = mapped(self.state, self._units, matrix)
        return self

    def _coefficients(self) -> Float:
        """eps/alpha exp(E/(2 alpha)) S^+ h, zero where a feature adds no direction."""
        return self.potential() / self.alpha * self.state.solution()

    def sums(self) -> Sums:
        """A, h / s and s, of the loss itself rather than of loss / L."""
        state = self.state
        lipschitz = self.loss.lipschitz
        active = int(state.totals[ACTIVE])
        coordinates = state.coordinates[:active]
        norms = np.sqrt(state.squares[:active])
        divisors = np.where(norms > 0, norms, np.inf)
        h = (state.R[:, :active] * state.q[:, None]).sum(axis=0)
        z, s, lost = np.zeros((3, len(state.places)))
        z[coordinates] = h / divisors * lipschitz
        lost[coordinates] = state.lost[:active] / divisors * lipschitz
        s[coordinates] = norms
        if len(self._units):
            with np.errstate(over="ignore"):  # a norm may exceed the largest float
                s[coordinates] /= self._units[coordinates]
        a = float(state.totals[A]) * lipschitz
        return Sums(int(state.totals[T]), active, a, z, s, state.slopes, lost)

    def deviations(self) -> Float:
        """The root of the mean square of each column."""
        with np.errstate(invalid="ignore"):  # the squared loss of Vaw is not Lipschitz; s is finite
            sums = Full.sums(self)
        return sums.sizes()

    def potential(self) -> float:
        """psi = eps exp((h'S^+h - Gamma) / (2 alpha)): the wealth still to be lost."""
        return self.wealth * math.exp(min(self.state.totals[E] / (2 * self.alpha), 600.0))

    def norm_h(self) -> float:
        """|h| in the norm of S^+, of the loss itself: regret(u) <= A + |u|_S norm_h()."""
        return self.loss.lipschitz * float(np.sqrt((self.state.q**2).sum()))

    def gamma(self) -> float:
        """Gamma = sum g^2 x'S^+x with g = loss' / L, the logarithmic term of Theorem 2."""
        return float((self.state.q**2).sum() - self.state.totals[E])
