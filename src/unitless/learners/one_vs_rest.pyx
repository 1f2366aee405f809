"""Multiclass classification with one learner per class, coupled by the softmax loss.

The cross-entropy's derivative in the score of class c is softmax(p)_c - [y = c], within [-1, 1]. So
each learner faces linear losses, as in the paper, and its theorem holds for each class.
"""

from inspect import signature

import numpy as np

from unitless.core.array cimport Array, numbers
from unitless.core.learner cimport LEARNED, NOT_FINITE, GradientLearner, Learner
from unitless.core.losses cimport kept_slope, softmax_slopes
from unitless.core.row cimport Row

from unitless.core.learner import COLUMNS
from unitless.state import Component, Fact, need


def with_classes(kind, classes, **settings):
    """Make a learner with one score per class: its own form, or one learner per class.

    >>> from unitless.learners import Newton, Coordinate
    >>> with_classes(Newton, 3).name, with_classes(Coordinate, 3).name
    ('newton', 'one_vs_rest')
    """
    try:
        if "classes" in signature(kind).parameters:
            return kind("softmax", classes=classes, **settings)
        return OneVsRest(kind, classes=classes, **settings)
    except ValueError as error:
        raise ValueError(
            f"{kind.name} supports only two classes ({error}); use 'blend' or 'coordinate'"
        ) from error


cdef class OneVsRest(Learner):
    """One learner per class, coupled by the gradients of the softmax loss.

    Parameters
    ----------
    kind : type of a learner that is driven by slopes
    classes : int
    settings
        Parameters of each learner: alpha, wealth, ...

    Examples
    --------
    >>> from unitless.learners import Full
    >>> from unitless.rows import as_rows
    >>> learner = OneVsRest(Full, classes=3)
    >>> scores = learner.learn(as_rows([[1.0], [2.0], [3.0], [1.0]], [0, 1, 2, 0]))
    >>> scores.argmax(axis=1)
    array([0, 0, 1, 0])
    """

    name = "one_vs_rest"
    has_classes = True
    needs_lipschitz = False
    saved = (*Learner.saved, COLUMNS, Component("learners"))

    cdef readonly object kind
    cdef readonly dict settings
    cdef readonly list learners
    cdef Array members          # pointers to the learners, for code without the GIL
    cdef Array slopes           # of each class

    def __init__(self, kind, *, classes, intercept=True, **settings):
        if not (issubclass(kind, GradientLearner) and kind.takes_slopes):
            raise ValueError(f"{kind.name} does not learn from slopes")
        self.kind = kind
        self.settings = settings
        self.intercept = bool(intercept)
        self.learners = [self._one() for _ in range(classes)]
        self._set_loss("softmax", intercept, classes)
        self._point()

    def _one(self):
        return self.kind("softmax", intercept=self.intercept, **self.settings)

    def _point(self):
        """Take the addresses of the learners."""
        cdef Py_ssize_t c
        self.members = Array("P", len(self.learners))
        self.slopes = numbers(2 * len(self.learners))
        for c in range(len(self.learners)):
            (<void**>self.members.at)[c] = <void*>self.learners[c]

    def _arguments(self):
        own = {"kind": self.kind, "classes": self.classes, "intercept": self.intercept}
        return own | self.settings

    @property
    def invariance(self):
        """The invariance of the learners."""
        return self.kind.invariance

    @property
    def linear(self):
        """Whether the scores of the learners are linear in x."""
        return self.kind.linear

    @property
    def symmetric(self):
        """Whether signs and order of the columns matter to no learner."""
        return self.kind.symmetric

    @property
    def scales_instance(self):
        """Whether a sample weight multiplies the row."""
        return self.kind.scales_instance

    def weigh_gradients(self):
        """See `Learner.weigh_gradients`."""
        self.weighs_gradients = True
        for learner in self.learners:
            learner.weigh_gradients()

    def add_class(self):
        """Add one class, whose score starts at 0."""
        super().add_class()
        self.learners.append(self._one())
        if self.weighs_gradients:
            self.learners[-1].weigh_gradients()
        self.learners[-1]._reserve(self.columns)
        self._point()

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        cdef void** members = <void**>self.members.at
        cdef Py_ssize_t c
        for c in range(self.classes):
            (<Learner>members[c]).reserve(columns)
        self.columns = max(self.columns, columns)
        return 0

    def _reserve(self, Py_ssize_t columns):
        for learner in self.learners:
            learner._reserve(columns)
        super()._reserve(columns)

    def _loaded(self):
        super()._loaded()
        for learner in self.learners:
            need(learner.columns >= self.columns, f"no room for {self.columns} columns")
            need(not len(learner.units), "a learner of a class has units of its own")

    def _seen(self):
        return np.any([learner._seen() for learner in self.learners], axis=0)

    def _rescale(self, columns, factors):
        for learner in self.learners:
            learner._rescale(columns, factors)

    def _root_mean_squares(self):
        return self.learners[0]._root_mean_squares()

    cdef void expect(self, const int* ids, Py_ssize_t n) noexcept nogil:
        cdef void** members = <void**>self.members.at
        cdef Py_ssize_t c
        for c in range(self.classes):
            (<Learner>members[c]).expect(ids, n)

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        cdef void** members = <void**>self.members.at
        cdef Py_ssize_t c
        for c in range(self.classes):
            (<Learner>members[c]).score(row, scores + c)
        return 0

    cdef int begin(self, const Row* row, double* scores) except -1 nogil:
        cdef void** members = <void**>self.members.at
        cdef Py_ssize_t c
        for c in range(self.classes):
            (<Learner>members[c]).begin(row, scores + c)
        return 0

    cdef int update(self, const Row* row, double y) except -1 nogil:
        cdef void** members = <void**>self.members.at
        cdef double* p = self.slopes.at
        cdef double* g = self.slopes.at + self.classes
        cdef Py_ssize_t c
        cdef double slope
        cdef int outcome = LEARNED
        for c in range(self.classes):
            p[c] = (<GradientLearner>members[c]).p
        softmax_slopes(p, <int>self.classes, <int>y, g)
        for c in range(self.classes):
            slope = kept_slope(g[c])
            if (<GradientLearner>members[c]).scales_row and self.weighs_gradients:
                slope *= row.weight
            outcome |= (<GradientLearner>members[c]).step(row, 1.0 if c == y else -1.0, slope)
        self.t += 1
        return outcome
