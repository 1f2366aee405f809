"""The base class of all learners, and the contract that they fulfil.

- `predict(rows)` changes nothing: each row is scored as if it were the next trial.
- `learn(rows)` scores each row before it uses the row's target, in order. A block gives the same
  bits as its rows one by one, and the scores are those that `predict` would have given.
- A call that raises an error leaves the learner as it was.
- `invariance` declares which changes of the features leave the scores unchanged; tests check it
  (`unitless.testing`).
- A learner is not thread-safe; estimators and models are.

A new learner implements the methods at the bottom of `Learner` and is registered by one line in
`unitless.learners`. A learner that updates each feature independently is a subclass of
`unitless.learners.coordinatewise.Coordinatewise` and needs two functions only.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from functools import cache
from itertools import islice
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless import losses, units
from unitless.encoders import DictEncoder
from unitless.learners.state import Field as Field
from unitless.losses import SOFTMAX, Loss
from unitless.rows import NO_INDICES as NO_INDICES
from unitless.rows import NO_STARTS as NO_STARTS
from unitless.rows import Block as Block
from unitless.rows import Rows, extent

Float = NDArray[np.float64]
EMPTY = np.empty(0)
MIN_WEIGHT, MAX_WEIGHT = 2.0**-200, 2.0**200
"""Sample weights between these leave every square and product within float64."""
LARGEST = float(np.finfo(np.float64).max)


class Weights(NamedTuple):
    """The score's coefficients at x = 0 with the current scales: score = intercept + features.x.

    Learners whose weights depend on x (both algorithms of the paper do) are linear only locally.
    """

    intercept: float | Float
    features: Float
    """By column, unit 1/[x_i]; with the softmax loss one row per column, one column per class."""


class Sums(NamedTuple):
    """The sums of a regret certificate (docs/theory.md): regret(u) <= A + sum h_i u_i for every u.

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


class Diverged(ArithmeticError):
    """A scale-dependent learner refused a row after which its state would not be finite.

    The learner is as it was before the call.
    """

    def __init__(self, learner: str, row: int) -> None:
        super().__init__(
            f"row {row}: {learner} diverged; scale the features, lower its rate, or use a learner "
            "that does not depend on units"
        )
        self.learner, self.row = learner, row

    def __reduce__(self) -> tuple[Any, ...]:
        return Diverged, (self.learner, self.row)


class Learner(ABC):
    """Base of all learners; see the module's docstring for the contract."""

    name: ClassVar[str]
    invariance: ClassVar[Literal["linear", "affine", "unit", "rotation", "none"]]
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
        self.names = DictEncoder()
        self._units = EMPTY
        if self.needs_lipschitz and math.isinf(self.loss.lipschitz):
            raise ValueError(
                f"{type(self).__name__} needs a loss with a bounded derivative, and the "
                f"{self.loss.name} loss has none: use 'absolute' or 'huber(delta)', or a learner "
                "made for it"
            )

    @property
    def scale_invariant(self) -> bool:
        """Whether the scores do not depend on the units of the features."""
        return self.invariance in ("unit", "affine", "linear")

    # Blocks

    def predict(self, rows: Rows) -> Float:
        """Score the rows, each as if it were the next trial; the learner does not change."""
        weights = checked_weights(rows)
        scores = self._room(len(rows))
        if self._in_range(rows):
            return self._predict(rows.block, weights, scores)
        return units.predict(self, rows.block, weights, scores)

    def learn(self, rows: Rows) -> Float:
        """Score each row before its target is used, then learn it; returns the scores."""
        weights = checked_weights(rows)
        in_range = self._in_range(rows)
        if rows.targets is None:
            raise ValueError("learning needs targets: as_rows(X, targets)")
        losses.check_targets(self.loss, rows.targets, self.classes)
        self._check(rows.targets, weights)
        scores = self._room(len(rows))
        columns = self._columns
        try:
            self._reserve(rows.columns)
            if in_range:
                return self._learn(rows.block, rows.targets, weights, scores)
            return units.learn(self, rows.block, rows.targets, weights, scores)
        except Diverged:
            self._forget(columns)
            raise

    def _in_range(self, rows: Rows) -> bool:
        """Whether the learner can take the values as they are; infinite ones are refused."""
        extent = rows.extent
        if extent[1] == math.inf:
            rows.refuse_infinity()
        return not self.scale_invariant or (not len(self._units) and units.covers(extent))

    def _room(self, rows: int) -> Float:
        """An array for scores: one per row, or with the softmax loss one per row and class."""
        return np.empty((rows, self.classes) if self.loss.code == SOFTMAX else rows)

    # One row, a dict of named features

    def predict_one(self, x: Mapping[Hashable, Any], weight: float = 1.0) -> Any:
        """Score one dict row. Absent is 0, None and NaN are missing, new names are fine."""
        check_weight(weight)
        self.names.load(x)
        block, in_range = self._one_row()
        weights = EMPTY if weight == 1 else np.array([float(weight)])
        predict = self._predict if in_range else self._predict_in_units
        scores = predict(block, weights, self._room(1))
        return scores[0] if scores.ndim == 2 else float(scores[0])

    def learn_one(self, x: Mapping[Hashable, Any], y: float, weight: float = 1.0) -> Any:
        """Score one dict row, then learn from its target; returns the score."""
        check_weight(weight)
        losses.check_target(self.loss, y, 0, self.classes)
        if weight == 0:
            return self.predict_one(x)
        targets = np.array([float(y)])
        weights = EMPTY if weight == 1 else np.array([float(weight)])
        if not self.takes_every_target:
            self._check(targets, weights)
        names = self.names
        unknown = names.load(x)
        block, in_range = self._one_row()
        columns, known = self._columns, len(names.columns)
        if unknown:
            self._reserve(block.columns)
            names.add_unknown()
        learn = self._learn if in_range else self._learn_in_units
        try:
            scores = learn(block, targets, weights, self._room(1))
        except Diverged:
            self._forget(columns)
            self.names = DictEncoder(dict(islice(names.columns.items(), known)))
            raise
        return scores[0] if scores.ndim == 2 else float(scores[0])

    def _one_row(self) -> tuple[Block, bool]:
        """The row in `names` as a block, and whether it is in range; infinity is refused."""
        names = self.names
        values = names.values
        sizes = extent(values)
        if sizes[1] == math.inf:
            names.refuse_infinity()
        in_range = not self.scale_invariant or (not len(self._units) and units.covers(sizes))
        columns = len(names.columns) + len(names.unknown)
        return Block(values, names.indices, _starts_of_one(len(values)), columns), in_range

    def _predict_in_units(self, block: Block, weights: Float, scores: Float) -> Float:
        return units.predict(self, block, weights, scores)

    def _learn_in_units(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        return units.learn(self, block, targets, weights, scores)

    # Units, weights, explanations

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on column i arrives multiplied by factors[i]: continue as if it always had.

        Exact to the bit for powers of two.
        """
        by_column = units.factors_by_column(factors, self.names.columns, self._columns)
        if not self.scale_invariant:
            raise ValueError(
                f"{self.name} depends on units and cannot be rescaled; "
                "train a new one, or use a scale-invariant learner"
            )
        units.rescale(self, by_column)
        return self

    def weights(self) -> Weights:
        """The coefficients at x = 0 (see `Weights`)."""
        w = units.in_own_unit(self, self._coefficients())
        return Weights(w[0], w[1:])

    def contributions(self, rows: Rows) -> tuple[Float, Float]:
        """Explain the score of one row: (base, by column), which add up to it.

        The weights at x = 0 times x; the rest, mainly the intercept, is the base.
        """
        w = self._coefficients()[1:]
        block = rows.block
        columns = block.indices if len(block.starts) else np.arange(block.columns)
        known = columns < len(w)
        x = np.zeros(len(w))
        x[columns[known]] = np.nan_to_num(block.values[known])
        if len(self._units):
            x *= self._units[1 : 1 + len(x)]
        largest = LARGEST / (2 + len(w))
        with np.errstate(over="ignore"):
            parts = np.clip((w.T * x).T, -largest, largest)
        return self.predict(rows)[0] - parts.sum(axis=0), parts

    # Methods that each learner implements. Values are finite or NaN (missing), and in range for
    # learners that declare an invariance; coordinate 0 is the constant, column j is j + 1.

    @property
    @abstractmethod
    def _columns(self) -> int:
        """The number of columns there is room for."""

    @abstractmethod
    def _reserve(self, columns: int) -> None:
        """Make room for that many columns, if there is less."""

    @abstractmethod
    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        """Fill in `scores` and return them; columns without room are features not yet seen.

        Empty weights mean all 1.
        """

    @abstractmethod
    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        """Fill in `scores`, learn, and return the scores. Rows of weight 0 are scored only."""

    @abstractmethod
    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        """From now on the values of these columns are multiplied by these nonzero factors."""

    @abstractmethod
    def _coefficients(self) -> Float:
        """The weights at x = 0 by coordinate; with the softmax loss one column per class."""

    def _seen(self) -> NDArray[np.bool_]:
        """By coordinate: whether it has been seen (used when units are first assigned)."""
        raise NotImplementedError

    def _forget(self, columns: int) -> None:
        """Go back to room for that many columns, after `Diverged`."""
        return

    def _check(self, targets: Float, weights: Float) -> None:
        """Refuse targets that the learner does not support, before anything changes."""
        return

    def add_class(self) -> None:
        """Add one class, whose score starts at 0; for the softmax loss."""
        raise ValueError(f"{self.name} has no classes to add to")

    def sums(self) -> Sums | None:
        """The sums of a regret certificate; None for learners that do not keep them."""
        return None


@cache
def _starts_of_one(size: int) -> NDArray[np.int64]:
    """The starts of a block of one row."""
    return np.array([0, size])


def checked_weights(rows: Rows) -> Float:
    """The sample weights of a block, empty if all are 1; out of bounds they are refused."""
    if not isinstance(rows, Rows):
        raise TypeError(f"expected Rows, got {type(rows).__name__}: use as_rows(X, targets)")
    if rows.weights is None:
        return EMPTY
    good = (rows.weights == 0) | ((rows.weights >= MIN_WEIGHT) & (rows.weights <= MAX_WEIGHT))
    if not good.all():
        row = int(np.argmin(good))
        check_weight(float(rows.weights[row]), row)
    return rows.weights


def check_weight(weight: float, row: int = 0) -> None:
    """Refuse a sample weight that is neither 0 nor within bounds."""
    if not (weight == 0 or MIN_WEIGHT <= weight <= MAX_WEIGHT):
        raise ValueError(
            f"row {row}: weight {weight:g} is neither 0 nor between {MIN_WEIGHT:.0e} and "
            f"{MAX_WEIGHT:.0e}; use 0 to leave a row out"
        )


def checked_classes(loss: Loss, classes: int) -> int:
    """The number of scores per row: 1, or the number of classes of the softmax loss."""
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
