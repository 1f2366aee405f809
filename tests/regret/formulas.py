"""Statements of the paper and of its references that the tests check and the package does not use.

docs/explanation/theory.md says what each of them means.
"""

import math

import numpy as np


def conjugate_bound(theta, alpha, log_beta=0.0):
    """Lemma 2: the conjugate of `penalty` is at most exp(theta^2 / (2 alpha)) / beta.

    The conjugate is at most 0.21895 times that (erratum 15); `lambert` is exact.
    """
    exponent = np.square(theta) / (2 * alpha)
    return np.exp(exponent - np.asarray(log_beta))


def ross(a):
    """Ross et al. (2013): gradient descent per coordinate, tuned in hindsight: sum |u_i| s_i.

    With rates |u_i| / s_i, for g of +-1, no choice of rates gives a smaller bound (section 3).
    """
    return float(np.sum(np.abs(a)))


def ridge_gamma(d, total, ridge):
    """The footnote after Theorem 2: Algorithm 2 with ridge I + S has Gamma_T of at most this.

    total = sum |x_t|^2 (Cesa-Bianchi and Lugosi 2006, Theorem 11.7): linear in d where `bounds.luo`
    is quadratic. That variant is Algorithm 2 after d rows sqrt(ridge) e_i of slope 0.
    """
    return d * math.log1p(total / (d * ridge))


def luo_lower_bound(C, d, T):
    """Luo et al. (2016), Theorem 1: regret C sqrt(d T / 2) against some u with |u.x_t| <= C.

    Show each unit vector T / d times and choose the signs of the gradients by fair coins. On
    average every learner gains 0, and u_i = +-C gains C E|sum of T / d signs|, which is at least
    C sqrt(T / (2 d)), per coordinate. `T` is at least d.
    """
    return C * math.sqrt(d * T / 2)
