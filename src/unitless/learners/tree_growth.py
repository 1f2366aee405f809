"""How the boosted trees walk, learn and grow; `split_candidates` chooses the splits.

`boosted_trees` has the table of what the arrays of the state mean.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import clipped
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, prefetch
from unitless.learners.diagonal import curvature
from unitless.learners.loop import MAX_TARGET, softmax_slopes
from unitless.learners.split_candidates import (
    CANDIDATES,
    COLUMNS,
    COUNT,
    HIGHEST,
    HISTORY,
    LAST_TARGET,
    LEAVES,
    LOWEST,
    MEAN_TARGET,
    OPEN,
    PAST,
    POINTS,
    ROWS,
    SEEN,
    SLOPES,
    SPLITS,
    TRIALS,
    A,
    V,
    amounts_of,
    best_candidate,
    count_row,
    empty,
    may_gain,
    prepare,
    sides,
)
from unitless.losses import SOFTMAX, SQUARED, sigmoid
from unitless.rows import row_span
from unitless.state import Float

FIRST_LOOK, LOOK_EVERY = 16, 8
FORGET = 0.9  # per row of a leaf, while neighbouring residuals resemble each other
TOGETHER = 8  # trees that are walked at once

COLUMN, THRESHOLD, CHILD, LEAF = range(4)  # of a node; the right child follows the left one
LAST, MEAN = range(PAST)


class Nodes(NamedTuple):
    """The nodes of all trees; tree t has its root at t."""

    node: Float
    value: Float
    leaves: NDArray[np.int64]


class Leaves(NamedTuple):
    """What each leaf has learned, and its candidates for a split."""

    record: Float
    """What every row changes, side by side."""
    rare: Float
    """What few rows change."""


class Memory(NamedTuple):
    """What the trees share."""

    order: NDArray[np.int64]
    place: NDArray[np.int64]
    sign: Float
    history: NDArray[np.int64]
    residual: Float
    numbers: Float


class Settings(NamedTuple):
    """What the kernel needs beside the state."""

    loss: int
    classes: int
    trees: int
    leaves: int
    rate: float
    strength: float
    gain: float


@inlined
def load_row(block, r, x, memory, learns):
    """Row r in x; a row that is learned adds its new columns to `order`."""
    values, indices, _, _ = block
    place = memory.place
    numbers = memory.numbers
    x[:] = 0.0
    x[LAST] = numbers[LAST_TARGET]
    x[MEAN] = numbers[MEAN_TARGET]
    start, stop = row_span(block, r)
    for k in range(start, stop):
        j = np.int64(indices[k]) if indices.size else k - start
        if j >= place.size or values[k] == 0.0:
            continue
        x[PAST + j] = values[k] * memory.sign[j]
        if learns and place[j] < 0 and values[k] == values[k]:
            seen = np.int64(numbers[SEEN])
            place[j] = seen
            memory.order[seen] = j
            numbers[SEEN] += 1


@inlined
def find_leaves(x, node, found):
    """found = where the row ends in each tree; several walk at once. A leaf is its own child."""
    for first in range(0, found.size, TOGETHER):
        last = min(first + TOGETHER, found.size)
        for tree in range(first, last):
            found[tree] = tree
        walks = True
        while walks:
            walks = False
            for tree in range(first, last):
                k = found[tree]
                right = 0 if x[np.int64(node[k, COLUMN])] <= node[k, THRESHOLD] else 1
                found[tree] = np.int64(node[k, CHILD]) + right
                walks |= found[tree] != k


@inlined
def fetch(record):
    """Bring a leaf that is about to learn into the cache."""
    for k in range(0, record.size, LANES):
        prefetch(record, k)


@inlined
def leaf_value(own, c, settings):
    """(G + s P) / (H + s), from the sums of a leaf."""
    classes = settings.classes
    s = settings.strength
    return (own[c] + s * own[2 * classes + c]) / (own[classes + c] + s)


@inlined
def scores_so_far(settings, nodes, leaves, found, z):
    """z[tree] = the score of the trees before it; z has one line more, for all of them."""
    z[0] = 0.0
    for tree in range(found.size):
        own = leaves.record[np.int64(nodes.node[found[tree], LEAF])]
        for c in range(settings.classes):
            z[tree + 1, c] = z[tree, c] + settings.rate * leaf_value(own, c, settings)


@inlined
def slopes(loss, y, z, e):
    """e = minus the derivative of the loss at z, for all lines of z at once."""
    lines, classes = z.shape
    if loss == SOFTMAX:
        for k in range(lines):
            softmax_slopes(z[k], y, e[k])
            for c in range(classes):
                e[k, c] = -e[k, c]
    elif loss == SQUARED:
        for k in range(lines):
            e[k, 0] = y - z[k, 0]
    else:
        for k in range(lines):
            e[k, 0] = y * sigmoid(-y * z[k, 0])


@inlined
def split(settings, tree, at, slot, nodes, leaves, memory):
    """Two leaves in place of the one at a node, which the left one takes over."""
    classes = settings.classes
    node = nodes.node
    record, rare = leaves
    numbers = memory.numbers
    leaf = np.int64(node[at, LEAF])
    other = np.int64(numbers[LEAVES])
    child = 2 * other - nodes.leaves.size
    own = record[leaf, 3 * classes :]
    memory.history[np.int64(numbers[SPLITS]) % HISTORY] = np.int64(own[COLUMNS + slot])
    numbers[SPLITS] += 1
    numbers[LEAVES] += 1
    nodes.leaves[tree] += 1
    node[at, COLUMN] = own[COLUMNS + slot]
    node[at, THRESHOLD] = own[POINTS + slot]
    node[at, CHILD] = child
    node[child, LEAF] = leaf
    node[child + 1, LEAF] = other
    for c in range(classes):
        nodes.value[at, c] = leaf_value(record[leaf], c, settings)
    # the candidate's sums go on as those of the children; classes are not counted one by one
    g = sides(slot, SLOPES, own, rare[leaf])
    h = sides(slot, COUNT, own, rare[leaf])
    for side in range(2):
        each = leaf if side == 0 else other
        record[each] = 0.0
        for c in range(classes):
            record[each, 2 * classes + c] = nodes.value[at, c]
        if settings.loss != SOFTMAX:
            record[each, 0] = g[side]
            record[each, 1] = max(h[side], 0.0)
        empty(record[each, 3 * classes :], rare[each])


@inlined
def remember(y, e, memory):
    """The target for the next row, and how alike neighbouring residuals are."""
    numbers = memory.numbers
    product = 0.0
    for c in range(e.size):
        product += e[c] * memory.residual[c]
        memory.residual[c] = e[c]
    if numbers[TRIALS] > 1:
        numbers[A] += product
        numbers[V] += product * product
    first = numbers[TRIALS] == 0
    numbers[LOWEST] = y if first else min(numbers[LOWEST], y)
    numbers[HIGHEST] = y if first else max(numbers[HIGHEST], y)
    numbers[MEAN_TARGET] = y if first else 0.9 * numbers[MEAN_TARGET] + 0.1 * y
    numbers[LAST_TARGET] = y
    numbers[TRIALS] += 1


@kernel
def run(block, targets, weights, scores, nodes, leaves, memory, settings):
    """Score each row and then, if there are targets, learn it.

    Returns the number of rows done: fewer than there are when the arrays have to grow first.
    """
    nodes = Nodes(*nodes)
    leaves = Leaves(*leaves)
    memory = Memory(*memory)
    settings = Settings(*settings)
    loss, classes, trees, max_leaves, _, _, least = settings
    node = nodes.node
    record, rare = leaves
    numbers = memory.numbers
    x = np.empty(PAST + memory.place.size)
    z = np.empty((trees + 1, classes))
    e = np.empty((trees + 1, classes))
    amounts = np.zeros(rare.shape[1] // CANDIDATES - 1)
    goes_left = np.empty(CANDIDATES)
    found = np.empty(trees, np.int64)
    rows = scores.size // classes
    for r in range(rows):
        v = weights[r] if weights.size else 1.0
        learns = targets.size > 0 and v > 0
        if learns and min(numbers[LEAVES] + trees, trees * max_leaves) > record.shape[0]:
            return r
        load_row(block, r, x, memory, learns)
        find_leaves(x, node, found)
        if learns:
            for tree in range(trees):
                fetch(record[np.int64(node[found[tree], LEAF])])
        scores_so_far(settings, nodes, leaves, found, z)
        for c in range(classes):
            score = z[trees, c]
            if loss == SQUARED:
                score = min(max(score, numbers[LOWEST]), numbers[HIGHEST])
            scores[r * classes + c] = score + 0.0  # no -0
        if not learns:
            continue
        y = clipped(targets[r], MAX_TARGET)
        slopes(loss, y, z, e)
        past_pays = numbers[A] > 0 and numbers[A] * numbers[A] > 16 * numbers[V]
        kept = FORGET if past_pays else 1.0
        for tree in range(trees):
            at = found[tree]
            leaf = np.int64(node[at, LEAF])
            sums = record[leaf]
            for c in range(classes):
                h = 1.0 if loss == SQUARED else curvature(e[tree, c])
                sums[c] = kept * sums[c] + v * e[tree, c]
                sums[classes + c] = kept * sums[classes + c] + v * h
            if nodes.leaves[tree] == max_leaves:
                continue
            own = sums[3 * classes :]
            own[ROWS] += 1
            amounts_of(loss, tree, at, y, v, e[tree], amounts)
            count_row(x, amounts, own, goes_left)
            if own[OPEN] > 0 and numbers[SEEN] > 0:
                prepare(tree, at, x, own, rare[leaf], memory, past_pays)
            looks = own[ROWS] >= FIRST_LOOK and own[ROWS] % LOOK_EVERY == 0
            if looks and may_gain(loss, own, least):
                best = best_candidate(loss, own, rare[leaf], least)
                if best >= 0:
                    split(settings, tree, at, best, nodes, leaves, memory)
        remember(y, e[trees], memory)
    return rows
