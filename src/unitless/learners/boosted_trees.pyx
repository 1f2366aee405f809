"""Online boosted trees: curves and interactions, in any unit, one pass, bounded memory.

T small trees are added up, each correcting those before it. A row walks down every tree; only the
leaf it reaches learns. With the score z of the trees so far and a prior of s rows::

    e, h = slope and curvature of the loss at z    (logistic: e = y01 - q, h = q (1 - q))
    z += rate (G + s P) / (H + s)                  with the leaf's sums before this row
    G += e;   H += h                               P is the value of the leaf's parent

A leaf tries candidates `x_j <= threshold`, each with sums over the rows to its left
(`split_candidates.pxd`). A column is drawn by a hash, a threshold lies between the first two
different values that come. After 16 rows, and then every 8, the best candidate splits the leaf if
it gains enough.

Thresholds are values of their columns, so a change of units changes no comparison. A missing value
goes to the right. With the softmax loss a leaf has G, H and P of each class. Trees that are to
follow a stream forget: with each row of a leaf, G and H are first multiplied by `kept`.
"""

import math

import numpy as np

cimport cython
from libc.math cimport INFINITY, sqrt
from libc.stdint cimport uint64_t
from libc.string cimport memset

from unitless.core.arithmetic cimport clipped, hashed, prefetch
from unitless.core.array cimport Array, numbers, records
from unitless.core.curvature cimport curvature
from unitless.core.learner cimport LEARNED, Learner
from unitless.core.losses cimport SOFTMAX, SQUARED, sigmoid, softmax_slopes
from unitless.core.row cimport Row
from unitless.learners.split_candidates cimport (
    CANDIDATES,
    COUNT,
    GROUPS,
    SLOPES,
    SQUARES,
    Before,
    Candidates,
    First,
    Sum,
    add,
    best_of,
    find_sides,
    forget,
    right_of,
    sums_of,
)

from unitless.core.learner import COLUMNS
from unitless.core.parameters import Parameter
from unitless.rows import as_rows
from unitless.state import MOST_ROWS, Field, count, need

cdef enum:
    FROM_HISTORY = 3        # candidates that draw the column of an earlier split
    HISTORY = 1024
    FIRST_LOOK = 16
    LOOK_EVERY = 8
    FIRST_COLUMN = 1        # of a row, in a tree; column 0 is 0, where a walk ends at a leaf
    MOST_LEAVES = 1 << 29     # of all trees: node numbers fit into 32 bits

cdef double MAX_TARGET = 2.0**240   # limit of targets, as in unitless.core.learner


cdef struct Node:
    double threshold        # a row goes left if x[column] <= threshold
    int column
    int child               # the left one; the right one follows. A leaf is its own child
    int leaf


cdef struct Value:
    double G                # sum e
    double H                # sum h
    double P                # the value of the leaf that was split


def _struct(**fields):
    return np.dtype(list(fields.items()), align=True)


NODE = _struct(threshold="d", column="i", child="i", leaf="i")
VALUE = _struct(G="d", H="d", P="d")
CANDIDATES_OF_LEAF = _struct(threshold="12d", rows="q", draws="q", column="12i", unready="i")
SUM = _struct(total="d", left="12d")
FIRST = _struct(value="12d")
BEFORE = _struct(total="12d")
assert NODE.itemsize == sizeof(Node) and CANDIDATES_OF_LEAF.itemsize == sizeof(Candidates)


@cython.final
cdef class BoostedTrees(Learner):
    """Online boosted trees, for curves, steps and interactions.

    >>> from unitless.rows import as_rows
    >>> X = np.random.default_rng(0).uniform(-1, 1, (2000, 2))
    >>> rows = as_rows(X, np.sign(X[:, 0] * X[:, 1]))  # no linear learner can do this
    >>> scores = BoostedTrees().learn(rows)
    >>> print(f"{(scores * rows.targets > 0)[1000:].mean():.2f}")
    0.98
    """

    name = "boosted_trees"
    invariance = "unit"
    has_classes = True
    linear = False
    symmetric = False
    needs_lipschitz = False
    takes_losses = ("logistic", "softmax", "squared")
    parameters = (
        Parameter(
            "trees",
            32,
            "more trees predict better and cost more, both in proportion",
            "whole number >= 1",
        ),
        Parameter(
            "rate",
            0.2,
            "the share of a tree's value that is added to the score",
            "number > 0, at most 1",
        ),
        Parameter(
            "leaves",
            512,
            "the most leaves of a tree; it then stops growing and its leaves go on learning",
            "whole number >= 2",
        ),
        Parameter(
            "gain",
            3.0,
            "the nats that a split must gain; smaller values lose more on noise",
            "number > 0",
        ),
        Parameter(
            "kept",
            1.0,
            "the share of a leaf's sums that each of its rows keeps; below 1, leaves forget",
            "number > 0, at most 1",
        ),
        Parameter(
            "favoured",
            0,
            "how many of the first columns one candidate of each leaf chooses from",
            "whole number >= 0",
        ),
    )
    saved = (
        *Learner.saved,
        COLUMNS,
        Field("nodes", "x_j", "column, threshold, child and leaf", ("nodes",)),
        Field("inner", "z", "value of a node when it was split", ("nodes classes",)),
        Field("leaves_of", "1", "leaves of each tree", ("trees",), 1, "leaves"),
        Field("values", "z", "slopes G, curvatures H, prior value P", ("leaves classes",)),
        Field("candidates", "x_j", "columns and thresholds of a leaf's candidates", ("leaves",)),
        Field("leaf_sums", "z", "sums: all, and left of each candidate", ("leaves sums",)),
        Field("first", "x_j", "first values of candidates", ("leaves",)),
        Field("before", "z", "totals when candidates became ready", ("leaves sums",)),
        Field("order", "1", "columns in order of appearance"),
        Field("turned", "sign", "1: the column is turned around", ("columns",), 0, 1),
        Field("history", "1", "columns of the last splits", (HISTORY,)),
        count("splits", "splits so far"),
        Field("lowest", "y", "lowest target"),
        Field("highest", "y", "highest target"),
    )

    cdef public Py_ssize_t trees
    cdef public double rate
    cdef public Py_ssize_t leaves
    cdef public double gain
    cdef public double kept
    cdef public Py_ssize_t favoured
    cdef readonly Array nodes           # of all trees; tree t has its root at node t
    cdef readonly Array inner           # by node and class
    cdef readonly Array leaves_of       # by tree
    cdef readonly Array values          # by leaf and class
    cdef readonly Array candidates      # by leaf
    cdef readonly Array leaf_sums       # by leaf and amount
    cdef readonly Array first           # by leaf
    cdef readonly Array before          # by leaf and amount
    cdef readonly Array order
    cdef readonly Array turned          # by column
    cdef readonly Array history
    cdef public double splits
    cdef public double lowest
    cdef public double highest
    cdef double strength                # s
    cdef Py_ssize_t most_leaves         # of a tree
    cdef int amounts                    # sums of a leaf
    cdef Array known                    # by column: 1 if it is in `order`
    cdef Array row                      # the row at hand
    cdef Array found                    # by tree: the node where the row at hand ends
    cdef Array z                        # by tree and class: score of the trees before it
    cdef Array e                        # by tree and class: slope at z

    def _prepare(self):
        cdef Py_ssize_t t
        self.strength = 5.0 if self.code == SQUARED else 1.25
        self.most_leaves = min(self.leaves, MOST_LEAVES // self.trees)
        self.amounts = sums_of(self.code)
        self.nodes = records(NODE, self.trees)
        self.inner = numbers(self.trees * self.classes)
        self.leaves_of = records("i", self.trees)
        self.values = records(VALUE, self.trees * self.classes)
        self.candidates = records(CANDIDATES_OF_LEAF, self.trees)
        self.leaf_sums = records(SUM, self.trees * self.amounts)
        self.first = records(FIRST, self.trees)
        self.before = records(BEFORE, self.trees * self.amounts)
        self.order = records("i", 0)
        self.turned = records("b", 0)
        self.history = records("i", HISTORY)
        self.known = records("b", 0)
        self.row = numbers(FIRST_COLUMN)
        self.found = records("i", self.trees)
        self._make_room_for_classes()
        for t in range(self.trees):
            self.plant(<int>t, <int>t)
            (<int*>self.leaves_of.at)[t] = 1

    def _make_room_for_classes(self):
        self.z = numbers((self.trees + 1) * self.classes)
        self.e = numbers((self.trees + 1) * self.classes)

    def add_class(self):
        """Add one class, whose score starts at 0."""
        old = self.classes
        super().add_class()
        self._make_room_for_classes()
        for name in ("inner", "values"):
            array = self.read(name).reshape(-1, old)
            wider = np.zeros((len(array), old + 1), array.dtype)
            wider[:, :old] = array
            self.write(name, wider.reshape(-1))

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        if columns > self.columns:
            self.turned.resize(columns)
            self.known.resize(columns)
            self.row.resize(FIRST_COLUMN + columns)
            self.columns = columns
        return 0

    # Scores

    cdef void load_row(self, const Row* row) noexcept nogil:
        """The row; columns without room are in no split."""
        cdef double* x = self.row.at
        cdef const signed char* turned = <const signed char*>self.turned.at
        cdef Py_ssize_t k, j
        memset(x, 0, (FIRST_COLUMN + self.columns) * sizeof(double))
        for k in range(row.n):
            j = row.ids[k] if row.ids != NULL else k
            if j < self.columns and row.values[k] != 0:
                x[FIRST_COLUMN + j] = -row.values[k] if turned[j] else row.values[k]

    cdef void find_leaves(self) noexcept nogil:
        """found = where the row ends in each tree; eight walk at once."""
        cdef const double* x = self.row.at
        cdef const Node* nodes = <const Node*>self.nodes.at
        cdef int* found = <int*>self.found.at
        cdef Py_ssize_t start, end, t
        cdef int at
        cdef bint walks
        for start in range(0, self.trees, 8):
            end = min(start + 8, self.trees)
            for t in range(start, end):
                found[t] = <int>t
            walks = True
            while walks:
                walks = False
                for t in range(start, end):
                    at = found[t]
                    found[t] = nodes[at].child + (not x[nodes[at].column] <= nodes[at].threshold)
                    walks |= found[t] != at

    cdef Py_ssize_t leaf_of(self, Py_ssize_t t) noexcept nogil:
        """The leaf that the row reached in tree t."""
        return (<const Node*>self.nodes.at)[(<int*>self.found.at)[t]].leaf

    cdef double value_of(self, const Value* own) noexcept nogil:
        return (own.G + self.strength * own.P) / (own.H + self.strength)

    cdef void add_up(self, double* scores) noexcept nogil:
        """z = the score of the trees before each one, and after them all."""
        cdef double* z = self.z.at
        cdef const Value* own
        cdef Py_ssize_t classes = self.classes
        cdef Py_ssize_t t, c
        cdef double score
        for c in range(classes):
            z[c] = 0.0
        for t in range(self.trees):
            own = <const Value*>self.values.at + self.leaf_of(t) * classes
            for c in range(classes):
                z[classes + c] = z[c] + self.rate * self.value_of(own + c)
            z += classes
        for c in range(classes):
            score = z[c]
            if self.code == SQUARED:
                score = min(max(score, self.lowest), self.highest)
            scores[c] = score + 0.0  # no -0

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        self.load_row(row)
        self.find_leaves()
        self.add_up(scores)
        return 0

    cdef int begin(self, const Row* row, double* scores) except -1 nogil:
        self.load_row(row)
        self.find_leaves()
        self.fetch_leaves()
        self.add_up(scores)
        return 0

    cdef void fetch_leaves(self) noexcept nogil:
        """Bring the leaves that are about to learn into the cache."""
        cdef const char* candidates
        cdef const char* sums
        cdef Py_ssize_t size = self.amounts * sizeof(Sum)
        cdef Py_ssize_t t, byte
        for t in range(self.trees):
            candidates = <const char*>(<Candidates*>self.candidates.at + self.leaf_of(t))
            sums = <const char*>(<Sum*>self.leaf_sums.at + self.leaf_of(t) * self.amounts)
            for byte in range(0, <Py_ssize_t>sizeof(Candidates), 64):
                prefetch(candidates + byte)
            for byte in range(0, size, 64):
                prefetch(sums + byte)

    # Learning

    cdef int update(self, const Row* row, double y) except -1 nogil:
        cdef Py_ssize_t classes = self.classes
        cdef double kept = self.kept
        cdef double v = row.weight
        cdef double* e
        cdef double h
        cdef Value* own
        cdef Candidates* candidates
        cdef Py_ssize_t t, c, leaf
        cdef int best
        y = clipped(y, MAX_TARGET)
        self.see_columns(row)
        self.find_slopes(y)
        for t in range(self.trees):
            e = self.e.at + t * classes
            leaf = self.leaf_of(t)
            own = <Value*>self.values.at + leaf * classes
            for c in range(classes):
                h = 1.0 if self.code == SQUARED else curvature(e[c])
                own[c].G = kept * own[c].G + v * e[c]
                own[c].H = kept * own[c].H + v * h
            if (<int*>self.leaves_of.at)[t] >= self.most_leaves:
                continue
            candidates = <Candidates*>self.candidates.at + leaf
            candidates.rows += 1
            self.count_row(t, leaf, y, v, e)
            if candidates.unready > 0 and self.order.size > 0:
                self.prepare(t, leaf)
            if candidates.rows >= FIRST_LOOK and candidates.rows % LOOK_EVERY == 0:
                best = best_of(
                    self.code,
                    candidates,
                    <Sum*>self.leaf_sums.at + leaf * self.amounts,
                    <Before*>self.before.at + leaf * self.amounts,
                    self.gain,
                )
                if best >= 0:
                    self.split(t, best)
        self.remember(y)
        return LEARNED

    cdef int see_columns(self, const Row* row) except -1 nogil:
        """Let columns that are nonzero for the first time be drawn from now on."""
        cdef signed char* known = <signed char*>self.known.at
        cdef Py_ssize_t k, j
        for k in range(row.n):
            j = row.ids[k] if row.ids != NULL else k
            if not known[j] and row.values[k] == row.values[k] and row.values[k] != 0:
                known[j] = 1
                self.order.resize(self.order.size + 1)
                (<int*>self.order.at)[self.order.size - 1] = <int>j
        return 0

    cdef void find_slopes(self, double y) noexcept nogil:
        """e = minus the derivative of the loss at z, before each tree and after them all."""
        cdef const double* z = self.z.at
        cdef double* e = self.e.at
        cdef Py_ssize_t classes = self.classes
        cdef Py_ssize_t t, k
        if self.code == SOFTMAX:
            for t in range(self.trees + 1):
                softmax_slopes(z + t * classes, <int>classes, <int>y, e + t * classes)
            for k in range((self.trees + 1) * classes):
                e[k] = -e[k]
        elif self.code == SQUARED:
            for t in range(self.trees + 1):
                e[t] = y - z[t]
        else:
            for t in range(self.trees + 1):
                e[t] = y * sigmoid(-y * z[t])

    cdef void count_row(
        self, Py_ssize_t t, Py_ssize_t leaf, double y, double v, const double* e
    ) noexcept nogil:
        """Add the row to the sums of a leaf and of its candidates."""
        cdef Sum* sums = <Sum*>self.leaf_sums.at + leaf * self.amounts
        cdef double[12] goes_left
        cdef Py_ssize_t c, group
        find_sides(<Candidates*>self.candidates.at + leaf, self.row.at, goes_left)
        if self.code == SOFTMAX:
            c = group = <Py_ssize_t>y
            if self.classes > GROUPS:
                group = <Py_ssize_t>(hashed(t, (<int*>self.found.at)[t], 7777 + c) % GROUPS)
            add(sums + group, goes_left, v * sqrt(max(e[c], 0.0)))  # e = 1 - q of the class
        elif self.code == SQUARED:
            add(sums + COUNT, goes_left, v)
            add(sums + SLOPES, goes_left, v * e[0])
            add(sums + SQUARES, goes_left, v * e[0] * e[0])
        else:
            add(sums + COUNT, goes_left, v * curvature(e[0]))
            add(sums + SLOPES, goes_left, v * e[0])

    cdef void prepare(self, Py_ssize_t t, Py_ssize_t leaf) noexcept nogil:
        """Choose a threshold for candidates with two values; the others draw another column."""
        cdef const double* x = self.row.at
        cdef int node = (<int*>self.found.at)[t]
        cdef Candidates* own = <Candidates*>self.candidates.at + leaf
        cdef double* first = (<First*>self.first.at)[leaf].value
        cdef double a, b, low, high, threshold
        cdef uint64_t h
        cdef int k
        for k in range(CANDIDATES):
            if own.threshold[k] == own.threshold[k]:
                continue
            a = first[k]
            b = x[own.column[k]]
            if a < b or a > b:  # neither is missing
                low = min(a, b)
                high = max(a, b)
                h = hashed(t * CANDIDATES + k, node, 77 + own.draws)
                threshold = low + (h >> 11) * 2.0**-53 * (high - low)
                own.threshold[k] = threshold if low <= threshold < high else low
                own.unready -= 1
                self.start_sums(leaf, k)
            else:
                own.draws += 1
                h = hashed(t * CANDIDATES + k, node, 1000 + own.draws)
                own.column[k] = self.drawn_column(h, k)
                first[k] = x[own.column[k]]

    cdef int drawn_column(self, uint64_t h, int k) noexcept nogil:
        """Draw a column: that of an earlier split, likely to be useful again, a favoured one, or any."""
        if k < FROM_HISTORY and self.splits > 0:
            return (<int*>self.history.at)[h % <uint64_t>min(self.splits, <double>HISTORY)]
        if self.favoured > 0 and k == CANDIDATES - 1:
            return FIRST_COLUMN + <int>(h % <uint64_t>min(self.favoured, self.columns))
        return FIRST_COLUMN + (<int*>self.order.at)[h % <uint64_t>self.order.size]

    cdef void start_sums(self, Py_ssize_t leaf, int k) noexcept nogil:
        """Note that candidate k of a leaf became ready."""
        cdef Sum* sums = <Sum*>self.leaf_sums.at + leaf * self.amounts
        cdef Before* before = <Before*>self.before.at + leaf * self.amounts
        cdef int amount
        for amount in range(self.amounts):
            before[amount].total[k] = sums[amount].total
            sums[amount].left[k] = 0.0

    cdef void plant(self, int node, int leaf) noexcept nogil:
        """Make a node a leaf: whatever the row, it is its own child."""
        cdef Node* own = <Node*>self.nodes.at + node
        own.threshold = INFINITY
        own.column = 0
        own.child = node
        own.leaf = leaf
        forget(<Candidates*>self.candidates.at + leaf, <First*>self.first.at + leaf)

    cdef int split(self, Py_ssize_t t, int k) except -1 nogil:
        """Split the leaf that tree t reached; the left one of the two new leaves takes its place."""
        cdef Py_ssize_t classes = self.classes
        cdef Py_ssize_t leaf = self.leaf_of(t)
        cdef Py_ssize_t other = self.candidates.size
        cdef Py_ssize_t child = 2 * other - self.trees
        cdef Py_ssize_t at = (<int*>self.found.at)[t]
        self.make_room(other + 1)
        cdef Node* node = <Node*>self.nodes.at + at
        cdef const Candidates* candidates = <Candidates*>self.candidates.at + leaf
        cdef const Sum* sums = <Sum*>self.leaf_sums.at + leaf * self.amounts
        cdef const Before* before = <Before*>self.before.at + leaf * self.amounts
        cdef double* value = self.inner.at + at * classes
        cdef Py_ssize_t c
        cdef Value left, right
        (<int*>self.history.at)[<Py_ssize_t>self.splits % HISTORY] = candidates.column[k]
        self.splits += 1
        (<int*>self.leaves_of.at)[t] += 1
        node.column = candidates.column[k]
        node.threshold = candidates.threshold[k]
        node.child = <int>child
        for c in range(classes):
            value[c] = self.value_of(<Value*>self.values.at + leaf * classes + c)
        left.G = left.H = right.G = right.H = 0.0
        if self.code != SOFTMAX:  # the candidate's sums go on as those of the children
            left.G = sums[SLOPES].left[k]
            left.H = max(sums[COUNT].left[k], 0.0)
            right.G = right_of(sums + SLOPES, before + SLOPES, k)
            right.H = max(right_of(sums + COUNT, before + COUNT, k), 0.0)
        self.start_leaf(<int>child, leaf, left, value)
        self.start_leaf(<int>child + 1, other, right, value)
        return 0

    cdef int make_room(self, Py_ssize_t leaves) except -1 nogil:
        """Make room for that many leaves and the nodes above them."""
        cdef Py_ssize_t nodes = 2 * leaves - self.trees
        self.nodes.resize(nodes)
        self.inner.resize(nodes * self.classes)
        self.values.resize(leaves * self.classes)
        self.leaf_sums.resize(leaves * self.amounts)
        self.first.resize(leaves)
        self.before.resize(leaves * self.amounts)
        self.candidates.resize(leaves)
        return 0

    cdef void start_leaf(
        self, int node, Py_ssize_t leaf, Value start, const double* parent
    ) noexcept nogil:
        """Fill in a leaf of a split, with its sums so far and the value of its parent."""
        cdef Value* own = <Value*>self.values.at + leaf * self.classes
        cdef Py_ssize_t c
        memset(<Candidates*>self.candidates.at + leaf, 0, sizeof(Candidates))
        memset(<Sum*>self.leaf_sums.at + leaf * self.amounts, 0, self.amounts * sizeof(Sum))
        for c in range(self.classes):
            own[c].G = start.G
            own[c].H = start.H
            own[c].P = parent[c]
        self.plant(node, <int>leaf)

    cdef void remember(self, double y) noexcept nogil:
        """The range of the targets, to which scores of the squared loss are clipped."""
        cdef bint first = self.t == 0
        self.lowest = y if first else min(self.lowest, y)
        self.highest = y if first else max(self.highest, y)
        self.t += 1

    # State

    def _sizes(self):
        return super()._sizes() | {
            "trees": self.trees,
            "leaves": len(self.candidates),
            "nodes": 2 * len(self.candidates) - self.trees,
            "sums": self.amounts,
        }

    def _loaded(self):
        """Refuse a state with which a walk would leave the arrays or never end."""
        super()._loaded()
        nodes = np.array(self.nodes)
        values = np.array(self.values)
        candidates = np.array(self.candidates)
        order = np.array(self.order)
        leaves = len(candidates)
        need(self.trees <= leaves <= MOST_LEAVES, f"{leaves} leaves of {self.trees} trees")
        need(np.array(self.leaves_of).sum() == leaves, "the leaves of the trees do not add up")
        places = np.arange(len(nodes))
        child = nodes["child"]
        is_leaf = child == places
        need((child >= places).all(), "a child comes before its parent, so a walk may never end")
        need((child[~is_leaf] < len(nodes) - 1).all(), "a child is missing")
        whole = (nodes["threshold"] == math.inf) & (nodes["column"] == 0)
        need(whole[is_leaf].all(), "a leaf has a split")
        most = FIRST_COLUMN + self.columns
        _need_within(nodes["leaf"], leaves, "leaf")
        _need_within(nodes["column"], most, "column of a node")
        _need_within(candidates["column"], most, "column of a candidate")
        _need_within(np.array(self.history), most, "column of a split")
        _need_within(order, self.columns, "column")
        need(len(np.unique(order)) == len(order), "a column appears twice")
        ready = candidates["threshold"] == candidates["threshold"]
        unready = CANDIDATES - ready.sum(axis=1)
        need((candidates["unready"] == unready).all(), "the candidates are miscounted")
        for name in ("rows", "draws"):
            _need_within(candidates[name], MOST_ROWS, f"number of {name}")
        need((values["H"] >= 0).all(), "a curvature is negative")
        for array in (values, np.array(self.leaf_sums), np.array(self.before)):
            for name in array.dtype.names:
                need(np.isfinite(array[name]).all(), f"a sum {name} is not finite")
        self.known.replace(np.isin(np.arange(self.columns), order).astype(np.int8))
        self.row.replace(np.zeros(most))

    def _rescale(self, columns, factors):
        # Rows keep their side also after a negative factor: the column is turned back at the door.
        np.asarray(self.turned)[columns] ^= (factors < 0).astype(np.int8)
        size = np.ones(FIRST_COLUMN + self.columns)
        size[FIRST_COLUMN + columns] = np.abs(factors)
        nodes = np.asarray(self.nodes)
        nodes["threshold"] *= size[nodes["column"]]
        candidates = np.asarray(self.candidates)
        candidates["threshold"] *= size[candidates["column"]]
        np.asarray(self.first)["value"] *= size[candidates["column"]]

    def _seen(self):
        return np.append(True, np.array(self.known) != 0)

    def _coefficients(self):
        """There are no weights; the intercept is the score of the row of zeros."""
        coefficients = np.zeros_like(self._room(1 + self.columns))
        coefficients[:1] = self.predict(as_rows(np.zeros((1, self.columns))))
        return coefficients

    # Explanations

    def contributions(self, rows):
        """Explain the score of one row: (base, by column), which add up to it."""
        block = rows.block
        if len(self.units):
            _, columns = block.positions()
            units = np.append(np.asarray(self.units)[1:], np.ones(block.columns))
            with np.errstate(over="ignore"):  # thresholds are finite
                block = block._replace(values=block.values * units[columns])
        parts = self.parts_of_row(block)
        return self.predict(rows)[0] - parts.sum(axis=0), parts

    def parts_of_row(self, block):
        """The contribution of each column: at its splits, the value of the child less that of the node."""
        nodes = np.array(self.nodes)
        values = np.array(self.values).reshape(-1, self.classes)
        inner = np.array(self.inner).reshape(-1, self.classes)
        s = self.strength
        leaf_values = (values["G"] + s * values["P"]) / (values["H"] + s)
        x = np.zeros(FIRST_COLUMN + self.columns)
        _, columns = block.positions()
        own = columns < self.columns
        signs = 1.0 - 2.0 * np.array(self.turned)[columns[own]]
        x[FIRST_COLUMN + columns[own]] = block.values[own] * signs
        parts = np.zeros((len(x), self.classes))
        for k in range(self.trees):
            while nodes["child"][k] != k:
                column = nodes["column"][k]
                goes_left = x[column] <= nodes["threshold"][k]
                child = nodes["child"][k] + (not goes_left)
                is_leaf = nodes["child"][child] == child
                value = leaf_values[nodes["leaf"][child]] if is_leaf else inner[child]
                parts[column] += self.rate * (value - inner[k])
                k = child
        parts = parts[FIRST_COLUMN:]
        return parts if self.code == SOFTMAX else parts[:, 0]


def _need_within(ids, end, name):
    """Refuse whole numbers below 0, or not below the end."""
    need((ids >= 0).all() and (ids < end).all(), f"a {name} is out of bounds")
