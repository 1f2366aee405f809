"""The penalty of section 3, and a sharper penalty to replace it.

Kotlowski (2017), equation (2) and Lemma 2. beta is given by its logarithm, because Theorem 2 has
beta = e^(Gamma / (2 alpha)).
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import wrightomega

from unitless.state import Float


def log_of(x: ArrayLike) -> Float:
    """log |x|, -inf at 0 without a warning."""
    values = np.abs(np.asarray(x, dtype=np.float64))
    return np.log(values, out=np.full(values.shape, -np.inf), where=values > 0)


def penalty(a: ArrayLike, alpha: float, log_beta: ArrayLike = 0.0) -> Float:
    """The paper's f(a) = a sqrt(alpha log(1 + alpha beta^2 a^2)), equation (2).

    >>> print(penalty([0.0, 1.0, 1e200], alpha=1.2))
    [0.00000000e+000 9.72701821e-001 3.32484531e+201]
    """
    log_product = np.asarray(log_beta) + log_of(a)
    log_square = math.log(alpha) + 2 * log_product
    logarithm = np.logaddexp(0.0, log_square)
    return np.asarray(np.abs(a) * np.sqrt(alpha * logarithm))


def lambert(a: ArrayLike, alpha: float, log_beta: ArrayLike = 0.0) -> Float:
    """The conjugate of exp(theta^2 / (2 alpha)) / beta: the exact replacement of `penalty`.

    sup over theta of a theta - exp(theta^2 / (2 alpha)) / beta
    = a sqrt(alpha) (sqrt W - 1 / sqrt W), W e^W = alpha beta^2 a^2;  -1 / beta at a = 0.

    >>> print(lambert([0.0, 1.0, 1e200], alpha=1.2))
    [-1.00000000e+000 -5.00762991e-001  3.30889562e+201]
    """
    a = np.abs(np.asarray(a, dtype=np.float64))
    log_beta = np.asarray(log_beta)
    log_square = math.log(alpha) + 2 * (log_beta + log_of(a))
    w = wrightomega(log_square)
    # a sqrt(alpha / W) = e^(W/2) / beta: the right side is exact where W has underflowed.
    small = np.exp(np.minimum(w, 1.0) / 2 - log_beta)
    large = a * np.sqrt(alpha / np.maximum(w, 1.0))
    lost = np.where(w > 1, large, small)
    return np.asarray(a * np.sqrt(alpha * w) - lost)
