"""Grow one regression tree from rows in memory, best split first, with histograms of binned columns.

Each row has slopes e (one or, with several classes, up to seven) and a weight w: its sample weight
or, with the logistic loss, its curvature. A leaf whose rows sum up to E and W is worth
|E|^2 / (W + prior), and a split gains what its sides are worth more than the leaf. The leaf whose
best split gains most is split next (Ke et al. 2017, LightGBM). The histogram of the larger side is
that of the leaf less that of the smaller side.

Of splits that gain the same but for rounding, the first one is taken: columns in order, and of a
column the lowest threshold. So the order in which numbers are added up, such as that of the
classes, does not choose between splits that part the rows alike.
"""

import numpy as np

cimport cython
from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memset

from unitless.core.arithmetic cimport Room, Values, prefetch
from unitless.core.array cimport Array, numbers, records

cdef enum:
    ROWS_AHEAD = 16         # how early a row is fetched, in rows

cdef double MORE = 1.0 + 2.0**-40   # times: by less, two sums differ by rounding


LEAF = np.dtype(f"V{sizeof(Leaf)}")
BRANCH = np.dtype(f"V{sizeof(Branch)}")


cdef inline void add_rows(
    Room histogram, const uint8_t* bins, Py_ssize_t width, const int* chosen, const int* starts,
    Py_ssize_t columns, Values lane, int lanes, const int* index, Py_ssize_t rows,
) noexcept nogil:
    """Add rows to the histograms of the chosen columns."""
    cdef const uint8_t* bin
    cdef const double* own
    cdef double* cell
    cdef Py_ssize_t i, k
    cdef int a
    for i in range(rows):
        bin = bins + index[i] * width
        own = lane + <Py_ssize_t>index[i] * lanes
        if i + ROWS_AHEAD < rows:
            prefetch(bins + index[i + ROWS_AHEAD] * width)
            prefetch(lane + <Py_ssize_t>index[i + ROWS_AHEAD] * lanes)
        for k in range(columns):
            cell = histogram + (starts[k] + bin[chosen[k]]) * lanes
            for a in range(lanes):
                cell[a] += own[a]


cdef inline int best_bin(
    Values histogram, int bins, int lanes, int slopes, const double* sums, Rules rules, double* gain,
) noexcept nogil:
    """The bin after which a column is split best, and what both sides are then worth."""
    cdef double[8] left
    cdef double left_squares, right_squares, right, left_weight, right_weight, worth
    cdef double least = 0.0
    cdef int found = 0
    cdef int a, b
    gain[0] = 0.0
    memset(left, 0, MOST_LANES * sizeof(double))
    for b in range(bins):
        if histogram[b * lanes + slopes] == 0:  # the same split again
            continue
        for a in range(lanes):
            left[a] += histogram[b * lanes + a]
        if left[slopes] < rules.fewest:
            continue
        if sums[slopes] - left[slopes] < rules.fewest:
            break
        left_squares = 0.0
        right_squares = 0.0
        for a in range(slopes):
            right = sums[a] - left[a]
            left_squares += left[a] * left[a]
            right_squares += right * right
        left_weight = left[slopes] + rules.prior
        right_weight = sums[slopes] - left[slopes] + rules.prior
        worth = (left_squares * right_weight + right_squares * left_weight) / (
            left_weight * right_weight
        )
        if worth > least:
            gain[0] = worth
            least = worth * MORE
            found = b
    return found


@cython.final
cdef class TreeGrower:
    """Room to grow one tree after another."""

    def __init__(self, slopes=1):
        self.slopes = slopes
        self.lanes = 2 if slopes < 2 else 4 if slopes < 4 else MOST_LANES
        self.bins = records("B", 0)
        self.lane = numbers(0)
        self.index = records("i", 0)
        self.moved = records("i", 0)
        self.pool = numbers(0)
        self.leaves = records(LEAF, 0)
        self.branches = records(BRANCH, 0)
        self.chosen = records("i", 0)
        self.ends = records("i", 0)
        self.starts = records("i", 0)

    cdef int grow(self, Py_ssize_t rows, Rules rules) except -1 nogil:
        """Grow a tree from the first rows: fill in its branches, its leaves, and their rows."""
        cdef Py_ssize_t size = self.lay_out() * self.lanes
        cdef Leaf* leaves
        cdef Leaf* left
        cdef Leaf* right
        cdef Py_ssize_t r, k, best
        self.index.resize(rows)
        self.moved.resize(rows)
        self.pool.resize(rules.leaves * size)
        self.leaves.resize(rules.leaves)
        self.branches.resize(2 * rules.leaves - 1)
        leaves = <Leaf*>self.leaves.at
        for r in range(rows):
            (<int*>self.index.at)[r] = <int>r
        leaves[0].begin = 0
        leaves[0].end = rows
        leaves[0].slot = 0
        self.leaf_count = 1
        self.branch_count = 1
        self.start_leaf(&leaves[0], 0)
        self.fill(&leaves[0])
        self.find_split(&leaves[0], rules)
        while self.leaf_count < rules.leaves:
            best = 0
            for k in range(1, self.leaf_count):
                if leaves[k].gain > leaves[best].gain * MORE:
                    best = k
            left = &leaves[best]
            if not left.gain > 0:
                break
            right = &leaves[self.leaf_count]
            self.split(left, right)
            self.find_split(left, rules)
            self.find_split(right, rules)
        return 0

    cdef void split(self, Leaf* left, Leaf* right) noexcept nogil:
        """Split a leaf: its place becomes that of the left side, a new leaf is the right side."""
        cdef Branch* branch = <Branch*>self.branches.at + left.node
        cdef int child = <int>self.branch_count
        cdef int new_slot = <int>self.leaf_count
        branch.column = left.column
        branch.bin = left.bin
        branch.child = child
        branch.gain = left.gain
        right[0] = left[0]
        left.end = right.begin = self.part(left)
        self.leaf_count += 1
        self.branch_count += 2
        self.start_leaf(left, child)
        self.start_leaf(right, child + 1)
        # The larger side keeps the histogram of both, until the smaller side is subtracted.
        if right.end - right.begin > left.end - left.begin:
            left.slot = new_slot
            self.fill(left)
            self.subtract(right.slot, left.slot)
        else:
            right.slot = new_slot
            self.fill(right)
            self.subtract(left.slot, right.slot)

    cdef Py_ssize_t lay_out(self) except -1 nogil:
        """Lay histograms side by side; an odd number of cells each suits the cache."""
        cdef const int* chosen = <const int*>self.chosen.at
        cdef int cells = 0
        cdef Py_ssize_t k
        self.starts.resize(self.chosen.size)
        for k in range(self.chosen.size):
            (<int*>self.starts.at)[k] = cells
            cells += ((<const int*>self.ends.at)[chosen[k]] + 1) | 1
        self.cells = cells
        return cells

    cdef void start_leaf(self, Leaf* leaf, int node) noexcept nogil:
        cdef Branch* branch = <Branch*>self.branches.at + node
        leaf.node = node
        branch.column = 0
        branch.bin = 0
        branch.child = node
        branch.gain = 0.0
        branch.leaf = <int>(leaf - <Leaf*>self.leaves.at)

    cdef void fill(self, const Leaf* leaf) noexcept nogil:
        """The histograms of a leaf, from its rows."""
        cdef Py_ssize_t size = self.cells * self.lanes
        cdef double* histogram = self.pool.at + leaf.slot * size
        cdef const uint8_t* bins = <const uint8_t*>self.bins.at
        cdef const int* chosen = <const int*>self.chosen.at
        cdef const int* starts = <const int*>self.starts.at
        cdef const int* index = <const int*>self.index.at + leaf.begin
        cdef Py_ssize_t rows = leaf.end - leaf.begin
        memset(histogram, 0, size * sizeof(double))
        # The compiler unrolls the innermost loop, as the numbers of lanes are constants.
        if self.lanes == 2:
            add_rows(
                histogram, bins, self.width, chosen, starts, self.chosen.size, self.lane.at, 2,
                index, rows,
            )
        elif self.lanes == 4:
            add_rows(
                histogram, bins, self.width, chosen, starts, self.chosen.size, self.lane.at, 4,
                index, rows,
            )
        else:
            add_rows(
                histogram, bins, self.width, chosen, starts, self.chosen.size, self.lane.at,
                MOST_LANES, index, rows,
            )

    cdef void subtract(self, int slot, int other) noexcept nogil:
        """The histograms of the larger side: those of both less those of the smaller side."""
        cdef Py_ssize_t size = self.cells * self.lanes
        cdef double* histogram = self.pool.at + slot * size
        cdef const double* less = self.pool.at + other * size
        cdef Py_ssize_t k
        for k in range(size):
            histogram[k] -= less[k]

    cdef double worth(self, const double* sums, double prior) noexcept nogil:
        cdef double squares = 0.0
        cdef int a
        for a in range(self.slopes):
            squares += sums[a] * sums[a]
        return squares / (sums[self.slopes] + prior)

    cdef void find_split(self, Leaf* leaf, Rules rules) noexcept nogil:
        """The best split of a leaf, and the sums of all its rows."""
        cdef const double* histogram = self.pool.at + leaf.slot * self.cells * self.lanes
        cdef const int* chosen = <const int*>self.chosen.at
        cdef const int* ends = <const int*>self.ends.at
        cdef const int* starts = <const int*>self.starts.at
        cdef int lanes = self.lanes
        cdef const double* cell
        cdef double gain, whole, least
        cdef Py_ssize_t k
        cdef int a, b, bins
        memset(leaf.sums, 0, MOST_LANES * sizeof(double))
        for b in range(ends[chosen[0]] + 1):
            for a in range(lanes):
                leaf.sums[a] += histogram[b * lanes + a]
        leaf.gain = 0.0
        if leaf.sums[self.slopes] < 2 * rules.fewest:
            return
        whole = self.worth(leaf.sums, rules.prior)
        least = whole * MORE
        for k in range(self.chosen.size):
            cell = histogram + starts[k] * lanes
            bins = ends[chosen[k]]
            if lanes == 2:  # constants again
                b = best_bin(cell, bins, 2, 1, leaf.sums, rules, &gain)
            else:
                b = best_bin(cell, bins, lanes, self.slopes, leaf.sums, rules, &gain)
            if gain > least:
                leaf.gain = gain - whole
                least = gain * MORE
                leaf.column = chosen[k]
                leaf.bin = b

    cdef Py_ssize_t part(self, const Leaf* leaf) noexcept nogil:
        """Part the rows of a leaf into left and right, both in order; returns the first on the right."""
        cdef int* index = <int*>self.index.at
        cdef int* moved = <int*>self.moved.at
        cdef const uint8_t* bins = <const uint8_t*>self.bins.at + leaf.column
        cdef uint8_t most = <uint8_t>leaf.bin
        cdef Py_ssize_t left = leaf.begin
        cdef Py_ssize_t right = 0
        cdef Py_ssize_t i
        cdef int row
        cdef bint goes_left
        for i in range(leaf.begin, leaf.end):
            row = index[i]
            goes_left = bins[row * self.width] <= most
            index[left] = row
            moved[right] = row
            left += goes_left
            right += not goes_left
        memcpy(index + left, moved, right * sizeof(int))
        return left
