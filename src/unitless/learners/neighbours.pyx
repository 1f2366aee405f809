"""Nearest neighbours among the hard rows seen so far, in any unit, one pass, bounded memory.

Rows are compared by their squashed values u = c / sqrt(var + c^2), c = x - mean so far (see
`unitless.core.moments`), which no unit and no shift changes. With the squared distances
q_1 <= q_2 <= ... of the stored rows, the nearest K = 7 vote::

    w_k = v_k (1.1 - q_k / max(q_8, 2^-40))           v_k is the sample weight of that row
    classes   p_c = (a / C + sum of w_k with label c) / (a + sum of w_k),   a = 0.35
    squared   score = sum of w_k y_k / sum of w_k

Classes are scored by ln p_c (two of them by the difference), and a row is stored only if its own
class got p < 0.8, because easy rows would add time and no knowledge. The newest rows replace the
oldest. There is room for 1024 rows and 2^15 numbers, for several classes 4096 rows and 2^16.

Binary and other repeated values make many distances equal, up to rounding, which depends on units.
So no decision is left to rounding: a row is nearer than one that is stored before it only if q is
less by a share of 2^-29 and by 2^-50, distances that are all 0 have the ratio 0, and 0.8 is lowered
by 2^-30, so that no simple ratio of votes lies on it.
"""

import numpy as np

cimport cython
from libc.math cimport INFINITY, log
from libc.string cimport memset

from unitless.core.arithmetic cimport Room, Values, clipped, fused
from unitless.core.array cimport Array, numbers, records
from unitless.core.learner cimport LEARNED, Learner
from unitless.core.losses cimport LOGISTIC, SOFTMAX, SQUARED
from unitless.core.moments cimport Moments
from unitless.core.row cimport Row

from unitless.core.learner import COLUMNS
from unitless.rows import as_rows
from unitless.state import Component, Field, count, need

cdef enum:
    NEIGHBOURS = 7
    FEWEST_ROWS = 128       # that are stored, however many columns there are
    MAX_COLUMNS = 4096

cdef double PRIOR = 0.35            # a
cdef double LEAST_VOTE = 0.1          # the least that a neighbour counts
cdef double LEAST_DISTANCE = 2.0**-40        # squared distances below are as good as 0
cdef double HARD = 0.8 - 2.0**-30
cdef double MAX_WEIGHT = 2.0**200   # of a row, so that sums stay within float64
cdef double MAX_TARGET = 2.0**240   # limit of targets, as in unitless.core.learner


cdef struct Label:
    double y                # the target; 1 or 0 with the logistic loss
    double weight           # the sample weight


LABEL = np.dtype([("y", "d"), ("weight", "d")])


cdef inline void distances(
    Values tile, Values other, Py_ssize_t columns, Values u, Py_ssize_t width, Room q, Room r
) noexcept nogil:
    """q, r = the squared distances of u from two tiles of stored rows; two hide their latencies.

    Columns beyond those that are stored were 0 in all rows.
    """
    cdef double a, b
    cdef Py_ssize_t j
    cdef int k
    for k in range(8):
        q[k] = r[k] = 0.0
    for j in range(columns):
        for k in range(8):
            a = tile[8 * j + k] - u[j]
            b = other[8 * j + k] - u[j]
            q[k] = fused(a, a, q[k])
            r[k] = fused(b, b, r[k])
    for j in range(columns, width):
        for k in range(8):
            q[k] = fused(u[j], u[j], q[k])
            r[k] = fused(u[j], u[j], r[k])


cdef inline double least_of(Values q, Values r) noexcept nogil:
    cdef double[8] least
    cdef int k
    for k in range(8):
        least[k] = min(q[k], r[k])
    for k in range(4):
        least[k] = min(least[k], least[4 + k])
    return min(min(least[0], least[1]), min(least[2], least[3]))


cdef inline double clearly_nearer(double q) noexcept nogil:
    """The squared distance below which a row that is stored later is nearer."""
    return q * (1 - 2.0**-29) - 2.0**-50


@cython.final
cdef class Neighbours(Learner):
    """Nearest neighbours among the rows that were hard to predict.

    >>> from unitless.rows import as_rows
    >>> X = np.random.default_rng(0).uniform(-1, 1, (2000, 2))
    >>> rows = as_rows(X, np.sign(X[:, 0] * X[:, 1]))  # no linear learner can do this
    >>> scores = Neighbours().learn(rows)
    >>> print(f"{(scores * rows.targets > 0)[1000:].mean():.2f}")
    0.98
    """

    name = "neighbours"
    invariance = "affine"
    has_classes = True
    linear = False
    symmetric = False
    needs_lipschitz = False
    takes_losses = ("logistic", "softmax", "squared")
    saved = (
        *Learner.saved,
        COLUMNS,
        Component("moments"),
        Field("stored", "sign", "squashed rows, eight side by side", ("room columns",), -1, 1),
        Field("labels", "y", "their targets and sample weights", ("room",)),
        count("used", "rows stored", "room"),
        count("next", "where the next row goes", "room"),
    )

    cdef readonly Moments moments
    cdef readonly Array stored          # by tile of eight rows, column, row of the tile
    cdef readonly Array labels
    cdef public double used
    cdef public double next
    cdef Py_ssize_t most_rows           # that are stored
    cdef Py_ssize_t most_numbers
    cdef Py_ssize_t width               # columns of the row at hand, and at least `columns`
    cdef Array row                      # the row at hand
    cdef Array centred
    cdef Array squashed
    cdef Array votes                    # by class
    cdef double[8] distance             # squared, of the nearest rows, one more than vote
    cdef Py_ssize_t[8] nearest
    cdef int found

    def _prepare(self):
        self.most_rows, self.most_numbers = (4096, 2**16) if self.code == SOFTMAX else (1024, 2**15)
        self.moments = Moments()
        self.stored = numbers(0)
        self.labels = records(LABEL, 0)
        self.row = numbers(0)
        self.centred = numbers(0)
        self.squashed = numbers(0)
        self.votes = numbers(1 if self.code == SQUARED else max(self.classes, 2))

    def add_class(self):
        """Add one class, for which nobody votes yet."""
        super().add_class()
        self.votes = numbers(self.classes)

    def _reserve(self, Py_ssize_t columns):
        if columns > MAX_COLUMNS:
            raise ValueError(_too_wide(columns))
        super()._reserve(columns)

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        cdef Py_ssize_t tiles = self.labels.size // 8
        cdef Py_ssize_t old = self.columns
        cdef Py_ssize_t tile, j, k
        cdef double* at
        if columns <= old:
            return 0
        self.moments.reserve(columns)
        self.stored.resize(8 * tiles * columns)
        at = self.stored.at
        for tile in range(tiles - 1, -1, -1):  # tiles move apart, the last one first
            for j in range(columns - 1, -1, -1):
                for k in range(8):
                    at[(tile * columns + j) * 8 + k] = (
                        at[(tile * old + j) * 8 + k] if j < old else 0.0
                    )
        self.columns = columns
        return 0

    # Scores

    cdef int load_row(self, const Row* row) except -1 nogil:
        """The row with all its columns, centred and squashed."""
        cdef Py_ssize_t width = self.columns
        cdef Py_ssize_t k, j
        for k in range(row.n):
            j = row.ids[k] if row.ids != NULL else k
            width = max(width, j + 1)
        if width > MAX_COLUMNS:
            with gil:
                raise ValueError(_too_wide(width))
        if width > self.row.size:
            self.row.resize(width)
            self.centred.resize(width)
            self.squashed.resize(width)
        memset(self.row.at, 0, width * sizeof(double))
        for k in range(row.n):
            self.row.at[row.ids[k] if row.ids != NULL else k] = row.values[k]
        self.width = width
        return self.moments.show(self.row.at, width, self.centred.at, self.squashed.at)

    cdef void find_nearest(self) noexcept nogil:
        """The nearest rows in order, one more than vote."""
        cdef const double* u = self.squashed.at
        cdef Py_ssize_t columns = self.columns
        cdef Py_ssize_t used = <Py_ssize_t>self.used
        cdef double[8] q
        cdef double[8] r
        cdef double limit = INFINITY
        cdef const double* tile
        cdef const double* other
        cdef Py_ssize_t row, k
        self.found = 0
        for row in range(0, used, 16):
            tile = self.stored.at + row * columns
            other = tile + 8 * columns if row + 8 < used else tile
            distances(tile, other, columns, u, self.width, q, r)
            if least_of(q, r) >= limit:
                continue
            for k in range(min(8, used - row)):
                if not q[k] >= limit:
                    limit = self.keep(q[k], row + k)
            for k in range(min(8, used - row - 8)):
                if not r[k] >= limit:
                    limit = self.keep(r[k], row + 8 + k)

    cdef double keep(self, double q, Py_ssize_t row) noexcept nogil:
        """Put a stored row in its place among the nearest so far; others must be nearer than that."""
        cdef double* distance = self.distance
        cdef Py_ssize_t* nearest = self.nearest
        cdef int k = min(self.found, NEIGHBOURS)
        self.found = min(self.found + 1, NEIGHBOURS + 1)
        while k > 0 and q < clearly_nearer(distance[k - 1]):
            distance[k] = distance[k - 1]
            nearest[k] = nearest[k - 1]
            k -= 1
        distance[k] = q
        nearest[k] = row
        return clearly_nearer(distance[NEIGHBOURS]) if self.found > NEIGHBOURS else INFINITY

    cdef void vote(self) noexcept nogil:
        """votes = the probabilities of the classes, or the mean of the targets."""
        cdef const Label* label
        cdef double* votes = self.votes.at
        cdef Py_ssize_t classes = self.votes.size
        cdef double farthest = self.distance[NEIGHBOURS] if self.found > NEIGHBOURS else INFINITY
        cdef double total = 0.0
        cdef double near, w
        cdef Py_ssize_t c
        cdef int k
        for c in range(classes):
            votes[c] = 0.0 if self.code == SQUARED else PRIOR / classes
            total += votes[c]
        for k in range(min(self.found, NEIGHBOURS)):
            label = <const Label*>self.labels.at + self.nearest[k]
            near = 1.0 - self.distance[k] / max(farthest, LEAST_DISTANCE)
            w = label.weight * (near + LEAST_VOTE)
            if self.code == SQUARED:
                votes[0] += w * label.y
            else:
                votes[<Py_ssize_t>label.y] += w
            total += w
        for c in range(classes):
            votes[c] = votes[c] / total if total > 0 else 0.0

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        cdef const double* votes = self.votes.at
        cdef Py_ssize_t c
        self.load_row(row)
        self.find_nearest()
        self.vote()
        if self.code == SQUARED:
            scores[0] = votes[0] + 0.0  # no -0
        elif self.code == LOGISTIC:
            scores[0] = log(votes[1] / votes[0])
        else:
            for c in range(self.classes):
                scores[c] = log(votes[c])
        return 0

    # Learning

    cdef int update(self, const Row* row, double y) except -1 nogil:
        y = clipped(y, MAX_TARGET)
        if self.code == LOGISTIC:
            y = 1.0 if y > 0 else 0.0
        self.moments.learn(self.row.at, self.columns)
        if self.code == SQUARED or self.votes.at[<Py_ssize_t>y] < HARD:
            self.store(y, min(row.weight, MAX_WEIGHT))
        self.t += 1
        return LEARNED

    cdef int store(self, double y, double weight) except -1 nogil:
        """Keep the squashed row at hand, in place of the oldest one if there is no more room."""
        cdef Py_ssize_t most = self.rows_allowed()
        cdef Py_ssize_t at = <Py_ssize_t>self.next if self.next < most else 0
        cdef Label* label
        cdef double* eight
        cdef Py_ssize_t j
        if at >= self.labels.size:
            self.labels.resize(self.labels.size + 8)
            self.stored.resize(self.labels.size * self.columns)
        label = <Label*>self.labels.at + at
        label.y = y
        label.weight = weight
        eight = self.stored.at + (at // 8) * self.columns * 8
        for j in range(self.columns):
            eight[8 * j + at % 8] = self.squashed.at[j]
        self.next = at + 1
        self.used = min(max(self.used, self.next), <double>most)
        return 0

    cdef Py_ssize_t rows_allowed(self) noexcept nogil:
        """How many rows may be stored, given the columns seen."""
        cdef const double* mean = self.moments.mean.at
        cdef const double* m2 = self.moments.m2.at
        cdef Py_ssize_t seen = 0
        cdef Py_ssize_t j
        for j in range(self.columns):
            seen += 1 if m2[j] > 0 or mean[j] != 0 else 0
        return min(self.most_rows, max(self.most_numbers // max(seen, 1), FEWEST_ROWS)) // 8 * 8

    # State

    def _sizes(self):
        return super()._sizes() | {"room": len(self.labels)}

    def _loaded(self):
        """Refuse rows and labels that do not fit each other."""
        super()._loaded()
        labels = np.array(self.labels)
        y = labels["y"]
        weight = labels["weight"]
        need(self.columns <= MAX_COLUMNS, _too_wide(self.columns))
        need(len(self.moments.mean) == self.columns, "moments and columns differ in number")
        need(len(labels) % 8 == 0, "rows are not stored by eight")
        need(len(labels) <= self.most_rows, f"{len(labels)} rows are more than can be stored")
        need(self.next <= self.used, "the next row goes beyond those that are stored")
        need(((weight >= 0) & (weight <= MAX_WEIGHT)).all(), "a sample weight is out of bounds")
        need((np.abs(y) <= MAX_TARGET).all(), "a target is too large")
        if self.code != SQUARED:
            is_class = (y >= 0) & (y < len(self.votes)) & (y == np.floor(y))
            need(is_class.all(), "a label is not a class")

    def _rescale(self, columns, factors):
        self.moments.rescale(columns, factors)
        if not len(columns):
            return
        stored = np.asarray(self.stored).reshape(-1, self.columns, 8)
        stored[:, columns] *= np.sign(factors)[:, None]

    def _seen(self):
        return np.append(True, self.moments.seen())

    def _coefficients(self):
        """There are no weights; the intercept is the score of the row of zeros."""
        coefficients = np.zeros_like(self._room(1 + self.columns))
        coefficients[:1] = self.predict(as_rows(np.zeros((1, self.columns))))
        return coefficients


def _too_wide(columns):
    return (
        f"{columns} columns: neighbours stores whole rows and takes at most {MAX_COLUMNS}; use "
        "'diagonal', or 'blend'"
    )
