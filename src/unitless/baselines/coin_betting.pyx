"""Coin betting: what is bet grows with what was won, so that no learning rate has to be tuned.

>>> from unitless.testing import example_loss
>>> for learner in (KrichevskyTrofimov(bound=31**0.5), Coin(), Pistol(), RewardDoubling()):
...     print(learner.name, example_loss(learner))
kt 0.6834
coin 0.3729
pistol 0.5162
reward_doubling 0.6746
"""

import math

import numpy as np

cimport cython
from libc.math cimport fabs, isfinite, ldexp

from unitless.baselines.baseline cimport Baseline, descend
from unitless.core.arithmetic cimport Room, Values, dot, fast_exp, fused, total
from unitless.core.row cimport Row

from unitless.baselines.baseline import B, THETA
from unitless.core.coordinatewise import coordinatewise_state
from unitless.core.parameters import Parameter
from unitless.state import Field, count

cdef double MAX_WEALTH = 2.0**500   # gradients chosen by a caller could double it without end
cdef double MAX_BET_EXPONENT = 600.0    # of PiSTOL: or make it arbitrarily large
cdef double MOST_DOUBLINGS = 2200.0     # more than from the smallest to the largest float64
Q = Field("Q", "|x|", "sum of absolute gradients, sum |q_i|")


# KT: a record is theta

@cython.final
cdef class KrichevskyTrofimov(Baseline):
    """KT: coin betting with the estimator of Krichevsky and Trofimov, for the whole vector.

    Orabona and Pal, "Coin Betting and Parameter-Free Online Learning" (2016), algorithm 1. With
    q = g x, |q| <= L, and initial wealth eps::

        w = theta / (L^2 t) (eps + R);   p = w.x;   theta -= q;   R -= q.w

    Checked: by scaling the paper's L = 1 (q/L, with wealth eps/L); against the public codes
    parameterfree and jongharyu/olo-with-side-information; and `regret_bound` on adversarial streams
    (tests).
    """

    name = "kt"
    invariance = "rotation"
    needs = ("bound",)
    bound_is_euclidean = True
    parameters = (
        Parameter("wealth", 1.0, "eps, the most that can be lost against u = 0"),
        Parameter(
            "bound", 1.0, "L, at least |g x|, the constant in x included, in every trial"
        ),
    )
    fields = (THETA,)
    saved = coordinatewise_state((THETA,), Field("R", "1", "reward, -sum q.w"))

    cdef public double wealth
    cdef public double bound
    cdef public double R

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double bet = (self.wealth + self.R) / (self.bound * self.bound * (self.t + 1))
        self.p = dot(self.z, self.own, row.slots) * bet
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double vg = self.weight_of(row) * g
        descend(self.own, self.z, row.slots, vg)
        self.R -= vg * self.p

    cdef bint _is_finite(self, const Row* row) noexcept nogil:
        return isfinite(self.R) and Baseline._is_finite(self, row)

    def regret_bound(self, trajectory):
        """The paper's corollary 5, if L was large enough.

        L |u| sqrt(T ln(1 + 24 T^2 L^2 |u|^2 / eps^2)) + eps (1 - 1 / (e sqrt(pi T)))
        """
        if trajectory.gradient_sizes().max(initial=0) > self.bound:
            return None
        trials = max(len(trajectory.g), 1)
        size = self.bound * trajectory.norm()
        growth = math.sqrt(trials * math.log1p(24 * (trials * size / self.wealth) ** 2))
        return size * growth + self.wealth * (1 - 1 / (math.e * math.sqrt(math.pi * trials)))


# Coin

cdef struct CoinEight:
    double[8] theta     # -sum q
    double[8] b         # max |x|
    double[8] Q         # sum |q|
    double[8] r         # wealth, beyond eps


cdef inline void coin_look(
    const CoinEight* own, Values x, double wealth, Room wx, Room p
) noexcept nogil:
    """wx = w_i x_i;   p += w_i x_i"""
    cdef double b
    cdef int k
    for k in range(8):
        b = max(own.b[k], fabs(x[k]))
        b = b if b > 0 else 1.0
        wx[k] = (wealth + own.r[k]) * (own.theta[k] / (b + own.Q[k])) * (x[k] / b)
        p[k] += wx[k]


cdef inline void coin_take_in(CoinEight* own, Values x, Values wx, double g) noexcept nogil:
    """theta_i -= q_i;   Q_i += |q_i|;   r_i -= q_i w_i; b_i is that of the next trial"""
    cdef double q
    cdef int k
    for k in range(8):
        q = g * x[k]
        own.theta[k] -= q
        own.b[k] = max(own.b[k], fabs(x[k]))
        own.Q[k] += fabs(q)
        own.r[k] = min(own.r[k] - g * wx[k], MAX_WEALTH)


COIN_FIELDS = (THETA, B, Q, Field("r", "1", "wealth won, beyond the initial eps"))


@cython.final
cdef class Coin(Baseline):
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

    name = "coin"
    invariance = "unit"
    scales_instance = True
    parameters = (Parameter("wealth", 1.0, "eps, the wealth that each feature starts with"),)
    fields = COIN_FIELDS
    saved = coordinatewise_state(COIN_FIELDS)

    cdef public double wealth

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] p = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile, k
        for tile in range(row.slots // 8):
            k = 8 * tile
            coin_look(<CoinEight*>self.own + tile, self.z + k, self.wealth, self.work + k, p)
        self.p = total(p)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef Py_ssize_t tile, k
        for tile in range(row.slots // 8):
            k = 8 * tile
            coin_take_in(<CoinEight*>self.own + tile, self.z + k, self.work + k, g)


# PiSTOL

cdef struct PistolEight:
    double[8] theta     # -sum q
    double[8] b         # max |x|
    double[8] Q         # sum |q|


cdef inline void pistol_look(
    const PistolEight* own, Values x, double a, double scale, Room p
) noexcept nogil:
    """p += w_i x_i"""
    cdef double b, share, potential
    cdef int k
    for k in range(8):
        b = max(own.b[k], fabs(x[k]))
        b = b if b > 0 else 1.0
        share = own.theta[k] / (own.Q[k] + b)  # no quotient exceeds 1
        potential = fast_exp(min(share * (own.theta[k] / b) / (2 * a), MAX_BET_EXPONENT))
        p[k] += scale / a * share * (x[k] / b) * potential


cdef inline void pistol_take_in(PistolEight* own, Values x, double g) noexcept nogil:
    """theta_i -= q_i;   Q_i += |q_i|; b_i is that of the next trial"""
    cdef double q
    cdef int k
    for k in range(8):
        q = g * x[k]
        own.theta[k] -= q
        own.b[k] = max(own.b[k], fabs(x[k]))
        own.Q[k] += fabs(q)


PISTOL_FIELDS = (THETA, B, Q)


@cython.final
cdef class Pistol(Baseline):
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

    name = "pistol"
    invariance = "unit"
    scales_instance = True
    parameters = (
        Parameter("a", 2.0, "the larger, the more careful"),
        Parameter("scale", 1.0, "s, a factor of all weights"),
    )
    fields = PISTOL_FIELDS
    saved = coordinatewise_state(PISTOL_FIELDS)

    cdef public double a
    cdef public double scale

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] p = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            pistol_look(<PistolEight*>self.own + tile, self.z + 8 * tile, self.a, self.scale, p)
        self.p = total(p)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            pistol_take_in(<PistolEight*>self.own + tile, self.z + 8 * tile, g)


# Reward doubling

cdef struct DoublingEight:
    double[8] w             # weight
    double[8] Q             # reward since the rate last changed
    double[8] V             # sum q^2
    double[8] h             # how often H doubled
    double[8] doublings     # how often the rate doubled since then
    double[8] seen          # 1 once x was not 0


cdef inline void doubling_look(
    const DoublingEight* own, Values x, Room p, Room new
) noexcept nogil:
    """p += w_i x_i;   new += whether feature i is seen first now"""
    cdef int k
    for k in range(8):
        p[k] = fused(x[k], own.w[k], p[k])
        new[k] += 1.0 if own.seen[k] == 0 and x[k] != 0 else 0.0


cdef inline void doubling_take_in(
    DoublingEight* own, Values x, double g, double eps, double squares
) noexcept nogil:
    """Learn from q_i where it is not 0; squares is the first guess of H_i."""
    cdef double q, H, rate_h, reward
    cdef int k
    for k in range(8):
        own.seen[k] = 1.0 if x[k] != 0 else own.seen[k]
        q = g * x[k]
        if q == 0:
            continue
        own.V[k] = fused(q, q, own.V[k])
        H = ldexp(squares, <int>own.h[k])
        rate_h = ldexp(eps, <int>own.doublings[k])
        reward = own.Q[k] - q * own.w[k]
        if own.V[k] <= H and reward < rate_h:
            own.w[k] -= rate_h / H * q
            own.Q[k] = reward
            continue
        own.doublings[k] = min(own.doublings[k] + 1, MOST_DOUBLINGS) if own.V[k] <= H else 0.0
        while own.V[k] > H:
            H *= 2
            own.h[k] += 1
        own.w[k] = 0.0
        own.Q[k] = 0.0


DOUBLING_FIELDS = (
    Field("w", "1/x", "weight"),
    Field("Q", "1", "reward since the rate last changed"),
    Field("V", "x^2", "sum of squared gradients, sum q_i^2"),
    count("h", "how often the reward bound H_i doubled", MOST_DOUBLINGS),
    count("doublings", "how often the rate doubled since then", MOST_DOUBLINGS),
    count("seen", "1 once x_i was not 0", 1.0),
)


@cython.final
cdef class RewardDoubling(Baseline):
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

    name = "reward_doubling"
    parameters = (
        Parameter("wealth", 1.0, "d eps, the most that can be lost against u = 0"),
        Parameter("squares", 1.0, "the first guess of sum q_i^2"),
    )
    fields = DOUBLING_FIELDS
    saved = coordinatewise_state(DOUBLING_FIELDS, count("d", "features seen"))

    cdef public double wealth
    cdef public double squares
    cdef public double d
    cdef double new             # features of the row at hand that are seen first

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] p = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double[8] new = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            doubling_look(<DoublingEight*>self.own + tile, self.z + 8 * tile, p, new)
        self.new = total(new)
        self.p = total(p)
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef double vg = self.weight_of(row) * g
        cdef double squares = self.squares
        cdef Py_ssize_t tile
        cdef double eps
        self.d += self.new
        eps = self.wealth / self.d
        for tile in range(row.slots // 8):
            doubling_take_in(
                <DoublingEight*>self.own + tile, self.z + 8 * tile, vg, eps, squares
            )

    def regret_bound(self, trajectory):
        """The paper's Theorem 1, if H was never too small and all features were in the first row.

        The reward of a feature is at least eps exp(c |theta_i|) / 4 - eps, c = ln(2) / sqrt(3 H);
        so its regret is at most eps + |u_i| / c (ln(4 |u_i| / (c eps)) - 1), or 3/4 eps if u_i is
        small.
        """
        seen = trajectory.features_in_first_row()
        if seen is None or self.read("V").max() > self.squares:
            return None
        u = np.abs(trajectory.u[seen])
        eps = self.wealth / max(len(u), 1)
        c = math.log(2) / math.sqrt(3 * self.squares)
        ratio = np.maximum(4 * u / (c * eps), 1.0)
        return float((eps + np.where(ratio > 1, u / c * (np.log(ratio) - 1), -eps / 4)).sum())
