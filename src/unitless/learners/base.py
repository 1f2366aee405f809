"""What a learner is.

- `predict(rows)` is pure: each row is scored as if it were the next trial.
- `learn(rows)` scores each row before it uses the row's target, in order; a block equals its
  rows one by one, to the bit, and the scores are those `predict` would have given.
- `state` is a NamedTuple of arrays: all that is remembered, hence all that is saved.
- `invariance` is a promise that the law tests read.
- Threads: `predict` and `learn` take turns, so one thread may predict while another learns, and
  sees the learner between two of its calls. All else (`rescale`, `weights`, `sums`, saving) is for
  when nobody learns.

A new learner subclasses `Learner`, fills in the six methods at the bottom, and is registered by
one line in `unitless.learners`; the laws then test it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless import losses
from unitless.encoders import Names
from unitless.learners.locking import Turn
from unitless.losses import SOFTMAX, Loss
from unitless.rows import Rows

Float = NDArray[np.float64]
Arrays = tuple[Float, NDArray[np.int32], NDArray[np.int64], int]
EMPTY = np.empty(0)
NO_INDICES = np.empty(0, dtype=np.int32)
NO_STARTS = np.empty(0, dtype=np.int64)

LIGHTEST, HEAVIEST = 2.0**-200, 2.0**200
"""Sample weights between these leave every square and product within float64."""


class Weights(NamedTuple):
    """The score's coefficients at x = 0 with the current scales: score = intercept + features.x.

    Learners whose weights depend on x (both algorithms of the paper do) are linear only locally.
    """

    intercept: float | Float
    features: Float
    """By column, unit 1/[x_i]; with the softmax loss a row a column and a column a class."""


class Sums(NamedTuple):
    """What a certificate is made of (docs/theory.md): regret(u) <= A + sum h_i u_i for every u.

    Coordinate 0 is the constant 1 (s = 0 there without an intercept); column j is j + 1.
    """

    trials: int
    dimension: int
    """Coordinates with s > 0."""
    A: float
    """sum v g p, unit of the loss."""
    z: Float
    """h / s with h = -sum v g x and g the loss's own derivative: unit of the loss."""
    s: Float
    """sqrt(sum v^2 x^2), unit [x_i]."""


class Learner(ABC):
    """Base of all learners; see the module's docstring for the contract."""

    name: ClassVar[str]
    invariance: ClassVar[Literal["linear", "affine", "unit", "none"]]
    needs_lipschitz: ClassVar[bool] = True
    takes_every_target: bool = True
    """Whether it takes every target that its loss takes; see `_check`."""
    linear: ClassVar[bool] = True
    """Whether scores are linear in x, for the scales of a moment."""
    theorem: ClassVar[str | None] = None
    """The regret theorem that holds for it, if one does."""
    state: Any

    def __init__(
        self, loss: str | Loss = "logistic", *, intercept: bool = True, classes: int = 0
    ) -> None:
        self.loss = losses.get(loss)
        self.intercept = bool(intercept)
        self.classes = checked_classes(self.loss, classes)
        self.names = Names()
        self._turn = Turn()
        if self.needs_lipschitz and math.isinf(self.loss.lipschitz):
            raise ValueError(
                f"{type(self).__name__} needs a loss with a bounded derivative, and the "
                f"{self.loss.name} loss has none: use 'absolute' or 'huber(delta)', or a learner "
                "made for it"
            )

    # Blocks

    def predict(self, rows: Rows) -> Float:
        """Scores of the rows, each as if it were the next trial; the learner does not change."""
        with self._turn:
            arrays, weights = self._arrays_of(rows), _checked_weights(rows)
            scores = self._predict(*arrays, weights, self._room(len(rows)))
        if scores is None:
            rows.refuse_infinity()
        return scores

    def _room(self, rows: int) -> Float:
        """Where scores go: one a row, or with the softmax loss one a row and class."""
        return np.empty((rows, self.classes) if self.loss.code == SOFTMAX else rows)

    def learn(self, rows: Rows) -> Float:
        """Scores made before each row's target was used; then the row is learned."""
        with self._turn:
            arrays, weights = self._arrays_of(rows), _checked_weights(rows)
            if rows.targets is None:
                raise ValueError("learning needs targets: as_rows(X, targets)")
            losses.check_targets(self.loss, rows.targets, self.classes)
            self._check(rows.targets, weights)
            self._reserve(rows.columns)
            scores = self._learn(*arrays, rows.targets, weights, self._room(len(rows)))
        if scores is None:
            rows.refuse_infinity()
        return scores

    def _arrays_of(self, rows: Rows) -> Arrays:
        """The block as kernels take it, none of its values infinite, unless `_learn` notices."""
        return arrays_of(rows)

    # One row, a dict of named features

    def predict_one(self, x: Mapping[Hashable, Any], weight: float = 1.0) -> float:
        """The score of one dict row. Absent is 0, None and NaN are missing, new names are fine."""
        if weight != 1:
            _check_weight(weight)
        self._turn.acquire()  # half of what `with` costs, and this is a matter of microseconds
        try:
            names = self.names
            names.load(x)
            score = self._predict_one(names.values, names.indices, weight)
            if isinstance(score, float) and score != score:  # a value was infinite
                names.refuse_infinity()
        finally:
            self._turn.release()
        return score

    def learn_one(self, x: Mapping[Hashable, Any], y: float, weight: float = 1.0) -> float:
        """Score one dict row, then learn from its target; returns the score."""
        if weight != 1:
            _check_weight(weight)
        self._turn.acquire()
        try:
            losses.check_target(self.loss, y, 0, self.classes)
            if weight == 0:
                return self.predict_one(x)
            if not self.takes_every_target:
                self._check(np.array([y]), np.array([weight]))
            names = self.names
            if names.load(x):
                names.refuse_infinity()
                self._reserve(len(names.columns) + len(names.unknown))
                names.add_unknown()
            score = self._learn_one(names.values, names.indices, float(y), weight)
            if isinstance(score, float) and score != score:
                names.refuse_infinity()
        finally:
            self._turn.release()
        return score

    def _check(self, targets: Float, weights: Float) -> None:
        """Refuse targets that the loss takes and the learner does not, before anything changes."""
        return

    def _predict_one(self, values: Float, indices: NDArray[np.int32], weight: float) -> float:
        if np.isinf(values).any():
            return math.nan
        block = values, indices, np.array([0, len(values)]), int(indices.max(initial=-1)) + 1
        scores = self._predict(*block, np.array([float(weight)]), self._room(1))
        return scores[0] if scores.ndim == 2 else float(scores[0])

    def _learn_one(
        self, values: Float, indices: NDArray[np.int32], y: float, weight: float
    ) -> float:
        if np.isinf(values).any():
            return math.nan
        block = values, indices, np.array([0, len(values)]), int(indices.max(initial=-1)) + 1
        scores = self._learn(*block, np.array([float(y)]), np.array([float(weight)]), self._room(1))
        return scores[0] if scores.ndim == 2 else float(scores[0])

    def add_class(self) -> None:
        """One class more, whose score starts at 0; for the softmax loss."""
        raise ValueError(f"{self.name} has no classes to add to")

    def contributions(self, rows: Rows) -> tuple[Float, Float]:
        """(base, by column) of one row: what makes up its score, to which they add up.

        The weights at x = 0 times x; what is left, the intercept above all, is the base.
        """
        w = self.weights().features
        x = np.zeros(len(w))
        values, indices, _, columns = arrays_of(rows)
        places = indices if rows.starts is not None else np.arange(columns)
        known = places < len(w)
        x[places[known]] = np.nan_to_num(values[known])
        parts = (w.T * x).T
        return self.predict(rows)[0] - parts.sum(axis=0), parts

    # What each learner fills in

    @abstractmethod
    def _reserve(self, columns: int) -> None:
        """Make room for that many columns."""

    @abstractmethod
    def _predict(self, values, indices, starts, columns, weights, scores):
        """Fill in `scores` and return them; columns not yet reserved are features not yet seen.

        Dense rows have empty `indices` and `starts`; empty weights are all 1. A NaN score says
        that a row, which can only be a dict row, holds an infinite value; None says it of a block
        that `_arrays_of` has let pass.
        """

    @abstractmethod
    def _learn(self, values, indices, starts, columns, targets, weights, scores):
        """Fill in `scores` and move the state on; None, and nothing has changed, as above."""

    @abstractmethod
    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on column i arrives multiplied by factors[i]: continue as if it always had."""

    @abstractmethod
    def weights(self) -> Weights:
        """The coefficients at x = 0 (see `Weights`)."""

    def sums(self) -> Sums | None:
        """The sums of a regret certificate, of learners that keep them."""
        return None


def arrays_of(rows: Rows, look: bool = True) -> Arrays:
    """The block as kernels take it: flat, so that dense and sparse rows have the same types.

    Without `look` a value may be infinite.
    """
    if not isinstance(rows, Rows):
        raise TypeError(f"expected Rows, got {type(rows).__name__}: use as_rows(X, targets)")
    values = rows.values if look else rows.given
    if rows.indices is None or rows.starts is None:
        return values.reshape(-1), NO_INDICES, NO_STARTS, rows.columns
    return values, rows.indices, rows.starts, rows.columns


def _checked_weights(rows: Rows) -> Float:
    if rows.weights is None:
        return EMPTY
    good = (rows.weights == 0) | ((rows.weights >= LIGHTEST) & (rows.weights <= HEAVIEST))
    if not good.all():
        row = int(np.argmin(good))
        _check_weight(float(rows.weights[row]), row)
    return rows.weights


def _check_weight(weight: float, row: int = 0) -> None:
    if not (weight == 0 or LIGHTEST <= weight <= HEAVIEST):
        raise ValueError(
            f"row {row}: weight {weight:g} is neither 0 nor between {LIGHTEST:.0e} and "
            f"{HEAVIEST:.0e}; use 0 to leave a row out"
        )


def checked_classes(loss: Loss, classes: int) -> int:
    """The number of scores a row has: 1, or the number of classes of the softmax loss."""
    if (loss.code == SOFTMAX) != (classes > 0):
        raise ValueError(
            f"classes = {classes} with the {loss.name} loss: the softmax loss needs the number of "
            "classes, and no other loss has classes"
        )
    return classes or 1


def checked_wealth(wealth: float) -> float:
    """The initial wealth of an algorithm of the paper, as a float."""
    if not 0 < wealth < math.inf:
        raise ValueError(f"wealth = {wealth}: the initial wealth is a finite number > 0")
    return float(wealth)


def rescaled_units(units: Float, exponents: NDArray[Any], columns: NDArray[Any]) -> Float:
    """The units of columns whose values grow by 2^exponents; an error where float64 ends."""
    beyond = np.abs(np.frexp(units)[1] - exponents) > 1010
    if beyond.any():
        column = int(columns[np.argmax(beyond)])
        raise ValueError(f"column {column}: in that unit its values leave the range of float64")
    return np.ldexp(units, -exponents)


def powers_of_two(factors: Float) -> tuple[Float, NDArray[Any]]:
    """(m, e) with factors = m 2^e and 1 <= |m| < 2: a power of two has m = 1, and 1 has e = 0."""
    mantissas, exponents = np.frexp(factors)
    return 2 * mantissas, exponents - 1


def unit_factors(
    factors: ArrayLike | Mapping[Any, float], names: Mapping[Any, int], columns: int
) -> Float:
    """The factor of each column, from an array or from {name or column: factor}."""
    if isinstance(factors, Mapping):
        full = np.ones(columns)
        for name, factor in factors.items():
            column = names.get(name, name if not names and isinstance(name, int) else None)
            if column is None or not 0 <= column < columns:
                raise ValueError(f"there is no feature {name!r} to rescale")
            full[column] = factor
    else:
        full = np.asarray(factors, dtype=np.float64)
        if full.shape != (columns,):
            raise ValueError(f"{columns} columns need {columns} factors, got shape {full.shape}")
    good = np.isfinite(full) & (full != 0)
    if not good.all():
        column = int(np.argmin(good))
        raise ValueError(f"column {column}: a unit cannot change by a factor of {full[column]:g}")
    return full
