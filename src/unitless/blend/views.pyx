"""Views: online transformations of a row, with the invariance that each one keeps.

Each expert of a Blend is shown one view of the rows.

========== ============================================ ==================== =================
view       of x_i                                       rows                 invariance
========== ============================================ ==================== =================
raw        x_i                                          dense or sparse      of the learner
normalised x_i / sqrt(sum_j (x_j / M_j)^2)              dense or sparse      of the learner
presence   1 where x_i is not 0                         dense or sparse      of the learner
centred    c_i = x_i - mean_i                           dense                affine
squashed   c_i / sqrt(var_i + c_i^2), within (-1, 1)    dense                affine
pairs      see `pairs_of_bins`                          dense                affine
nothing    no feature                                   dense or sparse      everything
========== ============================================ ==================== =================

M_j = max |x_j|. Means, variances and M are over all rows so far, this one included. Absent values
count as 0, missing ones (NaN) not at all. The constant that learners add to a row is in no view.
"""

import numpy as np

cimport cython
from libc.math cimport fabs, sqrt
from libc.string cimport memcpy

from unitless.core.array cimport Array, numbers, records
from unitless.core.moments cimport with_row
from unitless.core.pointers cimport numbers_in
from unitless.core.row cimport fill_slots, slots_of
from unitless.state import Field, count, need


cdef Py_ssize_t room_for_views(Py_ssize_t n) noexcept nogil:
    """The numbers that the views of a row of n values take, without those of pairs of bins."""
    return 5 * slots_of(n) + 8


@cython.final
cdef class Views(Stateful):
    """The views of a stream."""

    saved = (
        Field("mean", "x", "running mean", ("features",)),
        Field("m2", "x^2", "sum of squared deviations", ("features",)),
        Field("missing", "1", "rows in which x_i was missing", ("features",), 0),
        Field("largest", "|x|", "largest absolute value, M_i = max |x_i|", ("features",)),
        count("features", "features so far", 2.0**31 - 1),
        count("rows", "rows taken in while the stream was dense"),
    )

    def __cinit__(self):
        self.mean = numbers(0)
        self.m2 = numbers(0)
        self.missing = numbers(0)
        self.largest = numbers(0)
        self.next_mean = numbers(0)
        self.next_m2 = numbers(0)

    def _sizes(self):
        return {"features": int(self.features)}

    def read(self, str name):
        found = super().read(name)
        return found[: int(self.features)] if found.ndim else found

    def _loaded(self):
        need((self.read("missing") <= self.rows).all(), "more values are missing than there were")
        self.reserve(<Py_ssize_t>self.features)

    cdef int reserve(self, Py_ssize_t features) except -1 nogil:
        """Make room for that many features."""
        if features > self.next_m2.size:
            self.mean.resize(features)
            self.m2.resize(features)
            self.missing.resize(features)
            self.largest.resize(features)
            self.next_mean.resize(features)
            self.next_m2.resize(features)
        return 0

    cdef void show(self, Row* shown, double* room, bint dense, bint learns) noexcept nogil:
        """Fill in the row of each view from `shown[RAW]`, whose values, ids and x are there.

        `room` is for the slots of the others; there is room for all features of the row. With
        `learns` the views take the row in.
        """
        cdef const Row* raw = &shown[<int>RAW]
        cdef Py_ssize_t slots = raw.slots
        cdef double* out
        cdef Py_ssize_t k
        cdef int view
        for view in range(1, VIEWS):
            out = room + (view - 1) * slots
            shown[view] = raw[0]
            shown[view].x = out
            shown[view].values = out + 1
            if view == PAIRS:
                break
            out[0] = raw.x[0]
            for k in range(raw.n + 1, slots):
                out[k] = 0.0
        out = room + 4 * slots
        fill_slots(out, raw.x[0], NULL, 0)
        shown[<int>NOTHING] = raw[0]
        shown[<int>NOTHING].ids = NULL
        shown[<int>NOTHING].n = 0
        shown[<int>NOTHING].x = out
        shown[<int>NOTHING].slots = 8
        self.show_normalised(raw, room + 1, learns)
        out = room + slots + 1
        for k in range(raw.n):
            out[k] = 1.0 if raw.values[k] != 0 and raw.values[k] == raw.values[k] else 0.0
        if dense:
            self.show_moments(raw, room + 2 * slots + 1, room + 3 * slots + 1, learns)
        if learns and raw.ids == NULL:
            self.features = max(self.features, raw.n)

    cdef void show_normalised(self, const Row* raw, double* out, bint learns) noexcept nogil:
        cdef double* M = self.largest.at
        cdef double total = 0.0
        cdef double size, largest, ratio, factor
        cdef Py_ssize_t k, i
        for k in range(raw.n):
            i = k if raw.ids == NULL else raw.ids[k]
            size = fabs(raw.values[k]) if raw.values[k] == raw.values[k] else 0.0
            largest = max(M[i], size)
            if learns:
                M[i] = largest
                self.features = max(self.features, i + 1)
            ratio = size / (largest if largest > 0 else 1.0)
            total += ratio * ratio
        factor = 1.0 / sqrt(total) if total > 0 else 0.0
        for k in range(raw.n):
            out[k] = raw.values[k] * factor if raw.values[k] == raw.values[k] else 0.0

    cdef void show_moments(
        self, const Row* raw, double* centred, double* squashed, bint learns
    ) noexcept nogil:
        cdef double* missing = self.missing.at
        cdef Py_ssize_t n = raw.n
        cdef Py_ssize_t k
        with_row(
            raw.values, self.mean.at, self.m2.at, missing, self.rows + 1, n,
            self.next_mean.at, self.next_m2.at, centred, squashed,
        )
        if learns:
            memcpy(self.mean.at, self.next_mean.at, n * sizeof(double))
            memcpy(self.m2.at, self.next_m2.at, n * sizeof(double))
            for k in range(n):
                missing[k] += 1.0 if raw.values[k] != raw.values[k] else 0.0
            self.rows += 1

    def tables(self, X, bint learns=True):
        """{view: table like X} of dense rows, without those of pairs; see `show` for `learns`.

        >>> Views().tables([[1.0, 5.0], [3.0, 5.0]])["centred"]
        array([[0., 0.],
               [1., 0.]])
        """
        given = np.ascontiguousarray(X, dtype=np.float64)
        cdef Py_ssize_t n = given.shape[1]
        cdef Py_ssize_t slots = slots_of(n)
        cdef Array rows = records(f"V{sizeof(Row)}", VIEWS)
        cdef Array room = numbers(slots + room_for_views(n))
        cdef Row* shown = <Row*>rows.at
        cdef Py_ssize_t r, k
        cdef int view
        found = [np.empty_like(given) for view in range(PAIRS)]
        self.reserve(n)
        for r in range(len(given)):
            shown.values = numbers_in(given) + r * n
            shown.ids = NULL
            shown.n = n
            shown.slots = slots
            shown.weight = 1.0
            shown.x = room.at
            fill_slots(room.at, 0.0, shown.values, n)
            self.show(shown, room.at + slots, True, learns)
            for view in range(PAIRS):
                for k in range(n):
                    numbers_in(found[view])[r * n + k] = shown[view].values[k]
        return {View(view).name.lower(): table for view, table in enumerate(found)}

    def rescale(self, features, factors):
        """From now on these features arrive multiplied by these factors."""
        for field in self.saved:
            if field.shape and field.unit != "1":
                values = self.read(field.name)
                known = features < len(values)
                own = features[known]
                values[own] = field.rescaled(values[own], factors[known])
                np.asarray(getattr(self, field.name))[: len(values)] = values
