"""Histogram trees from what they mean: every row in a list, every sum taken anew.

The compiled class keeps histograms, subtracts one from another and adds to scores; this one takes
each sum over the rows of a leaf. It has no units: the stored numbers have the precision of 32 bits,
and no test goes near the limits of their range.
"""

import math

import numpy as np

MASK = 2**64 - 1
TIE = 1 + 2**-40
SLOPES = 7


def hashed(a, b, c):
    """A whole number below 2^64 that looks random."""
    z = a * 0x9E3779B97F4A7C15 + b * 0xC2B2AE3D27D4EB4F + c * 0x165667B19E3779F9
    z = (z + 0x27D4EB2F165667C5) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def share_of(h):
    """A number in [0, 1) from a hash."""
    return (h >> 11) / 2**53


def cuts(values, most_bins):
    """Thresholds half way between values that differ, for bins of about as many rows each."""
    distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    found = []
    size = sum(counts) / most_bins
    sizes = [min(count, size) for count in counts]
    before, bin_before = 0.0, None
    for k, own in enumerate(sizes):
        own_bin = math.floor((before + own / 2) * most_bins / sum(sizes))
        before += own
        if k > 0 and (len(distinct) <= most_bins or own_bin > bin_before):
            low, high = distinct[k - 1], distinct[k]
            middle = np.float32((float(low) + float(high)) / 2)
            found.append(middle if middle < high else low)
        bin_before = own_bin
    return found


class Node:
    """A leaf with the indices of its rows, until it is split."""

    def __init__(self, rows):
        self.rows = rows
        self.value = None
        self.split = None
        self.sides = ()

    def leaf(self, x):
        """The leaf of a row; what is missing goes to the right."""
        node = self
        while node.sides:
            column, threshold = node.split
            node = node.sides[0 if x[column] <= threshold else 1]
        return node

    def leaves(self):
        """All leaves."""
        return [leaf for side in self.sides for leaf in side.leaves()] if self.sides else [self]


class Forest:
    """Trees that are added up."""

    def __init__(self, base):
        self.base = base
        self.trees = []

    def score(self, x):
        """By class."""
        z = np.array(self.base, dtype=float)
        for tree in self.trees:
            z += tree.leaf(x).value
        return z


class HistogramTrees:
    """The learner of that name; `learn` takes one row."""

    def __init__(self, loss, classes=1, *, first=512, max_memory=256.0):
        self.loss, self.classes, self.first, self.memory = loss, classes, first, max_memory
        slopes = min(classes, SLOPES)
        self.lanes = 2 if slopes < 2 else 4 if slopes < 4 else 8
        self.signs = np.array(
            [
                [1.0 if hashed(c * SLOPES + a, 0, 4242) & 1 else -1.0 for a in range(SLOPES)]
                for c in range(classes)
            ]
        )
        self.t, self.order, self.width = 0, [], 1
        self.rows = []  # (x, y, sample weight, chance)
        self.forest, self.next = Forest(np.zeros(classes)), None
        self.begun, self.paid = 0, {}
        self.share, self.mean_error = 1.0, 0.0
        self.low = self.high = 0.0
        self.used, self.halvings, self.halved_for_columns = [], 0, 0  # what the tests ask for

    def learn(self, x, y, v=1.0):
        """Returns the score that was made before the target was used."""
        z = self.forest.score(self.known_values(x))
        if self.loss == "squared":
            z = np.clip(z, self.low, self.high)
        if v > 0:
            self.update(x, y, v, self.error(z, y))
        return z

    def known_values(self, x):
        """The row as 32-bit numbers; columns that were always 0 or missing are 0."""
        kept = np.zeros(len(x), np.float32)
        kept[self.order] = x[self.order]
        return kept

    def update(self, x, y, v, error):
        new = [int(j) for j in np.flatnonzero((x != 0) & ~np.isnan(x)) if j not in self.order]
        self.order += new
        self.paid |= dict.fromkeys(new, 0.0)
        if 1 + len(self.order) > self.width:
            self.width = max(1 + len(self.order), self.width + self.width // 4)
            before = self.halvings
            self.make_room()
            self.halved_for_columns += self.halvings - before
        self.mean_error += (error - self.mean_error) * max(1 / (self.t + 1), 2**-12)
        chance = self.chance(error)
        if share_of(hashed(self.t, int(1 / self.share), 77)) < chance:
            self.make_room()
            self.rows.append((self.known_values(x), y, v, chance))
        self.low = min(self.low, y) if self.t else y
        self.high = max(self.high, y) if self.t else y
        self.t += 1
        if self.next is not None:
            done = (len(self.next.trees) + 1) / self.planned
            if self.t >= self.begun * (1 + 0.3 * done):
                self.next.trees.append(self.tree())
            if len(self.next.trees) == self.planned:
                self.forest, self.next = self.next, None
                self.used.append(self.t)
        elif self.t >= max(self.first, 2 * self.begun) and self.rows:
            self.begin()

    # Which rows are kept

    def error(self, z, y):
        if self.loss == "squared":
            return abs(y - z[0])
        return 1 - softmax(z)[int(y)] if self.loss == "softmax" else 1 / (1 + math.exp(y * z[0]))

    def chance(self, error):
        if self.share == 1:
            return 1.0
        relative = error / self.mean_error if self.mean_error > 0 else 1.0
        return min(self.share * (0.5 + 0.5 * min(relative, 2**20)), 1.0)

    def make_room(self):
        """60 % of the memory is for rows: numbers, target, weight, chance, bins, scores, slopes."""
        a_row = 4 * self.width + 24 + len(self.order) + 8 * (self.classes + self.lanes) + 8
        while len(self.rows) > 1 and (len(self.rows) + 1) * a_row > 0.5e6 * self.memory:
            self.share /= 2
            self.halvings += 1
            kept = []
            for k, (x, y, v, before) in enumerate(self.rows):
                chance = min(self.chance(self.error(self.forest.score(x), y)), before)
                if share_of(hashed(k, int(1 / self.share), 77)) < chance / before:
                    kept.append((x, y, v, chance))
            self.rows = kept

    # Forests

    def begin(self):
        n = len(self.rows)
        self.begun = self.t
        self.planned = max(round(1.6 * n ** (1 / 3)), 8)
        self.most_leaves = max(round(0.4 * n**0.5), 4)
        self.columns = list(self.order)
        values = np.array([x for x, *_ in self.rows])[:: n // 2**15 + 1]
        most_bins = max(min(255, int(n**0.5)), 8)
        self.cuts = {j: cuts(values[:, j], most_bins) for j in self.columns}
        self.paid = {j: paid / 2 for j, paid in self.paid.items()}
        self.next = Forest(self.constant())

    def constant(self):
        """The frequencies of the classes, with half a row more of each; or the mean."""
        y = np.array([y for _, y, _, _ in self.rows])
        v = np.array([v / chance for *_, v, chance in self.rows])
        if self.loss == "squared":
            return [np.average(y, weights=v)]
        labels = range(self.classes) if self.loss == "softmax" else (-1, 1)
        logs = np.log([v[y == label].sum() + 0.5 * v.mean() for label in labels])
        return logs - logs.mean() if self.loss == "softmax" else [logs[1] - logs[0]]

    def chosen(self):
        """Half of the chances are equal, the others follow what was gained."""
        most = max(32, 2**17 // max(len(self.rows), 1))
        if len(self.columns) <= most:
            return self.columns
        total = sum(self.paid[j] for j in self.columns)
        keys = []
        for place, j in enumerate(self.columns):
            u = ((hashed(len(self.next.trees), place, self.begun) >> 11) + 0.5) / 2**53
            chance = 1 / len(self.columns) + (self.paid[j] / total if total else 0)
            keys.append((-math.log(u) / chance, place))
        return [self.columns[place] for place in sorted(place for _, place in sorted(keys)[:most])]

    def tree(self):
        """The next tree of the forest that is grown."""
        root = Node(np.arange(len(self.rows)))
        root.value = np.zeros(self.classes)
        if not self.columns or not self.rows:
            return root
        self.find_slopes()
        self.use = self.chosen()
        X = np.array([x for x, *_ in self.rows])
        self.bins = {j: np.searchsorted(self.cuts[j], X[:, j]) for j in self.use}
        for j in self.use:
            self.bins[j][np.isnan(X[:, j])] = len(self.cuts[j]) + 1
        cells = sum(len(self.cuts[j]) + 3 for j in self.use)
        room = int(0.15e6 * self.memory / (cells * self.lanes * 8))
        leaves = [(root, self.best_split(root.rows))]
        while len(leaves) < max(min(self.most_leaves, room), 2):
            best = 0
            for k, (_, split) in enumerate(leaves):
                if split[0] > leaves[best][1][0] * TIE:
                    best = k
            node, (gain, j, last) = leaves[best]
            if not gain > 0:
                break
            at_end = last == len(self.cuts[j])  # only missing values are on the right
            node.split = (j, np.inf if at_end else self.cuts[j][last])
            goes_left = self.bins[j][node.rows] <= last
            node.sides = (Node(node.rows[goes_left]), Node(node.rows[~goes_left]))
            if self.noise > 0:
                self.paid[j] += gain / (2 * self.noise)
            sides = [(side, self.best_split(side.rows)) for side in node.sides]
            leaves[best] = sides[0]
            leaves.append(sides[1])
        for leaf, _ in leaves:
            leaf.value = self.value(leaf.rows)
        return root

    def find_slopes(self):
        """Of all rows: v, slopes and curvatures by class, what is summed, and how rows count."""
        n = len(self.rows)
        v = np.array([v / chance for *_, v, chance in self.rows])
        self.v = v / v.mean()
        pairs = [self.slopes(self.next.score(x), y) for x, y, *_ in self.rows]
        self.e = np.array([e for e, _ in pairs])
        self.h = np.array([h for _, h in pairs])
        self.sums = self.v[:, None] * (self.e @ self.signs if self.classes > SLOPES else self.e)
        self.counts = self.v
        self.noise = (self.sums**2).mean()
        self.s = 1.0
        self.prior, self.fewest = 1.0, n ** (1 / 3)
        if self.loss != "squared":
            self.s = (self.v[:, None] * self.h).mean() + 1e-12
        if self.loss == "logistic":
            self.counts = self.v * np.maximum(self.h[:, 0], 1e-12)
            self.s = self.counts.mean() + 1e-12
            self.noise, self.prior = 1.0, self.s
            self.fewest *= self.s

    def slopes(self, z, y):
        """e and h by class."""
        if self.loss == "squared":
            return [y - z[0]], [1.0]
        if self.loss == "logistic":
            e = y / (1 + math.exp(y * z[0]))
            return [e], [abs(e) * (1 - abs(e))]
        e = np.eye(self.classes)[int(y)] - softmax(z)
        return e, abs(e) * (1 - abs(e))

    def worth(self, rows):
        return (self.sums[rows].sum(axis=0) ** 2).sum() / (self.counts[rows].sum() + self.prior)

    def best_split(self, rows):
        """(gain, column, last bin on the left); the gain is 0 if there is no split."""
        worth = self.worth(rows)
        best, found = worth * TIE, (0.0, None, None)
        for j in self.use:
            own, last = 0.0, None
            bins = self.bins[j][rows]
            for b in np.unique(bins[bins <= len(self.cuts[j])]):
                left, right = rows[bins <= b], rows[bins > b]
                if min(self.counts[left].sum(), self.counts[right].sum()) < self.fewest:
                    continue
                both = self.worth(left) + self.worth(right)
                if both > own * TIE:
                    own, last = both, int(b)
            if own > best:
                best, found = own * TIE, (own - worth, j, last)
        return found

    def value(self, rows):
        """By class: a Newton step, bounded but for the squared loss, times the rate."""
        v = self.v[rows, None]
        weights = self.counts[rows, None] if self.loss == "logistic" else v * self.h[rows]
        step = (v * self.e[rows]).sum(axis=0) / (weights.sum(axis=0) + self.s)
        if self.loss == "squared":
            return min(7 / self.planned, 0.3) * step
        return min(12 / self.planned, 0.3) * np.clip(step, -4, 4)


def softmax(z):
    """Probabilities of classes."""
    e = np.exp(z - np.max(z))
    return e / e.sum()
