"""Scale regression targets: shifted by the first one, times a power of two near 1/size.

Experts of the squared loss see targets near 1 that start at 0, so results do not depend on unit or
origin of the targets: y -> a y, a power of two, changes no bit from the second prediction on.
"""

from copy import copy

cimport cython
from libc.math cimport fabs

from unitless.core.arithmetic cimport MAX_VALUE
from unitless.core.learner cimport unit_of
from unitless.core.pointers cimport numbers_in

from unitless.state import Field, count

cdef double MAX_DIFFERENCE = 2.0**1022      # so that a difference of two targets is finite


@cython.final
cdef class TargetScaler(Stateful):
    """The origin and the unit of the targets; a unit that is given stays."""

    saved = (
        count("known", "1 once a target is known", 1),
        Field("first", "y", "the first target"),
        Field("unit", "2^k", "the factor of targets less the first; 0 until two differ", low=0),
    )

    def __init__(self, double unit=0.0):
        self.unit = unit

    def _arguments(self):
        return {"unit": self.unit}

    @property
    def factor(self):
        """Scaled targets are those given, less the first, times this."""
        return self.unit or 1.0

    def check(self, targets, weights):
        """Refuse targets whose squares would leave float64, before anything is learned."""
        cdef TargetScaler trial = copy(self)
        cdef const double* y_of = numbers_in(targets)
        cdef const double* v_of = numbers_in(weights) if weights is not None and len(weights) else NULL
        cdef Py_ssize_t row
        cdef double y
        for row in range(len(targets)):
            if v_of != NULL and v_of[row] == 0:
                continue
            y = y_of[row]
            if fabs(y) > MAX_DIFFERENCE or fabs(trial.encode(y)) > MAX_VALUE:
                raise ValueError(
                    f"row {row}: target {y:g} is too far from the first ones for the "
                    "squared loss; leave the row out, or use the absolute loss"
                )

    cdef double encode(self, double y) noexcept nogil:
        """Take in a target; returns it scaled."""
        if not self.known:
            self.known = 1.0
            self.first = y
        if not self.unit and y != self.first:
            self.unit = unit_of(y - self.first)
        return (y - self.first) * self.unit

    cdef double decode(self, double score) noexcept nogil:
        """A score in the unit of the targets given; 0 while none is known."""
        if not self.known:
            return 0.0
        return score / (self.unit or 1.0) + self.first
