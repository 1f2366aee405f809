"""Streams of integers whose rank is known exactly and is easy to get wrong in float64."""

import numpy as np

PRIME = 2**61 - 1


def exact_ranks(X):
    """The rank of the first t rows, for t = 1, 2, ...: elimination modulo a large prime.

    The rank of integers modulo a prime is at most their rank, and differs from it only if the prime
    divides some determinant.
    """
    basis = {}  # pivot column -> row with a 1 there
    ranks = []
    for row in X:
        rest = [int(value) % PRIME for value in row]
        for column, other in basis.items():
            factor = rest[column]
            rest = [(a - factor * b) % PRIME for a, b in zip(rest, other, strict=True)]
        pivot = next((n for n, value in enumerate(rest) if value), None)
        if pivot is not None:
            inverse = pow(rest[pivot], -1, PRIME)
            basis[pivot] = [value * inverse % PRIME for value in rest]
        ranks.append(len(basis))
    return ranks


def four_rows(rng, T):
    return np.array([[15, 9, 6], [11, 8, 3], [5028, 8, 5020], [7557, 6, 7551]])


def squares_of_time(rng, T):
    """t^2, t^2 + a and a: nearly collinear pivots."""
    t = np.arange(1, T + 1)
    a = rng.integers(-9, 10, T)
    return np.column_stack([t * t, t * t + a, a])


def growing(rng, T):
    """a, b and a + b while b grows 10 000-fold."""
    a = rng.integers(-20, 21, T)
    b = (rng.integers(-20, 21, T) * np.geomspace(1, 1e4, T)).astype(int)
    return np.column_stack([a, b, a + b])


def large_first_rows(rng, T):
    """Three rows that are 10^9 times larger than the others, and a sum of columns."""
    X = rng.integers(-20, 21, (T, 4))
    X[:3] *= 10**9
    return np.column_stack([X, X[:, 0] + X[:, 1]])


def twins(rng, T):
    """Two equal columns beside a heavier one that contains them."""
    a = rng.integers(-9, 10, T)
    heavy = rng.integers(-(10**8), 10**8, T)
    return np.column_stack([a, heavy, heavy + a, a])


def outliers(rng, T):
    """A heavy row now and then, late in the stream."""
    X = rng.integers(-20, 21, (T, 3))
    X[T // 2 :: 97] *= 10**6
    return np.column_stack([X, X @ [1, 2, 3], X @ [1, -1, 0]])


def late(rng, T):
    """A column that departs from the sum of the others in the last rows only."""
    X = rng.integers(-1000, 1001, (T, 3))
    total = X.sum(axis=1)
    total[-3:] += rng.integers(1, 5, 3)
    return np.column_stack([X, total])


def maps(rng, T):
    """Six combinations of three columns, of widely different sizes."""
    X = rng.integers(-20, 21, (T, 3)) * np.array([1, 100, 10_000])
    return X @ rng.integers(-9, 10, (3, 6))


STREAMS = {
    stream.__name__: stream
    for stream in (
        four_rows, squares_of_time, growing, large_first_rows, twins, outliers, late, maps,
    )
}  # fmt: skip
