"""A fast path for single rows: views, experts, mixture and certificate in one compiled call.

Numba needs a quarter of a microsecond for every array that Python passes to a kernel, and the
experts have a hundred of them. So their addresses are collected once, in a table that is valid
until an array is replaced. The kernels are those for blocks, so the scores are the same to the bit.
Unusual rows (a new feature, a new regime, a stream that is not dense) go through the code for
blocks. An expert without a kernel here is called from Python, and so is the mixture after it.

The table has sections of STRIDE rows: two numbers, then (address, size) of up to ARRAYS arrays.

======== ======================= ==================================================
section  two numbers             arrays
======== ======================= ==================================================
FEATURES experts, classes        `Compaction`, `Views`, the views of the row, scores
PAIRS    whether there are pairs `PairsOfBins`, and room for the cells
SLOPES   the expert, intercept   `BlendSlopes`, if there are any
EXPERTS  kernel, view            of each expert: settings, state
...      kind of mixture, loss   the mixture; for a hedge two stackers follow
======== ======================= ==================================================
"""

import numpy as np

from unitless.blend import fused, logistic, softmax, squared
from unitless.blend.compaction import add_row, changes_regime, compact, count
from unitless.blend.grouped_slopes import NARROW, POWERS, add_trial, groups_of
from unitless.blend.hedge import hedge, stacker_data
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, array_at, floats_at
from unitless.learners import full, neighbours, newton, tree_growth, vaw
from unitless.learners.split_candidates import CANDIDATES, LEAVES, sums_of
from unitless.losses import LOGISTIC, SQUARED
from unitless.pairs_of_bins import show as show_pairs
from unitless.units import MAX_VALUE, MIN_VALUE
from unitless.views import show_moments, show_normalised

ABSENT, COORDINATEWISE, NEWTON, FULL, VAW, TREES, NEIGHBOURS = range(7)
RAW, CENTRED, SQUASHED, NORMALISED, PRESENCE, OF_PAIRS = range(6)
ARRAYS = 14
STRIDE = 1 + ARRAYS
FEATURES, PAIRS, SLOPES, EXPERTS = range(0, 4 * STRIDE, STRIDE)
IN_PYTHON, STACKED, HEDGED = range(3)  # kinds of mixture
UNUSUAL, SCORED, DONE = range(3)  # what became of a row


@inlined
def arrays_at(table, k):
    """The arrays of the section that begins in row k, as if all were of floats."""
    return (
        floats_at(table, k + 1),
        floats_at(table, k + 2),
        floats_at(table, k + 3),
        floats_at(table, k + 4),
        floats_at(table, k + 5),
        floats_at(table, k + 6),
        floats_at(table, k + 7),
        floats_at(table, k + 8),
        floats_at(table, k + 9),
        floats_at(table, k + 10),
        floats_at(table, k + 11),
        floats_at(table, k + 12),
        floats_at(table, k + 13),
        floats_at(table, k + 14),
    )


@inlined
def _show(block, learns, table):
    """Fill in the views of the row; for an unusual row return False and change nothing."""
    _, _, statistics, totals, mean, m2, missing, rows, M, views = arrays_at(table, FEATURES)[:10]
    ids = array_at(table, FEATURES + 1, np.int32)
    new, nonzeros = count(block, 0, ids)
    if new or changes_regime(totals, new, nonzeros):
        return False
    if learns:
        add_row(block, 0, nonzeros, ids, statistics.reshape(-1, 2), totals)
    views = views.reshape(5, -1)
    x = views[RAW]
    width = x.size
    no_indices = block[1][:0]
    no_starts = block[2][:0]
    compact(block, ids, width, width, x, no_indices, no_starts)
    moments = mean, m2, missing, rows
    show_moments(x, width, learns, moments, views[CENTRED], views[SQUASHED])
    show_normalised((x, no_indices, no_starts, width), learns, M, views[NORMALISED])
    for k in range(width):
        views[PRESENCE, k] = 1.0 if x[k] != 0 and x[k] == x[k] else 0.0
    return True


@inlined
def _show_pairs(learns, table, squashed):
    """The cells of the row, as stored values, columns and where rows begin and end."""
    pairs, sign, varies, totals, ones = arrays_at(table, PAIRS)[:5]
    cells = array_at(table, PAIRS + 6, np.int32)
    starts = array_at(table, PAIRS + 7, np.int64)
    pairs = pairs.view(np.int64).reshape(-1, 2)
    n = show_pairs(squashed, learns, pairs, sign, varies, totals, cells, starts)
    return ones[:n], cells[:n], starts


@inlined
def _has_room(table, k):
    """Whether an expert can learn one more row in the arrays that it has."""
    if table[k, 0] == TREES:  # each may split once
        settings, _, _, _, _, rare = arrays_at(table, k)[:6]
        used = arrays_at(table, k)[11][LEAVES]
        trees = settings[2]
        leaves = rare.size // (CANDIDATES * (1 + sums_of(settings[0])))
        return min(used + trees, trees * settings[3]) <= leaves
    if table[k, 0] == NEIGHBOURS:
        settings, _, _, _, _, _, labels, numbers = arrays_at(table, k)[:8]
        rows = labels.size // 2
        return numbers[neighbours.USED] < rows or rows >= settings[2]
    return True


@inlined
def _coordinatewise(table, k, classes, stored, targets, weights, scores):
    """Score, or learn, one row by a coordinate-wise expert."""
    task, parameters, totals, records, more = arrays_at(table, k)[:5]
    state = totals.reshape(classes, -1), records, more
    fused.run(task, parameters, stored, targets, weights, scores, state)


@inlined
def _trees(table, k, block, targets, weights, scores):
    a = arrays_at(table, k)[:12]
    s, node, values, free, often, rare, order, place, sign, history, past, totals = a
    settings = np.int64(s[0]), np.int64(s[1]), np.int64(s[2]), np.int64(s[3]), s[4], s[5], s[6]
    node = node.reshape(-1, 4)
    rare = rare.reshape(-1, CANDIDATES * (1 + sums_of(settings[0])))
    nodes = node, values.reshape(node.shape[0], -1), free.view(np.int64)
    leaves = often.reshape(rare.shape[0], -1), rare
    columns = order.view(np.int64), place.view(np.int64), sign
    memory = (*columns, history.view(np.int64), past, totals)
    tree_growth.run(block, targets, weights, scores, nodes, leaves, memory, settings)


@inlined
def _neighbours(table, k, block, targets, weights, scores):
    s, mean, m2, missing, rows, stored, labels, numbers = arrays_at(table, k)[:8]
    settings = np.int64(s[0]), np.int64(s[1]), np.int64(s[2]), np.int64(s[3])
    labels = labels.reshape(-1, 2)
    stored = stored.reshape(labels.shape[0] // LANES, mean.size, LANES)
    memory = stored, labels, numbers
    neighbours.run(block, targets, weights, scores, (mean, m2, missing, rows), memory, settings)


@inlined
def _newton(table, k, block, targets, weights, scores):
    s, U, D, W, s2, woke, prior, totals = arrays_at(table, k)[:8]
    settings = np.int64(s[0]), np.int64(s[1]), s[2], s[3]
    sizes = s2, woke, prior
    newton.run(block, targets, weights, scores, (U, D, W), sizes, totals, settings)


@inlined
def _full(table, k, block, targets, weights, scores):
    s, U, D, z, squares, places, coordinates, totals, noise, lost, slopes = arrays_at(table, k)[:11]
    factor = U.reshape(D.size, D.size), D, z, squares
    indices = places.view(np.int64), coordinates.view(np.int64)
    state = (*factor, *indices, totals, noise, lost, slopes)
    settings = s[0], s[1], np.int64(s[2]), s[3], s[4], s[5], s[6]
    full.run(block, targets, weights, scores, state, settings)


@inlined
def _vaw(table, k, block, targets, weights, scores):
    """Algorithm 2 with linear losses, and scores clipped to the range of targets."""
    roots = np.sqrt(weights)
    slopes = -targets * roots if weights.size else -targets
    _full(table, k, block, slopes, roots, scores)
    known = arrays_at(table, k)[11]
    scores[0] = min(max(scores[0], known[vaw.LOW]), known[vaw.HIGH]) + 0.0  # no -0
    for y in targets:
        known[vaw.COUNT] += 1
        known[vaw.LOW] = min(known[vaw.LOW], y)
        known[vaw.HIGH] = max(known[vaw.HIGH], y)


@inlined
def _mix(table, k, Z, classes, targets, weights, scores):
    """The score of the Blend from those of its experts, by a stacker and a mixture."""
    a = arrays_at(table, k)
    U, D, w, s2, woke, prior, stacked, late, W, W0, lost, totals, history, steep = a
    stacker = U, D, w, s2, woke, prior, stacked, late, np.int64(steep[0])
    mixture = W, W0, lost, totals, history.reshape(-1, W.size)
    if table[k, 1] == LOGISTIC:
        logistic.mix(Z.reshape(1, Z.size), targets, weights, scores, stacker, mixture)
    elif table[k, 1] == SQUARED:
        squared.mix(Z.reshape(1, Z.size), targets, weights, scores, stacker, mixture)
    else:
        by_class = Z.reshape(1, Z.size // classes, classes)
        softmax.mix(by_class, targets, weights, scores, stacker, mixture)


@inlined
def _hedge(table, k, Z, targets, weights, scores):
    """The same by hedging (`HedgeMixture.learn`); returns False if the stackers need Python."""
    a = arrays_at(table, k)[:13]
    L, alive, W, totals, history, L2, alive2, W2, totals2, history2, rows, inputs, h = a
    code = table[k, 1]
    parameter = h[1]
    K = W.size
    base = L, alive, W, totals, history.reshape(-1, K)
    final = L2, alive2, W2, totals2, history2.reshape(-1, W2.size)
    rows = rows.reshape(1, W2.size)
    rows[0, :K] = Z
    beyond = h[2 : 2 + targets.size]
    hedge(code, parameter, rows, targets[:0], weights, h[:1], base)
    stacker_data(code, rows, targets, h[:1], alive, inputs.reshape(1, K + 1), beyond)
    places = arrays_at(table, k + STRIDE)[5].view(np.int64)
    for j in range(K + 1):
        size = abs(inputs[j])
        if size > 0 and not (MIN_VALUE <= size <= MAX_VALUE and places[1 + j] >= 0):
            return False
    hedge(code, parameter, rows, targets, weights, h[:1], base)
    columns = array_at(table, k + 2 * STRIDE + 6, np.int32)
    no_starts = array_at(table, k + 2 * STRIDE + 7, np.int64)
    block = inputs, columns[:0], no_starts, K + 1
    _full(table, k + STRIDE, block, beyond, weights, rows[0, K : K + 1])
    stored = inputs, columns, no_starts
    _coordinatewise(table, k + 2 * STRIDE, 1, stored, beyond, weights, rows[0, K + 1 :])
    rows[0, K] += h[0]
    rows[0, K + 1] += h[0]
    hedge(code, parameter, rows, targets, weights, scores, final)
    return True


@inlined
def _add_slopes(table, block, Z, targets, weights, scores):
    """Enter the row into the sums of the certificate."""
    sums, narrow, wide, trials = arrays_at(table, SLOPES)[:4]
    sums = sums.reshape(-1, 2, 1 + POWERS)
    groups = sums.shape[0] - 1
    narrow = narrow.reshape(groups, 2, narrow.size // (2 * max(groups, 1)))
    wide = wide.reshape(2, wide.size // 2)
    trials[0] += 1
    v = weights[0] if weights.size else 1.0
    trial = v, targets[0], scores[0], Z[table[SLOPES, 0]]
    place = trials[0], float(table[SLOPES, 1]), block[3] <= NARROW
    add_trial(block, 0, trial, place, sums, narrow, wide)


@kernel
def run(table, block, targets, weights, scores):
    """Score one row by all experts and, with a target, let them learn it.

    Returns UNUSUAL if nothing was done, SCORED if the mixture is left to do, or DONE.
    """
    experts = table[FEATURES, 0]
    classes = table[FEATURES, 1]
    mixture = EXPERTS + experts * STRIDE
    learns = targets.size > 0
    sums, _, _, trials = arrays_at(table, SLOPES)[:4]
    if learns:
        for k in range(EXPERTS, mixture, STRIDE):
            if not _has_room(table, k):
                return UNUSUAL
        if sums.size and groups_of(trials[0] + 1) >= sums.size // (2 * (1 + POWERS)):
            return UNUSUAL
    if not _show(block, learns, table):
        return UNUSUAL
    columns = array_at(table, FEATURES + 2, np.int32)
    width = columns.size
    views = arrays_at(table, FEATURES)[9].reshape(5, width)
    Z = arrays_at(table, FEATURES)[10]
    no_indices = block[1][:0]
    no_starts = block[2][:0]
    pairs = block[0][:0], columns[:0], no_starts
    if table[PAIRS, 0]:
        pairs = _show_pairs(learns, table, views[SQUASHED])
    for e in range(experts):
        k = EXPERTS + e * STRIDE
        kind = table[k, 0]
        view = table[k, 1]
        own = Z[e * classes : (e + 1) * classes]
        if kind == COORDINATEWISE:
            n = width if view >= 0 else 0
            stored = views[max(min(view, PRESENCE), 0)][:n], columns[:n], no_starts
            if view == OF_PAIRS:
                stored = pairs
            _coordinatewise(table, k, classes, stored, targets, weights, own)
            continue
        block = views[max(view, 0)], no_indices, no_starts, width
        if kind == NEWTON:
            _newton(table, k, block, targets, weights, own)
        elif kind == FULL:
            _full(table, k, block, targets, weights, own)
        elif kind == VAW:
            _vaw(table, k, block, targets, weights, own)
        elif kind == TREES:
            _trees(table, k, block, targets, weights, own)
        elif kind == NEIGHBOURS:
            _neighbours(table, k, block, targets, weights, own)
    if table[mixture, 0] == IN_PYTHON:
        return SCORED
    if table[mixture, 0] == HEDGED:
        return DONE if _hedge(table, mixture, Z, targets, weights, scores) else SCORED
    _mix(table, mixture, Z, classes, targets, weights, scores)
    if learns and sums.size:
        block = views[RAW], no_indices, no_starts, width
        _add_slopes(table, block, Z, targets, weights, scores)
    return DONE
