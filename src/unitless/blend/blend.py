"""The Blend: a scale-invariant ensemble whose loss is close to that of its best member, untuned.

Three steps per row (docs/explanation/blend.md has the reasons and what each part is worth)::

    ensemble  experts of different kinds give a score each, from different views of the row
    stacker   online Newton or ridge regression learns how to combine their scores
    mixture   weighs the stacker and the experts by their losses so far; the loss of the Blend is
              close to the best of them, with a bound on the difference that is known at any time

For the logistic loss Algorithms 1 and 2 of the paper are among the experts, which gives the Blend
Theorems 1 and 2, with that bound added. Experts that would cost too much are dropped (see
`compaction`).
"""

from copy import deepcopy
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from unitless import units
from unitless.blend import explaining
from unitless.blend.compaction import SQUARES, ingest
from unitless.blend.ensemble import Ensemble
from unitless.blend.experts import BY_VIEWS
from unitless.blend.grouped_slopes import FORECASTER, BlendSlopes
from unitless.blend.hedge import HedgeMixture
from unitless.blend.logistic import LogisticMixture
from unitless.blend.mixture import Guarantee
from unitless.blend.row_table import RowTable
from unitless.blend.softmax import SoftmaxMixture
from unitless.blend.squared import SquaredMixture
from unitless.blend.target_scaler import TargetScaler
from unitless.learners.base import EMPTY, Float, Learner
from unitless.losses import ABSOLUTE, HINGE, HUBER, LOGISTIC, QUANTILE, SOFTMAX, SQUARED, Loss
from unitless.rows import Block, Rows
from unitless.state import Component

MIXTURES: dict[int, Any] = {
    LOGISTIC: LogisticMixture,
    SQUARED: SquaredMixture,
    SOFTMAX: SoftmaxMixture,
    **dict.fromkeys((HINGE, ABSOLUTE, QUANTILE, HUBER), HedgeMixture),
}
PATIENCE = 32
"""Single rows that go as blocks before the kernel for single rows is worth compiling."""


class Blend(Learner):
    """The default learner: an ensemble whose loss stays close to that of its best member.

    Parameters
    ----------
    loss : str or Loss
        The loss to be small, such as "logistic" or "squared".
    views : "all", "smooth" or "linear"
        "smooth" leaves out the experts for steps and interactions, boosted trees and pairs of
        bins, as version 0.1.0 did: a row costs a fifth to a half. "linear" keeps to experts whose
        scores are linear in x (raw and centred values).
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
    0.1324
    """

    name: ClassVar[str] = "blend"
    linear: ClassVar[bool] = False
    invariance: ClassVar[Any] = "unit"
    needs_lipschitz: ClassVar[bool] = False
    target_invariance: ClassVar[str] = "affine"
    saved: ClassVar[tuple[Any, ...]] = (
        *Learner.saved,
        Component("ensemble"),
        Component("mixture"),
        Component("target_scaler"),
        Component("slopes"),
    )

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        views: Literal["all", "smooth", "linear"] = "all",
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        if self.loss.code not in MIXTURES:
            raise ValueError(f"there is no blend for the {self.loss.name} loss")
        if views not in BY_VIEWS[self.loss.code]:
            raise ValueError(f"views = {views!r}: choose 'all', 'smooth' or 'linear'")
        self.views = views
        members = BY_VIEWS[self.loss.code][views]
        several = {"classes": classes} if classes else {}
        self.ensemble = Ensemble(members, loss=self.loss, intercept=self.intercept, **several)
        self.mixture = MIXTURES[self.loss.code](members, self.loss)
        self.target_scaler = None
        self.slopes = None
        if self.loss.code == LOGISTIC:
            names = [member.name for member in members]
            self.slopes = BlendSlopes(names.index(FORECASTER), self.intercept)
        self._row_table: RowTable | None = None
        self._single_rows = 0
        if self.loss.targets == "reals":
            # The delta of Huber's loss is in the unit of the targets, which therefore stays.
            self.target_scaler = TargetScaler(1.0 if self.loss.code == HUBER else 0.0)
            self.takes_every_target = False

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether signs and order of the columns do not matter: without trees they do not."""
        return self.views != "all"

    @property
    def state(self) -> tuple[Any, ...]:
        """The state of features, views, experts, mixture and targets."""
        ensemble = self.ensemble
        parts = [*ensemble.learners, self.mixture, self.target_scaler, self.slopes]
        shown = [part for part in (ensemble.views, ensemble.pairs) if part is not None]
        views = [field.of(part) for part in shown for field in part.saved]
        return *ensemble.features.state, *views, *[part.state for part in parts if part is not None]

    @property
    def _columns(self) -> int:
        return len(self.ensemble.features.ids)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_row_table": None}  # a copy has other addresses

    @property
    def trials(self) -> int:
        """Rows learned."""
        return int(self.mixture._last_step.totals[0])

    def weigh_gradients(self) -> None:
        """See `Learner.weigh_gradients`."""
        self._row_table = None
        for learner in (*self.ensemble.learners, *getattr(self.mixture, "stackers", ())):
            if learner is not None:
                learner.weigh_gradients()

    def _reserve(self, columns: int) -> None:
        if columns > self._columns:
            self._row_table = None
            self.ensemble.features.reserve(columns)

    def _check(self, targets: Float, weights: Float) -> None:
        if self.target_scaler is not None:
            self.target_scaler.check(targets, weights)

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        ensemble = self.ensemble
        rows = len(scores)
        unknown = 0  # rows scored before any target is known
        if self.target_scaler is not None:
            unknown = self.target_scaler.rows_before_first(weights, rows)
            targets = self.target_scaler.learn(targets, weights)
        if self._run_row(block, targets, weights, scores):
            return self._decode(scores)  # a target is known, as a feature is
        self._row_table = None
        first = 0
        while first < rows:
            last = ingest(tuple(block), weights, rows, first, *ensemble.features.state)
            if last == first:
                row = block.cut(first, first + 1)
                if len(weights) and weights[first] == 0:  # scored as if it counted, and left out
                    self._predict(row, weights[first:][:1], scores[first:][:1])
                    self._row_table = None  # the next rows may move the arrays it points to
                    first += 1
                else:
                    self._enter(ensemble.features.dry_run(row, 1)[1][0])
                continue
            if ensemble.features.turned.any():
                ensemble.turn_new_features()
            width = max(ensemble.features.count, 1)  # moments count rows, so that no row is empty
            part = slice(first, last)
            y = targets[part]
            v = weights[part]
            shown = ensemble.features.compact(block.cut(first, last), last - first, width)
            found = ensemble.run(shown, y, v, self.table(last - first))
            self._decode(self.mixture.learn(found, y, v, scores[part]))
            if self.slopes is not None:
                self.slopes.learn(shown, y, v, scores[part], found)
            first = last
        scores[:unknown] = 0.0
        return scores

    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        if len(weights):
            weights = np.where(weights > 0, weights, 1.0)
        if self._run_row(block, EMPTY, weights, scores):
            return self._decode(scores)
        features = self.ensemble.features
        new, regimes = features.dry_run(block, len(scores))
        by_regime = {regime: self.in_regime(regime) for regime in np.unique(regimes)}
        changes = np.flatnonzero(np.diff(regimes, prepend=-1, append=-1))
        for start, stop in pairwise(changes.tolist()):
            blend = by_regime[regimes[start]]
            ensemble = blend.ensemble
            width = features.count + int(new[start:stop].max())
            step = ensemble.features.rows_per_tile(block.cut(start, stop), stop - start, width)
            for first in range(start, stop, step):
                last = min(first + step, stop)
                tile = ensemble.features.compact(block.cut(first, last), last - first, width)
                v = weights[first:last]
                found = ensemble.run(tile, EMPTY, v, self.table(last - first))
                blend.mixture.learn(found, EMPTY, v, scores[first:last])
        return self._decode(scores)

    def _decode(self, scores: Float) -> Float:
        """Scores in the unit of the targets, in place."""
        if self.target_scaler is not None:
            scores[:] = self.target_scaler.decode(scores)
        return scores

    def _run_row(self, block: Block, targets: Float, weights: Float, scores: Float) -> bool:
        """Score, and learn, a single row in one compiled call; False if it needs a block."""
        if len(scores) != 1 or (len(weights) and weights[0] == 0):
            return False
        features = self.ensemble.features
        if self._row_table is None:
            if not features.dense or features.count == 0:
                return False
            self._single_rows += 1
            if self._single_rows <= PATIENCE:
                return False
            self._row_table = RowTable(self)
        return self._row_table.run(block, targets, weights, scores)

    def table(self, rows: int) -> Float:
        """An array for the experts' scores: (experts, rows[, classes])."""
        return np.zeros((len(self.ensemble.members), *self._room(rows).shape))

    def in_regime(self, regime: int) -> "Blend":
        """This Blend, or a copy that experts have left as they would before such a row."""
        if regime == self.ensemble.features.regime:
            return self
        other = deepcopy(self)
        other._enter(regime)
        return other

    def _enter(self, regime: int) -> None:
        """Experts that the regime does not allow leave for good (see `compaction`)."""
        if regime != self.ensemble.features.regime:
            self.ensemble.drop(regime)
            self.mixture.drop(self.ensemble.alive)

    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        self._row_table = None
        self.ensemble.rescale(columns, factors)
        if self.slopes is not None:
            ids = self.ensemble.features.ids[columns]
            self.slopes.rescale(ids[ids >= 0], factors[ids >= 0])

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

    def mixture_weights(self) -> dict[str, float]:
        """The weight of each expert, and of the stacker, in the mixture now."""
        return self.mixture.mixture_weights()

    def history(self) -> list[tuple[int, dict[str, float]]]:
        """The mixture weights after 1, 2, 4, 8, ... trials."""
        return self.mixture.history()

    def guarantees(self) -> dict[str, Guarantee]:
        """By expert: the Blend's loss is at most the expert's plus an overhead, both in numbers.

        With real targets, and hinge loss, the loss of an expert is that of its forecasts clipped
        to the range of the targets seen before, or to [-1, 1], as they enter the mixture. The
        first target of a regression is not counted: no expert has a loss in its trial.
        """
        guarantees = self.mixture.guarantees()
        if self.target_scaler is None:
            return guarantees
        size = 1 / self.target_scaler.unit
        again = size if self.loss.code == SQUARED else 1.0
        return {name: each.times(size).times(again) for name, each in guarantees.items()}

    def _root_mean_squares(self) -> Float:
        """Of deviations from the mean."""
        _, deviation = explaining.means_and_deviations(self)
        return np.append(0.0, deviation)

    def _coefficients(self) -> Float:
        return explaining.coefficients(self)

    def contributions(self, rows: Rows) -> tuple[Float, Float]:
        """Explain the score of one row: (base, by column), which add up to it.

        The part of column i is sum_k slope_k z_{k,i} over the experts k, where z_{k,i} is what
        feature i adds to the score of expert k, and slope_k what that score adds to the Blend's, on
        average on the way from 0. The base is the rest: intercepts, trackers and the mixing itself.
        """
        score = self.predict(rows)[0]
        learner, block = units.row_in_units(self, rows.block)
        by_column = explaining.contributions(learner, block)
        return score - by_column.sum(axis=0), by_column


class LinearBlend(Blend):
    """`Blend(views="linear")`: the Blend of members whose scores are linear in the features.

    Parameters
    ----------
    loss : str or Loss
        The loss to be small, such as "logistic" or "squared".
    intercept : bool
        Whether experts add a constant feature.
    classes : int
        The number of classes, for the softmax loss only.

    Examples
    --------
    >>> LinearBlend().views
    'linear'
    """

    name: ClassVar[str] = "linear_blend"

    def __init__(
        self, loss: str | Loss = "logistic", *, intercept: bool = True, classes: int = 0
    ) -> None:
        super().__init__(loss, views="linear", intercept=intercept, classes=classes)
