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

`givens` leaves out square roots: R = D^(1/2) U, where U has ones on its diagonal, q = D^(1/2) z,
ql = delta^(1/2) wz and al = delta^(1/2) we. A sample weight v multiplies the instance.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.kernels.decorators import inlined, kernel, pasted
from unitless.kernels.simd import fma
from unitless.learners import linear_map
from unitless.learners.base import EMPTY, Block, Float, Learner, Sums
from unitless.learners.declared import AT_LEAST_ALPHA_0, Declared, parameter
from unitless.learners.slopes import SLOPES, add_slope
from unitless.learners.triangular_factor import ACTIVE, RANK, A, E, FactorState, T, add_row, load
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
    """The score of x, v times an instance; unless y is NaN, one step with g times `factor`."""
    alpha, eps, loss, parameter, lipschitz, _, _ = settings
    totals = state.totals
    a, c2, row = scratch
    learns = y == y
    # S += x x'; in a new direction delta is 0, and so is p
    for n in range(x.size):
        row[n] = x[n]
        c2[n] = fma(x[n], x[n], state.squares[n])
    delta, wz, we, _ = add_row(state, x, 0.0, scratch, learns)
    # p = eps / alpha * exp((h' S^+ h - Gamma) / (2 alpha)) * x' S^+ h
    exponent = totals[E] - delta * wz * wz
    xSh = -delta * we * wz
    vp = eps / alpha * _scaled_exp(exponent / (2 * alpha), xSh)
    p = vp * (1 / v) + 0.0  # no -0
    # h -= g x;   Gamma += g^2 x' S^+ x
    if learns:
        state.squares[:] = c2
        g = kept_slope(loss, derivative(loss, parameter, y, p) * (1 / lipschitz)) * factor
        for k in range(int(totals[RANK])):
            state.z[k] -= g * a[k]
        totals[E] = exponent - 2 * g * xSh
        totals[A] += g * vp
        totals[T] += 1
        add_slope(loss, parameter, v * factor, y, p, state.slopes)
    return p


@kernel
def run(block, targets, weights, scores, state, settings):
    """Score the rows and learn those with a target and a positive weight."""
    state = FactorState(*state)
    x = np.zeros(state.D.size)
    scratch = np.zeros(x.size), np.zeros(x.size), np.zeros(x.size)
    _, _, _, _, _, intercept, weigh_gradients = settings
    for r in range(scores.size):
        weight = weights[r] if weights.size else 1.0
        y = targets[r] if targets.size and weight > 0 else math.nan
        weight = weight or 1.0
        v = 1.0 if weigh_gradients else weight
        scores[r] = 0.0  # every row with a new direction has the score 0
        if load(block, r, v, intercept, state.places, x):
            scores[r] = _trial(x, v, weight / v, y, state, settings, scratch)


class Full(Declared, Learner):
    """Algorithm 2 of the paper, invariant to every invertible linear map of the features.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Full()))
    0.3465
    """

    alpha: float = parameter(9 / 8, "larger ones shrink weights (paper: 9/8)", AT_LEAST_ALPHA_0)
    wealth: float = parameter(1.0, "eps, the initial wealth, which bounds the regret for u = 0")

    name = "full"
    has_classes = False
    invariance = "linear"
    theorem: ClassVar[str | None] = "Theorem 2"
    saved = (
        *Learner.saved,
        Field("state.U", "x_n/x_k", "S = U'DU: row k, position n; 1 on the diagonal", ("n", "n")),
        Field("state.D", "x^2", "squares of R's diagonal, R = D^(1/2) U", ("n",)),
        Field("state.z", "1/x", "h = U'Dz: -sum g x in the basis of U's rows", ("n",)),
        Field("state.squares", "x^2", "sum x_n^2, for the rank rule", ("n",)),
        Field("state.places", "1", "position of each coordinate, or -1", ("coordinates",)),
        Field("state.coordinates", "1", "coordinate at each position", ("n",)),
        Field("state.totals", "1", "t, A = sum v g p, E, rank, positions, 0.1.0's rank rule", (6,)),
        Field("state.noise", "|x|", "what rounding is known to leave, for the rank rule", ("n",)),
        Field("state.lost", "|x|", "at most this part of h was dropped as noise", ("n",)),
        SLOPES._replace(name="state.slopes"),
    )
    state: FactorState

    def _prepare(self) -> None:
        _, code, parameter, lipschitz, _ = self.loss
        algorithm = self.alpha, self.wealth, code, parameter, lipschitz
        self._settings = (*algorithm, float(self.intercept), 0.0)
        self.state = FactorState.empty(0)

    @property
    def trials(self) -> int:
        """Rows learned."""
        return int(self.state.totals[T])

    def weigh_gradients(self) -> None:
        """See `Learner.weigh_gradients`."""
        self._settings = (*self._settings[:-1], 1.0)

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"n": len(self.state.D), "coordinates": 1 + self._columns}

    def _loaded(self) -> None:
        totals = self.state.totals
        active = checked_count(totals[ACTIVE], len(self.state.D))
        checked_count(totals[RANK], active)
        self.state = self.state.cut(active)  # files of 0.1.0 have spare room
        places = self.state.places
        taken = self.state.coordinates
        need(((taken >= 0) & (taken < len(places))).all(), "coordinates point beyond the end")
        is_inverse = (places[taken] == np.arange(active)).all()
        need(is_inverse and (places != -1).sum() == active, "places and coordinates disagree")

    @property
    def _columns(self) -> int:
        return len(self.state.places) - 1

    def _reserve(self, columns: int) -> None:
        if columns > self._columns:
            new = np.full(columns - self._columns, -1)
            self.state = self.state._replace(places=np.append(self.state.places, new))

    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        run(tuple(block), EMPTY, weights, scores, tuple(self.state), self._settings)
        return scores

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        self._activate(block, weights > 0 if len(weights) else np.ones(len(scores), bool))
        run(tuple(block), targets, weights, scores, tuple(self.state), self._settings)
        return scores

    def _activate(self, block: Block, learns: NDArray[np.bool_]) -> None:
        """Give positions to coordinates that are nonzero for the first time, as they appear."""
        places = self.state.places
        if len(self.state.D) == self._columns + self.intercept:
            return
        rows, columns = block.positions()
        new = learns[rows] & (places[columns + 1] < 0) & (np.abs(block.values) > 0)
        found, first = np.unique(columns[new], return_index=True)
        coordinates = found[np.argsort(first)] + 1
        if self.intercept and places[0] < 0 and learns.any():
            coordinates = np.append(0, coordinates)
        if len(coordinates):
            self.state = self.state.with_coordinates(coordinates)

    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        linear_map.rescale(self.state, columns, factors)

    def _seen(self) -> NDArray[np.bool_]:
        return self.state.places >= 0

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """The same as `Learner.rescale`; with an invertible matrix M, x arrives as M x."""
        if isinstance(factors, Mapping) or np.ndim(factors) != 2:
            return super().rescale(factors)
        matrix = linear_map.checked_matrix(factors, self._columns)
        self.state, self._units = linear_map.mapped(self.state, self._units, matrix)
        return self

    def _coefficients(self) -> Float:
        """eps/alpha exp(E/(2 alpha)) S^+ h, zero where a feature adds no direction."""
        return self.potential() / self.alpha * self.state.solution()

    def sums(self) -> Sums:
        """A, h / s and s, of the loss itself rather than of loss / L."""
        state = self.state
        lipschitz = self.loss.lipschitz
        norms = np.sqrt(state.squares)
        divisors = np.where(norms > 0, norms, np.inf)
        h = (state.R * state.q[:, None]).sum(axis=0)
        z = state.by_coordinate(h / divisors * lipschitz)
        s = self._in_own_unit(state.by_coordinate(norms))
        lost = state.by_coordinate(state.lost / divisors * lipschitz)
        return Sums(self.trials, len(norms), state.totals[A] * lipschitz, z, s, state.slopes, lost)

    def _root_mean_squares(self) -> Float:
        return self.state.by_coordinate(np.sqrt(self.state.squares / max(self.trials, 1)))

    def potential(self) -> float:
        """psi = eps exp((h'S^+h - Gamma) / (2 alpha)): the wealth still to be lost."""
        return self.wealth * math.exp(min(self.state.totals[E] / (2 * self.alpha), 600.0))

    def norm_h(self) -> float:
        """|h| in the norm of S^+, of the loss itself: regret(u) <= A + |u|_S norm_h()."""
        return self.loss.lipschitz * float(np.sqrt((self.state.q**2).sum()))

    def gamma(self) -> float:
        """Gamma = sum g^2 x'S^+x with g = loss' / L, the logarithmic term of Theorem 2."""
        return float((self.state.q**2).sum() - self.state.totals[E])
