"""The ensemble of a Blend: from a block of rows to a table of the experts' scores.

Columns become feature ids (`compaction`), each view transforms the rows
(`unitless.views`), and each expert scores, or learns, the view it is made for. Experts that would
cost too much leave for good when a running rule of `compaction` is broken, before the row that
breaks it is predicted.
"""

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.blend.compaction import DONE, RULE, Compaction, Float
from unitless.blend.experts import Expert
from unitless.blend.threads import parallel
from unitless.learners.base import EMPTY, LARGEST, NO_INDICES, NO_STARTS, Learner
from unitless.rows import Block
from unitless.views import Moments, Normalised, presence_of

NOTHING = Block(EMPTY, NO_INDICES, NO_STARTS, 0)
"""The view of experts that ignore the features."""
Part = tuple[int, int, Float | None]


class Ensemble:
    """Experts, their views, and the features of the stream."""

    def __init__(self, members: list[Expert], **common: Any) -> None:
        self.members = members
        self.learners: list[Learner | None] = [
            member.kind(**{**common, **member.parameters}) for member in members
        ]
        self.features = Compaction()
        self.moments = Moments()
        self.normalised = Normalised()

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which experts have not been dropped."""
        return np.array([learner is not None for learner in self.learners])

    # Learning

    def learn(self, block: Block, targets: Float, weights: Float) -> Iterator[Part]:
        """Let the experts learn the rows: (first, last, scores) of one run of rows after another.

        Scores are None for rows of weight 0, which are to be predicted and left out. Experts may
        have left before a run.
        """
        features = self.features
        features.reserve(block.columns)
        rows = len(targets)
        first = 0
        while first < rows:
            stop, reason = features.ingest(block, weights, rows, first)
            if stop > first:
                part = slice(first, stop)
                width = max(features.count, 1)  # moments count rows, so that no row is empty
                shown = features.compact(block.cut(first, stop), stop - first, width)
                views = self.views(shown, learn=True)
                calls = []
                for member, learner in self._present:
                    own = views[member.view]
                    learner._reserve(own.columns)
                    scores = learner._room(stop - first)
                    calls.append((learner._learn, own, targets[part], weights[part], scores))
                yield first, stop, self._table(parallel(calls, stop - first), stop - first)
            first = stop
            if reason == RULE:
                row = block.cut(stop, stop + 1)
                self.drop(int(features.dry_run(row, 1)[1][0]))
            elif reason != DONE:
                yield stop, stop + 1, None
                first += 1

    @property
    def _present(self) -> list[tuple[Expert, Learner]]:
        pairs = zip(self.members, self.learners, strict=True)
        return [(member, learner) for member, learner in pairs if learner is not None]

    def _table(self, scores: list[Float], rows: int) -> Float:
        """(rows, experts[, classes]); 0 for those that left."""
        table = np.zeros((rows, len(self.members), *scores[0].shape[1:]))
        for k, own in zip(np.flatnonzero(self.alive), scores, strict=True):
            table[:, k] = own
        return table

    # Predicting

    def by_regime(self, block: Block, rows: int) -> Iterator[tuple["Ensemble", Any, Any]]:
        """(ensemble, row numbers, their new features): a row before which experts would leave is
        predicted by an ensemble that they have left.
        """
        new, regimes = self.features.dry_run(block, rows)
        for regime in np.unique(regimes):
            ensemble = self if regime == self.features.regime else self.without(int(regime))
            chosen = np.flatnonzero(regimes == regime)
            yield ensemble, chosen, new[chosen]

    def without(self, regime: int) -> "Ensemble":
        """An ensemble for predictions that experts have left; it shares their state."""
        other = copy(self)
        other.learners = list(self.learners)
        other.features = copy(self.features)
        other.features.totals = self.features.totals.copy()
        other.drop(regime)
        return other

    def predict(self, block: Block, weights: Float, new: NDArray[np.int64]) -> Float:
        """The experts' scores; `new` has the number of new features of each row."""
        features = self.features
        rows = len(new)
        width = features.count + int(new.max(initial=0))
        pieces = []
        first = 0
        while first < rows:
            stop = features.tile(block, first, rows, width)
            shown = features.compact(block.cut(first, stop), stop - first, width)
            views = self.views(shown, learn=False)
            own = weights[first:stop]
            calls = [
                (learner._predict, views[member.view], own, learner._room(stop - first))
                for member, learner in self._present
            ]
            pieces.append(self._table(parallel(calls, stop - first), stop - first))
            first = stop
        return np.concatenate(pieces)

    # Views

    def views(self, block: Block, *, learn: bool) -> dict[str, Block]:
        """The rows as each view shows them, by the view's name."""
        wanted = {member.view for member, _ in self._present}
        shown = {"raw": block, "none": NOTHING}
        if wanted & {"centred", "squashed"}:
            moments = self.moments
            both = (moments.learn if learn else moments.transform)(block.values, block.columns)
            shown["centred"] = block._replace(values=both[0])
            shown["squashed"] = block._replace(values=both[1])
        if "normalised" in wanted:
            view = self.normalised
            values = (view.learn if learn else view.transform)(block)
            shown["normalised"] = block._replace(values=values)
        if "presence" in wanted:
            shown["presence"] = block._replace(values=presence_of(block))
        return shown

    def parts(self, block: Block, new: NDArray[np.int64], z: Float) -> Float:
        """(experts, features[, classes]): what each feature adds to each expert's score z of a row.

        An expert's weights times what its view shows, in proportion to the score they make up.
        """
        known = self.features.count
        shown = self.features.compact(block, 1, known + int(new[0]))
        views = self.views(shown, learn=False)
        out = np.zeros((len(self.members), known, *z.shape[1:]))
        for k, (member, learner) in enumerate(zip(self.members, self.learners, strict=True)):
            if learner is not None and member.view != "none":
                out[k] = _parts(learner, views[member.view], z[k])[1 : 1 + known]
        return out

    # Changes

    def drop(self, regime: int) -> None:
        """Enter that regime: experts that it does not allow leave for good."""
        self.features.set_regime(regime)
        for k, member in enumerate(self.members):
            if (member.dense and regime < 2) or (member.small and regime % 2 == 0):
                self.learners[k] = None

    def rescale(self, columns: NDArray[Any], factors: Float) -> None:
        """From now on the values of these columns are multiplied by these factors."""
        ids = self.features.ids[columns]
        factors = factors[ids >= 0]
        ids = ids[ids >= 0]
        count = self.features.count
        self.features.statistics[ids] *= np.column_stack([factors, factors**2])
        if self.features.dense:
            self.moments.reserve(count)
            self.moments.rescale(ids, factors)
        self.normalised.reserve(count)
        self.normalised.rescale(ids, factors)
        for member, learner in self._present:
            learner._reserve(0 if member.view == "none" else count)
            if member.view in ("raw", "centred", "normalised"):
                learner._rescale(ids, factors)
            elif member.view == "squashed":
                learner._rescale(ids, np.sign(factors))


def _parts(learner: Any, row: Block, z: Any) -> Float:
    """By coordinate, what a row's values add to the learner's score z of it."""
    x = np.zeros(1 + row.columns)
    x[1 + (row.indices if len(row.starts) else np.arange(row.columns))] = np.nan_to_num(row.values)
    if hasattr(learner, "parts"):
        x[0] = 0
        return learner.parts(x != 0)
    x[0] = learner.intercept
    largest = LARGEST / (2 + len(x))
    with np.errstate(over="ignore", invalid="ignore"):
        w = np.nan_to_num(learner._coefficients())
        w = np.concatenate([w, np.zeros((max(0, len(x) - len(w)), *w.shape[1:]))])[: len(x)]
        terms = np.clip((w.T * x).T, -largest, largest)
    whole = terms.sum(axis=0)
    ratio = np.divide(z, whole, out=np.ones_like(whole), where=whole != 0)
    return terms * np.where(np.abs(ratio) <= 2, ratio, 1.0)
