"""The table of addresses with which a Blend scores and learns single rows; see `one_row`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.blend import one_row
from unitless.blend.hedge import HedgeMixture
from unitless.learners import newton, vaw
from unitless.learners.base import EMPTY, NO_INDICES, NO_STARTS, Block, Float
from unitless.learners.boosted_trees import BoostedTrees
from unitless.learners.coordinatewise import Coordinatewise
from unitless.learners.neighbours import Neighbours
from unitless.pairs_of_bins import PairsOfBins

KINDS = {"newton": one_row.NEWTON, "full": one_row.FULL, "vaw": one_row.VAW}
KINDS |= {"boosted_trees": one_row.TREES, "neighbours": one_row.NEIGHBOURS}
VIEWS = {"none": -1}
VIEWS |= {"raw": one_row.RAW, "centred": one_row.CENTRED, "squashed": one_row.SQUASHED}
VIEWS |= {"normalised": one_row.NORMALISED, "presence": one_row.PRESENCE, "pairs": one_row.OF_PAIRS}


class RowTable:
    """The addresses of all arrays of a Blend, for rows of its present features."""

    def __init__(self, blend: Any) -> None:
        ensemble = blend.ensemble
        features = ensemble.features
        width = features.count
        views = ensemble.views
        views.reserve(width)
        self._mixture = blend.mixture
        self._slopes = blend.slopes
        self._views = np.zeros((5, width))
        self._scores = blend.table(1)
        self._others: list[tuple[int, str, Any]] = []
        """Experts without a kernel here: number, view and learner."""
        self._arrays: list[NDArray[Any]] = []
        """Kept alive while their addresses are in use."""
        experts = len(self._scores)
        self._table = np.zeros(
            (one_row.EXPERTS + one_row.STRIDE * (experts + 3), 2), dtype=np.int64
        )
        columns = np.arange(width, dtype=np.int32)
        shown = [*features.state[1:], views.mean, views.m2, views.missing, views.totals, views.M]
        shared = [features.ids, columns, *shown, self._views, self._scores]
        self._enter(one_row.FEATURES, (experts, blend.classes), shared)
        if ensemble.pairs is not None:
            self._enter(one_row.PAIRS, (1, 0), _arrays_of_pairs(ensemble.pairs))
        if blend.slopes is not None:
            blend.slopes.reserve(1, width)
            expert = blend.slopes.of_expert(experts)
            self._enter(one_row.SLOPES, (expert, int(blend.intercept)), blend.slopes.state)
        for e, learner in enumerate(ensemble.learners):
            view = ensemble.members[e].view
            kind = _kind(learner, width)
            arrays = _arrays(learner) if kind != one_row.ABSENT else []
            self._enter(one_row.EXPERTS + one_row.STRIDE * e, (kind, VIEWS[view]), arrays)
            if kind == one_row.ABSENT and learner is not None:
                self._others.append((e, view, learner))
        if not self._others:
            self._enter_mixture()

    def _enter_mixture(self) -> None:
        mixture = self._mixture
        loss = mixture.loss
        k = one_row.EXPERTS + one_row.STRIDE * len(self._scores)
        self._table[k, 0] = one_row.IN_PYTHON
        if not isinstance(mixture, HedgeMixture):
            *stacker, steep = mixture.stacker
            arrays = [*stacker, *mixture.weights, np.array([float(steep)])]
            self._enter(k, (one_row.STACKED, loss.code), arrays)
        elif not any(len(stacker._units) for stacker in mixture.stackers):
            K = len(self._scores)
            h = np.array([0.0, loss.parameter, 0.0])  # and the target of the stackers
            room = [np.zeros(K + 2), np.zeros(K + 1), h]
            self._enter(
                k, (one_row.HEDGED, loss.code), [*mixture.base.state, *mixture.final.state, *room]
            )
            second_order, first_order = mixture.stackers
            self._enter(k + one_row.STRIDE, (one_row.FULL, 0), _arrays(second_order))
            stored = np.arange(K + 1, dtype=np.int32), NO_STARTS
            self._enter(
                k + 2 * one_row.STRIDE,
                (one_row.COORDINATEWISE, 0),
                [*_arrays(first_order), *stored],
            )

    def _enter(self, k: int, head: tuple[int, int], arrays: Any) -> None:
        self._arrays += arrays
        addresses = [(array.ctypes.data, array.size) for array in arrays]
        self._table[k : k + 1 + len(addresses)] = [head, *addresses]

    def run(self, block: Block, targets: Float, weights: Float, scores: Float) -> bool:
        """Fill in the score, and learn with a target; returns False if the row is unusual."""
        outcome = one_row.run(self._table, tuple(block), targets, weights, scores.reshape(-1))
        if outcome == one_row.SCORED:
            self._finish(targets, weights, scores)
        return outcome != one_row.UNUSUAL

    def _finish(self, targets: Float, weights: Float, scores: Float) -> None:
        """What the kernel has left: experts without a kernel, and the mixture after them."""
        width = self._views.shape[1]
        for e, view, learner in self._others:
            line = Block(self._views[VIEWS[view]], NO_INDICES, NO_STARTS, width)
            if len(targets):
                learner._learn(line, targets, weights, self._scores[e])
            else:
                learner._predict(line, weights, self._scores[e])
        by_row = self._scores.swapaxes(0, 1)
        self._mixture.learn(by_row, targets, weights, scores)
        if not self._others and len(targets):
            self._enter_mixture()  # its stackers may have other arrays now
        if self._slopes is not None and len(targets):
            line = Block(self._views[one_row.RAW], NO_INDICES, NO_STARTS, width)
            self._slopes.learn(line, targets, weights, scores, by_row)


def _kind(learner: Any, width: int) -> int:
    """The number of the expert's kernel, if it has one for rows of that many features."""
    if learner is None:
        return one_row.ABSENT
    if isinstance(learner, Coordinatewise):
        return one_row.COORDINATEWISE
    kind = KINDS.get(learner.name, one_row.ABSENT)
    if kind in (one_row.FULL, one_row.VAW) and (learner.state.places[: 1 + width] < 0).any():
        return one_row.ABSENT
    # The targets of a Blend count from the first one and are near 1, except those of Huber's loss.
    if kind == one_row.VAW and tuple(learner._targets[[vaw.FIRST, vaw.UNIT]]) != (0.0, 1.0):
        return one_row.ABSENT
    return kind


def _arrays_of_pairs(pairs: PairsOfBins) -> list[NDArray[Any]]:
    """The state, and room for the cells of a row: their values, columns and starts."""
    most = len(pairs.pairs)
    room: list[NDArray[Any]] = [np.ones(most), np.empty(most, np.int32), np.zeros(2, np.int64)]
    return [pairs.pairs, pairs.sign, pairs.varies, pairs.totals, *room]


def _arrays(learner: Any) -> list[NDArray[Any]]:
    """The arrays of an expert in the order in which the kernel takes them: settings, state."""
    if isinstance(learner, Coordinatewise):
        more = learner._more_arrays() or (EMPTY,)
        return [*learner._settings, learner._totals, learner._records, *more]
    settings: tuple[float, ...]
    if isinstance(learner, newton.Newton):
        settings = (learner.loss.code, learner.classes, learner.strength, learner.intercept)
    elif isinstance(learner, BoostedTrees | Neighbours):
        settings = learner.settings
    else:
        settings = learner._settings
    arrays = learner.state
    if isinstance(learner, BoostedTrees):
        arrays = [array for part in learner.state for array in part]
    targets = [learner._targets] if isinstance(learner, vaw.Vaw) else []
    return [np.array(settings, dtype=np.float64), *arrays, *targets]
