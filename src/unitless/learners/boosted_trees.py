"""Online boosted trees: curves and interactions, in any unit, one pass, bounded memory.

T small trees are added up, each correcting those before it. A row walks down every tree; only the
leaf it reaches learns. With the score z of the trees so far and a prior of s rows::

    e, h = slope and curvature of the loss at z    (logistic: e = y01 - q, h = q (1 - q))
    z += rate (G + s P) / (H + s)                  with the leaf's sums before this row
    G += e;   H += h                               P is the value of the leaf's parent

A leaf tries candidates `x_j <= threshold`, each with sums over the rows to its left. A column is
drawn by a hash, a threshold lies between the first two different values that come. After 16 rows,
and then every 8, the best candidate splits the leaf if it gains enough.

Thresholds are values of their columns, so a change of units changes no comparison. A missing value
goes to the right. While the residuals of neighbouring rows resemble each other, one candidate per
leaf may use the last target or the running mean of targets, and leaves forget: G and H times 0.9.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless import units
from unitless.learners.base import Block, Float
from unitless.learners.declared import parameter
from unitless.learners.nonlinear import Nonlinear
from unitless.learners.split_candidates import (
    BEFORE,
    CANDIDATES,
    COLUMNS,
    HISTORY,
    LAST_TARGET,
    LEAVES,
    MEAN_TARGET,
    OPEN,
    PAST,
    POINTS,
    SEEN,
    SPLITS,
    TOTALS,
    TRIALS,
    V,
    sums_of,
)
from unitless.learners.tree_growth import (
    CHILD,
    COLUMN,
    LEAF,
    THRESHOLD,
    Leaves,
    Memory,
    Nodes,
    run,
)
from unitless.losses import SOFTMAX, SQUARED
from unitless.rows import Rows
from unitless.state import Field, checked_count, need

RECORD = "G, H, P; rows, draws, open candidates, columns, thresholds; totals; sums to their left"
RARE = "first values of candidates, totals before they were ready"


def _empty_nodes(n: int, trees: int, classes: int) -> Nodes:
    """Room for n nodes, all leaves: whatever the row, a leaf is its own child."""
    node = np.zeros((n, 4))
    node[:, THRESHOLD] = math.inf
    node[:, CHILD] = np.arange(n)
    return Nodes(node, np.zeros((n, classes)), np.ones(trees, np.int64))


def _empty_leaves(n: int, classes: int, sums: int) -> Leaves:
    """Room for n leaves, whose candidates have yet to draw their columns."""
    candidates = CANDIDATES * (sums - 1)
    leaves = Leaves(
        record=np.zeros((n, 3 * classes + TOTALS + sums + candidates)),
        rare=np.zeros((n, CANDIDATES * (1 + sums))),
    )
    own = leaves.record[:, 3 * classes :]
    own[:, OPEN] = CANDIDATES
    own[:, POINTS:TOTALS] = math.nan
    leaves.rare[:, :BEFORE] = math.nan
    return leaves


class BoostedTrees(Nonlinear):
    """Online boosted trees, for curves, steps and interactions.

    >>> from unitless.rows import as_rows
    >>> X = np.random.default_rng(0).uniform(-1, 1, (2000, 2))
    >>> rows = as_rows(X, np.sign(X[:, 0] * X[:, 1]))  # no linear learner can do this
    >>> scores = BoostedTrees().learn(rows)
    >>> print(f"{(scores * rows.targets > 0)[1000:].mean():.2f}")
    0.98
    """

    trees: int = parameter(
        32, "more trees predict better and cost more, both in proportion", "whole number >= 1"
    )
    rate: float = parameter(
        0.2, "the share of a tree's value that is added to the score", "number > 0, at most 1"
    )
    leaves: int = parameter(
        512,
        "the most leaves of a tree; it then stops growing and its leaves go on learning",
        "whole number >= 2",
    )
    gain: float = parameter(
        3.0, "the nats that a split must gain; smaller values lose more on noise", "number > 0"
    )

    name = "boosted_trees"
    invariance = "unit"
    saved = (
        *Nonlinear.saved,
        Field("_nodes.node", "x_j", "column, threshold, child, leaf", ("nodes", 4), True),
        Field("_nodes.value", "z", "value of a node when it was split", ("nodes", "classes")),
        Field("_nodes.leaves", "1", "leaves by tree", ("trees",)),
        Field("_leaves.record", "z, x_j", RECORD, ("leaves", "record"), True),
        Field("_leaves.rare", "z, x_j", RARE, ("leaves", "rare"), True),
        Field("_memory.order", "1", "columns in order of appearance", ("columns",)),
        Field("_memory.place", "1", "place of a column in that order, or -1", ("columns",)),
        Field("_memory.sign", "sign", "-1: the column is turned around", ("columns",)),
        Field("_memory.history", "1", "columns of the last splits", (HISTORY,)),
        Field("_memory.residual", "z", "e of the last row", ("classes",)),
        Field("_memory.numbers", "1", "counts, targets and sums", (1 + V,)),
    )

    def _prepare(self) -> None:
        self._strength = 5.0 if self.loss.code == SQUARED else 1.25
        self._nodes = _empty_nodes(self.trees, self.trees, self.classes)
        self._nodes.node[:, LEAF] = np.arange(self.trees)
        self._leaves = _empty_leaves(self.trees, self.classes, self._sums)
        self._memory = Memory(
            order=np.empty(0, np.int64),
            place=np.empty(0, np.int64),
            sign=np.empty(0),
            history=np.zeros(HISTORY, np.int64),
            residual=np.zeros(self.classes),
            numbers=np.zeros(1 + V),
        )
        self._memory.numbers[LEAVES] = self.trees

    @property
    def _sums(self) -> int:
        return int(sums_of(self.loss.code))

    @property
    def state(self) -> tuple[Nodes, Leaves, Memory]:
        """The state; the arrays are not copies."""
        return self._nodes, self._leaves, self._memory

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {
            "nodes": len(self._nodes.node),
            "leaves": len(self._leaves.record),
            "trees": self.trees,
            "record": 3 * self.classes + TOTALS + self._sums + (self._sums - 1) * CANDIDATES,
            "rare": (1 + self._sums) * CANDIDATES,
            "columns": self._columns,
        }

    def _loaded(self) -> None:
        """Refuse a state with which a kernel would leave its arrays or never end."""
        node = self._nodes.node
        leaves = self._leaves
        memory = self._memory
        own = leaves.record[:, 3 * self.classes :]
        leaves_used = checked_count(memory.numbers[LEAVES], len(leaves.record), "leaves")
        seen = checked_count(memory.numbers[SEEN], self._columns, "columns seen")
        checked_count(memory.numbers[SPLITS], math.inf, "splits")
        need(len(node) >= 2 * len(leaves.record) - self.trees, "there are too few nodes")
        need(self.trees <= leaves_used, "a tree has no root")
        places = np.arange(len(node))
        children = node[:, CHILD]
        inner = children != places
        need((children >= places).all(), "a child comes before its parent, so a walk may never end")
        need((children[inner] < 2 * leaves_used - self.trees - 1).all(), "a child is missing")
        need((node[~inner, :CHILD] == (0.0, math.inf)).all(), "a leaf has a split")
        for name, ids, end in (
            ("child", children, len(node)),
            ("leaf", node[:, LEAF], leaves_used),
            ("column of a node", node[:, COLUMN], PAST + self._columns),
            ("column of a candidate", own[:, COLUMNS:POINTS], PAST + self._columns),
            ("column of a split", memory.history, PAST + self._columns),
            ("column", memory.order[:seen], self._columns),
        ):
            good = (ids >= 0) & (ids < end) & (ids == np.floor(ids))
            need(good.all(), f"a {name} is out of bounds")
        ranks = np.sort(memory.place)[self._columns - seen :]
        need((ranks == np.arange(seen)).all(), "a column has no place")
        need((np.abs(memory.sign) == 1).all(), "a sign is neither 1 nor -1")
        curvatures = leaves.record[:, self.classes : 2 * self.classes]
        need((curvatures >= 0).all(), "a curvature is negative")
        sums = np.delete(own, range(POINTS, TOTALS), axis=1)
        need(np.isfinite(sums).all(), "a sum is not finite")

    @property
    def trials(self) -> int:
        """Rows learned."""
        return int(self._memory.numbers[TRIALS])

    def _reserve(self, columns: int) -> None:
        new = columns - self._columns
        memory = self._memory
        if new <= 0:
            return
        self._memory = memory._replace(
            order=np.append(memory.order, np.zeros(new, np.int64)),
            place=np.append(memory.place, np.full(new, -1)),
            sign=np.append(memory.sign, np.ones(new)),
        )
        self._columns = columns

    def make_room(self) -> None:
        """A quarter more leaves; memory stays close to that of the leaves in use."""
        more = len(self._leaves.record) * 5 // 4 + self.trees
        leaves = min(more, self.trees * self.leaves)
        old: Any = (*self._nodes, *self._leaves)
        self._nodes = _empty_nodes(2 * leaves, self.trees, self.classes)
        self._leaves = _empty_leaves(leaves, self.classes, self._sums)
        new: Any = (*self._nodes, *self._leaves)
        for array, larger in zip(old, new, strict=True):
            larger[: len(array)] = array

    def _run(self, block: Block, targets: Float, weights: Float, scores: Float) -> int:
        state = tuple(self._nodes), tuple(self._leaves), tuple(self._memory)
        return run(tuple(block), targets, weights, scores.reshape(-1), *state, self.settings)

    @property
    def settings(self) -> tuple[float, ...]:
        """What the kernel needs beside the state."""
        own = self.trees, self.leaves, self.rate, self._strength, self.gain
        return self.loss.code, self.classes, *own

    def add_class(self) -> None:
        """Add one class, whose score starts at 0."""
        super().add_class()
        value = np.pad(self._nodes.value, ((0, 0), (0, 1)))
        self._nodes = self._nodes._replace(value=value)
        ends = [self.classes - 1, 2 * self.classes - 2, 3 * self.classes - 3]  # of G, H and P
        record = np.insert(self._leaves.record, ends, 0.0, axis=1)
        self._leaves = self._leaves._replace(record=record)
        self._memory = self._memory._replace(residual=np.append(self._memory.residual, 0.0))

    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        # Rows keep their side also after a negative factor: the column is turned back at the door.
        self._memory.sign[columns] *= np.sign(factors)
        size = np.ones(PAST + self._columns)
        size[PAST + columns] = np.abs(factors)
        node = self._nodes.node
        node[:, THRESHOLD] *= size[node[:, COLUMN].astype(np.int64)]
        own = self._leaves.record[:, 3 * self.classes :]
        sizes = size[own[:, COLUMNS:POINTS].astype(np.int64)]
        own[:, POINTS:TOTALS] *= sizes
        self._leaves.rare[:, :BEFORE] *= sizes

    def contributions(self, rows: Rows) -> tuple[Float, Float]:
        """Explain the score of one row: (base, by column), which add up to it."""
        learner, block = units.row_in_units(self, rows.block)
        parts = learner.parts_of_row(block)
        return self.predict(rows)[0] - parts.sum(axis=0), parts

    def parts_of_row(self, block: Block) -> Float:
        """What each column adds to the score of the only row: at its splits, child less node."""
        nodes, inner_value, _ = self._nodes
        memory = self._memory
        x = np.zeros(PAST + self._columns)
        x[:PAST] = memory.numbers[[LAST_TARGET, MEAN_TARGET]]
        _, columns = block.positions()
        known = columns < self._columns
        x[PAST + columns[known]] = block.values[known] * memory.sign[columns[known]]
        parts = np.zeros((len(x), self.classes))
        G, H, P = (
            self._leaves.record[:, : 3 * self.classes].reshape(-1, 3, self.classes).swapaxes(0, 1)
        )
        leaf_values = (G + self._strength * P) / (H + self._strength)
        for k in range(self.trees):
            while nodes[k, CHILD] != k:
                column = int(nodes[k, COLUMN])
                goes_left = x[column] <= nodes[k, THRESHOLD]
                child = int(nodes[k, CHILD]) + (not goes_left)
                is_leaf = nodes[child, CHILD] == child
                value = leaf_values[int(nodes[child, LEAF])] if is_leaf else inner_value[child]
                parts[column] += self.rate * (value - inner_value[k])
                k = child
        return parts[PAST:] if self.loss.code == SOFTMAX else parts[PAST:, 0]

    def _seen(self) -> NDArray[np.bool_]:
        return np.append(True, self._memory.place >= 0)
