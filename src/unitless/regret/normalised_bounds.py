"""Upper bounds on the regret of NG, NAG, sNAG and NDA, the scale-invariant learners before 2017.

Ross, Mineiro and Langford (2013); Orabona, Crammer and Cesa-Bianchi (2015). The functions take the
stream: rows X without an intercept and gradients g, |g| <= 1. b_i is the largest |x_i| so far. The
first three need a bound C on the weights: |w_i| b_i <= C in every trial. The learners do not
enforce it, so look at their weights; without it NAG and sNAG have no bound that grows more slowly
than T (docs/explanation/theory.md has proofs).
"""

import numpy as np
from numpy.typing import ArrayLike

from unitless.state import Float


def ng(u: ArrayLike, X: ArrayLike, g: ArrayLike, *, C: float, rate: float = 0.5) -> float:
    """NG: gradient descent with rates eta t / (N b_i^2), N = sum (x_i / b_i)^2 over all trials.

    Where N / t and b are constant, C does not matter, and the bound is attained.

    >>> ng([0.0], np.ones((100, 1)), np.ones(100), C=50.0)
    25.0
    """
    X = np.asarray(X, dtype=np.float64)
    b = _largest(X)
    inverse_rates = b**2 * _mean_size(X, b) / rate
    return _descent(u, X, g, inverse_rates, _shrinkage(b) ** 2, C)


def nag(u: ArrayLike, X: ArrayLike, g: ArrayLike, *, C: float, rate: float = 0.5) -> float:
    """NAG: rates eta sqrt(t / N) / (b_i sqrt(G_i)), G_i = sum (g x_i)^2.

    >>> round(nag([0.0], np.ones((100, 1)), np.ones(100), C=1.0), 2)
    13.65
    """
    X = np.asarray(X, dtype=np.float64)
    b = _largest(X)
    G = _squares(X, g)
    inverse_rates = b * np.sqrt(G * _mean_size(X, b)) / rate
    return _descent(u, X, g, inverse_rates, _shrinkage(b), C)


def snag(u: ArrayLike, X: ArrayLike, g: ArrayLike, *, C: float, rate: float = 0.5) -> float:
    """sNAG: rates eta t / sqrt(N V_i G_i), V_i = sum x_i^2, N = sum t x_i^2 / V_i.

    >>> round(snag([0.0], np.ones((100, 1)), np.ones(100), C=1.0), 2)
    13.65
    """
    X = np.asarray(X, dtype=np.float64)
    t = np.arange(1.0, len(X) + 1)[:, None]
    V = np.cumsum(X**2, axis=0)
    shares = t * _ratio(X**2, V)
    N = np.cumsum(shares.sum(axis=1))[:, None]
    G = _squares(X, g)
    roots = np.sqrt(N) * np.sqrt(V) * np.sqrt(G)  # the product could overflow
    inverse_rates = roots / (t * rate)
    return _descent(u, X, g, inverse_rates, np.ones_like(X), C)


def nda(u: ArrayLike, X: ArrayLike, g: ArrayLike, *, rate: float = 1.0) -> float:
    """NDA: w_i = eta h_i / (b_i sqrt(b_i^2 + G_i)), with G_i before the trial; any u, any stream.

    It is dual averaging, with a regulariser that only grows.

    >>> round(nda([0.5], np.ones((100, 1)), np.ones(100)), 2)
    10.54
    """
    X = np.asarray(X, dtype=np.float64)
    b = _largest(X)
    G = _before(_squares(X, g))
    inverse_rates = b * np.sqrt(b**2 + G) / rate
    regularised = np.sum(inverse_rates[-1:] * np.square(u))
    return float(regularised + _steps(X, g, inverse_rates)) / 2


def _descent(
    u: ArrayLike,
    X: Float,
    g: ArrayLike,
    inverse_rates: Float,
    shrinkage: Float,
    C: float,
) -> float:
    """w <- shrinkage w before each trial, w <- w - g x / inverse_rates after it; no projection."""
    u = np.abs(u)
    b = _largest(X)
    before = _before(inverse_rates)
    rises = np.maximum(inverse_rates - before, 0.0)
    seen = np.where(_before(b) > 0, C, 0.0)  # weights are 0 until a feature is first seen
    farthest = u + _ratio(seen, b)
    from_rises = np.sum(rises * farthest**2)
    lost = (1 - shrinkage) / (1 + shrinkage)
    from_shrinking = np.sum(before * lost * u**2)
    return float(from_rises + from_shrinking + _steps(X, g, inverse_rates)) / 2


def _steps(X: Float, g: ArrayLike, inverse_rates: Float) -> float:
    """The sum of (g x_i)^2 times the rate of coordinate i."""
    squares = _gradients(X, g) ** 2
    return float(np.sum(_ratio(squares, inverse_rates)))


def _gradients(X: Float, g: ArrayLike) -> Float:
    """g x_i, one row per trial."""
    return np.reshape(g, (-1, 1)) * X


def _largest(X: Float) -> Float:
    """b_i: the largest |x_i| so far."""
    return np.maximum.accumulate(np.abs(X), axis=0)


def _squares(X: Float, g: ArrayLike) -> Float:
    """G_i = sum (g x_i)^2 so far."""
    squares = _gradients(X, g) ** 2
    return np.cumsum(squares, axis=0)


def _mean_size(X: Float, b: Float) -> Float:
    """N / t: the mean of sum (x_i / b_i)^2 so far."""
    sizes = np.sum(_ratio(X, b) ** 2, axis=1)
    trials = np.arange(1, len(X) + 1)
    means = np.cumsum(sizes) / trials
    return means[:, None]


def _shrinkage(b: Float) -> Float:
    """b_i before the trial over b_i."""
    return _ratio(_before(b), b)


def _before(values: Float) -> Float:
    """The values one trial earlier; 0 at first."""
    earlier = np.zeros_like(values)
    earlier[1:] = values[:-1]
    return earlier


def _ratio(x: Float, y: Float) -> Float:
    """x / y, 0 where y is 0."""
    return np.divide(x, y, out=np.zeros(np.shape(y)), where=y > 0)
