"""Online Newton with the full matrix, O(d^2) per row, scale-invariant.

A Gaussian approximation to the posterior of a linear model, updated once per row. P is its
covariance; a feature enters with the prior precision lambda s2_i/n_i, where s2_i is the sum of
x_i^2 over the n_i rows since it was first nonzero::

    z = w.x;   s = x'P x
    logistic   q = sigma(z);  e = y01 - q;  c = max(q (1 - q), 1e-3);  score = z / sqrt(1 + pi s/8)
    squared    e = y - z;     c = 1;                                   score = z
    w += P x e / (1 + c s);   P -= c / (1 + c s) P x x'P

The first values of a feature say little about its size, so the prior is updated to the
current estimate whenever t has grown by a quarter (doubled, after 256 rows). A value 2^13 times as
large as all before together is treated like a first one, because weights learned at the old size
do not apply to it: its weight is forgotten, the others stay.

With softmax all classes share P; c is the mean of q (1 - q) over them, if above 1e-3. A sample
weight multiplies e and c. `gaussian` has the updates of w and P.
"""

import numpy as np

from libc.string cimport memset

from unitless.core.arithmetic cimport Room, Values, clipped, dot, fused
from unitless.core.array cimport Array, numbers, records
from unitless.core.curvature cimport curvature, mean_curvature, moderated
from unitless.core.learner cimport LEARNED, Learner
from unitless.core.losses cimport SOFTMAX, SQUARED, derivative, softmax_slopes
from unitless.core.row cimport Row, slots_of
from unitless.learners.gaussian cimport Posterior, is_out_of_range

from unitless.core.learner import COLUMNS
from unitless.core.parameters import Parameter
from unitless.state import Component, count, need

cdef double MAX_TARGET = 2.0**240       # squares of y x stay within float64
cdef double MAX_COEFFICIENT = 2.0**600
cdef double MAX_VARIANCE = 2.0**1000
cdef Py_ssize_t MAX_COORDINATES = 4096  # P then takes 128 MB


cdef inline void add_squares(Room s2, Values x, Py_ssize_t m) noexcept nogil:
    """s2 += x^2"""
    cdef Py_ssize_t i
    for i in range(m):
        s2[i] = fused(x[i], x[i], s2[i])


cdef class Newton(Learner):
    """Online Newton with a covariance matrix; uncertain scores are drawn towards 0.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Newton()))
    0.2429
    """

    name = "newton"
    invariance = "unit"
    has_classes = True
    needs_lipschitz = False
    takes_losses = ("logistic", "softmax", "squared")
    parameters = (
        Parameter("strength", 3.0, "lambda, the prior precision in units of 1 / mean(x_i^2)"),
    )
    saved = (
        *Learner.saved,
        COLUMNS,
        count("last", "the trial in which the prior was last set"),
        Component("posterior"),
    )

    def __cinit__(self, *args, **given):
        self.inside = numbers(8)
        self.far = numbers(8)
        self.far_coordinates = records("q", 8)

    def _prepare(self):
        self.last = 1.0
        self.posterior = Posterior(8, self.strength, self.classes)
        self.z = numbers(self.classes)
        self.slopes = numbers(self.classes)

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        if columns >= MAX_COORDINATES:
            with gil:
                raise ValueError(
                    f"{columns} columns: {self.name} keeps a matrix and takes fewer than "
                    f"{MAX_COORDINATES}; use 'diagonal', or 'blend'"
                )
        if columns > self.columns:
            self.posterior.resize(slots_of(columns))
            self.inside.resize(self.posterior.m)
            self.columns = columns
        return 0

    def add_class(self):
        """Add one class, whose weights are 0."""
        super().add_class()
        self.posterior.add_class()
        self.z.resize(self.classes)
        self.slopes.resize(self.classes)

    def _loaded(self):
        super()._loaded()
        need(self.columns < MAX_COORDINATES, f"{self.columns} columns are too many")
        m = self.posterior.m
        need(slots_of(self.columns) <= m, f"there is no room for {self.columns} columns")
        need(m <= MAX_COORDINATES, f"{m} coordinates are too many")
        self.inside.resize(m)

    cdef int divide(self, const Row* row) except -1 nogil:
        """`inside` is the row without the values that are out of range, `far` has those."""
        cdef const double* s2 = self.posterior.s2.at
        cdef double* inside = self.inside.at
        cdef Py_ssize_t m = self.posterior.m
        cdef Py_ssize_t k, i
        cdef bint known
        if row.slots > self.far.size:
            self.far.resize(row.slots)
            self.far_coordinates.resize(row.slots)
        memset(inside, 0, m * sizeof(double))
        self.outside = 0
        self.far_count = 0
        for k in range(row.n + 1):
            i = k if k == 0 or row.ids == NULL else 1 + row.ids[k - 1]
            known = i < m
            if is_out_of_range(row.x[k], s2[i] if known else 0.0):
                self.outside += 1
                if known:
                    self.far.at[self.far_count] = row.x[k]
                    (<long long*>self.far_coordinates.at)[self.far_count] = i
                    self.far_count += 1
            elif known:
                inside[i] = row.x[k]
        return 0

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        cdef Py_ssize_t m = self.posterior.m
        cdef Py_ssize_t k
        cdef double s, z
        self.divide(row)
        s = self.posterior.look(self.inside.at) + self.outside / self.strength
        for k in range(self.classes):
            z = dot(self.posterior.w.at + k * m, self.inside.at, m)
            self.z.at[k] = z
            scores[k] = (z if self.code == SQUARED else moderated(z, s)) + 0.0  # no -0
        return 0

    cdef int update(self, const Row* row, double y) except -1 nogil:
        cdef double* x = self.inside.at
        cdef double* e = self.slopes.at
        cdef Py_ssize_t k, i
        cdef double c
        self.t += 1
        add_squares(self.posterior.s2.at, x, self.posterior.m)
        for k in range(self.far_count):
            i = (<long long*>self.far_coordinates.at)[k]
            x[i] = self.far.at[k]
            self.posterior.initialise(i, x[i], self.t)
        if self.far_count:
            self.posterior.look(x)
        c = self.slopes_at_z(clipped(y, MAX_TARGET))
        for k in range(self.classes):
            e[k] *= -row.weight
        self.posterior.step(e, c * row.weight, 0)
        if self.posterior.is_due(self.t, self.last):
            self.posterior.refresh_prior(self.t)
            self.last = self.t
        return LEARNED

    cdef double slopes_at_z(self, double y) noexcept nogil:
        """Fill in the slopes of the loss at z; returns its curvature."""
        cdef const double* z = self.z.at
        cdef double* g = self.slopes.at
        if self.code == SOFTMAX:
            softmax_slopes(z, <int>self.classes, <int>y, g)
            return mean_curvature(g, self.classes)
        if self.code == SQUARED:
            g[0] = clipped(z[0], MAX_TARGET) - y
            return 1.0
        g[0] = derivative(self.code, 0.0, y, z[0])
        return curvature(g[0])

    def _rescale(self, columns, factors):
        m = self.posterior.m
        U = np.asarray(self.posterior.U).reshape(m, m)
        D = np.asarray(self.posterior.D)
        W = np.asarray(self.posterior.w).reshape(self.classes, m)
        s2 = np.asarray(self.posterior.s2)
        prior = np.asarray(self.posterior.prior)
        i = columns + 1
        s2[i] = s2[i] * factors * factors
        prior[i] = prior[i] * factors * factors
        # after a smaller factor the next value is out of range, whatever the weights are
        factors = np.copysign(np.maximum(np.abs(factors), 2.0**-400), factors)
        U[i] *= factors[:, None]
        with np.errstate(over="ignore"):
            U[:, i] = np.clip(U[:, i] / factors, -MAX_COEFFICIENT, MAX_COEFFICIENT)
            D[i] = np.minimum(D[i] / factors**2, MAX_VARIANCE)
            W[:, i] = np.clip(W[:, i] / factors, -MAX_COEFFICIENT, MAX_COEFFICIENT)

    def _coefficients(self):
        w = np.array(self.posterior.w).reshape(self.classes, -1)[:, : 1 + self.columns]
        return w.T if self._has_columns() else w[0]

    def _seen(self):
        return np.array(self.posterior.s2)[: 1 + self.columns] > 0

    def _root_mean_squares(self):
        return np.sqrt(np.array(self.posterior.s2)[: 1 + self.columns] / max(self.trials, 1))


cdef class Ridge(Newton):
    """Ridge regression in one pass: online Newton for the squared loss, which is exact there.

    The prior lambda mean(x_i^2) takes the place of a ridge, which would have a unit.

    >>> from sklearn.datasets import load_diabetes
    >>> from unitless.rows import as_rows
    >>> X, y = load_diabetes(return_X_y=True, scaled=False)
    >>> scores = Ridge().learn(as_rows(X, y))
    >>> print(f"{((scores - y) ** 2)[1:].mean() / y.var():.3f}")
    0.560
    """

    name = "ridge"
    has_classes = False
    default_loss = "squared"
    takes_losses = ("squared",)
    parameters = (
        Parameter("strength", 1.0, "lambda, the prior precision in units of 1 / mean(x_i^2)"),
    )
