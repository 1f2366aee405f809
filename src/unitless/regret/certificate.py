"""What a learner can certify about its own regret while it runs, in O(d).

theory.md 4. By convexity regret(u) <= A + h.u for every u, with A = sum v g p and h = -sum v g x:
sums the learner keeps anyway. So the worst u of a ball is known in closed form:

    ============ ======================= ==========================
    ball         comparators             largest regret
    ============ ======================= ==========================
    box          |u_i| s_i <= B          A + B sum |h_i| / s_i
    simplex      sum |u_i| s_i <= B      A + B max |h_i| / s_i
    ellipsoid    |u|_S <= B              A + B |h|_{S^+} (Full only)
    ============ ======================= ==========================

Beside these facts stands what a theorem had promised in advance, where the learner has one.
"""

import inspect
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.blend.blend import Blend
from unitless.learners.base import Learner, Sums, Weights
from unitless.regret.blended import BlendCertificate, certify_blend
from unitless.regret.claims import Certificate, Claim
from unitless.regret.comparator import best_comparator
from unitless.regret.design import predictions
from unitless.regret.promise import Size, promised, size_of
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
    """Certify the regret of a learner, at any moment of its life.

    Parameters
    ----------
    learner : Learner
        Only its sums are read.
    u : Weights or array, optional
        A comparator of interest, by column (an array has no intercept).
    rows : Rows, optional
        The rows it learned, all of them and in order, if they are kept: then the best comparator
        in hindsight is found and the true regret is known.
    scores : array, optional
        What `learn` returned for these rows. Without it a fresh learner repeats them.
    ball : float
        The B of the balls; it has no unit, because |u_i| s_i has none.

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
                "a blend's certificate needs no rows; for the best weights in hindsight use "
                "best_comparator(loss, rows)"
            )
        return certify_blend(learner, u, ball)
    sums = learner.sums()
    if sums is None:
        raise ValueError(
            f"{learner.name} keeps no sums to certify with; use coordinate, full or blend"
        )
    asked: list[tuple[str, Weights]] = [("u = 0", Weights(0.0, np.zeros(len(sums.s) - 1)))]
    hindsight, paid = None, None
    if u is not None:
        asked.append(("u given", u if isinstance(u, Weights) else Weights(0.0, np.asarray(u))))
    if rows is not None:
        paid = _paid(learner, rows, scores, sums)
        hindsight = best_comparator(learner.loss, rows, intercept=learner.intercept)
        asked.append(("u best in hindsight", hindsight.weights))
    claims = {name: _claim(name, learner, sums, weights, rows, paid) for name, weights in asked}
    return Certificate(
        learner.name, learner.loss.name, sums.trials, sums.dimension, learner.theorem, sums.A,
        claims["u = 0"], claims.get("u given"), claims.get("u best in hindsight"),
        *_balls(learner, sums, ball), hindsight,
    )  # fmt: skip


def _claim(
    name: str, learner: Learner, sums: Sums, u: Weights, rows: Rows | None, paid: float | None
) -> Claim:
    if u.features.shape != (len(sums.s) - 1,):
        raise ValueError(
            f"{name}: weights of shape {u.features.shape}, but the learner has seen "
            f"{len(sums.s) - 1} columns: give one weight a column"
        )
    terms = sums.z * (sums.s * np.append(u.intercept, u.features))
    regret = None
    if rows is not None and paid is not None:
        regret = paid - _total(learner, rows, predictions(rows, u))
    promise = promised(learner, sums, size_of(u, learner, sums))
    return Claim(name, regret, sums.A + float(np.sum(terms)), *promise)


def _balls(learner: Learner, sums: Sums, B: float) -> tuple[Claim, Claim, Claim | None]:
    """The worst u in the box, in the simplex, in the ellipsoid."""
    if not 0 <= B < math.inf:
        raise ValueError(f"ball = {B}: a ball has a finite radius >= 0")
    z = np.abs(sums.z[sums.s > 0])
    corner, vertex = np.full(len(z), B), np.where(np.arange(len(z)) == 0, B, 0.0)

    def claim(name: str, reach: float, size: Size) -> Claim:
        return Claim(name, None, sums.A + B * reach, *promised(learner, sums, size))

    box = claim(f"any |u_i| s_i <= {B:g}", float(np.sum(z)), Size(corner, B * len(z)))
    simplex = claim(f"any sum |u_i| s_i <= {B:g}", float(np.max(z, initial=0.0)), Size(vertex, B))
    if not hasattr(learner, "norm_h"):
        return box, simplex, None
    return box, simplex, claim(f"any |u|_S <= {B:g}", learner.norm_h(), Size(vertex, B))


def _paid(learner: Learner, rows: Rows, scores: ArrayLike | None, sums: Sums) -> float:
    """The loss the learner paid for the rows, from its scores or by repeating them."""
    if scores is None:
        again = _fresh(learner)
        scores = again.learn(rows)
        repeated = again.sums()
        assert repeated is not None
        if repeated.A != sums.A or not np.array_equal(repeated.z, sums.z):
            raise ValueError(
                "these are not the rows the learner learned, in order and in their units: give "
                "those, or the scores that learn returned"
            )
    return _total(learner, rows, np.asarray(scores, dtype=np.float64))


def _fresh(learner: Learner) -> Learner:
    """A learner of the same parameters that has learned nothing."""
    names = inspect.signature(type(learner)).parameters
    return type(learner)(**{name: getattr(learner, name) for name in names})


def _total(learner: Learner, rows: Rows, p: Float) -> float:
    """sum v loss(y, p)."""
    assert rows.targets is not None
    each = learner.loss.value(rows.targets, p)
    return float(np.sum(each if rows.weights is None else rows.weights * each))
