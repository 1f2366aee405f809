"""Streams on which a join of factors can go wrong, each worse than the one before it."""

import numpy as np
from scipy.sparse import csr_array, hstack

from unitless.rows import as_rows


def one_hot(codes, levels):
    """Codes as columns of 0 and 1."""
    n = len(codes)
    return csr_array((np.ones(n), (np.arange(n), codes)), shape=(n, levels))


def skewed(rng, levels, n):
    """Codes of which the last ones are rare: many appear once, or in one shard only."""
    share = 1.0 / np.arange(1, levels + 1) ** 1.5
    return rng.choice(levels, n, p=share / share.sum())


def flights(rng, n):
    """Like the flights of New York: carriers, origins, months in order, destinations, numbers.

    Every group of levels sums to the constant; the distance follows from the destination.
    """
    dest, month = skewed(rng, 60, n), np.arange(n) * 12 // n
    distance = rng.integers(80, 5000, 60)[dest].astype(float)
    minutes = rng.integers(0, 1440, n).astype(float)
    groups = [one_hot(skewed(rng, 16, n), 16), one_hot(rng.integers(0, 3, n), 3),
              one_hot(month, 12), one_hot(dest, 60)]  # fmt: skip
    numbers = csr_array(np.column_stack([distance, minutes, minutes // 60, minutes % 60]))
    return hstack([*groups, numbers], format="csr"), _targets(rng, distance, minutes)


def sums(rng, n):
    """Columns that are sums and multiples of others, whole numbers, some of them rare."""
    a, b = rng.integers(-50, 50, (2, n)).astype(float)
    rare = (rng.random(n) < 5 / n) * rng.integers(1, 9, n)
    columns = [a, b, a + b, a - 3 * b, rare, 1000 * a + rare, 7 * rare - 2 * b, np.ones(n)]
    return csr_array(np.column_stack(columns)), _targets(rng, a, rare)


def nested(rng, n):
    """Levels within levels: 81 leaves, each with all of its parents, in sorted order."""
    leaf = np.sort(skewed(rng, 81, n)) if n % 2 else skewed(rng, 81, n)
    parts = [one_hot(leaf // 3**k, 81 // 3**k) for k in range(5)]
    return hstack(parts, format="csr"), _targets(rng, leaf, leaf % 7)


def first_rare(rng, n):
    """The level of the first rows hardly comes again, and depends on columns 10^6 times heavier."""
    common = rng.integers(0, 5, n)
    rare = (np.arange(n) < 3) | (rng.random(n) < 3 / n)
    weight = 1e6 * np.ones(n)
    parts = [csr_array(rare[:, None] * 1.0), one_hot(common, 5) * 1e6]
    X = hstack([*parts, csr_array(np.column_stack([~rare * 1.0, weight]))], format="csr")
    return X, _targets(rng, common, rare)


def few_rows(rng, n):
    """More columns than any shard has rows, and all of them twice."""
    X = rng.normal(size=(n, max(4, n // 4)))
    X = np.round(X * 64) / 64
    return csr_array(np.column_stack([X, 2 * X[:, ::-1]])), _targets(rng, X[:, 0], X[:, 1])


def twins(rng, n, heavy=3.0):
    """Pivots that turn heavy together, so that their difference, a column too, stays light.

    The first rows of the stream settle that p and q are pivots and p - q is not; later p = q but
    for few rows. Noise of p and q is large beside p - q.
    """
    p, q = rng.integers(1, 9, (2, n)) * heavy
    p[:2], q[:2] = [1, 0], [0, 1]
    light = rng.random(n) < 0.02
    light[:2] = True
    p[2:][light[2:]] = rng.integers(-3, 4, light[2:].sum())
    q = np.where(light, q * (np.arange(n) < 2), p)
    other = rng.integers(0, 4, n)
    numbers = csr_array(np.column_stack([p, q, p - q, 2 * q - 2 * p]))
    return hstack([numbers, one_hot(other, 4)], format="csr"), _targets(rng, p - q, other)


STREAMS = {f.__name__: f for f in (flights, sums, nested, first_rare, few_rows, twins)}


def _targets(rng, one, two):
    return 3.0 * one - 0.5 * two + rng.normal(size=len(one)) * (1 + np.abs(one).mean())


def in_units(rng, X, y, decades):
    """The same in units up to so many powers of ten away, the targets too."""
    units = 10.0 ** rng.uniform(-decades, decades, X.shape[1])
    return X * units, y * 10.0 ** rng.uniform(-decades, decades)


def rows_of(X, y=None, weights=None):
    """Rows without the zeros that scaling stores."""
    X = csr_array(X)
    X.eliminate_zeros()
    return as_rows(X, y, weights)
