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

import math
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from unitless.baselines.baseline import parameter
from unitless.baselines.dense import MARGIN, DenseLearner, DenseState, loop
from unitless.kernels.arithmetic import dot
from unitless.kernels.decorators import inlined, kernel, subroutine
from unitless.kernels.simd import fma
from unitless.learners.base import Field
from unitless.learners.givens import rotate

SIGNS = ("logistic", "hinge", "smoothed_hinge")  # losses for two classes
WEIGHTS = Field("w", "1/x", "weights")
DIAGONAL = Field("D", "x^2", "D of A = U'DU; the matrix is U, right of its diagonal of 1s")


@subroutine
def add(parameters, state, r, root, work):
    """A += root^2 r r'; three rows of `work` are used."""
    _, _, vectors, U = state
    n = r.size - MARGIN
    w = work[0, :n]
    zeros = work[1, :n]
    ignored = work[2, :n]
    w[:] = root * r[:n]
    zeros[:] = 0.0
    rotate(U, vectors[1], zeros, w, (1.0, 0.0), n, ignored, True)


@subroutine
def solve(parameters, state, x, z):
    """z = A^-1 x; returns x'z, a sum of squares."""
    _, _, vectors, U = state
    D = vectors[1]
    n = x.size - MARGIN
    z[:] = x
    for k in range(n):
        for j in range(k + 1, n):
            z[j] = fma(-z[k], U[k, j], z[j])
    form = 0.0
    for k in range(n):
        share = z[k] / D[k]
        form = fma(z[k], share, form)
        z[k] = share
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            z[k] = fma(-U[k, j], z[j], z[k])
    return form


class FullMatrixLearner(DenseLearner):
    """Base of the baselines with a d x d matrix, which starts as a times the identity."""

    vectors: ClassVar[tuple[Field, ...]] = (WEIGHTS, DIAGONAL)
    max_columns: ClassVar[float] = 2000
    a: float

    def _shape(self, coordinates: int) -> tuple[int, int]:
        return 1, coordinates

    def _fresh(self, coordinates: int) -> DenseState:
        state = super()._fresh(coordinates)
        state.vectors[1, :coordinates] = self.a
        return state


@inlined
def linear_score(parameters, state, x, v, work):
    return dot(state[2][0], x)


@inlined
def ons_step(parameters, state, x, trial, work):
    gamma, _ = parameters
    w = state[2][0]
    v, _, _, g = trial
    q = work[0]
    step = work[1]
    if g == 0:
        return
    q[:] = v * g * x
    add(parameters, state, q, 1.0, work[2:])
    solve(parameters, state, q, step)
    w -= step / gamma


@kernel
def run_ons(parameters, loss, data, state):
    return loop(linear_score, ons_step, parameters, loss, data, state)


class Ons(FullMatrixLearner):
    """ONS: the online Newton step, for exp-concave losses.

    Hazan, Agarwal, Kale, "Logarithmic Regret Algorithms for Online Convex Optimization" (2007),
    without the projection on a bounded domain. With q = g x::

        A += q q',  A = eps I at the start;   w -= A^-1 q / gamma;   p = w.x

    Checked: the inequality from which the paper's theorem follows, sum q.(w - u) <= gamma/2 (sum
    (q.(w - u))^2 + eps |u|^2) + sum q'A^-1 q / (2 gamma), holds for every u (tests).
    """

    gamma: float = parameter(1.0, "the inverse of a learning rate")
    a: float = parameter(1.0, "eps: A = eps I at the start")

    name = "ons"
    kernel = staticmethod(run_ons)
    needs_lipschitz = False
    inverse_rate = "gamma"


@inlined
def arow_step(parameters, state, x, trial, work):
    w = state[2][0]
    v, y, p, _ = trial
    r = parameters[0] / v
    margin = y * p
    if margin < 1:
        Px = work[0]
        form = solve(parameters, state, x, Px)
        w += (1 - margin) * y / (form + r) * Px
        add(parameters, state, x, 1 / math.sqrt(r), work[1:])


@kernel
def run_arow(parameters, loss, data, state):
    return loop(linear_score, arow_step, parameters, loss, data, state)


class Arow(FullMatrixLearner):
    """AROW: a Gaussian distribution over the weights, changed as little as a margin of 1 needs.

    Crammer, Kulesza, Dredze, "Adaptive Regularization of Weight Vectors" (2009). With m = y w.x
    and the covariance P = A^-1::

        p = w.x;   if m < 1:   c = 1 / (x'P x + r);   w += c (1 - m) y P x;   P -= c P x x'P

    The state has A, first the identity, because P's update is A += x x'/r (Sherman and Morrison).
    Of the loss only its signs matter. A sample weight divides r. Checked: the step minimises the
    paper's objective, the divergence of the new distribution from the old plus (max(0, 1 - y w.x)^2
    + x'P x) / (2 r), because A_old (w - w_old) = y x max(0, 1 - y w.x) / r (tests).
    """

    takes_losses = SIGNS
    r: float = parameter(1.0, "the larger, the shorter the steps")

    name = "arow"
    kernel = staticmethod(run_arow)
    a: float = 1.0


@inlined
def perceptron_score(parameters, state, x, v, work):
    z = work[0]  # A^-1 x
    form = solve(parameters, state, x, z)
    return dot(state[2][0], z) / (1.0 + v * form)


@inlined
def perceptron_step(parameters, state, x, trial, work):
    b = state[2][0]
    v, y, p, _ = trial
    if y * p <= 0:
        add(parameters, state, x, math.sqrt(v), work)
        b += v * y * x


@kernel
def run_perceptron(parameters, loss, data, state):
    return loop(perceptron_score, perceptron_step, parameters, loss, data, state)


class SecondOrderPerceptron(FullMatrixLearner):
    """The second-order perceptron, which whitens the rows on which it made mistakes.

    Cesa-Bianchi, Conconi, Gentile, "A Second-Order Perceptron Algorithm" (2005)::

        p = b'(A + x x')^-1 x;   if y p <= 0:  A += x x',  b += y x        A = a I at the start

    Of the loss only its signs matter. A sample weight multiplies x x' and y x. Checked: (A + x
    x')^-1 x = A^-1 x / (1 + x'A^-1 x), the form used here; p is the prediction of ridge regression
    on the rows it has erred on and x itself with target 0 (tests).
    """

    takes_losses = SIGNS
    a: float = parameter(1.0, "A = a I at the start")

    name = "second_order_perceptron"
    kernel = staticmethod(run_perceptron)
    linear = False
    vectors = (Field("b", "x", "sum y x over mistakes"), DIAGONAL)

    def _coefficients(self):
        """A^-1 b."""
        _, seen, vectors, matrix = self.state
        n = len(seen) - MARGIN
        b, D = vectors[:, :n]
        U = matrix[:, :n]
        z = solve_triangular(U, b, trans="T", unit_diagonal=True)
        w = solve_triangular(U, z / D, unit_diagonal=True)
        return np.nan_to_num(w[: 1 + self._columns])
