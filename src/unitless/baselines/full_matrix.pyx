"""Baselines with a d x d matrix A = a I + sum r r', kept as U'DU and never inverted.

U has 1s on its diagonal and D is diagonal. Adding r r' is a sequence of Givens rotations without
square roots (`unitless.learners.givens`), and A z = x is two triangular systems. Both cost O(d^2)
and lose no more digits than A itself has lost. a has the unit of x^2, so units matter.

>>> from unitless.testing import example_loss
>>> for learner in (Ons(), Arow(), SecondOrderPerceptron()):
...     print(learner.name, example_loss(learner))
ons 0.3245
arow 0.3839
second_order_perceptron 0.5882
"""

import numpy as np

cimport cython
from libc.math cimport sqrt
from libc.string cimport memcpy, memset

from unitless.baselines.dense cimport DenseLearner, add_multiple, set_multiple, widen_rows
from unitless.core.arithmetic cimport Room, Values, all_finite, dot, fused
from unitless.core.array cimport Array, numbers
from unitless.core.pointers cimport numbers_in
from unitless.core.row cimport Row
from unitless.learners.givens cimport rotate

from unitless.core.parameters import Parameter
from unitless.state import Field

SIGNS = ("logistic", "hinge", "smoothed_hinge")  # losses for two classes
WEIGHTS = Field("w", "1/x", "weights", ("n",))
MATRIX = (
    Field("D", "x^2", "diagonal factor, A = U'DU", ("n",)),
    Field("U", "1", "triangular factor, row after row, right of its diagonal of 1s", ("n n",)),
)


cdef inline void subtract_column(Room z, double zk, Values U_k, Py_ssize_t n) noexcept nogil:
    """z -= z_k U_k"""
    cdef Py_ssize_t j
    for j in range(n):
        z[j] = fused(-zk, U_k[j], z[j])


cdef class FullMatrixLearner(DenseLearner):
    """Base of the baselines with a d x d matrix, which starts as a times the identity."""

    max_columns = 2000
    saved = (*DenseLearner.saved, WEIGHTS, *MATRIX)

    def __cinit__(self, *args, **given):
        self.a = 1.0
        self.U = numbers(0)
        self.D = numbers(0)
        self.rotated = numbers(0)
        self.zeros = numbers(0)
        self.ignored = numbers(0)

    cdef int widen(self, Py_ssize_t n) except -1 nogil:
        cdef Py_ssize_t old = self.n
        cdef Py_ssize_t k
        self.U.resize(n * n)
        widen_rows(self.U, old, old, n)
        memset(self.U.at + old * n, 0, (n - old) * n * sizeof(double))
        self.D.resize(n)
        for k in range(old, n):
            self.D.at[k] = self.a
        return DenseLearner.widen(self, n)

    cdef int make_room(self) except -1 nogil:
        self.rotated.resize(self.n)
        self.zeros.resize(self.n)
        self.ignored.resize(self.n)
        return DenseLearner.make_room(self)

    cdef bint is_finite(self) noexcept nogil:
        return (
            all_finite(self.w.at, self.n)
            and all_finite(self.D.at, self.n)
            and all_finite(self.U.at, self.n * self.n)
        )

    cdef int add(self, const double* r, double root) except -1 nogil:
        cdef Py_ssize_t n = self.n
        set_multiple(self.rotated.at, root, r, n)
        memset(self.zeros.at, 0, n * sizeof(double))
        rotate(
            self.U.at, n, self.D.at, self.zeros.at, n,
            self.rotated.at, n, 0.0, self.ignored.at, True,
        )
        return 0

    cdef double solve(self, const double* x, double* z) noexcept nogil:
        """z = A^-1 x; returns x'z, a sum of squares."""
        cdef const double* U = self.U.at
        cdef const double* D = self.D.at
        cdef Py_ssize_t n = self.n
        cdef Py_ssize_t k, j
        cdef double form = 0.0
        cdef double share, rest
        memcpy(z, x, n * sizeof(double))
        for k in range(n):
            subtract_column(z + k + 1, z[k], U + k * n + k + 1, n - k - 1)
        for k in range(n):
            share = z[k] / D[k]
            form = fused(z[k], share, form)
            z[k] = share
        for k in range(n - 1, -1, -1):
            rest = z[k]
            for j in range(k + 1, n):
                rest = fused(-U[k * n + j], z[j], rest)
            z[k] = rest
        return form


@cython.final
cdef class Ons(FullMatrixLearner):
    """ONS: the online Newton step, for exp-concave losses.

    Hazan, Agarwal, Kale, "Logarithmic Regret Algorithms for Online Convex Optimization" (2007),
    without the projection on a bounded domain. With q = g x::

        A += q q',  A = eps I at the start;   w -= A^-1 q / gamma;   p = w.x

    Checked: the inequality from which the paper's theorem follows, sum q.(w - u) <= gamma/2 (sum
    (q.(w - u))^2 + eps |u|^2) + sum q'A^-1 q / (2 gamma), holds for every u (tests).
    """

    name = "ons"
    needs_lipschitz = False
    inverse_rate = "gamma"
    parameters = (
        Parameter("gamma", 1.0, "the inverse of a learning rate"),
        Parameter("a", 1.0, "eps: A = eps I at the start"),
    )

    cdef public double gamma

    cdef int learn_row(self, const double* x, double v, double y, double g) except -1 nogil:
        cdef double* q = self.q.at
        cdef double* step = self.direction.at
        cdef Py_ssize_t j
        if g == 0:
            return 0
        set_multiple(q, v * g, x, self.n)
        self.add(q, 1.0)
        self.solve(q, step)
        for j in range(self.n):
            self.w.at[j] = self.w.at[j] - step[j] / self.gamma
        return 0


@cython.final
cdef class Arow(FullMatrixLearner):
    """AROW: a Gaussian distribution over the weights, changed as little as a margin of 1 needs.

    Crammer, Kulesza, Dredze, "Adaptive Regularization of Weight Vectors" (2009). With m = y w.x
    and the covariance P = A^-1::

        p = w.x;   if m < 1:   c = 1 / (x'P x + r);   w += c (1 - m) y P x;   P -= c P x x'P

    The state has A, first the identity, because P's update is A += x x'/r (Sherman and Morrison).
    Of the loss only its signs matter. A sample weight divides r. Checked: the step minimises the
    paper's objective, the divergence of the new distribution from the old plus (max(0, 1 - y w.x)^2
    + x'P x) / (2 r), because A_old (w - w_old) = y x max(0, 1 - y w.x) / r (tests).
    """

    name = "arow"
    takes_losses = SIGNS
    parameters = (Parameter("r", 1.0, "the larger, the shorter the steps"),)

    cdef public double r

    cdef int learn_row(self, const double* x, double v, double y, double g) except -1 nogil:
        cdef double* Px = self.direction.at
        cdef double r = self.r / v
        cdef double m = y * self.p
        cdef double form
        if m < 1:
            form = self.solve(x, Px)
            add_multiple(self.w.at, (1.0 - m) * y / (form + r), Px, self.n)
            self.add(x, 1.0 / sqrt(r))
        return 0


@cython.final
cdef class SecondOrderPerceptron(FullMatrixLearner):
    """The second-order perceptron, which whitens the rows on which it made mistakes.

    Cesa-Bianchi, Conconi, Gentile, "A Second-Order Perceptron Algorithm" (2005)::

        p = b'(A + x x')^-1 x;   if y p <= 0:  A += x x',  b += y x        A = a I at the start

    Of the loss only its signs matter. A sample weight multiplies x x' and y x. Checked: (A + x
    x')^-1 x = A^-1 x / (1 + x'A^-1 x), the form used here; p is the prediction of ridge regression
    on the rows it has erred on and x itself with target 0 (tests).
    """

    name = "second_order_perceptron"
    takes_losses = SIGNS
    linear = False
    parameters = (Parameter("a", 1.0, "A = a I at the start"),)
    saved = (
        *DenseLearner.saved, Field("w", "x", "sum over mistakes, b = sum y x", ("n",)), *MATRIX
    )

    cdef double predict_row(self, const Row* row, const double* x) noexcept nogil:
        cdef const double* b = self.w.at
        cdef double* z = self.direction.at
        cdef double form = self.solve(x, z)
        cdef Py_ssize_t k, i
        for k in range(1, row.n + 1):  # columns that are not known yet
            i = k if row.ids == NULL else 1 + row.ids[k - 1]
            if i >= self.n:
                form = fused(row.x[k], row.x[k] / self.a, form)
        return dot(b, z, self.n) / (1.0 + row.weight * form)

    cdef int learn_row(self, const double* x, double v, double y, double g) except -1 nogil:
        cdef double* b = self.w.at
        if y * self.p <= 0:
            self.add(x, sqrt(v))
            add_multiple(b, v * y, x, self.n)
        return 0

    def _coefficients(self):
        """A^-1 b."""
        w = np.empty(self.n)
        self.solve(self.w.at, numbers_in(w))
        return np.nan_to_num(w[: 1 + self.columns])
