"""Exponentiated gradient: on a ball of the 1-norm (EG), and without dimension or ball (DFEG).

>>> from unitless.testing import example_loss
>>> for learner in (Dfeg(), Eg(radius=10, horizon=569)):
...     print(learner.name, example_loss(learner))
dfeg 0.6928
eg 0.5179
"""

import math

import numpy as np

from unitless.baselines.baseline import THETA, Baseline, Trajectory, parameter
from unitless.baselines.dense import DenseLearner
from unitless.baselines.dense import loop as dense_loop
from unitless.kernels.arithmetic import dot, lane_sum
from unitless.kernels.decorators import inlined, kernel, shared
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop

H, NORM2 = 1, 2  # totals of DFEG


@inlined
def dfeg_score(parameters, totals, v, x, f, scratch):
    square = dot(x, x)
    totals[H] += max(math.sqrt(square), square)
    size = 1.0 + totals[H]
    norm = math.sqrt(max(totals[NORM2], 0.0))
    p = 0.0
    if norm > 0:
        growth = math.exp(norm / (parameters[0] * math.sqrt(size)))
        p = dot(x, f[0]) * (growth / (norm * size * math.sqrt(size)))
    return p, p


@inlined
def dfeg_step(parameters, totals, trial, x, f, scratch):
    theta = f[0]
    for k in range(x.size):
        new = theta[k] - trial.g * x[k]
        scratch[k] = (new - theta[k]) * (new + theta[k])
        theta[k] = new
    totals[NORM2] += lane_sum(scratch, x.size)


@kernel
def run_dfeg(task, parameters, block, targets, weights, scores, state):
    return loop(dfeg_score, dfeg_step, 1, task, parameters, block, targets, weights, scores, state)


class Dfeg(Baseline, Coordinatewise):
    """DFEG, dimension-free exponentiated gradient: weights that grow like exp(|theta|).

    Orabona, "Dimension-Free Exponentiated Gradient" (2013), algorithm 1, for a loss with |g| <= 1.
    With q = g x::

        H += max(|x|, |x|^2);   w = theta / |theta| H^(-3/2) exp(|theta| / (a sqrt(H)))
        p = w.x;   theta -= q

    H starts at 1, and w = 0 while theta = 0. Checked: the formula is that of the public code
    jongharyu/olo-with-side-information, where |x| = 1; w is the gradient of f(theta) = (a / H)
    exp(|theta| / (a sqrt(H))), whose conjugate is the first term of `regret_bound`, and that bound
    holds on adversarial streams (tests).
    """

    a: float = parameter(1.0, "the larger, the more careful; in the paper 0.882 to 1.109")

    name = "dfeg"
    invariance = "rotation"
    fields = (THETA,)
    totals = (
        Field("H", "1", "sum max(|x|, |x|^2), without the 1 it starts at"),
        Field("norm2", "1", "|theta|^2"),
    )
    scales_instance = True
    kernel = staticmethod(run_dfeg)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The paper's Theorem 1, for the a that it allows.

        a |u| sqrt(H) (ln(H^(3/2) |u|) - 1) + 4 e^(1 + 1/a); for small |u|, the first term is -a/H
        """
        if not 0.882 < self.a < 1.109:
            return None
        size = 1 + float(self.state.totals[0, H])
        norm = trajectory.norm()
        slope = size * math.sqrt(size) * norm
        first = -self.a / size
        if slope > 1:
            first = self.a * norm * math.sqrt(size) * (math.log(slope) - 1)
        return first + 4 * math.exp(1 + 1 / self.a)


@shared
def corner_weights(parameters, theta, active):
    """w, from theta; the features that count are `active`."""
    radius, bound, horizon = parameters
    d = active.sum()
    if d == 0:
        return np.zeros(theta.size)
    z = math.sqrt(math.log(2.0 * d) / horizon) / bound * theta  # eta U theta
    top = np.abs(z).max()
    up = np.exp(z - top)
    down = np.exp(-z - top)
    return radius / ((up + down) * active).sum() * (up - down)


@inlined
def eg_score(parameters, state, x, v, work):
    _, seen, vectors, _ = state
    return dot(corner_weights(parameters, vectors[0], (seen > 0) | (x != 0)), x)


@inlined
def eg_step(parameters, state, x, trial, work):
    theta = state[2][0]
    v, _, _, g = trial
    theta -= v * g * x


@kernel
def run_eg(parameters, loss, data, state):
    return dense_loop(eg_score, eg_step, parameters, loss, data, state)


class Eg(DenseLearner):
    """EG+-: exponentiated gradient, weights in a ball of the 1-norm.

    Kivinen and Warmuth, "Exponentiated Gradient versus Gradient Descent for Linear Predictors"
    (1997), in its lazy form. With q = g x, |u|_1 <= U, |q_i| <= X, T trials and d features::

        eta = sqrt(ln(2 d) / T) / (U X);    z_i = eta U theta_i
        w_i = U (e^z_i - e^-z_i) / sum_j (e^z_j + e^-z_j)
        p = w.x;   theta_i -= q_i

    d counts the features seen so far. Checked: `regret_bound` is that of exponential weights over
    the 2 d corners of the ball (Hoeffding's lemma), and holds on adversarial streams (tests).
    """

    radius: float = parameter(1.0, "U, the 1-norm that weights never exceed")
    bound: float = parameter(1.0, "X, at least |g x_i| for every feature in every trial")
    horizon: int = parameter(10_000, "T, the number of trials", "whole number >= 1")

    name = "eg"
    invariance = "none"
    kernel = staticmethod(run_eg)
    vectors = (THETA,)
    needs = ("radius", "bound", "horizon")

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """If |u|_1 <= U and all d features were in the first row.

        ln(2 d) / eta + eta U^2 / 2 sum_t max_i q_ti^2
        """
        seen = trajectory.features_in_first_row()
        if seen is None or not len(seen) or np.abs(trajectory.u).sum() > self.radius:
            return None
        d = len(seen)
        q = trajectory.gradient_sizes(euclidean=False)
        eta = math.sqrt(math.log(2 * d) / self.horizon) / (self.radius * self.bound)
        return math.log(2 * d) / eta + eta * self.radius**2 / 2 * float((q**2).sum())

    def _coefficients(self):
        _, seen, vectors, _ = self.state
        return corner_weights(self._parameters(), vectors[0], seen > 0)[: 1 + self._columns]
