"""A fast path for single rows: views, experts and mixture of a Blend in one compiled call.

Numba needs a quarter of a microsecond for every array that Python passes to a kernel, and a Blend
has a hundred of them. So their addresses are collected once, in a table, from which the kernel
makes arrays again. It calls the same kernels as for blocks, so the results are bit-for-bit the
same. Unusual rows (a new feature, a broken rule of `compaction`, a stream that is not dense) go
through the code for blocks, and so do experts and mixtures that are not supported here.

The table is valid until an array is replaced. The Blend discards it whenever it learns a block,
reserves columns, rescales or adds a class.
"""

from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic
from numpy.typing import NDArray

from unitless.blend import logistic
from unitless.blend.compaction import (
    DENSE,
    NONZEROS,
    SMALL,
    T,
    _add_row,
    _count,
    _rules,
    _span,
    to_dense,
)
from unitless.blend.logistic import LogisticMixture
from unitless.blend.mixture import DOUBLINGS
from unitless.kernels.decorators import inlined, kernel
from unitless.learners import (
    coordinate,
    diagonal,
    full,
    inag,
    label_tracker,
    nag,
    naive_bayes,
    newton,
    scinol2,
    vaw,
)
from unitless.learners.base import NO_INDICES, NO_STARTS, Block
from unitless.views import moments, normalised
from unitless.views.presence import show as show_presence

Float = NDArray[np.float64]
ABSENT, COORDINATE, SCINOL2, INAG, NAG, DIAGONAL, BAYES, TRACKER, NEWTON, FULL, VAW = range(11)
KINDS: dict[Any, int] = {
    coordinate.Coordinate: COORDINATE,
    scinol2.Scinol2: SCINOL2,
    inag.Inag: INAG,
    nag.Nag: NAG,
    diagonal.Diagonal: DIAGONAL,
    naive_bayes.Bayes: BAYES,
    label_tracker.Tracker: TRACKER,
    newton.Newton: NEWTON,
    full.Full: FULL,
    vaw.Vaw: VAW,
}
VIEWS = {"none": -1, "raw": 0, "centred": 1, "squashed": 2, "normalised": 3, "presence": 4}
# Rows of the table: experts and classes, arrays of all, then of each expert (kind, view) and arrays
MIXTURE, SHARED, STRIDE = 12, 24, 10


@intrinsic
def _pointer(typingctx, address, dtype):
    """A pointer to numbers of a type, from an address."""
    pointer = types.CPointer(dtype.dtype)

    def codegen(context, builder, signature, args):
        return builder.inttoptr(args[0], context.get_value_type(pointer))

    return pointer(types.int64, dtype), codegen


@inlined
def _floats(table, k):
    """The float64 array of row k of the table."""
    return carray(_pointer(table[k, 0], np.float64), (table[k, 1],))


@inlined
def _matrix(table, k, rows, columns):
    """The same as a matrix."""
    return carray(_pointer(table[k, 0], np.float64), (rows, columns))


@inlined
def _ints(table, k):
    """The int64 array of row k of the table."""
    return carray(_pointer(table[k, 0], np.int64), (table[k, 1],))


@inlined
def _short_ints(table, k):
    """The int32 array of row k of the table."""
    return carray(_pointer(table[k, 0], np.int32), (table[k, 1],))


@inlined
def _show(block, learns, table, views):
    """Fill in the views of the row; for an unusual row return False and change nothing."""
    ids = _short_ints(table, 1)
    totals = _floats(table, 4)
    start, stop = _span(block, 0)
    new, nonzeros = _count(block, start, stop, ids)
    dense, small = _rules(totals, new, nonzeros)
    if new or dense != (totals[DENSE] > 0) or small != (totals[SMALL] > 0):
        return False
    width = views.shape[1]
    to_dense(block, ids, width, width, views[0])
    if learns:
        _add_row(block, start, stop, ids, _matrix(table, 3, ids.size, 2), totals)
        totals[T] += 1
        totals[NONZEROS] += nonzeros
    state = _floats(table, 5), _floats(table, 6), _floats(table, 7), _floats(table, 8)
    moments.show(views[0], width, learns, state, views[1], views[2])
    line = views[0], block[1][:0], block[2][:0], width
    normalised.show(line, learns, _floats(table, 9), views[3])
    show_presence(views[0], views[4])
    return True


@inlined
def _coordinatewise(kind, table, k, classes, block, targets, weights, scores):
    """Score, or learn, one row by a coordinate-wise expert."""
    task, parameters = _floats(table, k + 1), _floats(table, k + 2)
    totals = _matrix(table, k + 3, classes, table[k + 3, 1] // classes)
    state = totals, _floats(table, k + 4)
    if kind == COORDINATE:
        coordinate.run(task, parameters, block, targets, weights, scores, state)
    elif kind == SCINOL2:
        scinol2.run(task, parameters, block, targets, weights, scores, state)
    elif kind == INAG:
        inag.run(task, parameters, block, targets, weights, scores, state)
    elif kind == NAG:
        nag.run(task, parameters, block, targets, weights, scores, state)
    elif kind == DIAGONAL:
        diagonal.run(task, parameters, block, targets, weights, scores, state)
    elif kind == BAYES:
        naive_bayes.run(task, parameters, block, targets, weights, scores, state)
    elif kind == TRACKER:
        label_tracker.run(task, parameters, block, targets, weights, scores, state)


@inlined
def _clip_and_count(targets, known, scores):
    """Clip the score of VAW to the range of the targets, then widen that range."""
    scores[0] = min(max(scores[0], known[vaw.LOW]), known[vaw.HIGH]) + 0.0  # no -0
    for y in targets:
        known[vaw.COUNT] += 1
        known[vaw.LOW] = min(known[vaw.LOW], y)
        known[vaw.HIGH] = max(known[vaw.HIGH], y)


@inlined
def _matrices(kind, table, k, block, targets, weights, scores):
    """The same for experts with a matrix."""
    settings = _floats(table, k + 8)
    if kind == NEWTON:
        posterior = _floats(table, k + 1), _floats(table, k + 2), _floats(table, k + 3)
        sizes = _floats(table, k + 4), _floats(table, k + 5), _floats(table, k + 6)
        own = np.int64(settings[0]), np.int64(settings[1]), settings[2], settings[3]
        newton.run(block, targets, weights, scores, posterior, sizes, _floats(table, k + 7), own)
    else:
        D = _floats(table, k + 2)
        vectors = D, _floats(table, k + 3), _floats(table, k + 4)
        places = _ints(table, k + 5), _ints(table, k + 6)
        state = (_matrix(table, k + 1, D.size, D.size), *vectors, *places, _floats(table, k + 7))
        own = settings[0], settings[1], np.int64(settings[2]), settings[3], settings[4]
        intercept = settings[5] > 0
        if kind == FULL:
            full.run(block, targets, weights, scores, 0, state, intercept, own)
        else:
            roots = np.sqrt(weights)
            slopes = -targets * roots if weights.size else -targets
            full.run(block, slopes, roots, scores, 0, state, intercept, own)
            _clip_and_count(targets, _floats(table, k + 9), scores)


@kernel
def run(table, block, targets, weights, scores):
    """Score one row by all experts and, with a target, let them learn it.

    Returns False and changes nothing if the row is unusual. Scores of the experts are in
    the table; `scores` is filled in if the mixture is here.
    """
    experts, classes = table[0, 0], table[0, 1]
    columns = _short_ints(table, 2)
    width = columns.size
    views = _matrix(table, 10, 5, width)
    Z = _floats(table, 11)
    if not _show(block, targets.size > 0, table, views):
        return False
    no_indices, no_starts = block[1][:0], block[2][:0]
    for e in range(experts):
        k = SHARED + e * STRIDE
        kind, view = table[k, 0], table[k, 1]
        own = Z[e * classes : (e + 1) * classes]
        if kind >= NEWTON:
            row = views[view], no_indices, no_starts, width
            _matrices(kind, table, k, row, targets, weights, own)
        elif kind != ABSENT:
            values, places = views[max(view, 0)], columns
            if view < 0:
                values, places = values[:0], places[:0]
            stored = values, places, no_starts
            _coordinatewise(kind, table, k, classes, stored, targets, weights, own)
    if table[MIXTURE, 0]:
        _mix(table, experts, targets, weights, scores)
    return True


@inlined
def _mix(table, experts, targets, weights, scores):
    """The mixture of the logistic loss."""
    U, D, w = _floats(table, 12), _floats(table, 13), _floats(table, 14)
    s2, woke, prior = _floats(table, 15), _floats(table, 16), _floats(table, 17)
    stacker = U, D, w, s2, woke, prior, _floats(table, 18)
    m = D.size
    W, W0, totals = _floats(table, 19), _floats(table, 20), _floats(table, 22)
    mixture = W, W0, _matrix(table, 21, m, 3), totals, _matrix(table, 23, DOUBLINGS, m)
    logistic.mix(_matrix(table, 11, 1, experts), targets, weights, scores, stacker, mixture)


class RowTable:
    """The addresses of all arrays of a Blend, for rows of its present features."""

    def __init__(self, blend: Any) -> None:
        ensemble = blend.ensemble
        features = ensemble.features
        width = features.count
        members = len(ensemble.members)
        self.scores = np.zeros((1, members, *blend._room(1).shape[1:]))
        self.views = np.zeros((5, width))
        self.mixes = type(blend.mixture) is LogisticMixture
        self.others = []
        """Experts without a kernel here: number, view and learner."""
        ensemble.moments.reserve(width)
        ensemble.normalised.reserve(width)
        shared = [
            features.ids,
            np.arange(width, dtype=np.int32),
            features.statistics,
            features.totals,
            *ensemble.moments.state,
            ensemble.normalised.state,
            self.views,
            self.scores,
        ]
        if self.mixes:
            state = blend.mixture.state
            shared += [*state[:9], state.books, state.totals, state.history]
        self._table = np.zeros((SHARED + STRIDE * members, 2), dtype=np.int64)
        self._table[0] = members, blend.classes
        self._arrays = [*shared]
        """Kept alive while their addresses are in use."""
        self._enter(1, shared)
        for e, (member, learner) in enumerate(
            zip(ensemble.members, ensemble.learners, strict=True)
        ):
            view = VIEWS[member.view]
            kind = _kind(learner, width if view >= 0 else 0)
            if learner is not None and kind == ABSENT:
                self.others.append((e, view, learner))
                self.mixes = False
            elif learner is not None:
                arrays = _arrays(learner, kind)
                self._arrays += arrays
                self._table[SHARED + STRIDE * e] = kind, view
                self._enter(SHARED + STRIDE * e + 1, arrays)
        if not self.mixes:
            self._table[MIXTURE] = 0

    def _enter(self, first: int, arrays: list[NDArray[Any]]) -> None:
        for k, array in enumerate(arrays):
            self._table[first + k] = array.ctypes.data, array.size

    def run(self, block: Block, targets: Float, weights: Float, scores: Float) -> bool:
        """See `run`; returns whether the row was learned or scored."""
        if not run(self._table, tuple(block), targets, weights, scores.reshape(-1)):
            return False
        for e, view, learner in self.others:
            line = Block(self.views[view], NO_INDICES, NO_STARTS, self.views.shape[1])
            own = self.scores[0, e : e + 1]
            if len(targets):
                learner._learn(line, targets, weights, own)
            else:
                learner._predict(line, weights, own)
        return True


def _kind(learner: Any, width: int) -> int:
    """The number of the expert's kernel, if it has one and room for that many features."""
    kind = KINDS.get(type(learner), ABSENT)
    if kind != ABSENT and learner._columns < width:
        return ABSENT
    if kind in (FULL, VAW) and (learner.state.places[: 1 + width] < 0).any():
        return ABSENT
    # The targets of a Blend count from the first one and are near 1, except those of Huber's loss.
    if kind == VAW and tuple(learner._targets[[vaw.FIRST, vaw.UNIT]]) != (0.0, 1.0):
        return ABSENT
    return kind


def _arrays(learner: Any, kind: int) -> list[NDArray[Any]]:
    """The arrays of an expert in the order in which the kernel takes them."""
    if kind == NEWTON:
        settings = learner.loss.code, learner.classes, learner.strength, learner.intercept
        return [*learner.state, np.array(settings, dtype=np.float64)]
    if kind in (FULL, VAW):
        settings = *learner._settings, learner.intercept
        targets = [learner._targets] if kind == VAW else []
        return [*learner.state, np.array(settings, dtype=np.float64), *targets]
    return [*learner._settings, learner._totals, learner._records]
