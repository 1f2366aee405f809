"""PythonLearner: the base class of learners that are written in plain Python.

A subclass says how it scores a row and what it learns from it; blocks, sparse rows, dict rows,
sample weights, units, copies and model files follow (docs/how-to/own-learner.md).
"""

import math

import numpy as np

from unitless.core.arithmetic cimport clipped
from unitless.core.learner cimport LEARNED, NOT_FINITE, GradientLearner
from unitless.core.losses cimport LARGEST
from unitless.core.pointers cimport numbers_in
from unitless.core.row cimport Row

from unitless.core.learner import COLUMNS
from unitless.state import Field, remembered, restore

cdef double MAX_TARGET = 2.0**240   # as for all learners: squares of y x stay within float64
IGNORED = {"over": "ignore", "invalid": "ignore", "under": "ignore"}
"""What NumPy need not warn of: scores and states that are not finite are found here."""
GROWING = {"columns", "coordinates"}
"""Sizes that grow with the columns."""


cdef class LineByLine(GradientLearner):
    """The compiled part of a `PythonLearner`: it calls the methods of a subclass for each row."""

    saved = (*GradientLearner.saved, COLUMNS)

    cdef readonly double weight     # the sample weight of the row at hand
    cdef object begun               # the row that was begun
    cdef bint has_update

    def __cinit__(self, *args, **given):
        self.weight = 1.0
        self.has_update = hasattr(type(self), "update")

    # The state: whatever is declared, as attributes

    def _prepare(self):
        for field in _own_fields(type(self)):
            sizes = self._dimensions(field)
            setattr(self, field.name, np.zeros(sizes).reshape(_axes(field, sizes)) if sizes else 0.0)

    def _dimensions(self, field):
        """The sizes that are named in the shape of a field, one after another."""
        sizes = self._sizes()
        names = [name for axis in field.shape for name in str(axis).split()]
        return [int(name) if name.isdigit() else sizes[name] for name in names]

    def write(self, str name, value):
        """Replace an array, a number or a fact of the state."""
        is_array = isinstance(value, np.ndarray) and value.ndim
        super().write(name, np.array(value) if is_array else value)

    def _more(self):
        declared = {entry.name for entry in self.saved}
        own = {name: value for name, value in vars(self).items() if name not in declared}
        return own | {"names": self.names}

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        if columns > self.columns:
            with gil:
                self._widen(columns)
        return 0

    def _widen(self, Py_ssize_t columns):
        """Make room for that many columns; the new entries are 0."""
        known = self._all_dimensions()
        self.columns = columns
        self._grow_from(known)

    def add_class(self):
        """Add one class, whose entries in the state are 0."""
        known = self._all_dimensions()
        super().add_class()
        self._grow_from(known)

    def _all_dimensions(self):
        return {field: self._dimensions(field) for field in _own_fields(type(self))}

    def _grow_from(self, known):
        """Give all arrays their sizes of now; what they held stays in the corner."""
        for field, before in known.items():
            sizes = self._dimensions(field)
            if sizes != before:
                wider = np.zeros(sizes)
                wider[tuple(map(slice, before))] = getattr(self, field.name).reshape(before)
                setattr(self, field.name, wider.reshape(_axes(field, sizes)))

    def _seen(self):
        seen = np.zeros(1 + self.columns, dtype=bool)
        for field in _own_fields(type(self)):
            if field.shape[:1] == ("coordinates",):
                seen |= (getattr(self, field.name) != 0).reshape(len(seen), -1).any(axis=1)
        return seen

    def _is_finite(self):
        return all(np.isfinite(getattr(self, each.name)).all() for each in _own_fields(type(self)))

    # Rows

    cdef object line(self, const Row* row):
        """The row by coordinate, times its sample weight where that is due."""
        cdef double scale = self.scale_of(row)
        cdef Py_ssize_t columns = max(self.columns, columns_of(row))
        x = np.zeros(1 + columns)
        cdef double* out = numbers_in(x)
        cdef Py_ssize_t k
        out[0] = row.x[0] * scale
        for k in range(row.n):
            out[1 + (row.ids[k] if row.ids != NULL else k)] = row.x[k + 1] * scale
        return x

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        with gil:
            self.score_line(row, self.line(row), scores)
        return 0

    cdef int begin(self, const Row* row, double* scores) except -1 nogil:
        with gil:
            self.begun = self.line(row)
            self.score_line(row, self.begun, scores)
        return 0

    cdef object score_line(self, const Row* row, object x, double* scores):
        """Fill in the scores of a row and set p; columns that are not known yet are zeros."""
        cdef Py_ssize_t known = self.columns
        cdef Py_ssize_t c
        cdef double score
        if len(x) == 1 + known:
            with np.errstate(**IGNORED):
                found = getattr(self, "score")(x)
        else:
            before = {field.name: getattr(self, field.name) for field in _own_fields(type(self))}
            try:
                self._widen(len(x) - 1)
                with np.errstate(**IGNORED):
                    found = getattr(self, "score")(x)
            finally:
                self.columns = known
                for name, value in before.items():
                    setattr(self, name, value)
        if self._has_columns():
            if np.shape(found) != (self.outputs,):
                raise ValueError(
                    f"{type(self).__name__}.score returned an array of shape {np.shape(found)}; "
                    f"it has {self.outputs} classes"
                )
            for c in range(self.outputs):
                score = found[c]
                scores[c] = clipped(score, LARGEST) if score == score else 0.0
            return
        score = float(found) / self.scale_of(row) + 0.0  # no -0
        self.p = score
        if score != score:
            score = 0.0
            self.p = score if not self.guarded else self.p
        scores[0] = clipped(score, LARGEST)

    cdef int update(self, const Row* row, double y) except -1 nogil:
        if not self.has_update:
            return GradientLearner.update(self, row, y)
        with gil:
            self.weight = row.weight if self.scale_of(row) == 1 else 1.0
            with np.errstate(**IGNORED):
                getattr(self, "update")(self.begun, clipped(y, MAX_TARGET))
            return self.finish()

    cdef int step(self, const Row* row, double y, double g) except -1 nogil:
        with gil:
            with np.errstate(**IGNORED):
                getattr(self, "step")(self.begun, g * self.weight_of(row))
            return self.finish()

    cdef int finish(self) except -1:
        self.t += 1
        return NOT_FINITE if self.guarded and not self._is_finite() else LEARNED

    def learn(self, rows, not_fresh=None):
        """Score each row before its target is used, then learn it; returns the scores."""
        before = remembered(self)
        try:
            return super().learn(rows, not_fresh)
        except BaseException:  # whatever a method of the subclass raises
            restore(self, *before)
            raise

    def learn_one(self, x, y, double weight=1.0):
        """Score one dict row, then learn from its target; returns the score."""
        before = remembered(self)
        try:
            return super().learn_one(x, y, weight)
        except BaseException:
            restore(self, *before)
            raise

    def _before_one(self):
        return None  # see `learn_one`

    def _undo_one(self, before):
        pass


class PythonLearner(LineByLine):
    """Base of learners in plain Python: subclasses implement `score`, and `update` or `step`.

    - ``score(x)`` returns the score of a row and changes nothing. x is an array by coordinate: x[0]
      is the constant (1, or 0 without an intercept) and x[1 + j] the value of column j, 0 where it
      is absent or missing.
    - ``update(x, y)`` learns the row, whose target is y; ``self.weight`` is its sample weight. Or:
    - ``step(x, g)`` learns the row, where the loss has the slope g = loss'(y, score) / L times the
      sample weight. A learner with `step` also has several classes, by `with_classes`.

    `parameters` and `saved` declare parameters and state. Whatever is declared is there as an
    attribute and begins at 0; fields of the shape ("coordinates",) grow with the columns. A learner
    with ``invariance = "unit"`` follows changes of units as the units of its fields say.

    Examples
    --------
    >>> from unitless.rows import as_rows
    >>> class Perceptron(PythonLearner):
    ...     name = "perceptron"
    ...     takes_losses = ("hinge",)
    ...     default_loss = "hinge"
    ...     saved = (*PythonLearner.saved, Field("w", "1/x", "weights", ("coordinates",)))
    ...
    ...     def score(self, x):
    ...         return self.w @ x
    ...
    ...     def update(self, x, y):
    ...         if y * self.score(x) <= 0:
    ...             self.w += self.weight * y * x
    >>> learner = Perceptron()
    >>> learner.learn(as_rows([[1.0], [-2.0], [3.0]], [1, -1, 1]))
    array([ 0., -1.,  4.])
    >>> learner.weights().features
    array([1.])
    """

    name = "python"
    takes_slopes = False
    """Whether it implements `step`; found out for each subclass."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.takes_slopes = hasattr(cls, "step")
        if not hasattr(cls, "score"):
            raise TypeError(f"{cls.__name__} needs a method `score(x)`: see PythonLearner")
        if not hasattr(cls, "update") and not cls.takes_slopes:
            raise TypeError(
                f"{cls.__name__} needs a method `update(x, y)` or `step(x, g)`: see PythonLearner"
            )
        for field in _own_fields(cls):
            if any(GROWING & set(str(axis).split()) for axis in field.shape[1:]):
                raise TypeError(
                    f"{cls.__name__}.{field.name}: only the first axis may grow with the columns; "
                    f'declare a matrix flat, as ("coordinates coordinates",)'
                )


def _own_fields(kind):
    """The fields that a subclass declares."""
    return [
        entry for entry in kind.saved if isinstance(entry, Field) and entry not in LineByLine.saved
    ]


def _axes(field, sizes):
    """The shape of a field, from the sizes that it names."""
    sizes = list(sizes)
    return tuple(
        math.prod(sizes.pop(0) for _ in str(axis).split()) for axis in field.shape
    )


cdef Py_ssize_t columns_of(const Row* row) noexcept nogil:
    """One more than the last column of a row."""
    cdef Py_ssize_t columns = 0
    cdef Py_ssize_t k
    if row.ids == NULL:
        return row.n
    for k in range(row.n):
        columns = max(columns, row.ids[k] + 1)
    return columns
