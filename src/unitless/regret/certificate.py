"""Regret certificates: upper bounds on a learner's regret, computed while it runs in O(d).

By convexity regret(u) <= A + h.u for every u, with A = sum v g p and h = -sum v g x, which the
learner keeps anyway; and for every lambda in [0, 1] it is at most level(lambda) + lambda h.u
(`damped`, docs/explanation/theory.md). The smallest of these is certified; it never exceeds the
loss paid. The largest h.u of a ball is known in closed form:

    ============ ======================= ==========================
    ball         comparators             largest h.u
    ============ ======================= ==========================
    box          |u_i| s_i <= B          B sum |h_i| / s_i
    simplex      sum |u_i| s_i <= B      B max |h_i| / s_i
    ellipsoid    |u|_S <= B              B |h|_{S^+} (Full only)
    ============ ======================= ==========================

All numbers are rounded up, by more than all roundings together can amount to. If a theorem holds
for the learner, its bound, known in advance, is listed beside them.
"""

import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unitless.blend.blend import Blend
from unitless.learners.base import Float, Learner, Sums, Weights
from unitless.learners.triangular_factor import ACTIVE, RANK
from unitless.regret import bounds
from unitless.regret.blend_certificate import BlendCertificate, certify_blend
from unitless.regret.certificate_types import Certificate, RegretBounds
from unitless.regret.comparator import best_comparator
from unitless.regret.damped import damped
from unitless.regret.design import predictions
from unitless.rows import Rows


class Size(NamedTuple):
    """How large a comparator is, in numbers without a unit."""

    a: Float
    """|u_i| s_i of the coordinates with s_i > 0."""
    norm: float
    """|u|_S, or its upper bound sum |u_i| s_i where S is not kept."""


def certificate(
    learner: Learner,
    u: Weights | ArrayLike | None = None,
    rows: Rows | None = None,
    *,
    scores: ArrayLike | None = None,
    ball: float = 1.0,
) -> Certificate | BlendCertificate:
    """Certify the regret of a learner, at any time.

    Parameters
    ----------
    learner : Learner
        Only its sums are read.
    u : Weights or array, optional
        A comparator of interest, by column (an array has no intercept).
    rows : Rows, optional
        All rows it has learned, in order. With them the best comparator in hindsight and the true
        regret are computed.
    scores : array, optional
        What `learn` returned for these rows. Without them a new learner learns the rows again.
    ball : float
        The radius B of the balls; it has no unit, because |u_i| s_i has none.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.learners import Coordinate
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X[:, :2], 2 * y - 1)
    >>> learner = Coordinate()
    >>> scores = learner.learn(rows)
    >>> made = certificate(learner, rows=rows)
    >>> print(f"{made.best.regret:.1f} <= {made.best.certificate:.1f} <= {made.best.sharp:.1f}")
    247.4 <= 370.0 <= 4828.3
    >>> print(certificate(learner))
    coordinate, logistic loss: 569 trials, 3 dimensions (Theorem 1)
    regret against                true   certified       sharp     theorem
    u = 0                            -     -1.3553      11.138      5770.6
    any sum |u_i| s_i <= 1           -      1.7374      14.708      5774.9
    any |u_i| s_i <= 1               -      4.6858      21.849      5783.4
    """
    if isinstance(learner, Blend):
        if rows is not None:
            raise ValueError(
                "the certificate of a blend takes no rows; for the best weights in hindsight use "
                "best_comparator(loss, rows)"
            )
        return certify_blend(learner, u, ball)
    sums = learner.sums()
    if sums is None:
        raise ValueError(
            f"{learner.name} keeps no sums for a certificate; use coordinate, full or blend"
        )
    asked: list[tuple[str, Weights]] = [("u = 0", Weights(0.0, np.zeros(len(sums.s) - 1)))]
    hindsight = None
    paid = None
    if u is not None:
        asked.append(("u given", u if isinstance(u, Weights) else Weights(0.0, np.asarray(u))))
    if rows is not None:
        paid = _paid(learner, rows, scores, sums)
        hindsight = best_comparator(learner.loss, rows, intercept=learner.intercept)
        asked.append(("u best in hindsight", hindsight.weights))
    made = {name: _against(name, learner, sums, weights, rows, paid) for name, weights in asked}
    box, simplex, ellipsoid = _balls(learner, sums, ball)
    return Certificate(
        learner=learner.name,
        loss=learner.loss.name,
        trials=sums.trials,
        dimension=sums.dimension,
        theorem=learner.theorem,
        A=sums.A,
        origin=made["u = 0"],
        given=made.get("u given"),
        best=made.get("u best in hindsight"),
        box=box,
        simplex=simplex,
        ellipsoid=ellipsoid,
        hindsight=hindsight,
    )


def _against(
    name: str, learner: Learner, sums: Sums, u: Weights, rows: Rows | None, paid: float | None
) -> RegretBounds:
    """The bounds on the regret against u."""
    if u.features.shape != (len(sums.s) - 1,):
        raise ValueError(
            f"{name}: weights of shape {u.features.shape}, but the learner has seen "
            f"{len(sums.s) - 1} columns: give one weight per column"
        )
    sizes = sums.s * np.append(u.intercept, u.features)
    product = float(np.sum(sums.z * sizes))
    bound = damped(learner.loss, sums)
    certified = bound.least(product, float(np.sum(bound.errors * np.abs(sizes))))
    regret = None
    if rows is not None and paid is not None:
        regret = paid - _total(learner, rows, predictions(rows, u))
    by_theorem = _theorem_bounds(learner, sums, _size(u, learner, sums))
    return RegretBounds(name, regret, certified, *by_theorem)


def _balls(
    learner: Learner, sums: Sums, B: float
) -> tuple[RegretBounds, RegretBounds, RegretBounds | None]:
    """The bounds for the worst u in the box, in the simplex and in the ellipsoid."""
    if not 0 <= B < math.inf:
        raise ValueError(f"ball = {B}: a ball has a finite radius >= 0")
    seen = sums.s > 0
    bound = damped(learner.loss, sums)
    z = np.abs(sums.z[seen])
    errors = bound.errors[seen]
    corner = Size(np.full(len(z), B), B * len(z))
    # among the vertices the bound is largest where Gamma_i is
    gammas = learner.gammas()[seen] if hasattr(learner, "gammas") else z
    heaviest = int(np.argmax(gammas)) if len(z) else 0
    vertex = Size(np.where(np.arange(len(z)) == heaviest, B, 0.0), B)

    def worst(name: str, largest: float, error: float, size: Size) -> RegretBounds:
        certified = bound.least(B * largest, B * error)
        return RegretBounds(name, None, certified, *_theorem_bounds(learner, sums, size))

    total = float(np.sum(z))
    largest = float(np.max(z, initial=0.0))
    box = worst(f"any |u_i| s_i <= {B:g}", total, float(np.sum(errors)), corner)
    simplex = worst(
        f"any sum |u_i| s_i <= {B:g}", largest, float(np.max(errors, initial=0.0)), vertex
    )
    if not hasattr(learner, "norm_h"):
        return box, simplex, None
    sizes, dependent = _sizes_in_ellipsoid(learner.state)
    name = f"any |u|_S <= {B:g}" + (f" (0 on {dependent} dependent)" if dependent else "")
    error = float(np.max(errors, initial=0.0) * np.sum(sizes))
    return box, simplex, worst(name, learner.norm_h(), error, vertex)


def _sizes_in_ellipsoid(state: Any) -> tuple[Float, int]:
    """The largest |u_i| s_i of the pivots where |u|_S <= 1, and the number of other features.

    A feature that depends on the pivots up to rounding may have any weight in the ellipsoid: the
    certificate covers those u that do not use it.
    """
    from scipy.linalg import solve_triangular

    rank = int(state.totals[RANK])
    inverse = solve_triangular(state.R[:rank, :rank], np.eye(rank))
    sizes = np.sqrt(state.squares[:rank]) * np.linalg.norm(inverse, axis=1)
    return sizes, int(state.totals[ACTIVE]) - rank


def _paid(learner: Learner, rows: Rows, scores: ArrayLike | None, sums: Sums) -> float:
    """The loss of the learner on the rows, from its scores or by learning the rows again."""
    if scores is None:
        names = inspect.signature(type(learner)).parameters
        again = type(learner)(**{name: getattr(learner, name) for name in names})
        scores = again.learn(rows)
        repeated = again.sums()
        assert repeated is not None
        if repeated.A != sums.A or not np.array_equal(repeated.z, sums.z):
            raise ValueError(
                "these are not the rows the learner learned, in order and in their units: give "
                "those, or the scores that learn returned"
            )
    return _total(learner, rows, np.asarray(scores, dtype=np.float64))


def _total(learner: Learner, rows: Rows, p: Float) -> float:
    """sum v loss(y, p)."""
    assert rows.targets is not None
    each = learner.loss.value(rows.targets, p)
    return float(np.sum(each if rows.weights is None else rows.weights * each))


def _size(u: Weights, learner: Learner, sums: Sums) -> Size:
    """The size of u on the data this learner has seen."""
    w = np.append(u.intercept, u.features)
    a = np.abs(w) * sums.s
    norm = float(np.sum(a))
    state = learner.state
    if hasattr(state, "R"):  # |u|_S = |R u|; R has the units and the order of the learner
        taken = state.coordinates[state.coordinates >= 0]
        scaled = w[taken] / learner._units[taken] if len(learner._units) else w[taken]
        terms = np.sum(state.R[:, : len(taken)] * scaled, axis=1)
        norm = float(np.sqrt(np.sum(terms * terms)))
    return Size(a[sums.s > 0], norm)


def _theorem_bounds(
    learner: Learner, sums: Sums, size: Size
) -> tuple[float, float] | tuple[None, None]:
    """The bound of the learner's theorem, for comparators of that size: sharpest, and as printed.

    A theorem speaks of loss / L, so its bound is multiplied by L.
    """
    theorem = THEOREMS.get(learner.theorem or "")
    if theorem is None:
        return None, None
    sharp, printed = theorem(learner, sums, size)
    lipschitz = learner.loss.lipschitz
    return lipschitz * sharp, lipschitz * printed


def _theorem_1(learner: Any, sums: Sums, size: Size) -> tuple[float, float]:
    data = {
        "d": max(learner.d or sums.dimension, 1),
        "T": sums.trials,
        "alpha": learner.alpha,
        "wealth": learner.wealth,
    }
    sharp = bounds.theorem_1_sharp(size.a, growing=learner.d is None, **data)
    return sharp, bounds.theorem_1(size.a, **data)


def _theorem_2(learner: Any, sums: Sums, size: Size) -> tuple[float, float]:
    data = {"gamma": learner.gamma(), "alpha": learner.alpha, "wealth": learner.wealth}
    return bounds.theorem_2_sharpest(size.norm, **data), bounds.theorem_2(size.norm, **data)


def _theorem_2_per_coordinate(learner: Any, sums: Sums, size: Size) -> tuple[float, float]:
    data = {
        "gammas": learner.gammas()[sums.s > 0],
        "d": max(learner.d or sums.dimension, 1),
        "alpha": learner.alpha,
        "wealth": learner.wealth,
        "growing": learner.d is None,
    }
    sharp = bounds.theorem_2_per_coordinate(size.a, **data)
    return sharp, bounds.theorem_2_per_coordinate(size.a, sharp=False, **data)


THEOREMS: dict[str, Callable[[Any, Sums, Size], tuple[float, float]]] = {
    "Theorem 1": _theorem_1,
    "Theorem 2": _theorem_2,
    "Theorem 2 per coordinate": _theorem_2_per_coordinate,
    "section 4.1": lambda learner, sums, size: (bounds.zero(size.norm, sums.trials),) * 2,
}
