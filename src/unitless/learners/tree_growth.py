"""How the boosted trees walk and grow: candidates for the next split of a leaf, gains, splits.

Kernels take the state as tuples of arrays; `boosted_trees` has the table of their meaning::

    nodes  = node (column, threshold, child, leaf), value, leaves by tree
    leaves = sums, column, point, first, left, before
    memory = order, place, sign, history, residual, numbers
"""

import math

import numpy as np

from unitless.kernels.arithmetic import hashed
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, prefetch
from unitless.learners.diagonal import curvature
from unitless.learners.loop import softmax_slopes
from unitless.losses import SOFTMAX, SQUARED, sigmoid
from unitless.rows import row_span

CANDIDATES = 12
FROM_HISTORY = 3  # candidates that draw the column of an earlier split: what paid pays again
HISTORY = 1024
GROUPS = 8  # of classes, at most, when splits are judged
FIRST_LOOK, LOOK_EVERY = 16, 8
FORGET = 0.9  # per row of a leaf, while neighbouring residuals resemble each other
TOGETHER = 8  # trees that are walked at once
MAX_TARGET = 2.0**240  # so that weighted fourth powers of residuals stay within float64

COLUMN, THRESHOLD, CHILD, LEAF = range(4)  # of a node; the right child follows the left one
ROWS, DRAWS, OPEN, TOTALS = range(4)  # of a leaf, after G, H and P of each class
LAST, MEAN, PAST = range(3)
"""The first columns of a tree are the last target and the running mean; column j is j + PAST."""
LEAVES, SPLITS, SEEN, TRIALS, LOWEST, HIGHEST, LAST_TARGET, MEAN_TARGET, A, V = range(10)


@inlined
def load_row(block, r, x, memory, learns):
    """Row r in x; a row that is learned adds its new columns to `order`."""
    values, indices, _, _ = block
    order, place, sign, _, _, numbers = memory
    for k in range(x.size):
        x[k] = 0.0
    x[LAST] = numbers[LAST_TARGET]
    x[MEAN] = numbers[MEAN_TARGET]
    start, stop = row_span(block, r)
    for k in range(start, stop):
        j = np.int64(indices[k]) if indices.size else k - start
        if j >= place.size or values[k] == 0.0:
            continue
        x[PAST + j] = values[k] * sign[j]
        if learns and place[j] < 0 and values[k] == values[k]:
            seen = np.int64(numbers[SEEN])
            place[j] = seen
            order[seen] = j
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
def fetch_leaf(leaf, leaves):
    """Bring a leaf that is about to learn into the cache."""
    prefetch(leaves[1][leaf], 0)
    for array in (leaves[0], leaves[2], leaves[4]):
        for k in range(0, array.shape[1], LANES):
            prefetch(array[leaf], k)


@inlined
def slopes(loss, y, z, e, h):
    """e = minus the derivative of the loss at z, h = its curvature."""
    if loss == SQUARED:
        e[0] = y - z[0]
        h[0] = 1.0
        return
    if loss == SOFTMAX:
        softmax_slopes(z, y, e)
    else:
        e[0] = -y * sigmoid(-y * z[0])
    for c in range(e.size):
        e[c] = -e[c]
        h[c] = curvature(e[c])


@inlined
def leaf_value(own, c, classes, strength):
    """(G + s P) / (H + s), from the sums of a leaf."""
    return (own[c] + strength * own[2 * classes + c]) / (own[classes + c] + strength)


@inlined
def amounts_of(loss, tree, node, y, v, e, h, amounts):
    """What a row adds to the sums of a candidate."""
    if loss == SOFTMAX:
        for k in range(amounts.size):
            amounts[k] = 0.0
        c = np.int64(y)
        group = c
        if e.size > GROUPS:
            group = np.int64(hashed(tree, node, 7777 + c) % np.uint64(GROUPS))
        amounts[group] = v * math.sqrt(max(e[c], 0.0))  # e = 1 - q for the class that came
    else:
        amounts[0] = v
        amounts[1] = v * e[0]
        amounts[2] = v * (e[0] * e[0] if loss == SQUARED else h[0])


@inlined
def count_row(x, amounts, totals, column, point, left, goes_left):
    """Add a row to a leaf's totals and candidates; the threshold of one not ready is NaN."""
    for slot in range(CANDIDATES):
        goes_left[slot] = 1.0 if x[column[slot]] <= point[slot] else 0.0
    for k in range(amounts.size):
        amount = amounts[k]
        if amount != 0:
            totals[k] += amount
            first = k * CANDIDATES
            for slot in range(CANDIDATES):
                left[first + slot] += goes_left[slot] * amount


@inlined
def prepare(tree, node, leaf, x, classes, leaves, memory, past_pays):
    """Candidates that are not ready choose a threshold or, without a second value, draw again."""
    sums, column, point, first, left, before = leaves
    order, _, _, history, _, numbers = memory
    own = sums[leaf, 3 * classes :]
    splits = np.int64(numbers[SPLITS])
    for slot in range(CANDIDATES):
        if point[leaf, slot] == point[leaf, slot]:
            continue
        a = first[leaf, slot]
        b = x[column[leaf, slot]]
        if a < b or a > b:  # neither is missing
            low, high = min(a, b), max(a, b)
            h = hashed(tree * CANDIDATES + slot, node, 77 + np.int64(own[DRAWS]))
            threshold = low + (h >> np.uint64(11)) * 2.0**-53 * (high - low)
            point[leaf, slot] = threshold if low <= threshold < high else low
            own[OPEN] -= 1
            for k in range(left.shape[1] // CANDIDATES):
                left[leaf, k * CANDIDATES + slot] = 0.0
                before[leaf, k * CANDIDATES + slot] = own[TOTALS + k]
            continue
        own[DRAWS] += 1
        h = hashed(tree * CANDIDATES + slot, node, 1000 + np.int64(own[DRAWS]))
        if slot < FROM_HISTORY and splits > 0:
            j = history[np.int64(h % np.uint64(min(splits, HISTORY)))]
        elif past_pays and slot == CANDIDATES - 1:
            j = np.int64(h % np.uint64(PAST))
        else:
            j = PAST + order[np.int64(h % np.uint64(numbers[SEEN]))]
        column[leaf, slot] = j
        first[leaf, slot] = x[j]


@inlined
def entropy_term(a):
    return a * math.log(a) if a > 0 else 0.0


@inlined
def sides(leaf, slot, k, classes, leaves):
    """The k-th sum of the rows to the left and to the right of a candidate."""
    sums, _, _, _, left, before = leaves
    own = left[leaf, k * CANDIDATES + slot]
    total = sums[leaf, 3 * classes + TOTALS + k]
    return own, total - before[leaf, k * CANDIDATES + slot] - own


@inlined
def gain(loss, leaf, slot, classes, leaves):
    """The nats that a candidate would have saved since it became ready."""
    if loss == SOFTMAX:  # the entropy of the groups of classes
        saved, n1, n2 = 0.0, 0.0, 0.0
        for k in range(GROUPS):
            a, b = sides(leaf, slot, k, classes, leaves)
            b = max(b, 0.0)
            saved += entropy_term(a) + entropy_term(b) - entropy_term(a + b)
            n1 += a
            n2 += b
        return saved + entropy_term(n1 + n2) - entropy_term(n1) - entropy_term(n2)
    n1, n2 = sides(leaf, slot, 0, classes, leaves)
    if n1 < 2 or n2 < 2:
        return 0.0
    e1, e2 = sides(leaf, slot, 1, classes, leaves)
    s1, s2 = sides(leaf, slot, 2, classes, leaves)
    e0 = e1 + e2
    if loss == SQUARED:
        n0 = n1 + n2
        variance = s1 + s2 - e0 * (e0 / n0)
        rest = variance - (e1 * (e1 / n1) + e2 * (e2 / n2) - e0 * (e0 / n0))
        return n0 / 2 * math.log(variance / max(rest, 1e-6 * variance)) if variance > 0 else 0.0
    s2 = max(s2, 0.0)
    return (e1 * (e1 / (s1 + 1)) + e2 * (e2 / (s2 + 1)) - e0 * (e0 / (s1 + s2 + 1))) / 2


@inlined
def best_candidate(loss, leaf, classes, leaves, least):
    """The candidate that gains the most, or -1 if none gains enough."""
    point = leaves[2]
    best, most = -1, least
    for slot in range(CANDIDATES):
        if point[leaf, slot] == point[leaf, slot]:
            nats = gain(loss, leaf, slot, classes, leaves)
            if nats > most:
                best, most = slot, nats
    return best


@inlined
def split(loss, classes, strength, tree, at, slot, nodes, leaves, memory):
    """Two leaves in place of the one at a node, which the left one takes over."""
    node, value, by_tree = nodes
    sums, column, point, first, _, _ = leaves
    history, numbers = memory[3], memory[5]
    leaf = np.int64(node[at, LEAF])
    other = np.int64(numbers[LEAVES])
    child = 2 * other - by_tree.size
    history[np.int64(numbers[SPLITS]) % HISTORY] = column[leaf, slot]
    numbers[SPLITS] += 1
    numbers[LEAVES] += 1
    by_tree[tree] += 1
    node[at, COLUMN] = column[leaf, slot]
    node[at, THRESHOLD] = point[leaf, slot]
    node[at, CHILD] = child
    node[child, LEAF] = leaf
    node[child + 1, LEAF] = other
    for c in range(classes):
        value[at, c] = leaf_value(sums[leaf], c, classes, strength)
    # the candidate's sums go on as those of the children; classes are not counted one by one
    count = 0 if loss == SQUARED else 2
    g1, g2 = sides(leaf, slot, 1, classes, leaves)
    h1, h2 = sides(leaf, slot, count, classes, leaves)
    for each in (leaf, other):
        own = sums[each]
        for k in range(own.size):
            own[k] = 0.0
        own[3 * classes + OPEN] = CANDIDATES
        for c in range(classes):
            own[2 * classes + c] = value[at, c]
        if loss != SOFTMAX:
            own[0] = g1 if each == leaf else g2
            own[1] = h1 if each == leaf else max(h2, 0.0)
        for k in range(CANDIDATES):
            point[each, k] = math.nan
            first[each, k] = math.nan


@inlined
def remember(y, e, memory):
    """The target for the next row, and how alike neighbouring residuals are."""
    residual, numbers = memory[4], memory[5]
    product = 0.0
    for c in range(e.size):
        product += e[c] * residual[c]
        residual[c] = e[c]
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
    loss, classes, trees, max_leaves, rate, strength, least = settings
    node, _, by_tree = nodes
    sums, column, point, _, left, _ = leaves
    numbers = memory[5]
    x = np.empty(PAST + memory[1].size)
    z, e, h = np.empty(classes), np.empty(classes), np.empty(classes)
    amounts = np.empty(left.shape[1] // CANDIDATES)
    goes_left = np.empty(CANDIDATES)
    found = np.empty(trees, np.int64)
    rows = scores.size // classes
    for r in range(rows):
        v = weights[r] if weights.size else 1.0
        learns = targets.size > 0 and v > 0
        if learns and min(numbers[LEAVES] + trees, trees * max_leaves) > sums.shape[0]:
            return r
        y = min(max(targets[r], -MAX_TARGET), MAX_TARGET) if learns else 0.0
        past_pays = numbers[A] > 0 and numbers[A] * numbers[A] > 16 * numbers[V]
        kept = FORGET if past_pays else 1.0
        load_row(block, r, x, memory, learns)
        find_leaves(x, node, found)
        if learns:
            for tree in range(trees):
                fetch_leaf(np.int64(node[found[tree], LEAF]), leaves)
        for c in range(classes):
            z[c] = 0.0
        for tree in range(trees):
            at = found[tree]
            leaf = np.int64(node[at, LEAF])
            own = sums[leaf]
            if learns:
                slopes(loss, y, z, e, h)
            for c in range(classes):
                z[c] += rate * leaf_value(own, c, classes, strength)
            if not learns:
                continue
            for c in range(classes):
                own[c] = kept * own[c] + v * e[c]
                own[classes + c] = kept * own[classes + c] + v * h[c]
            if by_tree[tree] == max_leaves:
                continue
            counts = own[3 * classes :]
            counts[ROWS] += 1
            amounts_of(loss, tree, at, y, v, e, h, amounts)
            count_row(x, amounts, counts[TOTALS:], column[leaf], point[leaf], left[leaf], goes_left)
            if counts[OPEN] > 0 and numbers[SEEN] > 0:
                prepare(tree, at, leaf, x, classes, leaves, memory, past_pays)
            if counts[ROWS] >= FIRST_LOOK and counts[ROWS] % LOOK_EVERY == 0:
                best = best_candidate(loss, leaf, classes, leaves, least)
                if best >= 0:
                    split(loss, classes, strength, tree, at, best, nodes, leaves, memory)
        for c in range(classes):
            score = z[c]
            if loss == SQUARED:
                score = min(max(score, numbers[LOWEST]), numbers[HIGHEST])
            scores[r * classes + c] = score + 0.0  # no -0
        if learns:
            slopes(loss, y, z, e, h)
            remember(y, e, memory)
    return rows
