"""What the tests of the regret room are made of: streams, real sets, exact arithmetic."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

DATA = Path(__file__).parents[3] / "shared" / "data"


def stream(seed):
    """(X, g): 5 to 60 trials in 1 to 5 dimensions, of one of seven nasty kinds."""
    rng = np.random.default_rng(seed)
    T, d = int(rng.integers(5, 60)), int(rng.integers(1, 6))
    X = rng.standard_normal((T, d))
    kinds = (
        lambda: X,
        lambda: rng.standard_cauchy((T, d)),  # heavy tails
        lambda: X * (rng.random((T, d)) < 0.3),  # sparse
        lambda: X[:, :1] @ rng.standard_normal((1, d)),  # rank one
        lambda: np.where(np.arange(d) == d - 1, X[:, [0]] - 2 * X[:, [-1]], X),  # dependent
        lambda: X * np.exp(np.linspace(0, rng.uniform(-20, 20), T))[:, None],  # drifting scale
        lambda: X * 10.0 ** rng.integers(-100, 100, d),  # units
    )
    slopes = (
        lambda: rng.choice([-1.0, 1.0], T),
        lambda: rng.uniform(-1, 1, T),
        lambda: np.sign(rng.standard_normal(T) + rng.uniform(-2, 2)),  # biased
        lambda: np.sign(kinds[0]() @ rng.standard_normal(d)),  # a linear rule
    )
    return kinds[seed % 7](), slopes[seed // 7 % 4]()


def real(name, rows, task="binary"):
    """(X, y) of some rows of a set in shared/data, in the benchmark's order; skips where absent."""
    path = DATA / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with np.load(path, allow_pickle=True) as z:
        assert str(z["task"]) == task
        order = np.random.default_rng(0).permutation(len(z["y"]))[:rows]
        X = z["X"] if "X" in z else sp.csr_array((z["data"], z["indices"], z["indptr"]), z["shape"])
        return X[order], z["y"][order].astype(float)


def exact_square(X, g, t):
    """h'S^+h after t trials, in exact rational arithmetic on the floats themselves."""
    k = min(t, X.shape[1])  # the first k columns are those seen, and S is invertible on them
    rows = [[Fraction(float(value)) for value in x[:k]] for x in X[:t]]
    slopes = [Fraction(float(value)) for value in g[:t]]
    A = [
        [sum(x[i] * x[j] for x in rows) for j in range(k)]
        + [-sum(s * x[i] for s, x in zip(slopes, rows, strict=True))]
        for i in range(k)
    ]
    square = Fraction(0)
    for i in range(k):  # Gaussian elimination: h'S^-1 h is the sum of (row's h)^2 / pivot
        square += A[i][k] ** 2 / A[i][i]
        for j in range(i + 1, k):
            factor = A[j][i] / A[i][i]
            A[j] = [a - factor * b for a, b in zip(A[j], A[i], strict=True)]
    return square
