"""Trees whose values add up to a score.

The nodes of a tree follow each other, and so do the trees. A missing value goes to the right.
"""

import numpy as np

cimport cython
from libc.math cimport INFINITY

from unitless.core.array cimport Array, numbers, records

from unitless.state import Field, need

cdef enum:
    TOGETHER = 8            # trees that are walked at once, so that they hide their latencies


NODE = np.dtype([("threshold", "f"), ("column", "i"), ("child", "i")], align=True)
assert NODE.itemsize == sizeof(Node)


@cython.final
cdef class Forest(Stateful):
    """Trees that do not change once they are grown; others can be added."""

    saved = (
        Field("base", "z", "score without trees", ("classes",)),
        Field("roots", "1", "first node of each tree", ("trees",)),
        Field("nodes", "x_j", "threshold, column and left child", ("nodes",)),
        Field("values", "z", "what a leaf adds; at inner nodes, the mean", ("nodes classes",)),
    )

    def __init__(self, Py_ssize_t classes=1):
        self.classes = classes
        self.base = numbers(classes)
        self.roots = records("i", 0)
        self.nodes = records(NODE, 0)
        self.values = numbers(0)

    def _arguments(self):
        return {"classes": self.classes}

    def _sizes(self):
        return {"classes": self.classes, "trees": len(self.roots), "nodes": len(self.nodes)}

    def _loaded(self):
        """Refuse trees in which a walk would leave the arrays or never end."""
        nodes = np.array(self.nodes)
        roots = np.array(self.roots)
        need(len(roots) > 0 or len(nodes) == 0, "nodes are in no tree")
        if not len(roots):
            return
        ends = np.append(roots[1:], len(nodes))
        need(roots[0] == 0 and (roots < ends).all(), "trees are out of order")
        places = np.arange(len(nodes))
        child = nodes["child"]
        is_leaf = child == places
        end_of_tree = np.repeat(ends, ends - roots)
        need((child >= places).all(), "a child comes before its parent, so a walk may never end")
        need((child[~is_leaf] < end_of_tree[~is_leaf] - 1).all(), "a child is missing")
        whole = (nodes["threshold"] == np.inf) & (nodes["column"] == 0)
        need(whole[is_leaf].all(), "a leaf has a split")
        need((nodes["column"] >= 0).all(), "a column is below 0")

    def most_column(self):
        """The last column that a split looks at."""
        return np.array(self.nodes)["column"].max(initial=0)

    def add_class(self):
        """Add one class, whose score is 0."""
        for name in ("base", "values"):
            array = self.read(name).reshape(-1, self.classes)
            self.write(name, np.pad(array, ((0, 0), (0, 1))).reshape(-1))
        self.classes += 1

    cdef void add_up(self, const float* x, double* scores) noexcept nogil:
        """The score of a row, added up tree by tree."""
        cdef const Node* nodes = <const Node*>self.nodes.at
        cdef const int* roots = <const int*>self.roots.at
        cdef const double* value
        cdef Py_ssize_t trees = self.roots.size
        cdef Py_ssize_t classes = self.classes
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t c
        cdef int count, k, at
        cdef int[TOGETHER] found
        cdef bint walks
        for c in range(classes):
            scores[c] = self.base.at[c]
        while first < trees:
            count = <int>min(trees - first, <Py_ssize_t>TOGETHER)
            for k in range(count):
                found[k] = roots[first + k]
            walks = True
            while walks:
                walks = False
                for k in range(count):
                    at = found[k]
                    found[k] = nodes[at].child + (not x[nodes[at].column] <= nodes[at].threshold)
                    walks |= found[k] != at
            for k in range(count):
                value = self.values.at + found[k] * classes
                for c in range(classes):
                    scores[c] += value[c]
            first += TOGETHER

    cdef Py_ssize_t add_tree(self, Py_ssize_t nodes) except -1 nogil:
        """Make room for one more tree; returns its first node."""
        cdef Py_ssize_t first = self.nodes.size
        self.values.resize((first + nodes) * self.classes)
        self.nodes.resize(first + nodes)
        self.roots.resize(self.roots.size + 1)
        (<int*>self.roots.at)[self.roots.size - 1] = <int>first
        return first

    cdef void plant(self, Py_ssize_t node) noexcept nogil:
        """Make a node a leaf: whatever the row, it is its own child."""
        cdef Node* own = <Node*>self.nodes.at + node
        own.threshold = <float>INFINITY
        own.column = 0
        own.child = <int>node

    def parts_of_row(self, x):
        """What each column of a row adds to the score: at its splits, child less node."""
        nodes = np.array(self.nodes)
        values = np.array(self.values).reshape(-1, self.classes)
        parts = np.zeros((len(x), self.classes))
        for k in np.array(self.roots):
            while nodes["child"][k] != k:
                column = nodes["column"][k]
                child = nodes["child"][k] + (not x[column] <= nodes["threshold"][k])
                parts[column] += values[child] - values[k]
                k = child
        return parts[FIRST_COLUMN:]
