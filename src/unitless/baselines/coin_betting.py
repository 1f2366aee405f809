"""Coin betting: what is bet grows with what was won, so that no learning rate has to be tuned.

>>> from unitless.testing import example_loss
>>> for learner in (Kt(bound=31**0.5), Coin(), Pistol(), RewardDoubling()):
...     print(learner.name, example_loss(learner))
kt 0.6834
coin 0.3729
pistol 0.5162
reward_doubling 0.6746
"""

import math

import numpy as np

from unitless.baselines.baseline import THETA, B, Baseline, Trajectory, descend, parameter
from unitless.kernels.arithmetic import dot, exp, lane_sum
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import fma
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.learners.scinol import MAX_WEALTH

Q = Field("Q", "|x|", "sum |q_i|")
REWARD = 1  # total of KT
FEATURES = 1  # total of reward doubling
MAX_EXPONENT = 600.0  # of PiSTOL: gradients chosen by a caller could make it arbitrarily large


@inlined
def kt_score(parameters, totals, v, x, f, scratch):
    wealth = parameters[0]
    bound = parameters[1]
    bet = (wealth + totals[REWARD]) / (bound * bound * totals[T])
    p = dot(x, f[0]) * bet
    return p, p


@inlined
def kt_step(parameters, totals, trial, x, f, scratch):
    descend(parameters, totals, trial, x, f, scratch)
    totals[REWARD] -= trial.v * trial.g * trial.p


@kernel
def run_kt(task, parameters, block, targets, weights, scores, state):
    return loop(kt_score, kt_step, 1, task, parameters, block, targets, weights, scores, state)


class Kt(Baseline, Coordinatewise):
    """KT: coin betting with the estimator of Krichevsky and Trofimov, for the whole vector.

    Orabona and Pal, "Coin Betting and Parameter-Free Online Learning" (2016), algorithm 1. With
    q = g x, |q| <= L, and initial wealth eps::

        w = theta / (L^2 t) (eps + R);   p = w.x;   theta -= q;   R -= q.w

    Checked: by scaling the paper's L = 1 (q/L, with wealth eps/L); against the public codes
    parameterfree and jongharyu/olo-with-side-information; and `regret_bound` on adversarial streams
    (tests).
    """

    wealth: float = parameter(1.0, "eps, the most that can be lost against u = 0")
    bound: float = parameter(1.0, "L, at least |g x|, the constant in x included, in every trial")

    name = "kt"
    invariance = "rotation"
    fields = (THETA,)
    totals = (Field("R", "1", "-sum q.w, the reward"),)
    needs = ("bound",)
    bound_is_euclidean = True
    kernel = staticmethod(run_kt)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The paper's corollary 5, if L was large enough.

        L |u| sqrt(T ln(1 + 24 T^2 L^2 |u|^2 / eps^2)) + eps (1 - 1 / (e sqrt(pi T)))
        """
        if trajectory.gradient_sizes().max(initial=0) > self.bound:
            return None
        trials = max(len(trajectory.g), 1)
        size = self.bound * trajectory.norm()
        growth = math.sqrt(trials * math.log1p(24 * (trials * size / self.wealth) ** 2))
        return size * growth + self.wealth * (1 - 1 / (math.e * math.sqrt(math.pi * trials)))


@inlined
def coin_score(parameters, totals, v, x, f, scratch):
    wealth = parameters[0]
    theta = f[0]
    b = f[1]
    Q = f[2]
    r = f[3]
    for k in range(x.size):
        b[k] = max(b[k], abs(x[k]))
        largest = b[k] if b[k] > 0 else 1.0
        scratch[k] = (wealth + r[k]) * (theta[k] / (largest + Q[k])) * (x[k] / largest)
    p = lane_sum(scratch, x.size)
    return p, p


@inlined
def coin_step(parameters, totals, trial, x, f, scratch):
    r = f[3]
    sum_up(parameters, totals, trial, x, f, scratch)
    for k in range(x.size):
        r[k] = min(r[k] - trial.g * scratch[k], MAX_WEALTH)


@inlined
def sum_up(parameters, totals, trial, x, f, scratch):
    """theta_i -= q_i;  Q_i += |q_i|."""
    theta = f[0]
    Q = f[2]
    for k in range(x.size):
        q = trial.g * x[k]
        theta[k] -= q
        Q[k] += abs(q)


@kernel
def run_coin(task, parameters, block, targets, weights, scores, state):
    return loop(coin_score, coin_step, 4, task, parameters, block, targets, weights, scores, state)


class Coin(Baseline, Coordinatewise):
    """Coin betting: each feature bets a share of its wealth on the sign of its next gradient.

    Orabona and Tommasi, "Training Deep Networks without Learning Rates Through Coin Betting"
    (2017); yamall's `PerCoordinateCOCOB` and, with differences, Vowpal Wabbit's `--coin`. With
    q_i = g x_i and wealth eps::

        b_i = max(b_i, |x_i|);   w_i = (eps + r_i) theta_i / (b_i (b_i + Q_i));   p = sum w_i x_i
        theta_i -= q_i;   Q_i += |q_i|;   r_i -= q_i w_i

    The share |theta_i| / (b_i + Q_i) is below 1 and |q_i| at most b_i, so wealth never falls to 0.
    Checked against Vowpal Wabbit itself (tests), which starts with eps = 4, divides p by the mean
    of sum (x_i/b_i)^2, and takes the largest |g| so far for L.
    """

    wealth: float = parameter(1.0, "eps, the wealth that each feature starts with")

    name = "coin"
    invariance = "unit"
    fields = (THETA, B, Q, Field("r", "1", "wealth, beyond eps"))
    scales_instance = True
    kernel = staticmethod(run_coin)


@inlined
def pistol_score(parameters, totals, v, x, f, scratch):
    a = parameters[0]
    scale = parameters[1]
    theta = f[0]
    b = f[1]
    Q = f[2]
    for k in range(x.size):
        b[k] = max(b[k], abs(x[k]))
        largest = b[k] if b[k] > 0 else 1.0
        share = theta[k] / (Q[k] + largest)  # no quotient exceeds 1
        potential = exp(min(share * (theta[k] / largest) / (2 * a), MAX_EXPONENT))
        scratch[k] = scale / a * share * (x[k] / largest) * potential
    p = lane_sum(scratch, x.size)
    return p, p


@kernel
def run_pistol(task, parameters, block, targets, weights, scores, state):
    return loop(pistol_score, sum_up, 3, task, parameters, block, targets, weights, scores, state)


class Pistol(Baseline, Coordinatewise):
    """PiSTOL for each feature: weights that grow like exp(theta^2).

    Orabona, "Simultaneous Model Selection and Optimization through Parameter-free Stochastic
    Learning" (2014), in the form for each feature that its author's library yamall and Vowpal
    Wabbit's `--pistol` have. With q_i = g x_i::

        b_i = max(b_i, |x_i|);   c_i = a b_i (Q_i + b_i)
        w_i = s theta_i / c_i exp(theta_i^2 / (2 c_i))
        p = sum w_i x_i;   theta_i -= q_i;   Q_i += |q_i|

    Checked against the source of both: they multiply w_i by sqrt(Q_i), which has a unit and is not
    in the paper.
    """

    a: float = parameter(2.0, "the larger, the more careful")
    scale: float = parameter(1.0, "s, a factor of all weights")

    name = "pistol"
    invariance = "unit"
    fields = (THETA, B, Q)
    scales_instance = True
    kernel = staticmethod(run_pistol)


@inlined
def rd_score(parameters, totals, v, x, f, scratch):
    seen = f[5]
    for k in range(x.size):
        if x[k] != 0 and seen[k] == 0:
            seen[k] = 1.0
            totals[FEATURES] += 1
    p = dot(x, f[0])
    return p, p


@inlined
def rd_step(parameters, totals, trial, x, f, scratch):
    wealth = parameters[0]
    squares = parameters[1]
    w = f[0]
    Q = f[1]
    V = f[2]
    h = f[3]
    doubled = f[4]
    for k in range(x.size):
        q = trial.v * trial.g * x[k]
        if q == 0:
            continue
        V[k] = fma(q, q, V[k])
        H = math.ldexp(squares, int(h[k]))
        rate_h = math.ldexp(wealth / totals[FEATURES], int(doubled[k]))
        reward = Q[k] - q * w[k]
        if V[k] <= H and reward < rate_h:
            w[k] -= rate_h / H * q
            Q[k] = reward
            continue
        doubled[k] = doubled[k] + 1 if V[k] <= H else 0.0
        while V[k] > H:
            H *= 2
            h[k] += 1
        w[k] = 0.0
        Q[k] = 0.0


@kernel
def run_doubling(task, parameters, block, targets, weights, scores, state):
    return loop(rd_score, rd_step, 6, task, parameters, block, targets, weights, scores, state)


class RewardDoubling(Baseline, Coordinatewise):
    """Reward doubling: gradient descent whose tiny rate doubles when its reward is large enough.

    Streeter and McMahan, "No-Regret Algorithms for Unconstrained Online Convex Optimization"
    (2012): their one-dimensional algorithm that guesses H, for each feature. With q_i = g x_i and
    eps = wealth / d::

        p = sum w_i x_i;   V_i += q_i^2
        V_i > H_i       H_i doubles until it is enough; rate_i = eps / H_i;  w_i = Q_i = 0
        otherwise       Q_i -= q_i w_i;  if Q_i >= rate_i H_i:  rate_i doubles, w_i = Q_i = 0
                                         else:  w_i -= rate_i q_i

    d counts the features seen so far. Derived again, without restarts: an epoch's reward is rate
    (G^2 - sum q^2) / 2 with G its sum of gradients, so it ends at the latest when |G| is near
    sqrt(3 H), and each doubles the reward; that gives `regret_bound`, which holds on adversarial
    streams (tests). Whether the paper resets V_i after a restart is not clear; here it continues.
    """

    wealth: float = parameter(1.0, "d eps, the most that can be lost against u = 0")
    squares: float = parameter(1.0, "the first guess of sum q_i^2")

    name = "reward_doubling"
    fields = (
        Field("w", "1/x", "weight"),
        Field("Q", "1", "reward since the rate last changed"),
        Field("V", "x^2", "sum q_i^2"),
        Field("h", "1", "how often H_i doubled"),
        Field("k", "1", "how often the rate doubled since then"),
        Field("seen", "1", "1 once x_i was not 0"),
    )
    totals = (Field("d", "1", "features seen"),)
    kernel = staticmethod(run_doubling)

    def regret_bound(self, trajectory: Trajectory) -> float | None:
        """The paper's Theorem 1, if H was never too small and all features were in the first row.

        The reward of a feature is at least eps exp(c |theta_i|) / 4 - eps, c = ln(2) / sqrt(3 H);
        so its regret is at most eps + |u_i| / c (ln(4 |u_i| / (c eps)) - 1), or 3/4 eps if u_i is
        small.
        """
        seen = trajectory.features_in_first_row()
        largest = self.state.records[:, 0, 2].max()  # V
        if seen is None or largest > self.squares:
            return None
        u = np.abs(trajectory.u[seen])
        eps = self.wealth / max(len(u), 1)
        c = math.log(2) / math.sqrt(3 * self.squares)
        ratio = np.maximum(4 * u / (c * eps), 1.0)
        return float((eps + np.where(ratio > 1, u / c * (np.log(ratio) - 1), -eps / 4)).sum())
