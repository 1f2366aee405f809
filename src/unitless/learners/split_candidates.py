"""Candidates for the next split of a leaf of the boosted trees: draws, sums and gains.

A leaf has two arrays (`boosted_trees` has the table of their meaning): `own` is the part of its
record after G, H and P, and `rare` is what few rows change.
"""

import math

import numpy as np

from unitless.kernels.arithmetic import hashed
from unitless.kernels.decorators import inlined, shared
from unitless.learners.diagonal import curvature
from unitless.losses import SOFTMAX, SQUARED

CANDIDATES = 12
FROM_HISTORY = 3  # candidates that draw the column of an earlier split: what paid pays again
HISTORY = 1024
GROUPS = 8  # of classes, at most, when splits are judged
CLEARLY = 1 + 1e-9  # a candidate must gain that much more: rounding does not choose among equals

ROWS, DRAWS, OPEN, COLUMNS = range(4)  # of `own`
POINTS = COLUMNS + CANDIDATES  # thresholds of the candidates, after their columns
TOTALS = POINTS + CANDIDATES  # sums of all rows, followed by those of the rows to the left
FIRST, BEFORE = 0, CANDIDATES  # rare: first values, and totals when a candidate became ready
COUNT, SLOPES, SQUARES = range(3)  # sums, unless there are classes: h, e, and e^2 (squared loss)
PAST = 2
"""The first columns of a tree are the last target and the running mean; column j is j + PAST."""
LEAVES, SPLITS, SEEN, TRIALS, LOWEST, HIGHEST, LAST_TARGET, MEAN_TARGET, A, V = range(10)  # numbers


@shared
def sums_of(loss):
    """How many numbers a leaf sums; the last one is not summed by candidates."""
    return GROUPS + 1 if loss == SOFTMAX else 3


@inlined
def amounts_of(loss, tree, node, y, v, e, amounts):
    """What a row adds to the totals of a leaf, and all but the last to sums of candidates."""
    if loss == SOFTMAX:
        for k in range(amounts.size):
            amounts[k] = 0.0
        c = np.int64(y)
        group = c
        if e.size > GROUPS:
            group = np.int64(hashed(tree, node, 7777 + c) % np.uint64(GROUPS))
        amounts[group] = v * math.sqrt(max(e[c], 0.0))  # e = 1 - q for the class that came
    elif loss == SQUARED:
        amounts[COUNT] = v
        amounts[SLOPES] = v * e[0]
        amounts[SQUARES] = v * e[0] * e[0]
    else:
        amounts[COUNT] = v * curvature(e[0])
        amounts[SLOPES] = v * e[0]
        amounts[SQUARES] = 0.0


@inlined
def count_row(x, amounts, own, goes_left):
    """Add a row to a leaf's totals and candidates; the threshold of one not ready is NaN."""
    for slot in range(CANDIDATES):
        goes_left[slot] = 1.0 if x[np.int64(own[COLUMNS + slot])] <= own[POINTS + slot] else 0.0
    for k in range(amounts.size):
        own[TOTALS + k] += amounts[k]
    left = TOTALS + amounts.size
    for k in range(amounts.size - 1):
        amount = amounts[k]
        if amount != 0:
            for slot in range(CANDIDATES):
                own[left + slot] += goes_left[slot] * amount
        left += CANDIDATES


@inlined
def prepare(tree, node, x, own, rare, memory, past_pays):
    """Candidates that are not ready choose a threshold or, without a second value, draw again."""
    splits = np.int64(memory.numbers[SPLITS])
    sums = rare.size // CANDIDATES - 1
    for slot in range(CANDIDATES):
        if own[POINTS + slot] == own[POINTS + slot]:
            continue
        a = rare[FIRST + slot]
        b = x[np.int64(own[COLUMNS + slot])]
        if a < b or a > b:  # neither is missing
            low = min(a, b)
            high = max(a, b)
            h = hashed(tree * CANDIDATES + slot, node, 77 + np.int64(own[DRAWS]))
            threshold = low + (h >> np.uint64(11)) * 2.0**-53 * (high - low)
            own[POINTS + slot] = threshold if low <= threshold < high else low
            own[OPEN] -= 1
            for k in range(sums):
                rare[BEFORE + k * CANDIDATES + slot] = own[TOTALS + k]
                if k < sums - 1:
                    own[TOTALS + sums + k * CANDIDATES + slot] = 0.0
            continue
        own[DRAWS] += 1
        h = hashed(tree * CANDIDATES + slot, node, 1000 + np.int64(own[DRAWS]))
        if slot < FROM_HISTORY and splits > 0:
            j = memory.history[np.int64(h % np.uint64(min(splits, HISTORY)))]
        elif past_pays and slot == CANDIDATES - 1:
            j = np.int64(h % np.uint64(PAST))
        else:
            j = PAST + memory.order[np.int64(h % np.uint64(memory.numbers[SEEN]))]
        own[COLUMNS + slot] = j
        rare[FIRST + slot] = x[j]


@inlined
def entropy_term(a):
    return a * math.log(a) if a > 0 else 0.0


@inlined
def since_ready(slot, k, own, rare):
    """The k-th sum of all rows since a candidate became ready."""
    return own[TOTALS + k] - rare[BEFORE + k * CANDIDATES + slot]


@inlined
def sides(slot, k, own, rare):
    """The k-th sum of the rows to the left and to the right of a candidate."""
    sums = rare.size // CANDIDATES - 1
    left = own[TOTALS + sums + k * CANDIDATES + slot]
    return left, since_ready(slot, k, own, rare) - left


@inlined
def gain(loss, slot, own, rare):
    """The nats that a candidate would have saved since it became ready."""
    if loss == SOFTMAX:  # the entropy of the groups of classes
        saved = 0.0
        n1 = 0.0
        n2 = 0.0
        for k in range(GROUPS):
            a, b = sides(slot, k, own, rare)
            b = max(b, 0.0)
            saved += entropy_term(a) + entropy_term(b) - entropy_term(a + b)
            n1 += a
            n2 += b
        return saved + entropy_term(n1 + n2) - entropy_term(n1) - entropy_term(n2)
    n1, n2 = sides(slot, COUNT, own, rare)
    e1, e2 = sides(slot, SLOPES, own, rare)
    e0 = e1 + e2
    if loss == SQUARED:
        if n1 < 2 or n2 < 2:
            return 0.0
        n0 = n1 + n2
        variance = since_ready(slot, SQUARES, own, rare) - e0 * (e0 / n0)
        explained = e1 * (e1 / n1) + e2 * (e2 / n2) - e0 * (e0 / n0)
        rest = variance - explained
        return n0 / 2 * math.log(variance / max(rest, 1e-6 * variance)) if variance > 0 else 0.0
    n2 = max(n2, 0.0)
    left = e1 * (e1 / (n1 + 1))
    right = e2 * (e2 / (n2 + 1))
    both = e0 * (e0 / (n1 + n2 + 1))
    return (left + right - both) / 2


@inlined
def may_gain(loss, own, least):
    """Whether any split can gain enough: none gains more nats than the entropy of the groups."""
    if loss != SOFTMAX:
        return True
    nats = 0.0
    n = 0.0
    for k in range(GROUPS):
        nats -= entropy_term(own[TOTALS + k])
        n += own[TOTALS + k]
    return nats + entropy_term(n) > least


@inlined
def best_candidate(loss, own, rare, least):
    """The candidate that gains the most, or -1 if none gains enough."""
    best = -1
    most = least
    for slot in range(CANDIDATES):
        if own[POINTS + slot] == own[POINTS + slot]:
            nats = gain(loss, slot, own, rare)
            if nats > CLEARLY * most:
                best = slot
                most = nats
    return best


@inlined
def empty(own, rare):
    """Candidates that have yet to draw their columns."""
    own[OPEN] = CANDIDATES
    for slot in range(CANDIDATES):
        own[POINTS + slot] = math.nan
        rare[FIRST + slot] = math.nan
