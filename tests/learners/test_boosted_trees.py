"""Boosted trees: a twin from the formulas, what they can learn, and what they keep."""

import math

import numpy as np
import pytest

from unitless.learners import BoostedTrees
from unitless.rows import as_rows
from unitless.state import remembered

MASK = 2**64 - 1
SLOTS = 12


def hashed(a, b, c):
    z = a * 0x9E3779B97F4A7C15 + b * 0xC2B2AE3D27D4EB4F + c * 0x165667B19E3779F9
    z = (z + 0x27D4EB2F165667C5) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Node:
    def __init__(self, number, classes, prior=None):
        self.number = number
        self.G = [0.0] * classes
        self.H = [0.0] * classes
        self.P = prior or [0.0] * classes
        self.split = None
        self.rows = 0
        self.draws = 0
        self.all = []
        self.slots = [None] * SLOTS


class Twin:
    """The trees as the page describes them, with every row of a leaf kept in a list."""

    def __init__(self, loss, classes=1, trees=32, rate=0.2, leaves=512, kept=1.0, favoured=0):
        self.kept, self.favoured = kept, favoured
        self.loss, self.classes, self.rate, self.max_leaves = loss, classes, rate, leaves
        self.s = 5.0 if loss == "squared" else 1.25
        self.roots = [Node(t, classes) for t in range(trees)]
        self.leaves = [1] * trees
        self.number = trees
        self.order, self.history = [], []
        self.low = self.high = 0.0
        self.trials = 0

    def slopes(self, y, z):
        if self.loss == "squared":
            return [y - z[0]], [1.0]
        if self.loss == "logistic":
            q = [1 / (1 + math.exp(-min(max(z[0], -30), 30)))]
            hit = [float(y > 0)]
        else:
            q = [math.exp(each - max(z)) for each in z]
            q = [each / sum(q) for each in q]
            hit = [float(c == y) for c in range(self.classes)]
        e = [a - b for a, b in zip(hit, q, strict=True)]
        return e, [max(b * (1 - b), 1e-3) for b in q]

    def learn(self, x, y):
        for j in np.flatnonzero((x != 0) & ~np.isnan(x)):
            if j not in self.order:
                self.order.append(int(j))
        z = [0.0] * self.classes
        for t in range(len(self.roots)):
            node = self.roots[t]
            while node.split:
                column, threshold, left, right = node.split
                node = left if x[column] <= threshold else right
            e, h = self.slopes(y, z)
            for c in range(self.classes):
                z[c] += self.rate * self.value(node, c)
                node.G[c] = self.kept * node.G[c] + e[c]
                node.H[c] = self.kept * node.H[c] + h[c]
            if self.leaves[t] < self.max_leaves:
                self.grow(t, node, x, self.amounts(t, node, y, e, h))
        self.remember(y)
        if self.loss == "squared":
            return [min(max(z[0], self.range[0]), self.range[1])]
        return z

    def value(self, node, c):
        return (node.G[c] + self.s * node.P[c]) / (node.H[c] + self.s)

    def amounts(self, t, node, y, e, h):
        if self.loss == "squared":
            return [1.0, e[0], e[0] ** 2]
        if self.loss == "logistic":
            return [1.0, e[0], h[0]]
        group = int(y) if self.classes <= 8 else hashed(t, node.number, 7777 + int(y)) % 8
        return [math.sqrt(e[int(y)]) if k == group else 0.0 for k in range(8)]

    def grow(self, t, node, x, amounts):
        node.rows += 1
        node.all.append((x, amounts))
        for k in range(SLOTS):
            if self.order and (node.slots[k] is None or len(node.slots[k]) == 2):
                self.prepare(t, node, k, x)
        if node.rows < 16 or node.rows % 8:
            return
        ready = [slot for slot in node.slots if slot is not None and len(slot) == 3]
        gains = [self.gain(*self.sides(node, *slot)) for slot in ready]
        if gains and max(gains) > 3:
            self.split(t, node, *ready[int(np.argmax(gains))])

    def prepare(self, t, node, k, x):
        """A slot is (column, value) and then (column, threshold, rows before it)."""
        slot = node.slots[k]
        if slot is not None:
            column, first = slot
            low, high = min(first, x[column]), max(first, x[column])
            if low < high:
                share = (hashed(t * SLOTS + k, node.number, 77 + node.draws) >> 11) / 2**53
                threshold = low + share * (high - low)
                inside = low <= threshold < high
                node.slots[k] = (column, threshold if inside else low, node.rows)
                return
        node.draws += 1
        h = hashed(t * SLOTS + k, node.number, 1000 + node.draws)
        if k < 3 and self.history:
            column = self.history[h % len(self.history)]
        elif self.favoured and k == SLOTS - 1:
            column = h % min(self.favoured, len(x))
        else:
            column = self.order[h % len(self.order)]
        node.slots[k] = None if math.isnan(x[column]) else (column, float(x[column]))

    def sides(self, node, column, threshold, begin):
        sides = np.zeros((2, len(node.all[0][1])))
        for x, amounts in node.all[begin:]:
            sides[0 if x[column] <= threshold else 1] += amounts
        return sides

    def gain(self, left, right):
        both = left + right
        if self.loss == "softmax":
            return entropy(both) - entropy(left) - entropy(right)
        if left[0] < 2 or right[0] < 2:
            return 0.0
        if self.loss == "logistic":
            return sum(
                w * s[1] ** 2 / (s[2] + 1) for w, s in ((0.5, left), (0.5, right), (-0.5, both))
            )
        rest = sum(side[2] - side[1] ** 2 / side[0] for side in (left, right))
        variance = both[2] - both[1] ** 2 / both[0]
        return both[0] / 2 * math.log(variance / max(rest, 1e-6 * variance)) if variance > 0 else 0

    def split(self, t, node, column, threshold, begin):
        values = [self.value(node, c) for c in range(self.classes)]
        children = [Node(self.number + k, self.classes, values) for k in range(2)]
        if self.loss != "softmax":
            for child, side in zip(
                children, self.sides(node, column, threshold, begin), strict=True
            ):
                child.G = [side[1]]
                child.H = [side[0] if self.loss == "squared" else side[2]]
        self.number += 2
        self.leaves[t] += 1
        self.history.append(column)  # far fewer than the 1024 that are kept
        node.split = (column, threshold, *children)

    def remember(self, y):
        self.range = (self.low, self.high)
        if self.trials == 0:
            self.low = self.high = y
        self.low, self.high = min(self.low, y), max(self.high, y)
        self.trials += 1


def entropy(weights):
    total = weights.sum()
    return -sum(w * math.log(w / total) for w in weights if w > 0)


def stream(loss, n=600, classes=3):
    """Rows with a constant column, missing values, a late column, and two that matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * [1, 100, 1e-3, 1, 1]
    X[:, 3] = 7.0
    X[: n // 2, 4] = 0.0
    X[rng.random((n, 5)) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0] * X[:, 1] / 100 + np.sin(2 * X[:, 0]))
    if loss == "squared":
        return X, 3 + signal
    if loss == "logistic":
        return X, np.where(signal + 0.1 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, np.digitize(signal, np.linspace(-1, 1, classes - 1)).astype(float)


@pytest.mark.parametrize(
    ("loss", "classes", "following"),
    [
        ("logistic", 0, {}),
        ("squared", 0, {}),
        ("squared", 0, {"kept": 0.9, "favoured": 2}),
        ("softmax", 3, {}),
        ("softmax", 11, {}),
    ],
)
def test_twin(loss, classes, following):
    X, y = stream(loss, classes=classes)
    twin = Twin(loss, max(classes, 1), trees=6, leaves=20, **following)
    learner = BoostedTrees(loss, classes=classes, trees=6, leaves=20, **following)
    expected = np.array([twin.learn(x, target) for x, target in zip(X, y, strict=True)])
    scores = learner.learn(as_rows(X, y))
    np.testing.assert_allclose(scores.reshape(len(X), -1), expected, rtol=1e-9, atol=1e-12)
    assert max(twin.leaves) > 3


@pytest.mark.parametrize("loss", ["logistic", "squared", "softmax"])
def test_negative_factors_turn_the_column(loss):
    """After rescale by -3, mirrored rows get the predictions that the old rows would have had."""
    X, y = stream(loss)
    factors = np.array([-3.0, 2.0, -0.5, 1.0, -1.0])
    options = {"classes": 3} if loss == "softmax" else {}
    straight, turned = BoostedTrees(loss, **options), BoostedTrees(loss, **options)
    for learner in (straight, turned):
        learner.learn(as_rows(X[:400], y[:400]))
    turned.rescale(factors)
    expected = straight.learn(as_rows(X[400:], y[400:]))
    scores = turned.learn(as_rows(X[400:] * factors, y[400:]))
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-14)


def test_memory_grows_with_the_leaves_in_use():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 10))
    learner = BoostedTrees()
    learner.learn(as_rows(X, np.sign(X[:, 0])))
    assert sum(array.nbytes for array in remembered(learner)[0].values()) < 2e6


@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_memory_is_bounded(loss):
    """Trees that are full ask for no more room; their leaves go on learning."""
    X, y = stream(loss, n=3000)
    learner = BoostedTrees(loss, classes=3 if loss == "softmax" else 0, trees=4, leaves=8, gain=0.5)
    scores = learner.learn(as_rows(X, y))
    assert np.array(learner.leaves_of).tolist() == [8] * 4
    assert len(learner.candidates) == 32
    single = BoostedTrees(loss, classes=3 if loss == "softmax" else 0, trees=4, leaves=8, gain=0.5)
    rows = as_rows(X, y)
    parts = [single.learn(rows[t : t + 1]) for t in range(3000)]
    np.testing.assert_array_equal(np.concatenate(parts), scores)


def test_noise_is_scored_like_the_frequency_of_the_classes():
    """Splits need three nats: nothing is gained from columns that say nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    y = np.where(rng.random(20_000) < 0.3, 1.0, -1.0)
    learner = BoostedTrees()
    loss = learner.loss.value(y, learner.learn(as_rows(X, y))).mean()
    frequency = (np.cumsum(y > 0) - (y > 0) + 0.5) / np.arange(1, 20_001)
    best = learner.loss.value(y, np.log(frequency / (1 - frequency))).mean()
    assert loss < 1.01 * best


def test_bad_parameters():
    with pytest.raises(ValueError, match="trees = 0: it is a whole number >= 1"):
        BoostedTrees(trees=0)
    with pytest.raises(ValueError, match="rate = 2"):
        BoostedTrees(rate=2)
    with pytest.raises(ValueError, match="hinge"):
        BoostedTrees("hinge")
