"""The Blend: a scale-invariant ensemble whose loss is close to that of its best member, untuned.

Three steps per row (docs/blend.md has the reasons and what each part is worth)::

    ensemble  experts of different kinds give a score each, from different views of the row
    stacker   online Newton or ridge regression learns how to combine their scores
    mixture   weighs the stacker and the experts by their losses so far; the loss of the Blend is
              close to the best of them, with a bound on the difference that is known at any time

For the logistic loss Algorithms 1 and 2 of the paper are among the experts, which gives the Blend
Theorems 1 and 2, with that bound added. Experts that would cost too much are dropped (see
`compaction`).
"""

from copy import deepcopy
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from unitless import units
from unitless.blend import experts
from unitless.blend.compaction import SQUARES, SUM, T, take
from unitless.blend.ensemble import Ensemble
from unitless.blend.experts import Expert
from unitless.blend.explaining import slopes_times_parts
from unitless.blend.hedge import HedgeMixture
from unitless.blend.logistic import LogisticMixture
from unitless.blend.mixture import Mixture
from unitless.blend.mixture_bound import Guarantee
from unitless.blend.one_row import RowTable
from unitless.blend.softmax import SoftmaxMixture
from unitless.blend.squared import SquaredMixture
from unitless.blend.target_scaler import TargetScaler
from unitless.learners.base import EMPTY, LARGEST, NO_INDICES, NO_STARTS, Float, Learner
from unitless.losses import (
    ABSOLUTE,
    HINGE,
    HUBER,
    LOGISTIC,
    QUANTILE,
    SOFTMAX,
    SQUARED,
    Loss,
)
from unitless.rows import Block, Rows

Kind = tuple[type[Mixture] | type[HedgeMixture], list[Expert], list[Expert]]
KINDS: dict[int, Kind] = {
    LOGISTIC: (LogisticMixture, experts.LOGISTIC, experts.LOGISTIC_LINEAR),
    SQUARED: (SquaredMixture, experts.SQUARED, experts.SQUARED_LINEAR),
    SOFTMAX: (SoftmaxMixture, experts.SOFTMAX, experts.SOFTMAX_LINEAR),
    HINGE: (HedgeMixture, experts.HINGE, experts.HINGE_LINEAR),
    ABSOLUTE: (HedgeMixture, experts.REAL, experts.REAL_LINEAR),
    QUANTILE: (HedgeMixture, experts.REAL, experts.REAL_LINEAR),
    HUBER: (HedgeMixture, experts.REAL, experts.REAL_LINEAR),
}
"""By loss: the mixture, the experts, and those of views="linear"."""
PATIENCE = 32
"""Single rows that go as blocks before the kernel for single rows is worth compiling."""


class Blend(Learner):
    """The default learner: an ensemble that is close to the best of its members.

    Parameters
    ----------
    loss : name or Loss
    views : "auto" or "linear"
        "linear" keeps to experts whose scores are linear in x (raw and centred values).
    intercept : bool
        Whether experts add a constant feature.
    classes : int
        The number of classes, for the softmax loss only.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Blend()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.1300
    """

    name: ClassVar[str] = "blend"
    linear: ClassVar[bool] = False
    invariance: ClassVar[Any] = "unit"
    needs_lipschitz: ClassVar[bool] = False
    target_invariance: ClassVar[str] = "affine"

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        views: Literal["auto", "linear"] = "auto",
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        if views not in ("auto", "linear"):
            raise ValueError(f"views = {views!r}: choose 'auto' or 'linear'")
        if self.loss.code not in KINDS:
            raise ValueError(f"there is no blend for the {self.loss.name} loss")
        self.views = views
        mixture, members, linear = KINDS[self.loss.code]
        members = linear if views == "linear" else members
        several = {"classes": classes} if classes else {}
        self.ensemble = Ensemble(members, loss=self.loss, intercept=self.intercept, **several)
        self.mixture = mixture(members, self.loss)
        self.target_scaler = None
        self._row_table: RowTable | None = None
        self._single_rows = 0
        if self.loss.targets == "reals":
            # The delta of Huber's loss is in the unit of the targets, which therefore stays.
            self.target_scaler = TargetScaler(1.0 if self.loss.code == HUBER else 0.0)
            self.takes_every_target = False

    @property
    def state(self) -> tuple[Any, ...]:
        """The state of features, views, experts, mixture and targets."""
        ensemble = self.ensemble
        features = ensemble.features
        learners = [learner for learner in ensemble.learners if learner is not None]
        return (
            (features.ids, features.statistics, features.totals),
            ensemble.moments.state,
            ensemble.normalised.state,
            tuple(learner.state for learner in learners),
            self.mixture.state,
            () if self.target_scaler is None else (self.target_scaler.state,),
        )

    # The methods of `Learner`

    @property
    def _columns(self) -> int:
        return len(self.ensemble.features.ids)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_row_table": None}  # a copy has other addresses

    def _reserve(self, columns: int) -> None:
        if columns > self._columns:
            self._row_table = None
            self.ensemble.features.reserve(columns)

    def _check(self, targets: Float, weights: Float) -> None:
        if self.target_scaler is not None:
            self.target_scaler.check(targets, weights)

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        scaler = self.target_scaler
        unknown = 0  # rows scored before any target is known
        if scaler is not None:
            unknown = scaler.rows_before_first(weights, len(scores))
            targets = scaler.learn(targets, weights)
        if not self._run_row(block, targets, weights, scores):
            self._row_table = None
            for first, last, found in self.ensemble.learn(block, targets, weights):
                rows = slice(first, last)
                self.mixture.drop(self.ensemble.alive)
                if found is None:
                    self._score(block.cut(first, last), weights[rows], scores[rows])
                else:
                    self.mixture.learn(found, targets[rows], weights[rows], scores[rows])
        if scaler is not None:
            scores[:] = scaler.decode(scores)
            scores[:unknown] = 0.0
        return scores

    def _run_row(self, block: Block, targets: Float, weights: Float, scores: Float) -> bool:
        """Score, or learn, one row in one compiled call; False if it must go through blocks."""
        if len(scores) != 1 or (len(weights) and weights[0] == 0):
            return False
        features = self.ensemble.features
        if not features.dense or features.count == 0:
            return False
        if self._row_table is None:
            self._single_rows += 1
            if self._single_rows <= PATIENCE:
                return False
            self._row_table = RowTable(self)
        table = self._row_table
        if not table.run(block, targets, weights, scores):
            return False
        if not table.mixes:
            self.mixture.learn(table.scores, targets, weights, scores)
        return True

    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        if not self._run_row(block, EMPTY, weights, scores):
            self._score(block, weights, scores)
        if self.target_scaler is not None:
            scores[:] = self.target_scaler.decode(scores)
        return scores

    def _score(self, block: Block, weights: Float, scores: Float) -> None:
        """Fill in scores, in the unit of scaled targets."""
        weights = np.where(
            weights > 0, weights, 1.0
        )  # a row of weight 0 is scored as if it counted
        for ensemble, rows, new in self.ensemble.by_regime(block, len(scores)):
            mixture = self.mixture
            if ensemble is not self.ensemble:
                mixture = deepcopy(mixture)
                mixture.drop(ensemble.alive)
            own, own_weights = block, weights
            if len(rows) < len(scores):
                own = take(block, rows)
                own_weights = weights[rows] if len(weights) else weights
            found = ensemble.predict(own, own_weights, new)
            scores[rows] = mixture.predict(found, self._room(len(rows)), own_weights)

    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        self._row_table = None
        self.ensemble.rescale(columns, factors)

    def _seen(self) -> NDArray[np.bool_]:
        features = self.ensemble.features
        seen = features.statistics[:, SQUARES][features.ids] > 0
        return np.append(True, seen & (features.ids >= 0))

    def add_class(self) -> None:
        """Add one class, whose score starts at 0."""
        if self.loss.code != SOFTMAX:
            super().add_class()
        self.classes += 1
        self._row_table = None
        for learner in self.ensemble.learners:
            if learner is not None:
                learner.add_class()

    # Inspection

    def mixture_weights(self) -> dict[str, float]:
        """The weight of each expert, and of the stacker, in the mixture now."""
        return self.mixture.mixture_weights()

    def history(self) -> list[tuple[int, dict[str, float]]]:
        """The mixture weights after 1, 2, 4, 8, ... trials."""
        return self.mixture.history()

    def guarantees(self) -> dict[str, Guarantee]:
        """By expert: the Blend's loss is at most the expert's plus an overhead, both in numbers.

        The first target of a regression is not counted: no expert has a loss in its trial.
        """
        guarantees = self.mixture.guarantees()
        if self.target_scaler is None:
            return guarantees
        size = 1 / self.target_scaler.unit
        again = size if self.loss.code == SQUARED else 1.0
        return {name: each.times(size).times(again) for name, each in guarantees.items()}

    def deviations(self) -> Float:
        """The standard deviation of each column so far."""
        _, deviation = self._means_and_deviations()
        if not len(self._units):
            return deviation
        own = self._units[1:]
        with np.errstate(over="ignore"):
            found = np.divide(deviation, own, out=0 * deviation, where=own > 0)
        return np.minimum(found, LARGEST)

    def _means_and_deviations(self) -> tuple[Float, Float]:
        """Of each column, in the unit in which its values arrive here.

        Missing values do not count while the stream is dense. Later, a variance below the rounding
        errors of the squares is that of a constant, 0.
        """
        features = self.ensemble.features
        used = np.flatnonzero(features.ids >= 0)
        ids = features.ids[used]
        n = max(features.totals[T], 1.0)
        if features.dense:
            moments = self.ensemble.moments.state
            mean = moments.mean[ids]
            variance = moments.m2[ids] / np.maximum(n - moments.missing[ids], 1)
        else:
            mean = features.statistics[ids, SUM] / n
            variance = features.statistics[ids, SQUARES] / n - mean**2
            variance[variance < 2.0**-40 * mean**2] = 0
        out = np.zeros((2, len(features.ids)))
        out[:, used] = mean, np.sqrt(variance)
        return out[0], out[1]

    def _coefficients(self) -> Float:
        """The change of the score by one deviation of x_i, either way, divided by that deviation.

        It is taken at the means, or at x = 0 once the stream is not dense.
        """
        mean, deviation = self._means_and_deviations()
        if not self.ensemble.features.dense:
            mean = np.zeros(len(mean))
        used = np.flatnonzero(deviation > 0)
        here, up, down = (self._probe(used, mean, sign * deviation) for sign in (0, 1, -1))
        out = np.zeros((1 + len(mean), *here.shape[1:]))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            change = (up - down).T / deviation[used] / 2
            out[1 + used] = np.clip(np.nan_to_num(change.T), -LARGEST, LARGEST)
            out[0] = np.clip(np.nan_to_num(here[0] - mean @ out[1:]), -LARGEST, LARGEST)
        return out

    def _probe(self, columns: Any, mean: Float, step: Float) -> Float:
        """Scores of rows that differ from the means by one step each, in one of the columns."""
        n = max(len(columns), 1)
        if self.ensemble.features.dense:
            X = np.tile(mean, (n, 1))
            X[np.arange(len(columns)), columns] += step[columns]
            block = Block(X.reshape(-1), NO_INDICES, NO_STARTS, len(mean))
        else:
            starts = np.minimum(np.arange(n + 1), len(columns))
            block = Block(step[columns], columns.astype(np.int32), starts, len(mean))
        return self._predict(block, EMPTY, self._room(n))

    def contributions(self, rows: Rows) -> tuple[Float, Float]:
        """Explain the score of one row: (base, by column), which add up to it.

        The part of column i is sum_k slope_k z_{k,i} over the experts k, where z_{k,i} is what
        feature i adds to the score of expert k, and slope_k what that score adds to the Blend's, on
        average on the way from 0. The base is the rest: intercepts, trackers and the mixing itself.
        """
        score = self.predict(rows)[0]
        learner, block = units.row_in_units(self, rows.block)
        by_column = learner._contributions(block)
        return score - by_column.sum(axis=0), by_column

    def _contributions(self, block: Block) -> Float:
        ensemble, _, new = next(self.ensemble.by_regime(block, 1))
        found = ensemble.predict(block, EMPTY, new)[0]
        mixture = deepcopy(self.mixture)
        mixture.drop(ensemble.alive)
        with np.errstate(over="ignore", invalid="ignore"):
            by_feature = slopes_times_parts(mixture, found, ensemble.parts(block, new, found))
            if self.target_scaler is not None:
                by_feature = by_feature / self.target_scaler.unit
        ids = self.ensemble.features.ids
        out = np.zeros((len(ids), *by_feature.shape[1:]))
        out[ids >= 0] = by_feature[ids[ids >= 0]]
        largest = LARGEST / (2 + len(out))
        return np.clip(np.nan_to_num(out), -largest, largest)
