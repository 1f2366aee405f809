"""Base of the baselines that work on the whole vector or on a d x d matrix.

Such a baseline implements methods of the row x by coordinate, x[0] being the constant::

    predict_row(row, x)         the score; changes nothing that is kept
    learn_row(x, v, y, g)       sample weight, target and g = loss'(y, p) / L; t counts this trial
    widen(n)                    make room for n coordinates
    is_finite()                 whether the state is finite; else the row is refused

A column without a nonzero value changes no bit of a score: its entries are exact zeros.
"""

from libc.string cimport memset

from unitless.core.arithmetic cimport all_finite, clipped, dot
from unitless.core.array cimport numbers
from unitless.core.learner cimport LEARNED, NOT_FINITE, GradientLearner
from unitless.core.losses cimport LARGEST
from unitless.core.row cimport Row, slots_of

from unitless.core.learner import COLUMNS
from unitless.state import need


cdef class DenseLearner(GradientLearner):
    """Base of the baselines with a dense vector or matrix."""

    invariance = "rotation"
    needs = ()
    """Names of the parameters whose right values are known only in hindsight."""
    inverse_rate = ""
    """Name of the parameter that is the inverse of a learning rate, if there is one."""
    max_columns = 2**31 - 1
    saved = (*GradientLearner.saved, COLUMNS)

    def __cinit__(self, *args, **given):
        self.w = numbers(0)
        self.dense = numbers(0)
        self.q = numbers(0)
        self.direction = numbers(0)

    def _prepare(self):
        self.widen(8)

    def regret_bound(self, trajectory):
        """The largest possible regret against u, in units of L; None where no bound applies."""
        return None

    def _sizes(self):
        return super()._sizes() | {"n": len(self.w)}

    def _loaded(self):
        super()._loaded()
        n = len(self.w)
        need(n % 8 == 0, f"{n} coordinates are not whole lanes")
        need(slots_of(self.columns) <= n, f"there is no room for {self.columns} columns")
        need(n <= slots_of(self.max_columns), f"{n} coordinates are too many")
        self.n = n
        self.make_room()

    def _coefficients(self):
        return self.read("w")[: 1 + self.columns]

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        if columns > self.columns:
            with gil:
                self._check_columns(columns)
            if slots_of(columns) > self.n:
                self.widen(slots_of(columns))
            self.columns = columns
        return 0

    def _check_columns(self, columns):
        if columns > self.max_columns:
            raise ValueError(
                f"{columns} columns: {self.name} keeps a matrix with one row per column and takes "
                f"at most {self.max_columns}; use 'oja_son' or 'fd_son', which keep a few rows"
            )

    cdef int widen(self, Py_ssize_t n) except -1 nogil:
        """Have room for n coordinates, more than before."""
        self.w.resize(n)
        self.n = n
        return self.make_room()

    cdef int make_room(self) except -1 nogil:
        """Room for a row of n coordinates."""
        self.dense.resize(self.n)
        self.q.resize(self.n)
        self.direction.resize(self.n)
        return 0

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        cdef double* x = self.dense.at
        cdef Py_ssize_t k, i
        memset(x, 0, self.n * sizeof(double))
        for k in range(row.n + 1):
            i = k if k == 0 or row.ids == NULL else 1 + row.ids[k - 1]
            if i < self.n:
                x[i] = row.x[k]
        self.p = self.predict_row(row, x)
        # 0 where terms of both signs overflow
        scores[0] = clipped(self.p, LARGEST) + 0.0 if self.p == self.p else 0.0
        return 0

    cdef int step(self, const Row* row, double y, double g) except -1 nogil:
        self.t += 1
        self.learn_row(self.dense.at, row.weight, y, g)
        return LEARNED if self.is_finite() else NOT_FINITE

    cdef double predict_row(self, const Row* row, const double* x) noexcept nogil:
        """w.x, unless a class predicts otherwise."""
        return dot(self.w.at, x, self.n)

    cdef int learn_row(self, const double* x, double v, double y, double g) except -1 nogil:
        """Learn a row of sample weight v, whose loss has the slope g at p."""
        return 0

    cdef bint is_finite(self) noexcept nogil:
        return all_finite(self.w.at, self.n)

    cdef double solve(self, const double* x, double* z) noexcept nogil:
        """z = A^-1 x; returns x'z."""
        return 0.0

    cdef int add(self, const double* r, double root) except -1 nogil:
        """A += root^2 r r'"""
        return 0
