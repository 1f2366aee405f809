"""Algorithm 1 remembers at most 40 bytes a feature seen, and nothing of a row."""

import numpy as np
import pytest
import scipy.sparse as sp

from laws.streams import leaves
from unitless.learners import get
from unitless.rows import as_rows


def owner(array):
    """The array whose memory this one looks at."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def memory(learner):
    """Bytes of all arrays a learner holds, spare room and shared memory counted once."""
    held = [value for value in vars(learner).values() if isinstance(value, np.ndarray)]
    owners = {id(owner(array)): owner(array) for array in held + leaves(learner.state)}
    return sum(array.nbytes for array in owners.values())


def sparse_rows(columns, n=200, per_row=50, size=1.0):
    """Rows in which the last column occurs, so that all columns exist."""
    rng = np.random.default_rng(columns)
    indices = rng.integers(0, columns, (n, per_row))
    indices[:, 0] = columns - 1
    values = rng.normal(size=(n, per_row)) * size
    starts = np.arange(0, n * per_row + 1, per_row)
    X = sp.csr_array((values.ravel(), indices.ravel(), starts), shape=(n, columns))
    return as_rows(X, rng.choice([-1.0, 1.0], n))


@pytest.mark.parametrize("size", [1.0, 1e-300])
@pytest.mark.parametrize("name", ["coordinate", "zero"])
def test_bytes_a_feature(name, size):
    """In columns that grow by a few at a time, and by doubling; with and without units."""
    learner = get(name)()
    sizes = [2**16, 2**16 + 1, 2**16 + 1000, 2**17, 2**17 + 1, 2**18]
    for columns in sizes:
        learner.learn(sparse_rows(columns, size=size))
        assert memory(learner) <= 40 * columns


def test_no_bytes_a_row():
    learner = get("coordinate")()
    learner.learn(sparse_rows(2**16, n=10))
    before = memory(learner)
    for _ in range(3):
        learner.learn(sparse_rows(2**16, n=2000))
        learner.predict(sparse_rows(2**16, n=2000))
    assert memory(learner) == before


def test_growing_by_one_is_linear():
    """Names that appear one by one: room is made ahead, so that no more is copied than used."""
    learner = get("coordinate")()
    for t in range(3000):
        learner.learn_one({f"name {t}": 1.0}, 1)
    assert memory(learner) <= 40 * 3000
