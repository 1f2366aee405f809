"""Boosted trees that are grown anew from stored rows whenever the stream has doubled, in any unit.

Rows are stored as 32-bit numbers. When the stream has doubled since the last time, the *next*
forest is begun: it is grown tree by tree at equal distances until the stream is 30 % longer, and
then takes the place of the forest in use. So a row costs about the same on average however long
the stream is, and no row waits for more than one tree. The capacity follows the stream; with n
rows stored::

    trees              1.6 n^(1/3), at least 8
    leaves of a tree   at most 0.4 n^(1/2) or 4, each with at least n^(1/3) rows
    bins of a column   at most n^(1/2) or 8, and 255

Each tree is fitted to the slopes of the loss at the score z of the trees before it (Friedman 2001;
`tree_grower.pyx`)::

    e, h = slope and curvature of the loss at z    (logistic: e = y01 - q, h = q (1 - q))
    value of a leaf = rate sum v e / (sum v h + s)    v: sample weights divided by their mean
    rate = 12 / trees (squared loss: 7 / trees)       s: the mean of h, that of one row
           at most 0.3

Unless the loss is the squared loss, a value is at most 4 times the rate. The first tree is fitted
to the slopes at the mean target, or at the logits of the frequencies of the classes.

With the logistic loss, the rows of a leaf are counted by their curvature: rows that are certain
count little.

A tree uses at most max(32, 2^17 / n) columns. If more are known, half of the chances go to all
columns alike, the other half follow what splits by the column have gained so far, so that useless
columns cost little.

When the memory allowed is full, about half of the rows leave. A row stays with the chance::

    share (1/2 + 1/2 error / mean error)       at most 1; share: 1, and half of it each time;
                                               error: at most 2^20 times the mean error

and counts 1 / chance times. So rare classes and rows near a boundary stay, and many rows that are
easy to predict make room for them.

Each column is stored in a unit of its own, the power of two of its first value, and cuts lie
between its values, so a change of units changes no comparison. Values beyond 2^126 in that unit
count as 2^126. A missing value goes to the right. Columns are numbered in the order in which they
were first nonzero. Before the first forest is in use, the score is 0 (with the squared loss, the
number nearest to 0 between the lowest and the highest target so far).
"""

import numpy as np

cimport cython
from libc.math cimport fabs
from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memmove, memset

from unitless.core.arithmetic cimport clipped, hashed
from unitless.core.array cimport Array, numbers, records
from unitless.core.learner cimport LEARNED, Learner, unit_of
from unitless.core.losses cimport SOFTMAX, SQUARED, sigmoid, softmax_slopes
from unitless.core.row cimport Row
from unitless.learners.forest cimport FIRST_COLUMN, Forest, Node
from unitless.learners.tree_grower cimport (
    BINS,
    MOST_SLOPES,
    Branch,
    Leaf,
    Rules,
    TreeGrower,
)

from unitless.core.learner import COLUMNS
from unitless.core.parameters import Parameter
from unitless.rows import as_rows
from unitless.state import Component, Field, count, need

cdef enum:
    CHOSEN = 32             # columns of a tree, and more while rows are few
    CHOSEN_TIMES_ROWS = 1 << 17
    SAMPLE = 1 << 15        # rows from which columns are cut
    FEWEST_BINS = 8
    FEWEST_TREES = 8
    FEWEST_LEAVES = 4
    TOGETHER = 64           # rows that are binned column by column, within the cache

cdef double GROWTH = 2.0            # of the stream until another forest is begun
cdef double WHILE_GROWN = 0.3       # growth of the stream while a forest is grown
cdef double TREES_PER_CUBE_ROOT = 1.6
cdef double LEAVES_PER_SQUARE_ROOT = 0.4
cdef double TOTAL_RATE = 12.0       # of a forest: about the largest logit of separable rows
cdef double TOTAL_RATE_SQUARED = 7.0
cdef double MAX_RATE_OF_TREE = 0.3
cdef double MAX_STEP = 4.0          # by which a tree may change a logit, before the rate
cdef double LEAST_CURVATURE = 1e-12 # of a logit: below it, 1 - q is only rounding
cdef double BY_ERROR = 0.5          # the part of a row's chance to stay that follows its error
cdef double MAX_RELATIVE = 2.0**20  # error, so that some rows leave if all were wrong by far
cdef double MAX_PER_ROW = 2.0**62   # rows that a stored row counts for, as an integer
cdef double FORGETTING = 2.0**-12   # of the mean error, per row
cdef double SHARE_OF_ROWS = 0.5     # of the memory; the rest is for histograms and spare room
cdef double SHARE_OF_HISTOGRAMS = 0.15
cdef double MAX_STORED = 2.0**126   # of a 32-bit number
cdef float BEYOND_ALL = 2.0**127    # a threshold that only missing values exceed
cdef double MAX_WEIGHT = 2.0**200   # of a row, so that sums stay within float64
cdef double MAX_TARGET = 2.0**240   # limit of targets, as in unitless.core.learner
cdef double LEAST_OWN_UNIT = 2.0**-1000     # of a column, so that it is a normal number
cdef double MOST_OWN_UNIT = 2.0**1000


cdef struct Label:
    double y
    double weight
    double chance           # with which the row is kept


LABEL = np.dtype([("y", "d"), ("weight", "d"), ("chance", "d")])


cdef inline float as_stored(double x) noexcept nogil:
    return <float>(clipped(x, MAX_STORED) if x == x else x)


cdef inline double drawn(long long row, double share) noexcept nogil:
    """A number in [0, 1) for each row and share of rows that are kept."""
    return (hashed(row, <long long>min(1.0 / share, MAX_PER_ROW), 77) >> 11) * 2.0**-53


cdef inline int bin_of(float x, const float* cuts, int count) noexcept nogil:
    """The first bin whose last value is at least x; missing values have one after all others."""
    cdef int low = 0
    cdef int half
    if x != x:
        return count + 1
    if count == 0:
        return 0
    while count > 1:  # without a branch, which would be guessed wrong half of the time
        half = count // 2
        low += half if cuts[low + half - 1] < x else 0
        count -= half
    return low + (cuts[low] < x)


def cuts_of(values, most_bins):
    """The last value of each bin except the last bin, between values that differ."""
    distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if len(distinct) < 2:
        return np.empty(0, np.float32)
    low, high = distinct[:-1], distinct[1:]
    cuts = ((low.astype(float) + high) / 2).astype(np.float32)
    cuts = np.where(cuts < high, cuts, low)
    if len(cuts) < most_bins:
        return cuts
    # A value that is more frequent than a bin fills one; the others share the rest.
    sizes = np.minimum(counts, counts.sum() / most_bins)
    middles = np.cumsum(sizes) - sizes / 2
    bins = np.floor(middles * most_bins / sizes.sum())
    return cuts[bins[1:] > bins[:-1]]


@cython.final
cdef class HistogramTrees(Learner):
    """Boosted trees from stored rows, whose number and size grow with the stream.

    >>> from unitless.rows import as_rows
    >>> X = np.random.default_rng(0).uniform(-1, 1, (4000, 2))
    >>> rows = as_rows(X, np.sign(X[:, 0] * X[:, 1]))  # no linear learner can do this
    >>> scores = HistogramTrees().learn(rows)
    >>> print(f"{(scores * rows.targets > 0)[2000:].mean():.2f}")
    0.98
    """

    name = "histogram_trees"
    invariance = "unit"
    has_classes = True
    linear = False
    symmetric = False
    needs_lipschitz = False
    takes_losses = ("logistic", "softmax", "squared")
    parameters = (
        Parameter(
            "first",
            512,
            "the rows after which the first forest is begun; until 30 % more, the score is 0",
            "whole number >= 2",
        ),
        Parameter(
            "max_memory",
            256.0,
            "the megabytes that stored rows and what is made of them may take; then rows that are "
            "easy to predict leave at random",
            "number > 0",
        ),
    )
    saved = (
        *Learner.saved,
        COLUMNS,
        Component("forest"),
        Component("next"),
        Field("number", "1", "of each column, in order of appearance; 0: none", ("columns",), 0),
        Field("own_unit", "1/x_j", "by which values of a column are multiplied", ("columns",)),
        count("width", "numbers of a stored row", 2.0**31 - 1),
        Field("rows", "x_j", "stored rows, padded", may_be_nan=True),
        Field("labels", "y", "their targets, sample weights and chances to be kept", ("stored",)),
        Field("share", "1", "of rows with the mean error that are kept", low=0, high=1),
        Field("mean_error", "z", "mean error of recent rows", low=0),
        count("begun", "rows learned when the next forest was begun"),
        count("planned", "trees of the next forest; 0: none is being grown", 2.0**31 - 1),
        count("most_leaves", "leaves of each of its trees", 2.0**31 - 1),
        Field("cuts", "x_j", "the last value of each bin, column by column", ("cuts",)),
        Field("ends", "1", "bins of each column", low=1, high=BINS - 1),
        Field("paid", "nat", "what splits by each column gained", ("known",), low=0),
        Field("lowest", "y", "lowest target"),
        Field("highest", "y", "highest target"),
    )

    cdef public Py_ssize_t first
    cdef public double max_memory
    cdef readonly Forest forest         # in use
    cdef readonly Forest next           # being grown
    cdef readonly Array number          # by column
    cdef readonly Array own_unit        # by column; its sign is that of the column
    cdef readonly Array rows            # by row, and by number of the column
    cdef readonly Array labels          # by row
    cdef public double share
    cdef public double mean_error
    cdef public double begun
    cdef public double planned
    cdef public double most_leaves
    cdef public double width
    cdef readonly Array cuts
    cdef readonly Array ends            # by column that was known when the next forest was begun
    cdef readonly Array paid            # by known column
    cdef public double lowest
    cdef public double highest
    cdef Py_ssize_t known               # columns with a number
    cdef Py_ssize_t stored              # rows
    cdef Py_ssize_t prepared            # stored rows that are binned and have a score
    cdef Py_ssize_t per_row             # numbers of a stored row, as in `width`
    cdef TreeGrower grower
    cdef Array own_score                # by class: of the row at hand, or of a stored row
    cdef Array z                        # by stored row and class: score of the next forest so far
    cdef Array e                        # by class: slopes of a row
    cdef Array totals                   # by class: sums of a leaf, of slopes and then of curvatures
    cdef Array signs                    # by class and slope, with more classes than slopes
    cdef Array first_cut                # by column
    cdef Array row                      # the row at hand
    cdef double prior                   # s

    def _prepare(self):
        self.number = records("i", 0)
        self.own_unit = numbers(0)
        self.rows = records("f", 0)
        self.labels = records(LABEL, 0)
        self.share = 1.0
        self.cuts = records("f", 0)
        self.ends = records("B", 0)
        self.paid = numbers(0)
        self.row = records("f", FIRST_COLUMN)
        self.first_cut = records("i", 1)
        self.per_row = FIRST_COLUMN
        self.width = FIRST_COLUMN
        self._make_room_for_classes()
        self.forest = Forest(self.classes)
        self.next = Forest(self.classes)

    def _make_room_for_classes(self):
        slopes = min(self.classes, MOST_SLOPES)
        self.grower = TreeGrower(slopes)
        self.prepared = 0
        self.z = numbers(0)
        self.e = numbers(self.classes)
        self.own_score = numbers(self.classes)
        self.totals = numbers(2 * self.classes)
        self.signs = numbers(self.classes * MOST_SLOPES if self.classes > MOST_SLOPES else 0)
        for k in range(len(self.signs)):
            self.signs.at[k] = 1.0 if hashed(k, 0, 4242) & 1 else -1.0

    def add_class(self):
        """Add one class, whose score starts at 0."""
        super().add_class()
        self.forest.add_class()
        self.next.add_class()
        self._make_room_for_classes()

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        cdef Py_ssize_t j
        if columns > self.columns:
            self.number.resize(columns)
            self.own_unit.resize(columns)
            for j in range(self.columns, columns):
                self.own_unit.at[j] = 1.0
            self.columns = columns
        return 0

    # Scores

    cdef void load_row(self, const Row* row) noexcept nogil:
        """The row by number of the column, in the units of the columns."""
        cdef float* x = <float*>self.row.at
        cdef const int* number = <const int*>self.number.at
        cdef Py_ssize_t k, j
        memset(x, 0, self.row.size * sizeof(float))
        for k in range(row.n):
            j = row.ids[k] if row.ids != NULL else k
            if j < self.columns and number[j] > 0:
                x[number[j]] = as_stored(row.values[k] * self.own_unit.at[j])

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        cdef Py_ssize_t c
        self.load_row(row)
        self.forest.add_up(<const float*>self.row.at, scores)
        for c in range(self.classes):
            if self.code == SQUARED:
                scores[c] = min(max(scores[c], self.lowest), self.highest)
            scores[c] += 0.0  # no -0
        return 0

    # Learning

    cdef int begin(self, const Row* row, double* scores) except -1 nogil:
        self.score(row, scores)
        memcpy(self.own_score.at, scores, self.classes * sizeof(double))
        return 0

    cdef int update(self, const Row* row, double y) except -1 nogil:
        cdef double error
        y = clipped(y, MAX_TARGET)
        error = self.error_of(self.own_score.at, y)
        self.see_columns(row)  # rows may leave for a new column, and are then scored
        self.mean_error += (error - self.mean_error) * max(1.0 / (self.t + 1), FORGETTING)
        self.store(y, min(row.weight, MAX_WEIGHT), self.chance_of(error))
        self.lowest = min(self.lowest, y) if self.t > 0 else y
        self.highest = max(self.highest, y) if self.t > 0 else y
        self.t += 1
        if self.planned > 0:
            if self.t >= self.row_of_next_tree():
                self.grow_tree()
                if self.next.roots.size >= self.planned:
                    with gil:
                        self._use_next()
        elif self.t >= max(<double>self.first, GROWTH * self.begun) and self.stored > 0:
            with gil:
                self._begin()
        return LEARNED

    cdef double error_of(self, const double* scores, double y) noexcept nogil:
        """How wrong a score is: |y - z|, or what the other classes are predicted."""
        if self.code == SQUARED:
            return fabs(y - scores[0])
        if self.code == SOFTMAX:
            softmax_slopes(scores, <int>self.classes, <int>y, self.e.at)
            return -self.e.at[<int>y]
        return sigmoid(-y * scores[0])

    cdef double chance_of(self, double error) noexcept nogil:
        """With which a row is kept: the harder it is to predict, the more."""
        cdef double relative = error / self.mean_error if self.mean_error > 0 else 1.0
        if self.share == 1:
            return 1.0
        relative = min(relative, MAX_RELATIVE)
        return min(self.share * (1.0 - BY_ERROR + BY_ERROR * relative), 1.0)

    cdef double row_of_next_tree(self) noexcept nogil:
        """How many rows have to be learned before the next tree is grown."""
        return self.begun * (1.0 + WHILE_GROWN * (self.next.roots.size + 1) / self.planned)

    cdef int see_columns(self, const Row* row) except -1 nogil:
        """Columns that are nonzero for the first time get a number and a unit."""
        cdef int* number = <int*>self.number.at
        cdef double* own = self.own_unit.at
        cdef Py_ssize_t known = self.known
        cdef Py_ssize_t k, j
        cdef double x
        for k in range(row.n):
            j = row.ids[k] if row.ids != NULL else k
            x = row.values[k]
            known += number[j] == 0 and x == x and x != 0
        if known == self.known:
            return 0
        self.row.resize(FIRST_COLUMN + known)
        self.paid.resize(known)
        if FIRST_COLUMN + known > self.per_row:
            self.widen(known)
        for k in range(row.n):  # numbers come last, when there is room for all that they point to
            j = row.ids[k] if row.ids != NULL else k
            x = row.values[k]
            if number[j] == 0 and x == x and x != 0:
                self.known += 1
                number[j] = <int>self.known
                own[j] *= unit_of(x)
        self.load_row(row)
        return 0

    cdef int widen(self, Py_ssize_t known) except -1 nogil:
        """Make room for more columns in stored rows; they were 0 so far."""
        cdef Py_ssize_t old = self.per_row
        cdef Py_ssize_t width = max(FIRST_COLUMN + known, old + old // 4)
        cdef float* at
        cdef Py_ssize_t r
        self.make_room(width, known)
        self.rows.resize(self.stored * width)
        at = <float*>self.rows.at
        for r in range(self.stored - 1, -1, -1):  # rows move apart, the last one first
            memmove(at + r * width, at + r * old, old * sizeof(float))
            memset(at + r * width + old, 0, (width - old) * sizeof(float))
        self.per_row = width
        self.width = width
        return 0

    cdef int store(self, double y, double weight, double chance) except -1 nogil:
        cdef Label* label
        cdef float* own
        if drawn(<long long>self.t, self.share) >= chance:
            return 0
        self.make_room(self.per_row, self.known)
        self.rows.resize((self.stored + 1) * self.per_row)
        self.labels.resize(self.stored + 1)
        self.stored += 1
        own = <float*>self.rows.at + (self.stored - 1) * self.per_row
        memset(own, 0, self.per_row * sizeof(float))
        memcpy(own, self.row.at, self.row.size * sizeof(float))
        label = <Label*>self.labels.at + self.stored - 1
        label.y = y
        label.weight = weight
        label.chance = chance
        return 0

    cdef int make_room(self, Py_ssize_t width, Py_ssize_t known) except -1 nogil:
        """If one row more would not fit into the memory allowed, about half of the rows leave."""
        cdef double bytes = width * sizeof(float) + sizeof(Label) + known
        bytes += (self.classes + self.grower.lanes) * sizeof(double) + 2 * sizeof(int)
        while self.stored > 1 and (self.stored + 1) * bytes > SHARE_OF_ROWS * 1e6 * self.max_memory:
            self.keep_half()
        return 0

    cdef int keep_half(self) except -1 nogil:
        """Keep about half of the stored rows, rather those that are hard to predict."""
        cdef float* at = <float*>self.rows.at
        cdef Label* labels = <Label*>self.labels.at
        cdef Py_ssize_t width = self.per_row
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t row
        cdef double chance
        self.share /= 2
        for row in range(self.stored):
            self.forest.add_up(at + row * width, self.own_score.at)
            chance = self.chance_of(self.error_of(self.own_score.at, labels[row].y))
            chance = min(chance, labels[row].chance)
            if drawn(row, self.share) * labels[row].chance < chance:
                memmove(at + kept * width, at + row * width, width * sizeof(float))
                labels[kept] = labels[row]
                labels[kept].chance = chance
                kept += 1
        self.stored = kept
        self.prepared = 0
        self.rows.cut(kept * width)
        self.labels.cut(kept)
        return 0

    # Forests

    def _begin(self):
        """Begin the next forest."""
        self.next = Forest(self.classes)
        np.asarray(self.next.base)[:] = self._best_constant()
        self._cut_columns()
        np.asarray(self.paid)[:] /= 2
        self.prepared = 0
        self.begun = self.t
        self.most_leaves = _leaves_for(self.stored)
        self.planned = _trees_for(self.stored)  # from now on, trees are grown

    def _use_next(self):
        """Take the forest that was grown into use."""
        self.forest = self.next
        self.next = Forest(self.classes)
        self.planned = 0

    def _best_constant(self):
        """The score without trees."""
        labels = np.array(self.labels)
        y, v = labels["y"], labels["weight"] / labels["chance"]
        if self.code == SQUARED:
            return (v / v.sum() * y).sum()
        classes = y if self.code == SOFTMAX else y > 0
        known = self.classes if self.code == SOFTMAX else 2
        totals = np.bincount(classes.astype(int), v, known) + 0.5 * v.mean()
        logits = np.log(totals / totals.sum())
        return logits - logits.mean() if self.code == SOFTMAX else logits[1] - logits[0]

    def _cut_columns(self):
        """Cut columns into bins, each of about as many rows."""
        rows = np.asarray(self.rows).reshape(-1, self.per_row)
        sample = rows[:: len(rows) // SAMPLE + 1, FIRST_COLUMN : FIRST_COLUMN + self.known]
        most_bins = max(min(BINS - 1, int(self.stored**0.5)), FEWEST_BINS)
        cuts = [cuts_of(column, most_bins) for column in np.ascontiguousarray(sample.T)]
        del rows, sample
        self.ends.replace(np.array([len(each) + 1 for each in cuts], np.uint8))
        self.cuts.replace(np.concatenate([*cuts, np.empty(0, np.float32)]))
        self._find_first_cuts()

    def _find_first_cuts(self):
        lengths = np.array(self.ends).astype(int) - 1
        self.first_cut.replace(np.append(0, np.cumsum(lengths)).astype(np.int32))

    cdef int grow_tree(self) except -1 nogil:
        """Fit the next tree of the forest that is being grown to all stored rows."""
        cdef Rules rules
        cdef double noise
        self.prepare_rows()
        self.choose_columns()
        if self.grower.chosen.size == 0 or self.stored == 0:
            self.next.plant(self.next.add_tree(1))
            return 0
        noise = self.find_slopes()
        rules.leaves = self.leaves_that_fit()
        rules.fewest = self.stored ** (1.0 / 3.0)
        rules.prior = 1.0
        if self.code != SQUARED and self.code != SOFTMAX:  # rows are counted by their curvature
            rules.fewest *= self.prior
            rules.prior = self.prior
        self.grower.grow(self.stored, rules)
        self.append_tree(noise)
        return 0

    cdef Py_ssize_t leaves_that_fit(self) noexcept nogil:
        """As many leaves as planned, if there is room for their histograms."""
        cdef double cells = 0.0
        cdef Py_ssize_t k
        for k in range(self.grower.chosen.size):
            cells += (<int*>self.grower.ends.at)[(<int*>self.grower.chosen.at)[k]] + 2
        cells = SHARE_OF_HISTOGRAMS * 1e6 * self.max_memory / (
            cells * self.grower.lanes * sizeof(double)
        )
        return <Py_ssize_t>max(min(self.most_leaves, cells), 2.0)

    cdef int prepare_rows(self) except -1 nogil:
        """Bin the rows that were stored since the last tree, and score them by the trees so far."""
        cdef Py_ssize_t columns = self.ends.size
        cdef const float* x
        cdef const float* cuts = <const float*>self.cuts.at
        cdef const int* first = <const int*>self.first_cut.at
        cdef uint8_t* bins
        cdef Py_ssize_t r, j, end
        self.grower.width = columns
        self.grower.bins.resize(self.stored * columns)
        bins = <uint8_t*>self.grower.bins.at
        x = <const float*>self.rows.at
        self.z.resize(self.stored * self.classes)
        while self.prepared < self.stored:
            end = min(self.prepared + TOGETHER, self.stored)
            for j in range(columns):
                for r in range(self.prepared, end):
                    bins[r * columns + j] = bin_of(
                        x[r * self.per_row + FIRST_COLUMN + j], cuts + first[j], first[j + 1] - first[j]
                    )
            for r in range(self.prepared, end):
                self.next.add_up(x + r * self.per_row, self.z.at + r * self.classes)
            self.prepared = end
        return 0

    cdef int choose_columns(self) except -1 nogil:
        """The columns that the next tree may use."""
        cdef Py_ssize_t columns = self.ends.size
        cdef Py_ssize_t j, most
        self.grower.ends.resize(columns)
        for j in range(columns):
            (<int*>self.grower.ends.at)[j] = (<uint8_t*>self.ends.at)[j]
        most = max(<Py_ssize_t>CHOSEN, CHOSEN_TIMES_ROWS // max(self.stored, <Py_ssize_t>1))
        if columns > most:
            with gil:
                self._draw_columns(columns, most)
            return 0
        self.grower.chosen.resize(columns)
        for j in range(columns):
            (<int*>self.grower.chosen.at)[j] = <int>j
        return 0

    def _draw_columns(self, columns, most):
        """Weighted sampling without replacement (Efraimidis and Spirakis 2006)."""
        tree = len(self.next.roots)
        u = np.array([
            ((hashed(tree, j, <long long>self.begun) >> 11) + 0.5) * 2.0**-53 for j in range(columns)
        ])
        paid = np.array(self.paid)[:columns]
        chances = 1.0 / columns + (paid / paid.sum() if paid.any() else 0.0)
        order = np.argsort(-np.log(u) / chances, kind="stable")
        self.grower.chosen.replace(np.sort(order[:most]).astype(np.int32))

    cdef double find_slopes(self) except -1 nogil:
        """Slopes, curvatures and weights of all rows; returns what a split of noise gains."""
        cdef const Label* labels = <const Label*>self.labels.at
        cdef Py_ssize_t classes = self.classes
        cdef Py_ssize_t lanes = self.grower.lanes
        cdef double* e = self.e.at
        cdef double* lane
        cdef double squares = 0.0
        cdef double curvatures = 0.0
        cdef double total = 0.0
        cdef double mean, v
        cdef Py_ssize_t r, c, a
        for r in range(self.stored):
            total += labels[r].weight / labels[r].chance
        mean = total / self.stored
        self.grower.lane.resize(self.stored * lanes)
        for r in range(self.stored):
            v = labels[r].weight / labels[r].chance / mean
            lane = self.grower.lane.at + r * lanes
            if self.code == SQUARED:
                lane[0] = v * (labels[r].y - self.z.at[r])
                squares += lane[0] * lane[0]
            elif self.code != SOFTMAX:
                e[0] = labels[r].y * sigmoid(-labels[r].y * self.z.at[r])
                lane[0] = v * e[0]
                lane[1] = v * max(fabs(e[0]) * (1.0 - fabs(e[0])), LEAST_CURVATURE)
                curvatures += lane[1]
            else:
                self.find_class_slopes(r)
                for c in range(classes):
                    curvatures += v * fabs(e[c]) * (1.0 - fabs(e[c])) / classes
                if classes > MOST_SLOPES:
                    self.project(v, lane)
                else:
                    for c in range(classes):
                        lane[c] = v * e[c]
                for a in range(self.grower.slopes):
                    squares += lane[a] * lane[a] / self.grower.slopes
            if self.code == SQUARED or self.code == SOFTMAX:
                lane[self.grower.slopes] = v
        self.prior = 1.0 if self.code == SQUARED else curvatures / self.stored + LEAST_CURVATURE
        return squares / self.stored if self.code == SQUARED or self.code == SOFTMAX else 1.0

    cdef void find_class_slopes(self, Py_ssize_t r) noexcept nogil:
        """e = minus the derivative of the loss of a stored row, by class."""
        cdef double* e = self.e.at
        cdef int y = <int>(<const Label*>self.labels.at)[r].y
        cdef Py_ssize_t c
        softmax_slopes(self.z.at + r * self.classes, <int>self.classes, y, e)
        for c in range(self.classes):
            e[c] = -e[c]

    cdef void project(self, double v, double* lane) noexcept nogil:
        """Slopes of many classes become a few sums with random signs (Iosipoi and Vakhrushev 2022)."""
        cdef Py_ssize_t c, a
        for a in range(MOST_SLOPES):
            lane[a] = 0.0
        for c in range(self.classes):
            for a in range(MOST_SLOPES):
                lane[a] += v * self.e.at[c] * self.signs.at[c * MOST_SLOPES + a]

    cdef int append_tree(self, double noise) except -1 nogil:
        """Add the tree that was grown to the next forest, and its values to the scores."""
        cdef const Branch* branches = <const Branch*>self.grower.branches.at
        cdef const Leaf* leaves = <const Leaf*>self.grower.leaves.at
        cdef const int* index = <const int*>self.grower.index.at
        cdef Py_ssize_t classes = self.classes
        cdef Py_ssize_t first = self.next.add_tree(self.grower.branch_count)
        cdef Node* node
        cdef const Branch* branch
        cdef double* value
        cdef double* z = self.z.at
        cdef double* paid = self.paid.at
        cdef Py_ssize_t k, c, i
        for k in range(self.grower.branch_count):
            node = <Node*>self.next.nodes.at + first + k
            branch = branches + k
            node.child = <int>(first + branch.child)
            if branch.child == k:
                self.next.plant(first + k)
                continue
            node.column = FIRST_COLUMN + branch.column
            node.threshold = self.threshold_of(branch)
            if noise > 0:
                paid[branch.column] += branch.gain / (2.0 * noise)
        for k in range(self.grower.leaf_count):
            value = self.next.values.at + (first + leaves[k].node) * classes
            self.find_value(leaves + k, value)
            for i in range(leaves[k].begin, leaves[k].end):
                for c in range(classes):
                    z[index[i] * classes + c] += value[c]
        self.grower.moved.resize(self.grower.branch_count)
        self.find_inner_values(first)
        return 0

    cdef float threshold_of(self, const Branch* branch) noexcept nogil:
        cdef const int* first = <const int*>self.first_cut.at + branch.column
        if branch.bin >= first[1] - first[0]:
            return BEYOND_ALL
        return (<const float*>self.cuts.at)[first[0] + branch.bin]

    cdef void find_value(self, const Leaf* leaf, double* value) noexcept nogil:
        """What a leaf adds to the score of each class."""
        cdef Py_ssize_t classes = self.classes
        cdef double total = TOTAL_RATE_SQUARED if self.code == SQUARED else TOTAL_RATE
        cdef double rate = min(total / self.planned, MAX_RATE_OF_TREE)
        cdef double* E = self.totals.at
        cdef double* H = E + classes
        cdef Py_ssize_t c
        if self.code == SOFTMAX:
            self.add_class_slopes(leaf)
        else:
            E[0] = leaf.sums[0]
            H[0] = leaf.sums[1]
        for c in range(classes):
            value[c] = E[c] / (H[c] + self.prior)
            if self.code != SQUARED:
                value[c] = clipped(value[c], MAX_STEP)
            value[c] *= rate

    cdef void add_class_slopes(self, const Leaf* leaf) noexcept nogil:
        """totals = sums of slopes and of curvatures of a leaf, by class."""
        cdef Py_ssize_t classes = self.classes
        cdef const int* index = <const int*>self.grower.index.at
        cdef const double* lane
        cdef double* e = self.e.at
        cdef double* E = self.totals.at
        cdef double* H = E + classes
        cdef double v
        cdef Py_ssize_t i, c
        memset(E, 0, 2 * classes * sizeof(double))
        for i in range(leaf.begin, leaf.end):
            lane = self.grower.lane.at + index[i] * self.grower.lanes
            v = lane[self.grower.slopes]
            if classes > MOST_SLOPES:
                self.find_class_slopes(index[i])
            else:
                for c in range(classes):
                    e[c] = lane[c] / v
            for c in range(classes):
                E[c] += v * e[c]
                H[c] += v * fabs(e[c]) * (1.0 - fabs(e[c]))

    cdef void find_inner_values(self, Py_ssize_t first) noexcept nogil:
        """The value of an inner node is the mean of its leaves, weighted by their rows."""
        cdef const Branch* branches = <const Branch*>self.grower.branches.at
        cdef const Leaf* leaves = <const Leaf*>self.grower.leaves.at
        cdef double* values = self.next.values.at + first * self.classes
        cdef int* rows = <int*>self.grower.moved.at  # by node
        cdef Py_ssize_t classes = self.classes
        cdef Py_ssize_t k, child, c
        cdef double right
        for k in range(self.grower.branch_count - 1, -1, -1):  # children come after their parents
            child = branches[k].child
            if child == k:
                rows[k] = <int>(leaves[branches[k].leaf].end - leaves[branches[k].leaf].begin)
                continue
            rows[k] = rows[child] + rows[child + 1]
            right = rows[child + 1] / <double>rows[k]
            for c in range(classes):
                values[k * classes + c] = (
                    (1.0 - right) * values[child * classes + c]
                    + right * values[(child + 1) * classes + c]
                )

    # State

    def _sizes(self):
        return super()._sizes() | {
            "stored": len(self.labels),
            "known": int(np.count_nonzero(np.array(self.number))),
            "cuts": int(np.array(self.ends).astype(int).sum()) - len(self.ends),
        }

    def _loaded(self):
        """Refuse a state with which compiled code would leave its arrays."""
        super()._loaded()
        sizes = self._sizes()
        number = np.array(self.number)
        labels = np.array(self.labels)
        y, weight, chance = labels["y"], labels["weight"], labels["chance"]
        known, stored, width = sizes["known"], sizes["stored"], int(self.width)
        need(
            sorted(number[number > 0].tolist()) == list(range(1, known + 1)),
            "columns are not numbered one after another",
        )
        need((np.array(self.own_unit) != 0).all(), "the unit of a column is 0")
        need(FIRST_COLUMN + known <= width, "stored rows are shorter than a row")
        need(len(self.rows) == stored * width, "stored rows and their targets differ in number")
        rows = np.array(self.rows).reshape(stored, width)
        need((rows[:, 0] == 0).all(), "a stored row begins with a number other than 0")
        need(not (np.abs(rows) > MAX_STORED).any(), "a stored value is too large")
        need(stored <= self.t, "more rows are stored than were learned")
        need(self.begun <= self.t, "a forest was begun in a row that is to come")
        need(((weight > 0) & (weight <= MAX_WEIGHT)).all(), "a sample weight is out of bounds")
        need(((chance > 0) & (chance <= 1)).all(), "the chance of a row is out of bounds")
        need(self.share > 0, "no share of the rows is kept")
        need((np.abs(y) <= MAX_TARGET).all(), "a target is too large")
        if self.code == SOFTMAX:
            is_class = (y >= 0) & (y < self.classes) & (y == np.floor(y))
            need(is_class.all(), "a label is not a class")
        elif self.code != SQUARED:
            need((np.abs(y) == 1).all(), "a label is not a class")
        if self.planned > 0:
            need(self.begun > 0, "a forest is grown that was not begun")
            need(self.planned <= _trees_for(self.t), "too many trees are planned")
            need(1 <= self.most_leaves <= _leaves_for(self.t), "too many leaves are planned")
        trees = len(self.next.roots)
        need(trees == 0 or trees < self.planned, "a forest has more trees than are planned")
        need(len(self.ends) <= known, "more columns have bins than are known")
        for forest in (self.forest, self.next):
            need(forest.most_column() <= known, "a split looks at a column that is not known")
        self.known = known
        self.stored = stored
        self.per_row = width
        self.row.replace(np.zeros(FIRST_COLUMN + known, np.float32))
        self.prepared = 0
        self._find_first_cuts()

    def _rescale(self, columns, factors):
        # A column that was so small that its unit would be infinite keeps no digit anyway.
        own = np.asarray(self.own_unit)
        with np.errstate(over="ignore", under="ignore"):
            moved = own[columns] / factors
        own[columns] = np.copysign(np.clip(np.abs(moved), LEAST_OWN_UNIT, MOST_OWN_UNIT), moved)

    def _seen(self):
        return np.append(True, np.array(self.number) > 0)

    def _coefficients(self):
        """There are no weights; the intercept is the score of the row of zeros."""
        coefficients = np.zeros_like(self._room(1 + self.columns))
        coefficients[:1] = self.predict(as_rows(np.zeros((1, self.columns))))
        return coefficients

    # Explanations

    def contributions(self, rows):
        """Explain the score of one row: (base, by column), which add up to it."""
        score = self.predict(rows)[0]  # which loads the row
        own = self.forest.parts_of_row(np.array(self.row))
        number = np.array(self.number)
        parts = np.zeros((self.columns, self.classes))
        parts[number > 0] = own[number[number > 0] - 1]
        parts = parts if self.code == SOFTMAX else parts[:, 0]
        return score - parts.sum(axis=0), parts


def _trees_for(rows):
    """The trees of a forest that is begun with that many stored rows."""
    return max(round(TREES_PER_CUBE_ROOT * rows ** (1.0 / 3.0)), FEWEST_TREES)


def _leaves_for(rows):
    return max(round(LEAVES_PER_SQUARE_ROOT * rows**0.5), FEWEST_LEAVES)
