"""Base of learners that keep a few numbers per feature and update each feature on its own.

The numbers of eight coordinates lie side by side, field by field, as a struct with names::

    cdef struct Eight:
        double[8] h     # -sum g x
        double[8] s2    # sum x^2

so that a dense row is a loop over whole vectors, and the numbers of a sparse feature are near each
other. Coordinate 0 is the constant and column j is coordinate j + 1. A subclass declares the same
`fields` with their units and implements two methods::

    predict_row(row)        the score; sets p, where the slope is taken, and changes nothing kept
    learn_row(row, y, g)    take in the row, whose loss has the slope g at p

Both see the records of the row's coordinates at `own` (`<Eight*>self.own`, slot by slot: those of
the learner itself for a dense row, else copies that are written back) and its values at `z`. In
`work`, as long as `z`, the first may leave numbers to the second. During both, `t` is the number of
rows learned before this one.
"""

import numpy as np

from libc.string cimport memcpy

from unitless.core.arithmetic cimport (
    all_finite,
    clipped,
    gather_records,
    prefetch,
    scatter_records,
)
from unitless.core.array cimport numbers, records
from unitless.core.learner cimport LEARNED, NOT_FINITE
from unitless.core.losses cimport LARGEST
from unitless.core.row cimport slots_of

from unitless.core.learner import Learner
from unitless.state import Field, need


cdef class Coordinatewise(GradientLearner):
    """Base class of learners that keep a record of a few fields per feature."""

    fields = ()
    """The fields of a record: name, unit, meaning; the `Eight` of the subclass, in its order."""

    def __cinit__(self, *args, **given):
        eight = np.dtype([(field.name, "8d") for field in self.fields])
        self.width = len(self.fields)
        self.records = records(eight, 1)
        self.gathered = records(eight, 1)
        self.kept = records(eight, 1)
        self.scaled = numbers(8)
        self.room = numbers(8)

    def read(self, str name):
        if name in self.records.dtype.names:
            return np.array(self.records)[name].reshape(-1)[: 1 + self.columns]
        return super().read(name)

    def write(self, str name, value):
        if name not in self.records.dtype.names:
            super().write(name, value)
            return
        if len(value) != 1 + self.columns:
            need(1 <= len(value) < 2**31, f"{name} has {len(value)} coordinates")
            self.columns = len(value) - 1
            self.records.replace(np.zeros(slots_of(self.columns) // 8, self.records.dtype))
        by_slot = np.zeros(slots_of(self.columns))
        by_slot[: len(value)] = value
        np.asarray(self.records)[name] = by_slot.reshape(-1, 8)

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        if columns > self.columns:
            self.records.resize(slots_of(columns) // 8)
            self.columns = columns
        return 0

    def _seen(self):
        fields = [self.read(field.name) for field in self.fields]
        return np.any([values != 0 for values in fields], axis=0)

    def _before_one(self):
        cdef Py_ssize_t groups = 0
        if self.names.is_dense:  # a sparse row is written back only if it is not refused
            groups = min(slots_of(self.names.n) // 8, self.records.size)
            self.kept.resize(groups)
            memcpy(self.kept.at, self.records.at, groups * self.records.item)
        return self.columns, self.records.size, groups, self._numbers()

    def _undo_one(self, before):
        columns, size, groups, values = before
        records = np.asarray(self.records)
        records[:groups] = np.asarray(self.kept)[:groups]
        records[size:] = np.zeros(1, records.dtype)
        self.columns = columns
        for name, value in values.items():
            setattr(self, name, value)

    def _numbers(self):
        """The numbers of the state that belong to no feature, by name."""
        if self.names_of_numbers is None:
            fields = [field for field in self.saved if isinstance(field, Field)]
            self.names_of_numbers = [field.name for field in fields if not field.shape]
        return {name: getattr(self, name) for name in self.names_of_numbers}

    cdef void expect(self, const int* ids, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t group = 8 * self.width
        cdef Py_ssize_t k, a, i
        for k in range(n):
            i = 1 + ids[k]
            if i <= self.columns:
                for a in range(self.width):
                    prefetch(self.records.at + i // 8 * group + 8 * a)

    cdef int gather(self, const Row* row) except -1 nogil:
        """Set `own`, `z` and `work` for a row."""
        cdef double scale = self.scale_of(row)
        cdef Py_ssize_t k
        if row.slots > self.room.size:
            self.room.resize(row.slots)
        self.work = self.room.at
        self.z = row.x
        if scale != 1:
            if row.slots > self.scaled.size:
                self.scaled.resize(row.slots)
            for k in range(row.slots):
                self.scaled.at[k] = row.x[k] * scale
            self.z = self.scaled.at
        if row.ids == NULL and row.slots <= 8 * self.records.size:
            self.own = self.records.at
            return 0
        if row.slots > 8 * self.gathered.size:
            self.gathered.resize(row.slots // 8)
        self.own = self.gathered.at
        gather_records(
            self.records.at, 1 + self.columns, row.ids, row.n, row.slots, self.width, self.own
        )
        return 0

    cdef void scatter(self, const Row* row) noexcept nogil:
        """Write the records of a row that was gathered back."""
        if self.own != self.records.at:
            scatter_records(self.records.at, row.ids, row.n, self.width, self.own)

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        cdef double scale = self.scale_of(row)
        cdef double score
        self.gather(row)
        score = self.predict_row(row) / scale + 0.0  # no -0
        self.p /= scale
        if score != score:
            score = 0.0  # terms of both signs overflowed
            self.p = score if not self.guarded else self.p
        scores[0] = clipped(score, LARGEST)
        return 0

    cdef int step(self, const Row* row, double y, double g) except -1 nogil:
        self.learn_row(row, y, g)
        self.t += 1
        if self.guarded and not self._is_finite(row):
            return NOT_FINITE
        self.scatter(row)
        return LEARNED

    cdef double predict_row(self, const Row* row) noexcept nogil:
        """The score of the row at hand; sets p."""
        self.p = 0.0
        return 0.0

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        """Change the records at `own` and what belongs to no feature."""

    cdef bint _is_finite(self, const Row* row) noexcept nogil:
        """Whether the records of the row at hand are finite."""
        return all_finite(self.own, row.slots * self.width)


def coordinatewise_state(fields, *more):
    """`saved` of a coordinate-wise learner: its fields by coordinate, and more."""
    by_coordinate = [field._replace(shape=("coordinates",)) for field in fields]
    return (*Learner.saved, *by_coordinate, *more)
