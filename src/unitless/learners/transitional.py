"""The interface of 0.1.0 for learners that are not yet converted to `unitless.learners.base`.

Such a learner fills in `_predict(values, indices, starts, columns, weights, scores)`, `_learn` with
the targets before the weights, `rescale` and `weights`, and takes care of range by itself. This
module goes when the last of them is converted.
"""

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless import losses, units
from unitless.learners.base import Float, Learner, check_weight, checked_weights
from unitless.locking import PicklableLock
from unitless.rows import Block, Rows, extent

Arrays = tuple[Float, NDArray[np.int32], NDArray[np.int64], int]


def arrays_of(rows: Rows) -> Arrays:
    """The block as flat arrays, none of whose values is infinite."""
    if not isinstance(rows, Rows):
        raise TypeError(f"expected Rows, got {type(rows).__name__}: use as_rows(X, targets)")
    rows.refuse_infinity()
    return tuple(rows.block)


def cut(values, indices, starts, columns, weights, first, last):
    """Rows first to last - 1 of a block."""
    part = Block(values, indices, starts, columns).cut(first, last)
    return (*part, weights[first:last])


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


class OldLearner(Learner):
    """Base of the learners that are not yet converted."""

    _columns: Any = None

    def __init__(self, *arguments: Any, **parameters: Any) -> None:
        super().__init__(*arguments, **parameters)
        self._turn = PicklableLock()

    # Blocks

    def predict(self, rows: Rows) -> Float:
        """Scores of the rows, each as if it were the next trial; the learner does not change."""
        with self._turn:
            arrays, weights = arrays_of(rows), checked_weights(rows)
            scores = self._predict(*arrays, weights, self._room(len(rows)))
        if scores is None:
            rows.refuse_infinity()
        return scores

    def learn(self, rows: Rows) -> Float:
        """Scores made before each row's target was used; then the row is learned."""
        with self._turn:
            arrays, weights = arrays_of(rows), checked_weights(rows)
            if rows.targets is None:
                raise ValueError("learning needs targets: as_rows(X, targets)")
            losses.check_targets(self.loss, rows.targets, self.classes)
            self._check(rows.targets, weights)
            self._reserve(rows.columns)
            scores = self._learn(*arrays, rows.targets, weights, self._room(len(rows)))
        if scores is None:
            rows.refuse_infinity()
        return scores

    # One row, a dict of named features

    def predict_one(self, x: Mapping[Hashable, Any], weight: float = 1.0) -> float:
        """The score of one dict row. Absent is 0, None and NaN are missing, new names are fine."""
        if weight != 1:
            check_weight(weight)
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
            check_weight(weight)
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

    # Nothing of the new interface

    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        raise NotImplementedError

    def _coefficients(self) -> Float:
        raise NotImplementedError


def learn_block(learner: Any, block: Block, targets: Float, weights: Float) -> Float:
    """The scores of a block that is learned without a look at its range, by either interface."""
    scores = learner._room(len(targets))
    learner._reserve(block.columns)
    if isinstance(learner, OldLearner):
        run = getattr(learner, "_learn_scaled", learner._learn)
        return run(*block, targets, weights, scores)
    return learner._learn(block, targets, weights, scores)


def predict_block(learner: Any, block: Block, weights: Float, rows: int) -> Float:
    """The scores of a block, likewise."""
    scores = learner._room(rows)
    if isinstance(learner, OldLearner):
        run = getattr(learner, "_predict_scaled", learner._predict)
        return run(*block, weights, scores)
    return learner._predict(block, weights, scores)


def coefficients(learner: Any) -> Float:
    """The coefficients by coordinate, likewise."""
    if not isinstance(learner, OldLearner):
        return learner._coefficients()
    if hasattr(learner, "_weights_scaled"):
        return learner._weights_scaled()
    w = learner.weights()
    return np.concatenate([[w.intercept], w.features])


def seen(learner: Any) -> NDArray[np.bool_]:
    """By coordinate, whether the state knows anything of it, likewise."""
    if not isinstance(learner, OldLearner):
        return learner._seen()
    if hasattr(learner.state, "places"):
        return learner.state.places >= 0
    return coefficients(learner) != 0


def rescale_columns(learner: Any, columns: NDArray[Any], factors: Float, count: int) -> None:
    """Rescale some of `count` columns, likewise."""
    learner._reserve(count)
    if not isinstance(learner, OldLearner):
        learner._rescale(columns, factors)
    elif hasattr(learner, "_rescale_scaled"):
        learner._rescale_scaled(columns + 1, factors)
    else:  # these have units of their own: past values so much smaller are below every last digit
        every = np.ones(count)
        every[columns] = np.copysign(np.maximum(np.abs(factors), 2.0**-900), factors)
        learner.rescale(every)


def learn_in_range(learner: Any, block: Block, targets: Float, weights: Float) -> Float:
    """Learn a block whose values may be out of range."""
    scores = learner._room(len(targets))
    learner._reserve(block.columns)
    if isinstance(learner, OldLearner):
        return learner._learn(*block, targets, weights, scores)
    if len(learner._units) or not units.covers(extent(block.values)):
        return units.learn(learner, block, targets, weights, scores)
    return learner._learn(block, targets, weights, scores)


def predict_in_range(learner: Any, block: Block, weights: Float, rows: int) -> Float:
    """Score a block whose values may be out of range."""
    scores = learner._room(rows)
    if isinstance(learner, OldLearner):
        return learner._predict(*block, weights, scores)
    if len(learner._units) or not units.covers(extent(block.values)):
        return units.predict(learner, block, weights, scores)
    return learner._predict(block, weights, scores)
