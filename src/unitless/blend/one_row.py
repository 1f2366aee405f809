"""A fast path for single rows: views, experts and mixture of a Blend in one compiled call.

Numba needs a quarter of a microsecond for every array that Python passes to a kernel, and the
experts have a hundred of them. So their addresses are collected once, in a table that is valid
until an array is replaced. The kernels are those for blocks, so the scores are the same to the bit.
Unusual rows (a new feature, a new regime, a stream that is not dense) go through the code for
blocks. An expert or a mixture without a kernel here is called from Python.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.blend import fused, logistic, softmax, squared
from unitless.blend.compaction import add_row, changes_regime, compact, count
from unitless.blend.grouped_slopes import RowSlopes
from unitless.blend.mixture import Mixture
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES
from unitless.kernels.simd import array_at as _array
from unitless.kernels.simd import floats_at as _floats
from unitless.learners import full, neighbours, newton, tree_growth, vaw
from unitless.learners.base import NO_INDICES, NO_STARTS, Block, Float
from unitless.learners.boosted_trees import BoostedTrees
from unitless.learners.coordinatewise import Coordinatewise
from unitless.learners.neighbours import Neighbours
from unitless.learners.split_candidates import CANDIDATES, LEAVES, sums_of
from unitless.losses import LOGISTIC, SQUARED
from unitless.pairs_of_bins import PairsOfBins
from unitless.pairs_of_bins import show as show_pairs
from unitless.views import show_moments, show_normalised

ABSENT, COORDINATEWISE, NEWTON, FULL, VAW, TREES, NEIGHBOURS = range(7)
KINDS = {"newton": NEWTON, "full": FULL, "vaw": VAW}
KINDS |= {"boosted_trees": TREES, "neighbours": NEIGHBOURS}
VIEWS = {"none": -1, "raw": 0, "centred": 1, "squashed": 2, "normalised": 3, "presence": 4}
OF_PAIRS = 5
# The table: how many experts and classes, arrays of all; of each expert (kind, view), arrays; and
# of the mixture (whether it is mixed here, loss), arrays
SHARED, STRIDE = 19, 15


@inlined
def _show(block, learns, table, views):
    """Fill in the views of the row; for an unusual row return False and change nothing."""
    ids = _array(table, 1, np.int32)
    totals = _floats(table, 4)
    new, nonzeros = count(block, 0, ids)
    if new or changes_regime(totals, new, nonzeros):
        return False
    if learns:
        add_row(block, 0, nonzeros, ids, _floats(table, 3).reshape(-1, 2), totals)
    width = views.shape[1]
    x = views[0]
    no_indices = block[1][:0]
    no_starts = block[2][:0]
    compact(block, ids, width, width, x, no_indices, no_starts)
    state = _floats(table, 5), _floats(table, 6), _floats(table, 7), _floats(table, 8)
    show_moments(x, width, learns, state, views[1], views[2])
    show_normalised((x, no_indices, no_starts, width), learns, _floats(table, 9), views[3])
    for k in range(width):
        views[4, k] = 1.0 if x[k] != 0 and x[k] == x[k] else 0.0
    return True


@inlined
def _show_pairs(learns, table, squashed):
    """The cells of the row, as stored values, columns and where rows begin and end."""
    pairs = _array(table, 12, np.int64).reshape(-1, 2)
    cells = _array(table, 17, np.int32)
    starts = _array(table, 18, np.int64)
    state = pairs, _floats(table, 13), _floats(table, 14), _floats(table, 15)
    n = show_pairs(squashed, learns, *state, cells, starts)
    return _floats(table, 16)[:n], cells[:n], starts


@inlined
def _coordinatewise(table, k, classes, stored, targets, weights, scores):
    """Score, or learn, one row by a coordinate-wise expert."""
    task = _floats(table, k + 1)
    parameters = _floats(table, k + 2)
    totals = _floats(table, k + 3).reshape(classes, -1)
    state = totals, _floats(table, k + 4), _floats(table, k + 5)
    fused.run(task, parameters, stored, targets, weights, scores, state)


@inlined
def _has_room(table, k):
    """Whether an expert can learn one more row in the arrays that it has."""
    if table[k, 0] == TREES:  # each may split once
        s = _floats(table, k + 1)
        leaves = table[k + 6, 1] // (CANDIDATES * (1 + sums_of(s[0])))
        return min(_floats(table, k + 12)[LEAVES] + s[2], s[2] * s[3]) <= leaves
    if table[k, 0] == NEIGHBOURS:
        rows = table[k + 7, 1] // 2
        return _floats(table, k + 8)[neighbours.USED] < rows or rows >= _floats(table, k + 1)[2]
    return True


@inlined
def _trees(table, k, block, targets, weights, scores):
    s = _floats(table, k + 1)
    settings = np.int64(s[0]), np.int64(s[1]), np.int64(s[2]), np.int64(s[3]), s[4], s[5], s[6]
    node = _floats(table, k + 2).reshape(-1, 4)
    nodes = node, _floats(table, k + 3).reshape(node.shape[0], -1), _array(table, k + 4, np.int64)
    width = CANDIDATES * (1 + sums_of(settings[0]))
    rare = _floats(table, k + 6).reshape(-1, width)
    leaves = _floats(table, k + 5).reshape(rare.shape[0], -1), rare
    order = _array(table, k + 7, np.int64)
    place = _array(table, k + 8, np.int64)
    history = _array(table, k + 10, np.int64)
    rest = _floats(table, k + 11), _floats(table, k + 12)
    memory = (order, place, _floats(table, k + 9), history, *rest)
    tree_growth.run(block, targets, weights, scores, nodes, leaves, memory, settings)


@inlined
def _neighbours(table, k, block, targets, weights, scores):
    s = _floats(table, k + 1)
    settings = np.int64(s[0]), np.int64(s[1]), np.int64(s[2]), np.int64(s[3])
    mean = _floats(table, k + 2)
    moments = mean, _floats(table, k + 3), _floats(table, k + 4), _floats(table, k + 5)
    labels = _floats(table, k + 7).reshape(-1, 2)
    stored = _floats(table, k + 6).reshape(labels.shape[0] // LANES, mean.size, LANES)
    memory = stored, labels, _floats(table, k + 8)
    neighbours.run(block, targets, weights, scores, moments, memory, settings)


@inlined
def _newton(table, k, block, targets, weights, scores):
    posterior = _floats(table, k + 2), _floats(table, k + 3), _floats(table, k + 4)
    sizes = _floats(table, k + 5), _floats(table, k + 6), _floats(table, k + 7)
    s = _floats(table, k + 1)
    settings = np.int64(s[0]), np.int64(s[1]), s[2], s[3]
    newton.run(block, targets, weights, scores, posterior, sizes, _floats(table, k + 8), settings)


@inlined
def _full(kind, table, k, block, targets, weights, scores):
    """Algorithm 2, or VAW: that with linear losses, and scores clipped to the range of targets."""
    D = _floats(table, k + 3)
    vectors = D, _floats(table, k + 4), _floats(table, k + 5)
    places = _array(table, k + 6, np.int64), _array(table, k + 7, np.int64)
    U = _floats(table, k + 2).reshape(D.size, D.size)
    sums = _floats(table, k + 8), _floats(table, k + 9), _floats(table, k + 10)
    state = (U, *vectors, *places, *sums, _floats(table, k + 11))
    s = _floats(table, k + 1)
    settings = s[0], s[1], np.int64(s[2]), s[3], s[4], s[5], s[6]
    if kind == FULL:
        full.run(block, targets, weights, scores, state, settings)
        return
    roots = np.sqrt(weights)
    slopes = -targets * roots if weights.size else -targets
    full.run(block, slopes, roots, scores, state, settings)
    known = _floats(table, k + 12)
    scores[0] = min(max(scores[0], known[vaw.LOW]), known[vaw.HIGH]) + 0.0  # no -0
    for y in targets:
        known[vaw.COUNT] += 1
        known[vaw.LOW] = min(known[vaw.LOW], y)
        known[vaw.HIGH] = max(known[vaw.HIGH], y)


@inlined
def _mix(table, k, Z, classes, targets, weights, scores):
    """The score of the Blend from those of its experts."""
    U = _floats(table, k + 1)
    D = _floats(table, k + 2)
    w = _floats(table, k + 3)
    s2 = _floats(table, k + 4)
    woke = _floats(table, k + 5)
    prior = _floats(table, k + 6)
    stacked = _floats(table, k + 7)
    late = _floats(table, k + 8)
    steep = table[k + 14, 0]
    stacker = U, D, w, s2, woke, prior, stacked, late, steep
    W = _floats(table, k + 9)
    W0 = _floats(table, k + 10)
    books = _floats(table, k + 11).reshape(W.size, -1)
    totals = _floats(table, k + 12)
    history = _floats(table, k + 13).reshape(-1, W.size)
    mixture = W, W0, books, totals, history
    if table[k, 1] == LOGISTIC:
        logistic.mix(Z.reshape(1, Z.size), targets, weights, scores, stacker, mixture)
    elif table[k, 1] == SQUARED:
        squared.mix(Z.reshape(1, Z.size), targets, weights, scores, stacker, mixture)
    else:
        by_class = Z.reshape(1, Z.size // classes, classes)
        softmax.mix(by_class, targets, weights, scores, stacker, mixture)


@kernel
def run(table, block, targets, weights, scores):
    """Score one row by all experts and, with a target, let them learn it.

    Returns False and changes nothing if the row is unusual.
    """
    experts = table[0, 0]
    classes = table[0, 1]
    columns = _array(table, 2, np.int32)
    width = columns.size
    views = _floats(table, 10).reshape(5, width)
    Z = _floats(table, 11)
    learns = targets.size > 0
    for e in range(experts):
        if learns and not _has_room(table, SHARED + e * STRIDE):
            return False
    if not _show(block, learns, table, views):
        return False
    x0 = block[0]
    no_indices = block[1][:0]
    no_starts = block[2][:0]
    pairs = x0[:0], columns[:0], no_starts
    if table[12, 1] > 0:
        pairs = _show_pairs(learns, table, views[2])
    for e in range(experts):
        k = SHARED + e * STRIDE
        kind = table[k, 0]
        view = table[k, 1]
        own = Z[e * classes : (e + 1) * classes]
        if kind == COORDINATEWISE:
            n = width if view >= 0 else 0
            stored = views[max(min(view, 4), 0)][:n], columns[:n], no_starts
            if view == OF_PAIRS:
                stored = pairs
            _coordinatewise(table, k, classes, stored, targets, weights, own)
            continue
        block = views[max(view, 0)], no_indices, no_starts, width
        if kind == NEWTON:
            _newton(table, k, block, targets, weights, own)
        elif kind in (FULL, VAW):
            _full(kind, table, k, block, targets, weights, own)
        elif kind == TREES:
            _trees(table, k, block, targets, weights, own)
        elif kind == NEIGHBOURS:
            _neighbours(table, k, block, targets, weights, own)
    k = SHARED + experts * STRIDE
    if table[k, 0]:
        _mix(table, k, Z, classes, targets, weights, scores)
    return True


class RowTable:
    """The addresses of all arrays of a Blend, for rows of its present features."""

    def __init__(self, blend: Any) -> None:
        ensemble = blend.ensemble
        features = ensemble.features
        width = features.count
        self.views = np.zeros((5, width))
        self.scores = blend.table(1)
        self.by_row = self.scores.swapaxes(0, 1)
        self.others: list[tuple[int, str, Any]] = []
        """Experts without a kernel here: number, view and learner."""
        state = ensemble.views
        state.reserve(width)
        self._arrays: list[NDArray[Any]] = []
        """Kept alive while their addresses are in use."""
        self._table = np.zeros((SHARED + STRIDE * (1 + len(self.scores)), 2), dtype=np.int64)
        self._mixture = blend.mixture
        shared = [features.ids, np.arange(width, dtype=np.int32), features.statistics]
        shared += [features.totals, state.mean, state.m2, state.missing, state.totals, state.M]
        shared += [self.views, self.scores, *_arrays_of_pairs(ensemble.pairs)]
        self._enter(0, (len(self.scores), blend.classes), shared)
        for e, learner in enumerate(ensemble.learners):
            view = ensemble.members[e].view
            kind = _kind(learner, width)
            arrays = _arrays(learner) if kind != ABSENT else []
            self._enter(SHARED + STRIDE * e, (kind, VIEWS.get(view, OF_PAIRS)), arrays)
            if kind == ABSENT and learner is not None:
                self.others.append((e, view, learner))
        self._mixes = isinstance(blend.mixture, Mixture) and not self.others
        if self._mixes:
            *stacker, steep = blend.mixture.stacker
            arrays = [*stacker, *blend.mixture.weights]
            self._enter(SHARED + STRIDE * len(self.scores), (1, blend.loss.code), arrays)
            self._table[-1, 0] = steep
        self._slopes = RowSlopes(blend.slopes, self.views[0], self.by_row)

    def _enter(self, k: int, head: tuple[int, int], arrays: list[NDArray[Any]]) -> None:
        self._arrays += arrays
        addresses = [(array.ctypes.data, array.size) for array in arrays]
        self._table[k : k + 1 + len(arrays)] = [head, *addresses]

    def run(self, block: Block, targets: Float, weights: Float, scores: Float) -> bool:
        """Fill in the score, and learn with a target; returns False if the row is unusual."""
        if len(targets) and self._slopes.room <= 0:
            return False
        if not run(self._table, tuple(block), targets, weights, scores.reshape(-1)):
            return False
        for e, view, learner in self.others:
            if len(targets):
                learner._learn(self._line(view), targets, weights, self.scores[e])
            else:
                learner._predict(self._line(view), weights, self.scores[e])
        if not self._mixes:
            self._mixture.learn(self.by_row, targets, weights, scores)
        if len(targets):
            self._slopes.learn(targets, weights, scores)
        return True

    def _line(self, view: str) -> Block:
        """The row as a view shows it."""
        return Block(self.views[VIEWS[view]], NO_INDICES, NO_STARTS, self.views.shape[1])


def _kind(learner: Any, width: int) -> int:
    """The number of the expert's kernel, if it has one for rows of that many features."""
    if isinstance(learner, Coordinatewise):
        return COORDINATEWISE
    kind = KINDS.get(learner.name, ABSENT) if learner is not None else ABSENT
    if kind in (FULL, VAW) and (learner.state.places[: 1 + width] < 0).any():
        return ABSENT
    # The targets of a Blend count from the first one and are near 1, except those of Huber's loss.
    if kind == VAW and tuple(learner._targets[[vaw.FIRST, vaw.UNIT]]) != (0.0, 1.0):
        return ABSENT
    return kind


def _arrays_of_pairs(pairs: PairsOfBins | None) -> list[NDArray[Any]]:
    if pairs is None:
        return []
    most = len(pairs.pairs)
    cells = np.empty(most, np.int32)
    starts = np.zeros(2, np.int64)
    state = pairs.pairs, pairs.sign, pairs.varies, pairs.totals
    return [*state, np.ones(most), cells, starts]


def _arrays(learner: Any) -> list[NDArray[Any]]:
    """The arrays of an expert in the order in which the kernel takes them: settings, state."""
    if isinstance(learner, Coordinatewise):
        state = learner._totals, learner._records, *learner._more_arrays()
        return [*learner._settings, *state]
    if isinstance(learner, BoostedTrees):
        arrays = [array for part in learner.state for array in part]
        return [np.array(learner.settings, dtype=np.float64), *arrays]
    if isinstance(learner, Neighbours):
        return [np.array(learner.settings, dtype=np.float64), *learner.state]
    if isinstance(learner, newton.Newton):
        settings = (learner.loss.code, learner.classes, learner.strength, learner.intercept)
    else:
        settings = learner._settings
    targets = [learner._targets] if isinstance(learner, vaw.Vaw) else []
    return [np.array(settings, dtype=np.float64), *learner.state, *targets]
