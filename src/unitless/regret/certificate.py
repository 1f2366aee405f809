"""Regret certificates: upper bounds on a learner's regret, computed while it runs in O(d).

By convexity regret(u) <= A + h.u for every u, with A = sum v g p and h = -sum v g x, which the
learner keeps anyway; and for every lambda in [0, 1] it is at most level(lambda) + lambda h.u
(`damped`, docs/explanation/theory.md). The smallest of these is certified; it never exceeds the
loss paid. The largest h.u is B sum |h_i| / s_i in the box |u_i| s_i <= B, B max |h_i| / s_i in the
simplex sum |u_i| s_i <= B, and B |h|_{S^+} in the ellipsoid |u|_S <= B (Full only).

All numbers are rounded up. If a theorem holds for the learner, its bound is listed beside them.
"""

import inspect
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unitless.blend.blend import Blend
from unitless.core.learner import Learner, Sums, Weights
from unitless.learners.full import Full
from unitless.regret import bounds
from unitless.regret.blend_certificate import BlendCertificate, certify_blend
from unitless.regret.certificate_types import Certificate, RegretBounds
from unitless.regret.comparator import best_comparator
from unitless.regret.damped import damped
from unitless.regret.design import predictions
from unitless.rows import Rows
from unitless.state import Float

THEOREMS = ("Theorem 1", "Theorem 2", "Theorem 2 per coordinate", "section 4.1")


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
    zero = Weights(0.0, np.zeros(len(sums.s) - 1))
    asked = {"u = 0": zero}
    hindsight = None
    paid = None
    if u is not None:
        asked["u given"] = u if isinstance(u, Weights) else Weights(0.0, np.asarray(u))
    if rows is not None:
        paid = _paid(learner, rows, scores, sums)
        hindsight = best_comparator(learner.loss, rows, intercept=learner.intercept)
        asked["u best in hindsight"] = hindsight.weights
    against = {}
    for name, weights in asked.items():
        line = _against(name, learner, sums, weights)
        if rows is not None and paid is not None:
            theirs = _total(learner, rows, predictions(rows, weights))
            line = line._replace(regret=paid - theirs)
        against[name] = line
    box, simplex, ellipsoid = _balls(learner, sums, ball)
    return Certificate(
        learner=learner.name,
        loss=learner.loss.name,
        trials=sums.trials,
        dimension=sums.dimension,
        theorem=learner.theorem,
        A=sums.A,
        origin=against["u = 0"],
        given=against.get("u given"),
        best=against.get("u best in hindsight"),
        box=box,
        simplex=simplex,
        ellipsoid=ellipsoid,
        hindsight=hindsight,
    )


def _against(name: str, learner: Learner, sums: Sums, u: Weights) -> RegretBounds:
    """The bounds on the regret against u."""
    columns = len(sums.s) - 1
    if u.features.shape != (columns,):
        raise ValueError(
            f"{name}: weights of shape {u.features.shape}, but the learner has seen {columns} "
            "columns: give one weight per column"
        )
    w = np.append(u.intercept, u.features)
    sizes = sums.s * w
    product = float(np.sum(sums.z * sizes))
    bound = damped(learner.loss, sums)
    error = float(np.sum(bound.errors * np.abs(sizes)))
    certified = bound.least(product, error)
    by_theorem = _theorem_bounds(learner, sums, _size(w, learner, sums))
    return RegretBounds(name, None, certified, *by_theorem)


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
    largest_error = float(np.max(errors, initial=0.0))

    def worst(name: str, largest: float, error: float, size: Size) -> RegretBounds:
        certified = bound.least(B * largest, B * error)
        by_theorem = _theorem_bounds(learner, sums, size)
        return RegretBounds(name, None, certified, *by_theorem)

    corner = Size(np.full(len(z), B), B * len(z))
    total = float(np.sum(z))
    total_error = float(np.sum(errors))
    box = worst(f"any |u_i| s_i <= {B:g}", total, total_error, corner)
    # among the vertices the bound is largest where Gamma_i is
    gammas = learner.gammas()[seen] if hasattr(learner, "gammas") else z
    at_vertex = np.zeros(len(z))
    at_vertex[np.argsort(gammas)[-1:]] = B
    vertex = Size(at_vertex, B)
    largest = float(np.max(z, initial=0.0))
    simplex = worst(f"any sum |u_i| s_i <= {B:g}", largest, largest_error, vertex)
    if not isinstance(learner, Full):
        return box, simplex, None
    sizes, dependent = _sizes_in_ellipsoid(learner.factor)
    name = f"any |u|_S <= {B:g}"
    if dependent:
        name += f" (0 on {dependent} dependent)"
    error = largest_error * float(np.sum(sizes))
    return box, simplex, worst(name, learner.norm_h(), error, vertex)


def _sizes_in_ellipsoid(factor: Any) -> tuple[Float, int]:
    """The largest |u_i| s_i of the pivots where |u|_S <= 1, and the number of other features.

    A feature that depends on the pivots up to rounding may have any weight in the ellipsoid: the
    certificate covers those u that do not use it.
    """
    from scipy.linalg import solve_triangular

    rank = factor.rank
    inverse = solve_triangular(factor.R[:rank, :rank], np.eye(rank))
    norms = np.sqrt(np.array(factor.squares)[:rank])
    sizes = norms * np.linalg.norm(inverse, axis=1)
    return sizes, factor.n - rank


def _paid(learner: Learner, rows: Rows, scores: ArrayLike | None, sums: Sums) -> float:
    """The loss of the learner on the rows, from its scores or by learning the rows again."""
    if scores is None:
        names = inspect.signature(type(learner)).parameters
        parameters = {name: getattr(learner, name) for name in names}
        again = type(learner)(**parameters)
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
    if rows.weights is not None:
        each = rows.weights * each
    return float(np.sum(each))


def _size(w: Float, learner: Learner, sums: Sums) -> Size:
    """The size of weights w, the intercept first, on the data this learner has seen."""
    a = np.abs(w) * sums.s
    norm = float(np.sum(a))
    if isinstance(learner, Full):  # |u|_S = |R u|; R has the units and the order of the learner
        factor = learner.factor
        taken = np.array(factor.coordinates)[: factor.n]
        scaled = w[taken]
        if len(learner.units):
            scaled = scaled / np.array(learner.units)[taken]
        terms = np.sum(factor.R * scaled, axis=1)
        norm = float(np.sqrt(np.sum(terms * terms)))
    return Size(a[sums.s > 0], norm)


def _theorem_bounds(learner: Any, sums: Sums, size: Size) -> tuple[float | None, float | None]:
    """The bound of the learner's theorem, for comparators of that size: sharpest, and as printed.

    A theorem speaks of loss / L, so its bound is multiplied by L.
    """
    if learner.theorem not in THEOREMS:
        return None, None
    if learner.theorem == "section 4.1":
        sharp = printed = bounds.zero(size.norm, sums.trials)
    else:
        sharp, printed = _bounds_of_algorithm(learner, sums, size)
    lipschitz = learner.loss.lipschitz
    return lipschitz * sharp, lipschitz * printed


def _bounds_of_algorithm(learner: Any, sums: Sums, size: Size) -> tuple[float, float]:
    data = {"alpha": learner.alpha, "wealth": learner.wealth}
    if learner.theorem == "Theorem 2":
        data["gamma"] = learner.gamma()
        sharp = bounds.theorem_2_sharpest(size.norm, **data)
        return sharp, bounds.theorem_2(size.norm, **data)
    growing = learner.d is None
    data["d"] = max(learner.d or sums.dimension, 1)
    if learner.theorem == "Theorem 1":
        data["T"] = sums.trials
        sharp = bounds.theorem_1_sharp(size.a, growing=growing, **data)
        return sharp, bounds.theorem_1(size.a, **data)
    data["gammas"] = learner.gammas()[sums.s > 0]
    data["growing"] = growing
    sharp = bounds.theorem_2_per_coordinate(size.a, **data)
    return sharp, bounds.theorem_2_per_coordinate(size.a, sharp=False, **data)
