"""Units of any size on data full of ties: rounding decides between equals nowhere."""

import numpy as np

from laws.streams import each_pair_where, in_any_unit, make
from unitless import losses
from unitless.rows import as_rows

ROWS = 400


def binary(rng):
    frequencies = [1 / 16, 1 / 4, 1 / 2, 9 / 16, 3 / 4, 0.9]
    return (rng.random((ROWS, 6)) < frequencies).astype(float)


def one_hot(rng):
    return np.eye(5)[rng.integers(0, 5, ROWS)]


def small_integers(rng):
    return rng.integers(0, 4, (ROWS, 5)).astype(float)


def duplicates(rng):
    return rng.normal(size=(20, 5))[rng.integers(0, 20, ROWS)]


def in_turn(rng):
    """Frequencies that return to the same ratio, so that whole rows return."""
    t = np.arange(ROWS)
    return np.stack([t % 2, t // 2 % 2, 1 - t % 2, t % 4 == 0], axis=1).astype(float)


def together(rng):
    columns = [make(rng) for make in (binary, one_hot, small_integers, small_integers, duplicates)]
    return np.hstack([*columns, columns[0]])


def targets(loss, X, rng):
    signal = X @ rng.normal(size=X.shape[1]) + X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=ROWS)
    signal -= np.median(signal)
    if loss == "softmax":
        return np.digitize(signal, [-1.0, 1.0]).astype(float)
    kind = losses.get(loss).targets
    return np.round(2 * signal) if kind == "reals" else np.where(signal > 0, 1.0, -1.0)


@each_pair_where(in_any_unit)
def test_units_of_any_size(name, loss):
    for kind in (binary, one_hot, small_integers, duplicates, in_turn, together):
        rng = np.random.default_rng(0)
        X = kind(rng)
        y = targets(loss, X, rng)
        straight = make(name, loss).learn(as_rows(X, y))
        for _ in range(2):
            factors = 10.0 ** rng.uniform(-6, 6, X.shape[1])
            scores = make(name, loss).learn(as_rows(X * factors, y))
            moved = np.abs(scores - straight).max()
            assert moved <= 1e-6 * np.abs(straight).max(), f"{name}, {loss}, {kind.__name__}"
