"""Streams on which learners meet their twins: name -> X. They are short: the twins are slow."""

import numpy as np


def signs(X, rng):
    """Labels with a signal and noise, the same in every unit of the columns."""
    smallest = 5e-324  # for a column of zeros
    Z = X / np.abs(X).max(axis=0, initial=smallest)
    return np.where(Z.sum(axis=1) + 0.5 * rng.normal(size=len(X)) > 0, 1.0, -1.0)


def ordinary(rng, n=200):
    """Tame data of the kinds found everywhere."""
    Z = rng.normal(size=(n, 4))
    common = rng.normal(size=(n, 1))
    return {
        "random": Z,
        "shifted": Z + np.array([0, 1, 10, 100]),
        "correlated": common + 0.1 * Z,
        "sparse": Z * (rng.random((n, 4)) < 0.2),
        "growing scale": Z * np.exp(np.linspace(0, 10, n))[:, None],
        "shrinking scale": Z * np.exp(-np.linspace(0, 10, n))[:, None],
    }


def deficient(rng, n=60):
    """Columns that depend on one another to the bit, or come late, or never."""
    Z = rng.normal(size=(n, 2))
    one_hot = np.eye(5)[rng.integers(0, 5, n)]
    late = rng.normal(size=(n, 4))
    for column in range(4):
        late[: 12 * column, column] = 0
    gaps = rng.normal(size=(n, 4))
    gaps[::3] = 0
    gaps[:, 2] = 0
    return {
        "one-hot": one_hot,
        "one-hot beside a number": np.column_stack([one_hot, Z[:, 0]]),
        "two one-hots": np.column_stack([one_hot, np.eye(3)[rng.integers(0, 3, n)]]),
        "duplicated columns": np.column_stack([Z, Z, -2 * Z[:, 0]]),
        "zero rows and columns": gaps,
        "late features": late,
        "one row": Z[:1],
        "the same row": np.repeat(Z[:1], 20, axis=0),
        "nothing": np.zeros((5, 3)),
    }


def extreme(rng, n=60):
    """Values whose squares, or sums of squares, no float64 can hold."""
    Z = rng.normal(size=(n, 4))
    giant, first = Z.copy(), Z.copy()
    giant[n // 2] *= 1e9
    first[0] *= 1e9
    steps = rng.integers(1, 100, size=(n, 2))
    return {
        "columns from 1e-150 to 1e150": Z * [1e-150, 1e-50, 1e50, 1e150],
        "columns of 1e-300 and 1e300": Z * [1e-300, 1.0, 1e300, 1e-300],
        "a denormal column": np.column_stack([steps[:, 0] * 5e-324, Z[:, 1]]),
        "only denormals": steps * 5e-324,
        "one row a billion times larger": giant,
        "the first row a billion times larger": first,
    }


def mixed(rng, n=60):
    """Every size of number in one column."""
    sizes = rng.choice([5e-324, 1e-300, 1e-160, 1.0, 1e160, 1e300], size=(n, 2))
    Z = rng.uniform(1, 2, size=(n, 2)) * rng.choice([-1, 1], size=(n, 2))
    return {
        "growing sizes": Z * np.sort(sizes, axis=0),
        "shrinking sizes": Z * -np.sort(-sizes, axis=0),
        "mixed sizes": (Z * sizes)[:, :1],
    }
