"""EG+-: exponentiated gradient, weights in a ball of the 1-norm.

Kivinen and Warmuth, "Exponentiated Gradient versus Gradient Descent for Linear Predictors"
(1997), in its lazy form. With q = g x, |u|_1 <= U, |q_i| <= X, T trials and d features::

    eta = sqrt(ln(2 d) / T) / (U X);    z_i = eta U theta_i
    w_i = U (e^z_i - e^-z_i) / sum_j (e^z_j + e^-z_j)
    p = w.x;   theta_i -= q_i

d counts the features seen so far. Checked: `regret_bound` is that of exponential weights over the
2 d corners of the ball (Hoeffding's lemma), and holds on random and adversarial streams (tests).
A sample weight multiplies g.

===== ========== ================ =====
paper field      meaning          unit
===== ========== ================ =====
theta vectors[0] -sum q_i         [x_i]
===== ========== ================ =====

The ball adds weights of different units, so units matter, and so do rotations.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from unitless.baselines.declared_parameters import count, positive
from unitless.baselines.dense import DenseLearner, add_multiple, dot, loop
from unitless.baselines.trajectory import Trajectory
from unitless.kernels.arithmetic import exp, lane_sum
from unitless.kernels.decorators import inlined, kernel


@inlined
def corner_weights(parameters, theta, seen, x, w, total):
    """w, from theta; coordinates that are 0 in x and in all rows before do not count."""
    radius, bound, horizon = parameters
    d = 0
    for j in range(x.size):
        d += seen[j] > 0 or x[j] != 0
    if d == 0:
        w[:] = 0.0
        return
    scale = math.sqrt(math.log(2.0 * d) / horizon) / bound  # eta U
    top = 0.0
    for j in range(x.size):
        top = max(top, abs(scale * theta[j]))
    for j in range(x.size):
        up = exp(scale * theta[j] - top)
        down = exp(-scale * theta[j] - top)
        w[j] = up - down
        total[j] = up + down if seen[j] > 0 or x[j] != 0 else 0.0
    factor = radius / lane_sum(total, total.size)
    for j in range(x.size):
        w[j] *= factor


@inlined
def predict(parameters, state, x, v, work):
    _, seen, vectors, _ = state
    w = work[0]
    corner_weights(parameters, vectors[0], seen, x, w, work[1])
    return dot(w, x)


@inlined
def update(parameters, state, x, trial, work):
    _, _, vectors, _ = state
    v, _, _, g = trial
    add_multiple(-(v * g), x, vectors[0])


@kernel
def run(parameters, loss, block, targets, weights, scores, state, work):
    return loop(predict, update, parameters, loss, block, targets, weights, scores, state, work)


@kernel
def current_weights(parameters, theta, seen, w):
    """w = the weights of the next trial, of coordinates seen before it."""
    corner_weights(parameters, theta, seen, np.zeros(w.size), w, np.empty(w.size))


def regret_bound(rate: float, radius: float, features: int, largest: ArrayLike) -> float:
    """The most that EG+- can lose against any u with |u|_1 <= radius, from its max_i |q_ti|.

    ln(2 d) / eta + eta U^2 / 2 sum_t max_i q_ti^2; all d features must come in the first row.

    >>> print(f"{regret_bound(0.1, 1.0, 5, [1.0] * 100):.2f}")
    28.03
    """
    q = np.asarray(largest, dtype=np.float64)
    return math.log(2 * features) / rate + rate * radius**2 / 2 * float((q**2).sum())


class Eg(DenseLearner):
    """EG+- of Kivinen and Warmuth.

    >>> from unitless.baselines import example_loss
    >>> example_loss(Eg(radius=10, horizon=569))
    '0.5179'
    """

    radius: float = positive(1.0, "U, the 1-norm that weights never exceed")
    bound: float = positive(1.0, "X, at least |g x_i| for every feature in every trial")
    horizon: int = count(10_000, "T, the number of trials")

    name = "eg"
    invariance = "none"
    run = staticmethod(run)
    vectors = ("theta",)
    needs = ("radius", "bound", "horizon")

    def eta(self, features: int) -> float:
        """eta, for that many features."""
        return math.sqrt(math.log(2 * features) / self.horizon) / (self.radius * self.bound)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """`regret_bound`, if u is in the ball and all features came in the first row."""
        features = len(trajectory.features_seen())
        inside = np.abs(trajectory.u).sum() <= self.radius
        if not inside or not features or not trajectory.all_features_in_first_row():
            return None
        largest = trajectory.gradient_sizes(euclidean=False)
        return regret_bound(self.eta(features), self.radius, features, largest)

    def _coefficients(self):
        w = np.empty(len(self.state.seen))
        current_weights(self._parameters(), self.state.vectors[0], self.state.seen, w)
        return w[: 1 + self._columns]
