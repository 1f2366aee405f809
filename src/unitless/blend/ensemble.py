"""The ensemble of a Blend: from a tile of rows to a table of the experts' scores.

Columns become feature ids (`compaction`), each view transforms the rows (`unitless.views`), and
each expert scores, or learns, the view it is made for. Experts are independent, so they run on
threads, which changes no score.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
from numba import config
from numpy.typing import NDArray

from unitless.blend.compaction import DENSE, SMALL, Compaction
from unitless.blend.experts import Expert
from unitless.blend.fused import fuse
from unitless.learners.base import EMPTY, NO_INDICES, NO_STARTS, Float, Learner
from unitless.learners.coordinatewise import Coordinatewise
from unitless.pairs_of_bins import PairsOfBins
from unitless.rows import Block
from unitless.state import Component, Stateful, need
from unitless.views import Views

NOTHING = Block(EMPTY, NO_INDICES, NO_STARTS, 0)
"""The view of experts that ignore the features."""
MIN_ROWS = 256
"""Rows that are worth threads."""
MAX_THREADS = 4
"""More do not help: the longest expert is about a quarter of the work."""


class Ensemble(Stateful):
    """Experts, their views, and the features of the stream."""

    saved = tuple(map(Component, ("learners", "features", "views", "pairs")))

    def __init__(self, members: list[Expert], **common: Any) -> None:
        self.members = members
        self.learners: list[Learner | None] = [
            fuse(member.kind(**{**common, **member.parameters})) for member in members
        ]
        self.features = Compaction()
        self.views = Views()
        shows_pairs = any(member.view == "pairs" for member in members)
        self.pairs = PairsOfBins() if shows_pairs else None

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which experts have not been dropped."""
        return np.array([learner is not None for learner in self.learners])

    def _loaded(self) -> None:
        need(self.alive.any(), "no member is left")

    def run(self, shown: Block, targets: Float, weights: Float, table: Float) -> Float:
        """Fill in a table (experts, rows[, classes]) with scores of the rows; returns it by row.

        The rows are by feature (`Compaction.compact`). If there are targets, the experts learn.
        Those that were dropped have the score 0.
        """
        rows = table.shape[1]
        learn = len(targets) > 0
        views = self.show(shown, rows, learn=learn)
        calls: list[tuple[Any, ...]] = []
        for member, learner, scores in zip(self.members, self.learners, table, strict=True):
            if learner is None:
                continue
            own = views.get(member.view, NOTHING)
            if learn:
                learner._reserve(own.columns)
            if isinstance(learner, Coordinatewise):  # most experts: straight to their kernel
                arguments = learner.kernel_arguments(own, targets, weights, scores)
                calls.append((learner.kernel, *arguments))
            elif learn:
                calls.append((learner._learn, own, targets, weights, scores))
            else:
                calls.append((learner._predict, own, weights, scores))
        threads = min(MAX_THREADS, cast(Any, config).NUMBA_NUM_THREADS)
        if rows < MIN_ROWS or threads < 2:
            for function, *given in calls:
                function(*given)
        else:  # a pool per tile, so that a process can fork between calls
            with ThreadPoolExecutor(threads) as pool:
                for future in [pool.submit(*call) for call in calls]:
                    future.result()
        return np.ascontiguousarray(table.swapaxes(0, 1))

    def show(self, block: Block, rows: int, *, learn: bool) -> dict[str, Block]:
        """The rows as each view shows them."""
        dense = self.features.dense
        views = self.views.show(block, dense=dense, learn=learn)
        if dense and self.pairs is not None:
            views["pairs"] = self.pairs.show(views["squashed"], rows, learn=learn)
        return views

    def drop(self, regime: int) -> None:
        """Enter that regime: experts that it does not allow leave for good."""
        self.features.totals[DENSE] = regime // 2
        self.features.totals[SMALL] = regime % 2
        for k, member in enumerate(self.members):
            if (member.dense and regime < 2) or (member.small and regime % 2 == 0):
                self.learners[k] = None

    def rescale(self, columns: NDArray[Any], factors: Float) -> None:
        """From now on the values of these columns are multiplied by these factors."""
        ids = self.features.ids[columns]
        self.features.turned[columns[(ids < 0) & (factors < 0)]] ^= 1
        factors = factors[ids >= 0]
        ids = ids[ids >= 0]
        self.features.statistics[ids] *= np.column_stack([factors, factors**2])
        count = self.features.count
        self.views.reserve(count)
        self.views.rescale_fields(ids, factors)
        self._rescale_pairs(ids, factors)
        for member, learner in zip(self.members, self.learners, strict=True):
            if learner is None or member.view in ("none", "presence", "pairs"):
                continue
            learner._reserve(count)
            learner._rescale(ids, np.sign(factors) if member.view == "squashed" else factors)

    def turn_new_features(self) -> None:
        """Turn features whose columns changed their sign before they were first seen."""
        features = self.features
        columns = np.flatnonzero(features.turned[: len(features.ids)] * (features.ids >= 0))
        features.turned[columns] = 0
        ids = features.ids[columns]
        self._rescale_pairs(ids, np.full(len(ids), -1.0))
        for learner in self.learners:
            if learner is not None and not learner.symmetric:
                learner._reserve(features.count)
                learner._rescale(ids, np.full(len(ids), -1.0))

    def _rescale_pairs(self, ids: NDArray[Any], factors: Float) -> None:
        if self.pairs is not None:
            self.pairs.reserve(self.features.count)
            self.pairs.rescale_fields(ids, factors)
