"""The base class of all learners, and the contract that they fulfil.

- `predict(rows)` changes nothing: each row is scored as if it were the next trial.
- `learn(rows)` scores each row before it uses the row's target, in order. A block gives the same
  bits as its rows one by one, and the scores are those that `predict` would have given.
- A call that raises an error leaves the learner as it was.
- `invariance` declares which changes of the features leave the scores unchanged.
- A learner is not thread-safe; estimators and models are.

`unitless.testing` checks all this. A new learner implements the methods at the bottom of `Learner`
and is registered in `unitless.learners`; if it updates each feature independently, it is a subclass
of `Coordinatewise` and needs two functions only.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless import losses, units
from unitless.encoders import DictEncoder
from unitless.learners.declared import parameters_of
from unitless.losses import SOFTMAX, Loss
from unitless.rows import EMPTY as EMPTY
from unitless.rows import NO_INDICES as NO_INDICES
from unitless.rows import NO_STARTS as NO_STARTS
from unitless.rows import Block as Block
from unitless.rows import Rows, check_weights, checked_weights, extent
from unitless.state import LARGEST as LARGEST
from unitless.state import UNITS, Stateful
from unitless.state import Field as Field

Float = NDArray[np.float64]


class Weights(NamedTuple):
    """The score's coefficients at x = 0 with the current scales: score = intercept + features.x.

    Learners whose weights depend on x (both algorithms of the paper do) are linear only locally.
    """

    intercept: float | Float
    features: Float
    """By column, unit 1/[x_i]; with the softmax loss one row per column, one column per class."""


class Sums(NamedTuple):
    """The sums of a regret certificate (theory.md), by coordinate: regret(u) <= A + sum h_i u_i."""

    trials: int
    dimension: int
    """Coordinates with s > 0."""
    A: float
    """sum v g p, unit of the loss."""
    z: Float
    """h / s with h = -sum v g x and g the loss's own derivative: unit of the loss."""
    s: Float
    """sqrt(sum v^2 x^2), unit [x_i]."""
    slopes: Float | None = None
    """The sums of `unitless.learners.slopes`."""
    lost: Float | None = None
    """At most this times s was dropped from h as rounding noise."""


class Diverged(ArithmeticError):
    """A scale-dependent learner refused a row after which its state would not be finite.

    The learner is as it was before the call.
    """

    def __init__(self, learner: str, row: int) -> None:
        super().__init__(
            f"row {row}: {learner} diverged; scale the features, lower its rate, or use a learner "
            "that does not depend on units"
        )
        self.learner = learner
        self.row = row

    def __reduce__(self) -> tuple[Any, ...]:
        return Diverged, (self.learner, self.row)


class Learner(Stateful, ABC):
    """Base of all learners; see the module's docstring for the contract."""

    name: ClassVar[str]
    invariance: ClassVar[Literal["linear", "affine", "unit", "rotation", "none"]]
    needs_lipschitz: ClassVar[bool] = True
    takes_losses: ClassVar[tuple[str, ...]] = ()
    """Names of the losses it takes, if it does not take all."""
    takes_every_target: bool = True
    """Whether it takes every target that its loss takes; see `_check`."""
    linear: ClassVar[bool] = True
    """Whether scores are linear in x, for the scales of a moment."""
    symmetric: ClassVar[bool] = True
    """Whether the signs and the order of the columns leave the scores unchanged, too."""
    theorem: ClassVar[str | None] = None
    """The regret theorem that holds for it, if one does."""
    state: Any
    saved: ClassVar[tuple[Any, ...]] = (UNITS,)

    def __init__(
        self, loss: str | Loss = "logistic", *, intercept: bool = True, classes: int = 0
    ) -> None:
        self.loss = losses.get(loss)
        self.intercept = bool(intercept)
        self.classes = classes or 1
        if (self.loss.code == SOFTMAX) != (classes > 0):
            raise ValueError(
                f"classes = {classes} with the {self.loss.name} loss: the softmax loss needs the "
                "number of classes, and no other loss has classes"
            )
        self.names = DictEncoder()
        self._units = EMPTY
        self._one_target = np.empty(1)
        self._one_score = np.empty(1)
        if self.needs_lipschitz and math.isinf(self.loss.lipschitz):
            raise ValueError(
                f"{type(self).__name__} needs a loss with a bounded derivative, and the "
                f"{self.loss.name} loss has none: use 'absolute' or 'huber(delta)', or a learner "
                "made for it"
            )
        kind = self.loss.name.partition("(")[0]
        if self.takes_losses and kind not in self.takes_losses:
            known = " or the ".join(self.takes_losses)
            raise ValueError(f"{self.name} takes the {known} loss, not {self.loss.name!r}")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in parameters_of(self).items())
        rows = "" if self.trials is None else f": {self.trials} rows learned"
        return f"<{type(self).__name__}({given}){rows}>"

    @property
    def trials(self) -> int | None:
        """Rows learned, if the learner counts them."""
        return None

    @property
    def scale_invariant(self) -> bool:
        """Whether the scores do not depend on the units of the features."""
        return self.invariance in ("unit", "affine", "linear")

    def _sizes(self) -> dict[str, int]:
        return {"classes": self.classes, "units": min(len(self._units), 1 + self._columns)}

    # Blocks

    def predict(self, rows: Rows) -> Float:
        """Score the rows, each as if it were the next trial; the learner does not change."""
        weights = checked_weights(rows)
        scores = self._room(len(rows))
        if self._in_range(rows.extent, rows.refuse_infinity):
            return self._predict(rows.block, weights, scores)
        return units.predict(self, rows.block, weights, scores)

    def learn(self, rows: Rows) -> Float:
        """Score each row before its target is used, then learn it; returns the scores."""
        weights = checked_weights(rows)
        in_range = self._in_range(rows.extent, rows.refuse_infinity)
        if rows.targets is None:
            raise ValueError("learning needs targets: as_rows(X, targets)")
        self._check_targets(rows.targets, weights)
        scores = self._room(len(rows))
        return self._learn_or_undo(rows.block, rows.targets, weights, scores, in_range)

    def _learn_or_undo(
        self, block: Block, targets: Float, weights: Float, scores: Float, in_range: bool
    ) -> Float:
        """Learn a block, or raise `Diverged` and be as before."""
        before = self._before(block)
        self._reserve(block.columns)
        try:
            if in_range:
                return self._learn(block, targets, weights, scores)
            return units.learn(self, block, targets, weights, scores)
        except Diverged:
            self._put_back(before)
            raise

    def _check_targets(self, targets: Float, weights: Float) -> None:
        """Refuse targets before anything changes."""
        losses.check_targets(self.loss, targets, self.classes)
        self._check(targets, weights)

    def _in_range(self, sizes: tuple[float, float], refuse_infinity: Callable[[], None]) -> bool:
        """Whether the learner can take values of these sizes; infinite ones are refused."""
        if units.covers(sizes) and not len(self._units):
            return True
        if sizes[1] == math.inf:
            refuse_infinity()
        return not self.scale_invariant

    def _room(self, rows: int) -> Float:
        """An array for scores: one per row, or with the softmax loss one per row and class."""
        return np.empty((rows, self.classes) if self.loss.code == SOFTMAX else rows)

    # One row, a dict of named features

    def predict_one(self, x: Mapping[Hashable, Any], weight: float = 1.0) -> Any:
        """Score one dict row. Absent is 0, None and NaN are missing, new names are fine."""
        weights = EMPTY if weight == 1 else check_weights(np.array([float(weight)]))
        names = self.names
        names.load(x)
        scores = self._score_of_one()
        if self._in_range(extent(names.values), names.refuse_infinity):
            self._predict(names.block, weights, scores)
        else:
            units.predict(self, names.block, weights, scores)
        return scores[0] if scores.ndim == 2 else scores.item()

    def learn_one(self, x: Mapping[Hashable, Any], y: float, weight: float = 1.0) -> Any:
        """Score one dict row, then learn from its target; returns the score."""
        weights = EMPTY if weight == 1 else check_weights(np.array([float(weight)]))
        if not (type(y) in (int, float) and y * y == 1 and self.loss.targets == "signs"):
            losses.check_target(self.loss, y, 0, self.classes)
        if weight == 0:
            return self.predict_one(x)
        targets = self._one_target  # no array is allocated for a row
        targets[0] = y
        if not self.takes_every_target:
            self._check(targets, weights)
        names = self.names
        unknown = names.load(x)
        in_range = self._in_range(extent(names.values), names.refuse_infinity)
        scores = self._score_of_one()
        self._learn_or_undo(names.block, targets, weights, scores, in_range)
        if unknown:
            names.add_unknown()
        return scores[0] if scores.ndim == 2 else scores.item()

    def _score_of_one(self) -> Float:
        """An array for the score of one row; with the softmax loss the caller keeps it."""
        return self._room(1) if self.loss.code == SOFTMAX else self._one_score

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

    def deviations(self) -> Float | None:
        """The root mean square of each column, if known; the Blend has standard deviations."""
        sizes = self._root_mean_squares()
        return None if sizes is None else np.minimum(self._in_own_unit(sizes)[1:], LARGEST)

    def _root_mean_squares(self) -> Float | None:
        """The root of the mean square of each coordinate, as the learner sees the values."""
        return None

    def _in_own_unit(self, sizes: Float) -> Float:
        """Sizes by coordinate as callers pass the values; one may exceed the largest float."""
        if not len(self._units):
            return sizes
        units = self._units[: len(sizes)]
        with np.errstate(over="ignore"):
            return np.divide(sizes, units, out=np.zeros(len(sizes)), where=units > 0)

    def contributions(self, rows: Rows) -> tuple[Float, Float]:
        """Explain the score of one row: (base, by column), which add up to it."""
        w = self._coefficients()[1:]
        block = rows.block
        _, columns = block.positions()
        known = columns < len(w)
        x = np.zeros(len(w))
        x[columns[known]] = np.nan_to_num(block.values[known])
        largest = LARGEST / (2 + len(w))
        with np.errstate(over="ignore"):
            if len(self._units):  # a value may have outgrown its unit
                x = np.clip(x * self._units[1 : 1 + len(x)], -LARGEST, LARGEST)
            parts = np.clip((w.T * x).T, -largest, largest)
            base = np.clip(self.predict(rows)[0] - parts.sum(axis=0), -LARGEST, LARGEST)
        return base, parts

    # Methods that each learner implements. Values are finite or NaN (missing), and in range for
    # learners that declare an invariance; coordinate 0 is the constant, column j is j + 1.

    @property
    @abstractmethod
    def _columns(self) -> int:
        """The number of columns there is room for."""

    @abstractmethod
    def _reserve(self, columns: int) -> None:
        """Make room for that many columns, if there is less."""

    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        """Fill in `scores` and return them; no weights are all 1, columns beyond room are new."""
        return self._learn(block, EMPTY, weights, scores)

    @abstractmethod
    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        """Fill in `scores`, learn rows with a target and a positive weight, return the scores."""

    @abstractmethod
    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        """From now on the values of these columns are multiplied by these nonzero factors."""

    @abstractmethod
    def _coefficients(self) -> Float:
        """The weights at x = 0 by coordinate; with the softmax loss one column per class."""

    def _seen(self) -> NDArray[np.bool_]:
        """By coordinate: whether it has been seen (used when units are first assigned)."""
        raise NotImplementedError

    def _before(self, block: Block) -> Any:
        """What is needed to forget this block again, after `Diverged`."""

    def _put_back(self, before: Any) -> None:
        """Forget the block from before which `before` is."""

    def _check(self, targets: Float, weights: Float) -> None:
        """Refuse targets that the learner does not support, before anything changes."""

    def weigh_gradients(self) -> None:
        """From now on sample weights, of at most 1, multiply the derivative of the loss.

        Here they do already. In Algorithms 1 and 2 and others a sample weight v is a row v x.
        """

    def add_class(self) -> None:
        """Add one class, whose score starts at 0; for the softmax loss."""
        if self.loss.code != SOFTMAX:
            raise ValueError(f"{self.name} has no classes to add to")
        self.classes += 1

    def sums(self) -> Sums | None:
        """The sums of a regret certificate; None for learners that do not keep them."""
        return None
