"""Regret certificates: upper bounds on a learner's regret, computed while it runs in O(d).

By convexity regret(u) <= A + h.u for every u, with A = sum v g p and h = -sum v g x, which the
learner keeps anyway (docs/theory.md). So the worst u of a ball is known in closed form:

    ============ ======================= ==========================
    ball         comparators             largest regret
    ============ ======================= ==========================
    box          |u_i| s_i <= B          A + B sum |h_i| / s_i
    simplex      sum |u_i| s_i <= B      A + B max |h_i| / s_i
    ellipsoid    |u|_S <= B              A + B |h|_{S^+} (Full only)
    ============ ======================= ==========================

If a theorem holds for the learner, its bound, known in advance, is listed beside them.
"""

import inspect
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.blend.blend import Blend
from unitless.learners.base import Learner, Sums, Weights
from unitless.regret.blend_certificate import BlendCertificate, certify_blend
from unitless.regret.certificate_types import Certificate, RegretBounds
from unitless.regret.comparator import best_comparator
from unitless.regret.design import predictions
from unitless.regret.theorem_bounds import Size, size_of, theorem_bounds
from unitless.rows import Rows

__all__ = ["certificate"]

Float = NDArray[np.float64]


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

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.learners import Coordinate
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X[:, :2], 2 * y - 1)
    >>> learner = Coordinate()
    >>> scores = learner.learn(rows)
    >>> made = certificate(learner, rows=rows)
    >>> print(f"{made.best.regret:.1f} <= {made.best.certificate:.1f} <= {made.best.sharp:.1f}")
    247.4 <= 903.8 <= 4828.3
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
    terms = sums.z * (sums.s * np.append(u.intercept, u.features))
    regret = None
    if rows is not None and paid is not None:
        regret = paid - _total(learner, rows, predictions(rows, u))
    by_theorem = theorem_bounds(learner, sums, size_of(u, learner, sums))
    return RegretBounds(name, regret, sums.A + float(np.sum(terms)), *by_theorem)


def _balls(
    learner: Learner, sums: Sums, B: float
) -> tuple[RegretBounds, RegretBounds, RegretBounds | None]:
    """The bounds for the worst u in the box, in the simplex and in the ellipsoid."""
    if not 0 <= B < math.inf:
        raise ValueError(f"ball = {B}: a ball has a finite radius >= 0")
    z = np.abs(sums.z[sums.s > 0])
    corner = Size(np.full(len(z), B), B * len(z))
    vertex = Size(np.where(np.arange(len(z)) == 0, B, 0.0), B)

    def worst(name: str, largest: float, size: Size) -> RegretBounds:
        return RegretBounds(name, None, sums.A + B * largest, *theorem_bounds(learner, sums, size))

    box = worst(f"any |u_i| s_i <= {B:g}", float(np.sum(z)), corner)
    simplex = worst(f"any sum |u_i| s_i <= {B:g}", float(np.max(z, initial=0.0)), vertex)
    if not hasattr(learner, "norm_h"):
        return box, simplex, None
    return box, simplex, worst(f"any |u|_S <= {B:g}", learner.norm_h(), vertex)


def _paid(learner: Learner, rows: Rows, scores: ArrayLike | None, sums: Sums) -> float:
    """The loss of the learner on the rows, from its scores or by learning the rows again."""
    if scores is None:
        again = _new(learner)
        scores = again.learn(rows)
        repeated = again.sums()
        assert repeated is not None
        if repeated.A != sums.A or not np.array_equal(repeated.z, sums.z):
            raise ValueError(
                "these are not the rows the learner learned, in order and in their units: give "
                "those, or the scores that learn returned"
            )
    return _total(learner, rows, np.asarray(scores, dtype=np.float64))


def _new(learner: Learner) -> Learner:
    """A learner with the same parameters that has learned nothing."""
    names = inspect.signature(type(learner)).parameters
    return type(learner)(**{name: getattr(learner, name) for name in names})


def _total(learner: Learner, rows: Rows, p: Float) -> float:
    """sum v loss(y, p)."""
    assert rows.targets is not None
    each = learner.loss.value(rows.targets, p)
    return float(np.sum(each if rows.weights is None else rows.weights * each))
