"""VAW: online least squares, invariant to linear maps of the features and units of the target.

The forecaster of Vovk (2001) and of Azoury and Warmuth (2001), unregularised::

    S += x x';   p = x' S^+ b;   b += y x

It is for the squared loss what Algorithm 2 is for Lipschitz losses: with the exponential there
replaced by 1 and slopes g = -y, h is b. So S and b are kept as in `full`, and p = -al ql.

The targets are measured from the first one, predictions are clipped to the range of those seen, and
the very first prediction is 0. A sample weight v multiplies the row's square: (x, y) enters as
sqrt(v) (x, y).
"""

import numpy as np

cimport cython
from libc.math cimport fabs, sqrt

from unitless.core.arithmetic cimport MAX_VALUE, clipped
from unitless.core.learner cimport LEARNED, unit_of
from unitless.core.losses cimport LARGEST
from unitless.core.row cimport Row
from unitless.learners.givens cimport Rest
from unitless.learners.triangular_factor cimport FactorLearner

from unitless.state import Field, count


@cython.final
cdef class Vaw(FactorLearner):
    """The forecaster of Vovk, Azoury and Warmuth: least squares, for the squared loss.

    >>> from sklearn.datasets import load_diabetes
    >>> from unitless.rows import as_rows
    >>> X, y = load_diabetes(return_X_y=True)
    >>> rows = as_rows(X, y)
    >>> learner = Vaw()
    >>> print(f"{learner.loss.value(y, learner.learn(rows)).mean() / y.var():.3f}")
    0.559
    """

    name = "vaw"
    target_invariance = "affine"
    needs_lipschitz = False
    default_loss = "squared"
    takes_losses = ("squared",)
    saved = (
        *FactorLearner.saved,  # S = U'DU and b = U'Dz
        Field("first", "y", "the first target"),
        Field("unit", "2^k", "a power of two near 1/|y - first|; 0 while that is 0"),
        Field("low", "y", "the lowest target"),
        Field("high", "y", "the highest target"),
    )

    cdef public double first
    cdef public double unit
    cdef public double low
    cdef public double high

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        cdef double v = self._scale(row)
        cdef Rest rest
        self.p = 0.0  # as for every row with a new direction
        if self.factor.load(row, v, False):
            rest = self.factor.add(False, self.t)
            self.p = -rest.delta * rest.we * rest.wz * (1.0 / v)
        scores[0] = self._in_own_range(self.p)
        return 0

    cdef int begin(self, const Row* row, double* scores) except -1 nogil:
        cdef double v = self._scale(row)
        cdef Rest rest

        # S += x x'
        self.factor.load(row, v, True)
        rest = self.factor.add(True, self.t)

        # p = x' S^+ b
        self.p = -rest.delta * rest.we * rest.wz * (1.0 / v)
        scores[0] = self._in_own_range(self.p)
        return 0

    cdef int update(self, const Row* row, double y) except -1 nogil:
        cdef double root = sqrt(row.weight)
        cdef double g
        self._see(y)

        # b += y x
        g = -self._in_unit(y) * root
        self.factor.move(g * root if self.weighs_gradients else g)

        self.t += 1
        return LEARNED

    cdef double _scale(self, const Row* row) noexcept nogil:
        """The factor of the row, from its sample weight."""
        return 1.0 if self.weighs_gradients else sqrt(row.weight)

    cdef double _in_own_range(self, double p) noexcept nogil:
        """A prediction in the unit of the target, from one that counts from the first target."""
        if self.t == 0:
            return 0.0
        p = self.first + p / (self.unit or 1.0)
        if p != p:
            return 0.0  # of a state that no stream leads to
        return min(max(p, self.low), self.high) + 0.0  # no -0

    cdef double _in_unit(self, double y) noexcept nogil:
        """A target from the first one on, in its unit."""
        return y * self.unit - self.first * self.unit

    cdef void _see(self, double y) noexcept nogil:
        """Take in a target's size: choose the unit, or another one if it has outgrown that."""
        cdef double* z = self.factor.z.at
        cdef double deviation, unit
        cdef Py_ssize_t k
        if self.t == 0:
            self.first = y
            self.low = y
            self.high = y
        self.low = min(self.low, y)
        self.high = max(self.high, y)
        deviation = clipped(y - self.first, LARGEST)
        if deviation == 0:
            return
        if self.unit == 0:
            self.unit = unit_of(deviation)
        elif fabs(self._in_unit(y)) > MAX_VALUE:
            unit = unit_of(deviation)
            for k in range(self.factor.rank):
                z[k] *= unit / self.unit
            self.unit = unit

    def _coefficients(self):
        """S^+ b by coordinate, and the first target; clipping is left out."""
        with np.errstate(over="ignore"):
            w = self.factor.solution() / (self.unit or 1.0)
        w[0] += self.first
        return np.clip(w, -LARGEST, LARGEST)
